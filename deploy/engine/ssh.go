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
	mute chan struct{} // closed when the program has said its last word
	once sync.Once
}

func startConn(program string, args ...string) (net.Conn, error) {
	p := &pipes{cmd: exec.Command(program, args...), said: &tail{}, mute: make(chan struct{})}
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
		defer close(p.mute)
		_, _ = io.Copy(p.said, words) // what is missing is missing in an error's text
	}()
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

// why puts what the program said on its way out in place of "EOF". The end of what it answers may be seen before the end of what it
// complains of.
func (p *pipes) why(err error) error {
	select {
	case <-p.mute:
	case <-time.After(lastWords):
	}
	if text := p.said.last(); text != "" {
		return fmt.Errorf("%w: %s", errSSH, text)
	}
	return err
}

// lastWords is what a program that has ended its answers gets to say why, before nobody listens any more.
const lastWords = time.Second

// CloseWrite ends what the engine reads, as hijacked connections need it.
func (p *pipes) CloseWrite() error { return p.in.Close() }

// Close ends the program and awaits it.
func (p *pipes) Close() error {
	p.once.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it was killed; whatever it left behind is not listened to any more
		<-p.mute
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
