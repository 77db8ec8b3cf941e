package zmqx

import (
	"strings"
	"sync"
	"time"
)

const (
	warnEvery  = time.Minute // at most one warning of a cause in this time
	mostCauses = 32          // of which a listener warns in this time
)

// warnings decides when to warn. Many peers that are refused for one cause must neither fill the log nor hide another cause.
type warnings struct {
	mu    sync.Mutex
	since time.Time // when seen was last empty
	seen  map[string]bool
}

// due reports whether this cause has not been warned of for a while.
func (w *warnings) due(cause error, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.since) >= warnEvery {
		w.since, w.seen = now, map[string]bool{}
	}
	kind := causeKind(cause)
	if w.seen[kind] || len(w.seen) >= mostCauses {
		return false
	}
	w.seen[kind] = true
	return true
}

// causeKind returns the kind of an error's root cause, without quoted texts: a peer chooses these, and each would count as a
// cause of its own.
func causeKind(err error) string {
	var roots []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		roots = append(roots, e.Unwrap())
	case interface{ Unwrap() []error }:
		roots = e.Unwrap()
	}
	var b strings.Builder
	for _, root := range roots {
		if root != nil {
			b.WriteString(causeKind(root) + ";")
		}
	}
	if b.Len() > 0 {
		return b.String()
	}
	text, _, _ := strings.Cut(err.Error(), `"`)
	return text
}
