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

// overSSH dials an engine through the ssh program: keys, known hosts, agents and jump hosts are as people have set them up. It asks for no
// password, because nobody may be there to give it.
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

// pipes is a connection over the standard input and output of a program. It belongs to its user, who closes it: the client's pool, or who
// hijacked it.
type pipes struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	said *tail
	once sync.Once
}

func startConn(program string, args ...string) (net.Conn, error) {
	p := &pipes{cmd: exec.Command(program, args...), said: &tail{}}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		p.out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		p.cmd.Stderr = p.said
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w; install it, or use another engine address", program, err)
	}
	return p, nil
}

func (p *pipes) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if err != nil && n == 0 {
		err = p.why(err)
	}
	return n, err
}

func (p *pipes) Write(b []byte) (int, error) {
	n, err := p.in.Write(b)
	if err != nil {
		err = p.why(err)
	}
	return n, err
}

// why puts what the program said on its way out in place of "EOF".
func (p *pipes) why(err error) error {
	if text := p.said.last(); text != "" {
		return fmt.Errorf("%w: %s", errSSH, text)
	}
	return err
}

// CloseWrite ends what the engine reads, as hijacked connections need it.
func (p *pipes) CloseWrite() error { return p.in.Close() }

// Close ends the program and awaits it.
func (p *pipes) Close() error {
	p.once.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it was killed
	})
	return nil
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (p *pipes) LocalAddr() net.Addr  { return pipeAddr{} }
func (p *pipes) RemoteAddr() net.Addr { return pipeAddr{} }

// Deadlines are the callers' contexts: when one ends, the connection is closed.
func (p *pipes) SetDeadline(time.Time) error      { return nil }
func (p *pipes) SetReadDeadline(time.Time) error  { return nil }
func (p *pipes) SetWriteDeadline(time.Time) error { return nil }

// tail keeps the end of what a program says.
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
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
