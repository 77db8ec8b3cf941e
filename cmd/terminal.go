package cmd

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"posta.dev/posta/cmd/internal/display"
)

// terminal says whether w is one, and how to ask for its width.
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

// lockedWriter is standard error: the supervisor of a run writes to it at any time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (x *command) newProgress() *display.Progress {
	width, isTerminal := terminal(x.Err)
	return &display.Progress{Out: x.Err, Terminal: isTerminal, Width: width}
}
