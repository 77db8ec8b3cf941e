package zmqx

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/security"
)

func TestMain(m *testing.M) {
	if do := os.Getenv(asStranger); do != "" {
		strangersPart(do)
		return
	}
	goleak.VerifyTestMain(m)
}

// deadlineForTests is when a test gives up. If the code is right, no test waits for it.
const deadlineForTests = 2 * time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), deadlineForTests)
	t.Cleanup(cancel)
	return ctx
}

// onBoth runs a test over both transports, with an endpoint to listen on.
func onBoth(t *testing.T, fn func(t *testing.T, endpoint string)) {
	t.Run("tcp", func(t *testing.T) { fn(t, "tcp://127.0.0.1:0") })
	t.Run("ipc", func(t *testing.T) { fn(t, ipcEndpoint(t)) })
}

// ipcEndpoint returns an endpoint in a directory with a short name, because socket paths are short and t.TempDir contains the name of the
// test.
func ipcEndpoint(t testing.TB) string {
	dir, err := os.MkdirTemp("", "zmqx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return "ipc://" + filepath.Join(dir, "s")
}

type closer interface{ Close() error }

// closing closes s at the end of the test; closing twice is allowed.
func closing[S closer](t testing.TB, s S, err error) S {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newPush(t testing.TB, o Options, endpoint string) *Push {
	t.Helper()
	p, err := NewPush(o)
	closing(t, p, err)
	noError(t, p.Connect(endpoint))
	return p
}

func newPull(t testing.TB, o Options, endpoint string) (*Pull, string) {
	t.Helper()
	p, err := NewPull(o)
	closing(t, p, err)
	return p, must[string](t)(p.Listen(endpoint))
}

func newPub(t testing.TB, o Options, endpoint string) (*Pub, string) {
	t.Helper()
	p, err := NewPub(o)
	closing(t, p, err)
	return p, must[string](t)(p.Listen(endpoint))
}

func newSub(t testing.TB, o Options, endpoints ...string) *Sub {
	t.Helper()
	s, err := NewSub(o)
	closing(t, s, err)
	for _, e := range endpoints {
		must[int](t)(s.Connect(e))
	}
	return s
}

func newRouter(t testing.TB, o Options, endpoint string) (*Router, string) {
	t.Helper()
	r, err := NewRouter(o)
	closing(t, r, err)
	return r, must[string](t)(r.Listen(endpoint))
}

func newReq(t testing.TB, o Options, endpoint string) *Req {
	t.Helper()
	r, err := NewReq(o)
	closing(t, r, err)
	noError(t, r.Connect(endpoint))
	return r
}

// text makes a message of words.
func text(parts ...string) Message {
	m := make(Message, len(parts))
	for i, p := range parts {
		m[i] = []byte(p)
	}
	return m
}

func show(m Message) string {
	parts := make([]string, len(m))
	for i, p := range m {
		parts[i] = string(p)
		if len(p) > 40 {
			parts[i] = fmt.Sprintf("%.20s...(%d)", p, len(p))
		}
	}
	return strings.Join(parts, "|")
}

type receiver interface {
	Recv(context.Context) ([]Received, error)
}

// collector receives one message at a time.
type collector struct {
	from receiver
	rest []Received
}

func (c *collector) next(t testing.TB) Received {
	t.Helper()
	if len(c.rest) == 0 {
		batch, err := c.from.Recv(testContext(t))
		if err != nil {
			t.Fatalf("receive: %v", err)
		}
		if len(batch) == 0 {
			t.Fatal("an empty batch was received")
		}
		c.rest = batch
	}
	r := c.rest[0]
	c.rest = c.rest[1:]
	return r
}

func (c *collector) expect(t testing.TB, want string) Received {
	t.Helper()
	r := c.next(t)
	if got := show(r.Msg); got != want {
		t.Fatalf("received %q, want %q", got, want)
	}
	return r
}

// events collects the calls of OnEvent.
type events chan Event

func newEvents() events { return make(events, 1<<16) }

func (e events) take(ev Event) { e <- ev }

func (e events) await(t testing.TB, kind EventKind) Event {
	t.Helper()
	timeout := time.After(deadlineForTests)
	for {
		select {
		case ev := <-e:
			if ev.Kind == kind {
				return ev
			}
		case <-timeout:
			t.Fatalf("no event %v came", kind)
		}
	}
}

// rawDial opens a TCP or unix connection without any protocol.
func rawDial(t testing.TB, endpoint string) net.Conn {
	t.Helper()
	e, err := parseEndpoint(endpoint)
	noError(t, err)
	conn, err := net.Dial(e.network, e.address)
	noError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// expectClosed reads until the other side has closed the connection.
func expectClosed(t testing.TB, conn net.Conn) {
	t.Helper()
	noError(t, conn.SetReadDeadline(time.Now().Add(deadlineForTests)))
	buf := make([]byte, 4096)
	for {
		if _, err := conn.Read(buf); err != nil {
			if os.IsTimeout(err) {
				t.Fatal("the connection was not closed")
			}
			return
		}
	}
}

// anyone admits every peer that has proven its name.
func anyone(security.Identity) error { return nil }
