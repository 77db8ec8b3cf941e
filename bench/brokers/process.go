package brokers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errEnded reports a server that ended with exit code 0 before it answered.
var errEnded = errors.New("it has ended")

// process is a server that runs in a process group of its own. It ends when its standard input is closed. One goroutine
// calls its methods.
type process struct {
	dir   string        // holds its data, and out.log
	cmd   *exec.Cmd     // nil while it is dead
	ended chan struct{} // closed when cmd has ended
	how   error         // the result of cmd; valid after ended is closed
}

// start starts cmd, and polls ready until it reports that the server answers. If the server does not answer in time,
// start kills it.
func (p *process) start(ctx context.Context, cmd *exec.Cmd, every time.Duration, ready func() bool) error {
	log, err := os.OpenFile(filepath.Join(p.dir, "out.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own handle
	cmd.Stdout, cmd.Stderr = log, log
	if _, err := cmd.StdinPipe(); err != nil { // when this process ends in any way, the pipe is closed, and the server ends
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.ended = cmd, make(chan struct{})
	go func() {
		defer close(p.ended)
		p.how = cmd.Wait()
	}()
	for !ready() {
		select {
		case <-p.ended:
			if err = p.how; err == nil {
				err = errEnded
			}
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-time.After(every):
			continue
		}
		p.Kill()
		return fmt.Errorf("%w: %s", err, p.lastWords())
	}
	return nil
}

func (p *process) lastWords() string {
	b, _ := os.ReadFile(filepath.Join(p.dir, "out.log")) // the file may be empty
	return strings.TrimSpace(string(b[max(0, len(b)-500):]))
}

// Kill ends the server at once (SIGKILL).
func (p *process) Kill() {
	if p.cmd == nil {
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
	<-p.ended
	for len(p.PIDs()) > 0 { // after this its ports are free
		time.Sleep(10 * time.Millisecond)
	}
	p.cmd = nil
}

// Signal sends a signal to all processes of the server.
func (p *process) Signal(s syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, s) }

// PIDs lists the processes of the server, so that their costs can be measured.
func (p *process) PIDs() []int {
	if p.cmd == nil {
		return nil
	}
	all, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, file := range all {
		pid, err := strconv.Atoi(filepath.Base(file))
		if err != nil {
			continue
		}
		if group, err := syscall.Getpgid(pid); err == nil && group == p.cmd.Process.Pid && !dead(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// dead reports whether a process has ended, even as a zombie: in a container, a parent may never wait for it.
func dead(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// Close ends the server and removes its data.
func (p *process) Close() error {
	p.Kill()
	return os.RemoveAll(p.dir)
}
