package cmd

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"posta.dev/posta/cmd/internal/display"
)

// terminal reports whether w is a terminal, and returns a function for its width.
func terminal(w io.Writer) (func() int, bool) {
	if l, ok := w.(*lockedWriter); ok {
		w = l.w
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

// lockedWriter is standard error with a lock: the supervisor of a run writes to it at any time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// swap sets another writer and returns the former one.
func (l *lockedWriter) swap(w io.Writer) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.w
	l.w = w
	return was
}

func (x *command) newProgress() *display.Progress {
	if x.progress != nil {
		return x.progress
	}
	if x.events != nil {
		return &display.Progress{Told: x.events.progress, Said: x.events.note}
	}
	width, isTerminal := terminal(x.Err)
	return &display.Progress{Out: x.Err, Terminal: isTerminal, Width: width}
}
