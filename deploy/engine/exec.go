package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

var (
	// errExit is wrapped when a program in a container ends with another status than 0.
	errExit = errors.New("exit status")
	// ErrNotRunning is wrapped when a container should answer but does not run.
	ErrNotRunning = errors.New("it does not run")
)

// Exec runs a command in a running container, and returns its output. It gives up after within.
func (e *Engine) Exec(ctx context.Context, within time.Duration, name string, command ...string) (out string, err error) {
	var stdout, stderr bytes.Buffer
	err = e.callFor(ctx, within, fmt.Sprintf("ask %s (%s)", name, strings.Join(command, " ")), func(ctx context.Context) error {
		c, err := e.api.ContainerInspect(ctx, name)
		if err != nil {
			return err
		}
		if c.State == nil || !c.State.Running {
			return e.notRunning(ctx, name, c.State)
		}
		status, err := e.exec(ctx, name, command, &stdout, &stderr)
		if err == nil && status != 0 {
			err = fmt.Errorf("%w %d%s", errExit, status, colon(lastLine(stderr.String())))
		}
		return err
	})
	return stdout.String(), err
}

// notRunning returns the error for a container that has ended, with its exit status and last output.
func (e *Engine) notRunning(ctx context.Context, name string, state *container.State) error {
	how := ""
	if state != nil {
		how = fmt.Sprintf(" (exit status %d%s)", state.ExitCode, colon(state.Error))
	}
	text, _ := e.lastLog(ctx, name) // optional detail
	return fmt.Errorf("%w%s%s", ErrNotRunning, how, colon(lastLine(text)))
}

// colon puts a colon before a text, unless the text is empty.
func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func (e *Engine) exec(ctx context.Context, name string, command []string, stdout, stderr io.Writer) (status int, err error) {
	x, err := e.api.ContainerExecCreate(ctx, name, container.ExecOptions{Cmd: command, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return 0, err
	}
	a, err := e.api.ContainerExecAttach(ctx, x.ID, container.ExecAttachOptions{})
	if err != nil {
		return 0, err
	}
	stop := context.AfterFunc(ctx, a.Close) // a hijacked connection does not watch the context
	defer func() { stop(); a.Close() }()
	_, err = stdcopy.StdCopy(stdout, stderr, a.Reader)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, err
	}
	end, err := e.api.ContainerExecInspect(ctx, x.ID)
	return end.ExitCode, err
}

// lastLog returns the end of a container's log.
func (e *Engine) lastLog(ctx context.Context, name string) (string, error) {
	var b bytes.Buffer
	err := e.Logs(ctx, name, "20", false, &b, &b)
	return b.String(), err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Logs writes a container's log. If follow is set it continues with new lines until ctx ends. tail is a number of lines, or "all".
func (e *Engine) Logs(ctx context.Context, name, tail string, follow bool, out, errs io.Writer) error {
	r, err := e.api.ContainerLogs(ctx, name, container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: follow, Tail: tail})
	if err == nil {
		defer func() { _ = r.Close() }()
		if _, err = stdcopy.StdCopy(out, errs, r); ctx.Err() != nil {
			err = nil // the caller ended it
		}
	}
	if err != nil {
		return fmt.Errorf("host %s: logs of %s: %w", e.Host, name, err)
	}
	return nil
}
