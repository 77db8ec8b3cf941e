package call

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"posta.dev/posta/cmd/internal/display"
)

// Terminal reports whether w is a terminal, and returns a function for its width.
func Terminal(w io.Writer) (func() int, bool) {
	if l, ok := w.(*LockedWriter); ok {
		w = l.W
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, false
	}
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return 80
		}
		return width
	}, true
}

// LockedWriter is standard error with a lock: the supervisor of a run writes to it at any time.
type LockedWriter struct {
	mu sync.Mutex
	W  io.Writer
}

func (l *LockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.W.Write(b)
}

// Swap sets another writer and returns the former one.
func (l *LockedWriter) Swap(w io.Writer) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.W
	l.W = w
	return was
}

// NewProgress returns what shows the progress of a session.
func (x *Call) NewProgress() *display.Progress {
	if x.Progress != nil {
		return x.Progress
	}
	if x.Events != nil {
		return &display.Progress{Told: x.Events.progress, Said: x.Events.note}
	}
	width, isTerminal := Terminal(x.Err)
	return &display.Progress{Out: x.Err, Terminal: isTerminal, Width: width}
}
