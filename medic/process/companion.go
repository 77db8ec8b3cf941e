package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Companion keeps one child process beside this one. This process depends on nothing that the companion does: the companion has its own
// memory and a lower scheduling priority. The companion is started again when it ends, or when it writes nothing for Silence. It ends with
// this process, however this one ends.
type Companion struct {
	Name    string // name of the companion in the log
	Command []string
	Env     []string // added to the environment of this process
	Log     *slog.Logger
	// Silence: the companion is killed after this long without a line on its standard output. It writes lines as signs of life.
	Silence time.Duration
	Pause   time.Duration // before the next start; doubled each time up to maxPause, until a companion has run for that long

	mu  sync.Mutex
	now *os.Process // nil: none runs

	beat func() // called at each sign of life; nil outside of tests
}

const (
	maxPause = time.Minute
	maxSaid  = 200     // lines of its standard error that are logged of one process
	maxLine  = 2 << 10 // bytes of one line that are logged
)

// Run keeps the process until ctx ends, and then ends it.
func (c *Companion) Run(ctx context.Context) {
	// this thread lowers its priority, and the companion that it forks inherits that; the companion ends with the thread
	thread := newForkThread()
	defer thread.close()
	_ = thread.do(beNicer) // if it fails, the companion runs with the same priority as this process
	pause := c.Pause
	for {
		began := time.Now()
		err := c.once(ctx, thread)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) >= maxPause {
			pause = c.Pause
		}
		c.Log.Warn("a process beside this one has ended and is started again", "name", c.Name, "err", err, "in", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, maxPause)
	}
}

// Signal sends a signal to the process if it runs.
func (c *Companion) Signal(sig os.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil {
		_ = c.now.Signal(sig) // it may have ended
	}
}

var errSilent = errors.New("it said nothing for too long, and was killed")

// once runs the process until it ends.
func (c *Companion) once(ctx context.Context, thread *forkThread) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Env = append(slices.DeleteFunc(Environment(), func(v string) bool { return strings.HasPrefix(v, logFileVar+"=") }), c.Env...)
	cmd.SysProcAttr = dieWithParent()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second // then it is killed
	beats, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := thread.do(cmd.Start); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	c.set(cmd.Process)
	defer c.set(nil)
	silent := time.AfterFunc(c.Silence, func() {
		cancel(errSilent)
		_ = cmd.Process.Kill() // it does not listen to other signals
	})
	defer silent.Stop()
	var readers sync.WaitGroup
	readers.Add(2)
	go func() {
		defer readers.Done()
		b := make([]byte, 256)
		for {
			n, err := beats.Read(b)
			if n > 0 {
				silent.Reset(c.Silence)
				if c.beat != nil {
					c.beat()
				}
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer readers.Done()
		c.pass(said)
	}()
	readers.Wait()
	err = cmd.Wait()
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

func (c *Companion) set(p *os.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = p
}

// pass logs what the process writes to standard error. Text beyond the limits is read and dropped, so that the process never blocks on a
// full pipe.
func (c *Companion) pass(from io.Reader) {
	lines := bufio.NewReaderSize(from, maxLine)
	for n := 0; ; {
		line, more, err := lines.ReadLine()
		if err != nil {
			return
		}
		if n < maxSaid && !more {
			c.Log.Warn(c.Name + ": " + string(line))
			n++
		}
	}
}
