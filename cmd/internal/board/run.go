package board

import (
	"context"
	"errors"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Config says where the board is shown and where it gets what it shows.
type Config struct {
	In, Out *os.File // terminals
	Colours bool

	// Look waits until there is something new to show, or ctx ends. One goroutine calls it.
	Look func(ctx context.Context) (*Seen, error)
}

// Run shows the board until a key or ctx ends it.
func Run(ctx context.Context, cfg Config) error {
	return run(ctx, cfg.Look, cfg.Colours, tea.WithInput(cfg.In), tea.WithOutput(cfg.Out))
}

// run returns when the program and the goroutine that looks have ended.
func run(ctx context.Context, look func(context.Context) (*Seen, error), colours bool, options ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := tea.NewProgram(model{screen: Screen{Width: 80, Height: 24, Colours: colours}}, append(options, tea.WithContext(ctx), tea.WithoutSignalHandler())...)
	looked := make(chan error, 1)
	go func() {
		for {
			seen, err := look(ctx)
			if err != nil {
				looked <- err
				p.Quit()
				return
			}
			p.Send(seen)
		}
	}()
	_, err := p.Run()
	ended := ctx.Err() != nil
	cancel()
	if failed := <-looked; !ended && !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	if ended && errors.Is(err, tea.ErrProgramKilled) {
		return nil // Ctrl-C from outside is how a user ends it
	}
	return err
}

// model is the state between two events. Its methods take and return it by value, as bubbletea requires.
type model struct {
	seen   *Seen
	screen Screen
	last   int // how far the view can be scrolled
}

func (m model) Init() tea.Cmd { return nil }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case *Seen:
		m.seen = msg
	case tea.WindowSizeMsg:
		m.screen.Width, m.screen.Height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		var over bool
		if m.screen, over = m.screen.press(msg.String(), m.last); over {
			return m, tea.Quit
		}
	}
	if m.seen != nil {
		_, m.last = Draw(m.seen, m.screen)
		m.screen.From = min(m.screen.From, m.last)
	}
	return m, nil
}

func (m model) View() tea.View {
	text := "listening to the nodes"
	if m.seen != nil {
		lines, _ := Draw(m.seen, m.screen)
		text = strings.Join(lines, "\n")
	}
	v := tea.NewView(text)
	v.AltScreen = true
	return v
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
	case "pgdown", "space":
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
