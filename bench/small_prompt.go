package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"posta.dev/posta/internal/pty"
)

// promptTimes types statements at the prompt of posta sql.
func (c *Config) promptTimes(ctx context.Context, dir string, statements int) (_ []Measure, err error) {
	state, err := os.MkdirTemp(c.Dir, "r") // of the prompt's history
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	controller, tty, err := pty.Open(80, 24)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, c.Self[0], "sql", "--data", dir)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "TERM=xterm")
	if err := errors.Join(pty.Start(cmd, tty), tty.Close()); err != nil {
		return nil, errors.Join(err, controller.Close())
	}
	defer func() {
		_ = cmd.Process.Kill() // it has nothing to save
		_ = cmd.Wait()
		err = errors.Join(err, controller.Close())
	}()
	p := &promptReader{terminal: controller}
	var times []time.Duration
	var before time.Duration
	for i := range statements + 1 {
		if err := p.until("posta> "); err != nil {
			return nil, err
		}
		if i == 1 { // the statement before has started the node
			before = cpuTimeOf(cmd.Process.Pid)
		}
		begin := time.Now()
		if _, err := controller.WriteString(smallText + ";\r"); err != nil {
			return nil, err
		}
		if err := p.until(smallAnswer); err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, time.Since(begin))
		}
	}
	return statementTimes(times, cpuTimeOf(cmd.Process.Pid)-before), nil
}

// promptReader reads what a terminal shows.
type promptReader struct {
	terminal *os.File
	shown    string // and not looked for yet
}

// until reads until a text is shown.
func (p *promptReader) until(text string) error {
	for b := make([]byte, 4<<10); ; {
		if _, rest, found := strings.Cut(p.shown, text); found {
			p.shown = rest
			return nil
		}
		n, err := p.terminal.Read(b)
		p.shown += string(b[:n])
		if err != nil { // no process has the terminal open any more
			return fmt.Errorf("the prompt ends before it shows %q, with %q: %w", text, p.shown, err)
		}
	}
}
