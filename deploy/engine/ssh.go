package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// errSSH is wrapped when the ssh program ends before it is told to.
var errSSH = errors.New("ssh ended")

// overSSH dials an engine through the ssh program, so that the user's configuration of keys, known hosts, agents and jump hosts applies. It
// never asks for a password, because it may run unattended.
func overSSH(u *url.URL) func(ctx context.Context, network, addr string) (net.Conn, error) {
	args := []string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-T"}
	if user := u.User.Username(); user != "" {
		args = append(args, "-l", user)
	}
	if p := u.Port(); p != "" {
		args = append(args, "-p", p)
	}
	args = append(args, "--", u.Hostname(), "docker", "system", "dial-stdio")
	return func(context.Context, string, string) (net.Conn, error) { return startConn("ssh", args...) }
}

// pipeConn is a connection over the standard input and output of a program. Its user closes it: the client's pool, or the code that
// hijacked it.
type pipeConn struct {
	cmd         *exec.Cmd
	in          io.WriteCloser
	out         io.ReadCloser
	stderr      *tail
	stderrEnded chan struct{} // closed when all of stderr is read
	once        sync.Once
}

func startConn(program string, args ...string) (net.Conn, error) {
	p := &pipeConn{cmd: exec.Command(program, args...), stderr: &tail{}, stderrEnded: make(chan struct{})}
	var err error
	var words io.Reader
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		p.out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		words, err = p.cmd.StderrPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w; install it, or use another engine address", program, err)
	}
	go func() { // Close awaits it
		defer close(p.stderrEnded)
		_, _ = io.Copy(p.stderr, words) // an error only shortens the text of another error
	}()
	return p, nil
}

func (p *pipeConn) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if err != nil && n == 0 {
		err = p.why(err)
	}
	return n, err
}

func (p *pipeConn) Write(b []byte) (int, error) {
	n, err := p.in.Write(b)
	if err != nil {
		err = p.why(err)
	}
	return n, err
}

// why replaces "EOF" by the last line of the program's standard error, which may arrive after the end of its standard output.
func (p *pipeConn) why(err error) error {
	select {
	case <-p.stderrEnded:
	case <-time.After(stderrWait):
	}
	if text := p.stderr.last(); text != "" {
		return fmt.Errorf("%w: %s", errSSH, text)
	}
	return err
}

// stderrWait is how long to wait for the standard error of a program that has closed its standard output.
const stderrWait = time.Second

// CloseWrite closes the engine's input, as hijacked connections need it.
func (p *pipeConn) CloseWrite() error { return p.in.Close() }

// Close ends the program and waits for it.
func (p *pipeConn) Close() error {
	p.once.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it was killed, so its status does not matter
		<-p.stderrEnded
	})
	return nil
}

func (p *pipeConn) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
func (p *pipeConn) RemoteAddr() net.Addr { return p.LocalAddr() }

// Deadlines are the callers' contexts: when one ends, the connection is closed.
func (p *pipeConn) SetDeadline(time.Time) error      { return nil }
func (p *pipeConn) SetReadDeadline(time.Time) error  { return nil }
func (p *pipeConn) SetWriteDeadline(time.Time) error { return nil }

// tail keeps the end of a program's output.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > maxTail {
		t.b = t.b[len(t.b)-maxTail:]
	}
	return len(p), nil
}

const maxTail = 4 << 10

func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(lastLine(string(t.b)))
}
