//go:build docker

package docker

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
)

// mood is the engine's behaviour towards medics.
type mood int

const (
	quick mood = iota
	slow       // each piece of a request arrives late
	deaf       // no request arrives
	mute       // requests arrive, and are carried out; no answer comes
)

// lateBy is how late a slow engine is.
const lateBy = 800 * time.Millisecond

// engine stands between medics and the real engine's socket.
type engine struct {
	path     string
	listener net.Listener
	real     string
	wg       sync.WaitGroup

	mu      sync.Mutex
	mood    mood
	changed chan struct{} // closed when mood changes
	ended   bool
	conns   []net.Conn
}

// engineSocket returns where the real one listens.
func engineSocket(t *testing.T) string {
	t.Helper()
	path, err := clustertest.Command("docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		path = host
	}
	if err != nil || len(path) < 8 || path[:7] != "unix://" {
		t.Fatalf("the engine is at %q (%v); the tests of containers need one with a unix socket", path, err)
	}
	return path[7:]
}

func newEngine(t *testing.T, dir string) *engine {
	t.Helper()
	e := &engine{path: filepath.Join(dir, "engine.sock"), real: engineSocket(t), changed: make(chan struct{})}
	var err error
	if e.listener, err = net.Listen("unix", e.path); err == nil {
		err = os.Chmod(e.path, 0o666) // containers may not bypass permissions
	}
	if err != nil {
		t.Fatal(err)
	}
	e.wg.Add(1)
	go e.accept()
	t.Cleanup(e.close)
	return e
}

func (e *engine) accept() {
	defer e.wg.Done()
	for {
		c, err := e.listener.Accept()
		if err != nil {
			return
		}
		r, err := net.Dial("unix", e.real)
		if err != nil || !e.keep(c, r) {
			_ = c.Close()
			continue
		}
		e.wg.Add(2)
		go e.carry(r, c, func(m mood) bool { return m == deaf }, slow)
		go e.carry(c, r, func(m mood) bool { return m == mute }, -1)
	}
}

func (e *engine) keep(conns ...net.Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.conns = append(e.conns, conns...)
	}
	return !e.ended
}

// carry copies one direction, as the mood lets it.
func (e *engine) carry(to, from net.Conn, held func(mood) bool, late mood) {
	defer e.wg.Done()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if e.wait(held, late); e.over() {
				err = io.ErrClosedPipe
			} else if _, werr := to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			if w, ok := to.(*net.UnixConn); ok && errors.Is(err, io.EOF) {
				_ = w.CloseWrite()
			} else {
				_, _ = to.Close(), from.Close()
			}
			return
		}
	}
}

// wait returns when what was read may continue.
func (e *engine) wait(held func(mood) bool, late mood) {
	for {
		e.mu.Lock()
		m, changed := e.mood, e.changed
		e.mu.Unlock()
		if m == late {
			select {
			case <-time.After(lateBy):
			case <-changed:
			}
			return
		}
		if !held(m) {
			return
		}
		<-changed
	}
}

func (e *engine) over() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended
}

// be sets the mood. Held requests continue if the new mood allows it.
func (e *engine) be(m mood) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mood = m
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *engine) close() {
	e.mu.Lock()
	e.ended = true
	conns := e.conns
	e.mu.Unlock()
	_ = e.listener.Close()
	e.be(quick)
	for _, c := range conns {
		_ = c.Close()
	}
	e.wg.Wait()
}
