package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// ErrExit is wrapped when a program in a container ends with another status than 0.
var ErrExit = errors.New("exit status")

// ErrNotRunning is wrapped when a container is to answer and does not run.
var ErrNotRunning = errors.New("it does not run")

// Exec runs a command in a container that runs, and returns what it prints.
func (e *Engine) Exec(ctx context.Context, name string, command ...string) (out string, err error) {
	c, err := e.api.ContainerInspect(ctx, name)
	if err != nil {
		return "", fmt.Errorf("host %s: look at %s: %w", e.Host, name, err)
	}
	if c.State == nil || !c.State.Running {
		why := ""
		if c.State != nil {
			why = fmt.Sprintf(" (exit status %d %s)", c.State.ExitCode, c.State.Error)
		}
		text, _ := e.said(ctx, name) // what it says is a help, not more
		return "", fmt.Errorf("host %s: %s: %w%s: %s", e.Host, name, ErrNotRunning, why, lastLine(text))
	}
	x, err := e.api.ContainerExecCreate(ctx, name, container.ExecOptions{Cmd: command, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return "", fmt.Errorf("host %s: ask %s: %w", e.Host, name, err)
	}
	a, err := e.api.ContainerExecAttach(ctx, x.ID, container.ExecAttachOptions{})
	if err != nil {
		return "", fmt.Errorf("host %s: ask %s: %w", e.Host, name, err)
	}
	stop := context.AfterFunc(ctx, a.Close) // a hijacked connection knows no context
	defer func() { stop(); a.Close() }()
	var stdout, stderr bytes.Buffer
	if _, err := stdcopy.StdCopy(&stdout, &stderr, a.Reader); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("host %s: ask %s: %w", e.Host, name, err)
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("host %s: ask %s: %w", e.Host, name, context.Cause(ctx))
	}
	end, err := e.api.ContainerExecInspect(ctx, x.ID)
	if err != nil {
		return "", fmt.Errorf("host %s: ask %s: %w", e.Host, name, err)
	}
	if end.ExitCode != 0 {
		return stdout.String(), fmt.Errorf("host %s: %s: %w %d: %s", e.Host, name, ErrExit, end.ExitCode, lastLine(stderr.String()))
	}
	return stdout.String(), nil
}

// said is the end of a container's log.
func (e *Engine) said(ctx context.Context, name string) (string, error) {
	var b bytes.Buffer
	err := e.Logs(ctx, name, "20", false, &b, &b)
	return b.String(), err
}

// Logs writes a container's log, and goes on with it if follow is set, until ctx ends. tail is a number of lines, or "all".
func (e *Engine) Logs(ctx context.Context, name, tail string, follow bool, out, errs io.Writer) error {
	r, err := e.api.ContainerLogs(ctx, name, container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: follow, Tail: tail})
	if err != nil {
		return fmt.Errorf("host %s: logs of %s: %w", e.Host, name, err)
	}
	defer func() { _ = r.Close() }()
	if _, err := stdcopy.StdCopy(out, errs, r); err != nil && ctx.Err() == nil {
		return fmt.Errorf("host %s: logs of %s: %w", e.Host, name, err)
	}
	return nil
}
