package board

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// Config says where the board is shown and where its content comes from.
type Config struct {
	In, Out *os.File // terminals
	Colours bool

	// Look waits until there is something new to show, or ctx ends. One goroutine calls it.
	Look func(ctx context.Context) (*Seen, error)
}

// Run shows the board until a key or ctx ends it. It asks the terminal nothing, because some terminals do not answer.
//
// Bubbletea was rejected: it makes the program larger by 1.4 MB, and the little that is needed of it is below.
func Run(ctx context.Context, cfg Config) (err error) {
	was, err := term.MakeRaw(int(cfg.In.Fd()))
	if err != nil {
		return fmt.Errorf("take keys from the terminal: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(int(cfg.In.Fd()), was)) }()
	in, err := cancelreader.NewReader(cfg.In)
	if err != nil {
		return fmt.Errorf("take keys from the terminal: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	return run(ctx, cfg.Look, view{in: in, out: cfg.Out, resized: resized, colours: cfg.Colours, size: func() (width, height int) {
		if width, height, err := term.GetSize(int(cfg.Out.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
		return 80, 24
	}})
}

// view is a terminal in raw mode.
type view struct {
	in      cancelreader.CancelReader
	out     io.Writer
	resized <-chan os.Signal
	size    func() (width, height int)
	colours bool
}

const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// run returns when the goroutines that look and that read keys have ended.
func run(ctx context.Context, look func(context.Context) (*Seen, error), v view) error {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	news, keys, failed := make(chan *Seen), make(chan string), make(chan error, 1)
	wait.Add(2)
	go func() {
		defer wait.Done()
		failed <- each(ctx, look, news)
	}()
	go func() {
		defer wait.Done()
		readKeys(ctx, v.in, keys)
	}()
	_, err := io.WriteString(v.out, enterScreen)
	if err == nil {
		err = v.show(ctx, news, keys, failed)
	}
	cancel()
	v.in.Cancel()
	wait.Wait()
	_, left := io.WriteString(v.out, leaveScreen)
	return errors.Join(err, left)
}

// each passes on what look returns, until look fails or ctx ends.
func each(ctx context.Context, look func(context.Context) (*Seen, error), news chan<- *Seen) error {
	for {
		seen, err := look(ctx)
		if err != nil {
			return err
		}
		select {
		case news <- seen:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// show draws until a key or ctx ends it, or until look has failed.
func (v view) show(ctx context.Context, news <-chan *Seen, keys <-chan string, failed <-chan error) error {
	m := model{screen: Screen{Colours: v.colours}}
	drawn := ""
	for {
		m.resize(v.size())
		if text := m.draw(); text != drawn {
			drawn = text
			if _, err := io.WriteString(v.out, text); err != nil {
				return fmt.Errorf("draw on the terminal: %w", err)
			}
		}
		select {
		case seen := <-news:
			m.see(seen)
		case key := <-keys:
			if m.press(key) {
				return nil
			}
		case <-v.resized:
			drawn = "" // terminals move lines when their size changes
		case err := <-failed:
			if ctx.Err() != nil || errors.Is(err, context.Canceled) {
				return nil // Ctrl-C from outside is how a user ends it
			}
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// model is the state of the board: what is shown, and which part of it.
type model struct {
	seen   *Seen
	screen Screen
	last   int // how far the view can be scrolled
}

func (m *model) see(s *Seen) { m.seen = s; m.settle() }

func (m *model) resize(width, height int) {
	m.screen.Width, m.screen.Height = width, height
	m.settle()
}

func (m *model) press(key string) (over bool) {
	m.screen, over = m.screen.press(key, m.last)
	m.settle()
	return over
}

// settle keeps the view within its scroll range.
func (m *model) settle() {
	if m.seen != nil {
		_, m.last = Draw(m.seen, m.screen)
		m.screen.From = min(m.screen.From, m.last)
	}
}

// draw returns the text that draws all lines of the terminal. Each line is cleared before its text: clearing after a text as wide as the
// terminal would remove the last character of the text.
func (m *model) draw() string {
	lines := []string{"listening to the nodes"}
	if m.seen != nil {
		lines, _ = Draw(m.seen, m.screen)
	}
	return "\x1b[H\x1b[2K" + strings.Join(lines, "\r\n\x1b[2K")
}

// press returns the screen after a key, and whether the board ends.
func (c Screen) press(key string, last int) (Screen, bool) {
	page := max(1, c.Height-4)
	switch key {
	case "q", "ctrl+c", "esc":
		return c, true
	case "tab", "right":
		c.View, c.From = (c.View+1)%views, 0
	case "shift+tab", "left":
		c.View, c.From = (c.View+views-1)%views, 0
	case "down", "j":
		c.From++
	case "up", "k":
		c.From--
	case "pgdown", " ":
		c.From += page
	case "pgup":
		c.From -= page
	case "home", "g":
		c.From = 0
	case "end", "G":
		c.From = last
	case "?":
		c.View, c.From = Help, 0
	}
	for v, name := range names {
		if key == name[:1] {
			c.View, c.From = View(v), 0
		}
	}
	c.From = min(max(0, c.From), last)
	return c, false
}
