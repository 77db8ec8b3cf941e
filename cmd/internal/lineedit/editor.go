package lineedit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// ErrInterrupted is returned by Line when Ctrl-C was typed. The part of the line that was typed before is lost.
var ErrInterrupted = errors.New("interrupted")

// ErrLong is returned by Line for a line that was too long: the editor has dropped its end.
var ErrLong = errors.New("a typed line holds at most 4,095 characters")

// mostTyped is how many characters of a line the editor takes from the keyboard. A pasted line may be longer.
const mostTyped = 4096

const (
	ctrlC       = 3
	pasteStarts = "\x1b[?2004h"
	pasteEnds   = "\x1b[?2004l"
)

// Config says where lines come from. In and Out are terminals. Complete returns the completed line, and the choices if there are several;
// nil completes nothing.
type Config struct {
	In, Out  *os.File
	History  *History
	Complete func(before string) (longer string, choices []string)
}

// Editor reads lines. One goroutine calls Line; any may call Write.
type Editor struct {
	cfg  Config
	keys *keys

	mu      sync.Mutex     // guards reading
	reading *term.Terminal // reads the present line; nil between lines

	term *term.Terminal
}

// Open returns an editor.
func Open(cfg Config) *Editor {
	e := &Editor{cfg: cfg, keys: &keys{in: cfg.In}}
	e.renew()
	return e
}

// renew makes an editor with an empty line. term's Terminal keeps what was typed before Ctrl-C, and would return it with the next line.
func (e *Editor) renew() {
	e.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, e.cfg.Out}, "")
	e.term.History = e.cfg.History
	if e.cfg.Complete != nil {
		e.term.AutoCompleteCallback = e.complete
	}
}

// Line reads a line.
func (e *Editor) Line(prompt string) (line string, err error) {
	was, err := term.MakeRaw(int(e.cfg.In.Fd()))
	if err != nil {
		return "", fmt.Errorf("read a line from the terminal: %w", err)
	}
	if width, height, err := term.GetSize(int(e.cfg.Out.Fd())); err == nil && width > 0 {
		_ = e.term.SetSize(width, height) // SetSize only fails if it cannot write, and then ReadLine fails, too
	}
	e.term.SetPrompt(prompt)
	e.setReading(e.term)
	defer func() {
		e.setReading(nil)
		err = errors.Join(err, e.say(pasteEnds), term.Restore(int(e.cfg.In.Fd()), was))
	}()
	if err := e.say(pasteStarts); err != nil {
		return "", err
	}
	e.keys.interrupted = false
	line, err = e.term.ReadLine()
	switch {
	case e.keys.interrupted && errors.Is(err, io.EOF):
		e.renew()
		return "", errors.Join(ErrInterrupted, e.say("^C\r\n"))
	case errors.Is(err, errFull):
		e.renew()
		return "", errors.Join(ErrInterrupted, e.say("\r\n"))
	case errors.Is(err, io.EOF):
		return "", errors.Join(io.EOF, e.say("\r\n"))
	case errors.Is(err, term.ErrPasteIndicator):
		return line, nil
	case err != nil:
		return "", fmt.Errorf("read a line from the terminal: %w", err)
	}
	if n := len([]rune(line)); n == mostTyped {
		return "", ErrLong
	}
	return line, nil
}

func (e *Editor) say(text string) error {
	_, err := io.WriteString(e.cfg.Out, text)
	return err
}

func (e *Editor) setReading(t *term.Terminal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reading = t
}

// Write shows text above the line that is being typed.
func (e *Editor) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reading != nil {
		return e.reading.Write(b)
	}
	return e.cfg.Out.Write(b)
}

// complete handles a key before the editor inserts it as a letter.
func (e *Editor) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	longer, choices := e.cfg.Complete(line[:pos])
	if longer == line[:pos] && len(choices) > 1 {
		_, _ = e.term.Write([]byte(columns(choices))) // if this write fails, the next read fails, too
	}
	return longer + line[pos:], len(longer), true
}

// mostShown is how many choices are listed.
const mostShown = 60

// columns arranges words in lines.
func columns(words []string) (text string) {
	const width = 76
	line := ""
	for i, w := range words {
		if i == mostShown {
			w = "…"
		}
		if line != "" && len(line)+2+len(w) > width {
			text, line = text+line+"\n", ""
		}
		if line != "" {
			line += "  "
		}
		if line += w; i == mostShown {
			break
		}
	}
	return text + line + "\n"
}

// errFull is returned when a sequence of control characters has no end.
var errFull = errors.New("no key sends this")

// keys is the input of the editor. The editor reports Ctrl-C as the end of the input; keys notes that it was Ctrl-C.
type keys struct {
	in          io.Reader
	interrupted bool
}

func (k *keys) Read(b []byte) (int, error) {
	if len(b) == 0 { // the beginning of a key's sequence has filled the editor's buffer
		return 0, errFull
	}
	n, err := k.in.Read(b)
	for _, c := range b[:n] {
		k.interrupted = k.interrupted || c == ctrlC
	}
	return n, err
}
