// Package watch observes a node's loop from outside (N9): what the loop works on, whether it makes progress, and whether it hangs. Package
// progress counts the marks, each of which means that something was done.
package watch

import (
	"sync"

	"posta.dev/posta/protocol/session"
)

// Doing describes what a role works on.
type Doing struct {
	Role    string
	Session session.ID
	Stream  string // empty: of no stream in particular
}

// Watch holds what a node's roles work on. The loop and the goroutines that parse beside it call Enter and Leave; any
// goroutine may call Now. A nil Watch holds nothing.
type Watch struct {
	mu    sync.Mutex
	last  Token
	begun []entry // entered and not left, in the order of Enter
}

// Token identifies a piece of work that was begun.
type Token uint64

type entry struct {
	Token
	Doing
}

// Enter says that work begins. Leave, with the token, says that it is done.
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

// Oldest returns the work that was begun first, with its token; a token of 0 if there is none.
func (w *Watch) Oldest() (d Doing, t Token) {
	if w == nil {
		return d, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.begun) == 0 {
		return d, 0
	}
	return w.begun[0].Doing, w.begun[0].Token
}

// Now returns the current work; false if there is none. If roles call each other, it is the innermost call. If chunks are parsed in
// parallel, it is one of them: when the loop hangs, the others have long been parsed.
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
