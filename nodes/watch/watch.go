// Package watch is how a node is looked at from outside its loop (N9): what the loop works on, whether it gets on with it, and whether it hangs.
// Marks, which say that something was done, are counted by package progress.
package watch

import (
	"sync"

	"posta.dev/posta/protocol/session"
)

// Doing is what a role works on.
type Doing struct {
	Role    string
	Session session.ID
	Stream  string // empty: of no stream in particular
}

// Watch knows what a node's roles work on. The loop, and what parses beside it, tell it; anybody may ask. A nil Watch knows nothing.
type Watch struct {
	mu    sync.Mutex
	last  Token
	begun []entry // and not left, in the order in which they were entered
}

// Token names a piece of work that was begun.
type Token uint64

type entry struct {
	Token
	Doing
}

// Enter says that work is begun, and Leave that it is done.
func (w *Watch) Enter(d Doing) Token {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	w.begun = append(w.begun, entry{w.last, d})
	return w.last
}

// Leave ends what Enter began.
func (w *Watch) Leave(t Token) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.begun) - 1; i >= 0; i-- {
		if w.begun[i].Token == t {
			w.begun = append(w.begun[:i], w.begun[i+1:]...)
			return
		}
	}
}

// Now returns what is under way, the innermost call of roles that call each other; false if nothing is. Of chunks that are parsed side by side it
// is one: where the loop hangs, the others have long been parsed.
func (w *Watch) Now() (d Doing, ok bool) {
	if w == nil {
		return d, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.begun); n > 0 {
		return w.begun[n-1].Doing, true
	}
	return d, false
}
