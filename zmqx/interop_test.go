//go:build interop

package zmqx

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// These tests talk to libzmq through Python's zmq module. Run them with
//
//	go test -tags interop -run Interop ./zmqx
//
// POSTA_PYTHON names the interpreter that has the module; default python3.

// python runs a script and returns its standard output as lines. The script's first argument is the endpoint.
func python(t *testing.T, script string, args ...string) (next func() string) {
	t.Helper()
	interpreter := os.Getenv("POSTA_PYTHON")
	if interpreter == "" {
		interpreter = "python3"
	}
	cmd := exec.CommandContext(testContext(t), interpreter, append([]string{"-c", "import sys, zmq\nc = zmq.Context()\n" + script},
		args...)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	return func() string {
		t.Helper()
		if !lines.Scan() {
			cmd.Wait()
			t.Fatalf("the libzmq side ended: %v\n%s", lines.Err(), complaints.String())
		}
		return lines.Text()
	}
}

func TestInterop_PushFromLibzmq(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		python(t, `
s = c.socket(zmq.PUSH); s.connect(sys.argv[1])
for i in range(1000): s.send_multipart([b"%d" % i, b"x" * (i * 37)])
c.term()`, address)
		from := &collector{from: pull}
		for i := range 1000 {
			m := from.next(t).Msg
			if len(m) != 2 || string(m[0]) != fmt.Sprint(i) || len(m[1]) != i*37 {
				t.Fatalf("message %d is %s", i, show(m))
			}
		}
	})
}

func TestInterop_PullByLibzmq(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		address := interopAddress(t, endpoint)
		next := python(t, `
s = c.socket(zmq.PULL); s.bind(sys.argv[1]); print("bound", flush=True)
for i in range(1000):
    m = s.recv_multipart()
    assert m[0] == b"%d" % i and m[1] == b"x" * (i * 37), (i, m[0])
print("ok", flush=True)`, address)
		next()
		push := newPush(t, Options{}, address)
		for i := range 1000 {
			noError(t, push.send(testContext(t), text(fmt.Sprint(i), strings.Repeat("x", i*37))))
		}
		if got := next(); got != "ok" {
			t.Fatal(got)
		}
	})
}

func TestInterop_SubByLibzmq(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pub, address := newPub(t, Options{}, endpoint)
		next := python(t, `
s = c.socket(zmq.SUB); s.subscribe(b"a"); s.subscribe(b"b"); s.connect(sys.argv[1])
print(s.recv().decode(), flush=True)
s.unsubscribe(b"b")
for _ in range(2): print(s.recv().decode(), flush=True)`, address)
		subscribed(t, pub, 2)
		noError(t, pub.Send(text("x1"), text("b1")))
		if got := next(); got != "b1" {
			t.Fatal(got)
		}
		subscribed(t, pub, 1)
		noError(t, pub.Send(text("b2"), text("a2"), text("b3"), text("a3")))
		if got := next() + next(); got != "a2a3" {
			t.Fatal(got)
		}
	})
}

func TestInterop_PubByLibzmq(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		address := interopAddress(t, endpoint)
		next := python(t, `
s = c.socket(zmq.XPUB); s.bind(sys.argv[1]); print("bound", flush=True)
print(s.recv().decode(), flush=True)
for m in (b"u1", b"t1", b"t2"): s.send(m)
print(s.recv().decode(), flush=True)
for m in (b"t3", b"u2"): s.send(m)
s.recv()`, address)
		next()
		sub := newSub(t, Options{}, address)
		noError(t, sub.Subscribe("t"))
		if got := next(); got != "\x01t" {
			t.Fatalf("the publisher heard %q", got)
		}
		from := &collector{from: sub}
		from.expect(t, "t1")
		from.expect(t, "t2")
		unsubscribe(t, sub, "t")
		if got := next(); got != "\x00t" {
			t.Fatalf("the publisher heard %q", got)
		}
	})
}

func TestInterop_ReqAndDealerOfLibzmqAskOurRouter(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		router, address := newRouter(t, Options{}, endpoint)
		echo(t, router)
		next := python(t, `
s = c.socket(zmq.REQ); s.setsockopt(zmq.IDENTITY, b"me"); s.connect(sys.argv[1])
for i in range(100):
    s.send_multipart([b"%d" % i, b"", b"z" * 100000])
    assert s.recv_multipart() == [b"%d" % i, b"", b"z" * 100000]
d = c.socket(zmq.DEALER); d.setsockopt(zmq.IDENTITY, b"me"); d.connect(sys.argv[1])
d.send_multipart([b"no", b"delimiter"]); assert d.recv_multipart() == [b"no", b"delimiter"]
s.send(b"still"); assert s.recv() == b"still"
print("ok", flush=True)`, address)
		if got := next(); got != "ok" {
			t.Fatal(got)
		}
	})
}

func TestInterop_OurReqAsksRepAndRouterOfLibzmq(t *testing.T) {
	for _, server := range []string{
		`s = c.socket(zmq.REP); s.bind(sys.argv[1]); print("bound", flush=True)
while True: s.send_multipart(s.recv_multipart())`,
		`s = c.socket(zmq.ROUTER); s.bind(sys.argv[1]); print("bound", flush=True)
while True: s.send_multipart(s.recv_multipart())`,
	} {
		onBoth(t, func(t *testing.T, endpoint string) {
			address := interopAddress(t, endpoint)
			python(t, server, address)()
			req := newReq(t, Options{}, address)
			for i := range 100 {
				got, err := req.Do(testContext(t), text(fmt.Sprint(i), ""))
				if err != nil || show(got) != fmt.Sprint(i, "|") {
					t.Fatalf("%q, %v", show(got), err)
				}
			}
		})
	}
}

// TestInterop_HeartbeatsOfLibzmq: libzmq's heartbeats (PING with a TTL) keep the connection alive in both directions. The peer lasts longer
// than its timeout, so a missing answer ends the connection; and the timeout is so long that no slow machine does.
func TestInterop_HeartbeatsOfLibzmq(t *testing.T) {
	pull, address := newPull(t, Options{}, "tcp://127.0.0.1:0")
	python(t, `
import time
s = c.socket(zmq.PUSH); s.setsockopt(zmq.HEARTBEAT_IVL, 20); s.setsockopt(zmq.HEARTBEAT_TIMEOUT, 5000)
s.setsockopt(zmq.HEARTBEAT_TTL, 5000)
s.connect(sys.argv[1])
for i in range(20): s.send_multipart([b"%d" % i, b"y" * 50000]); time.sleep(0.4)
s.recv()`, address)
	from := &collector{from: pull}
	var peer PeerID
	for i := range 20 {
		r := from.next(t)
		if string(r.Msg[0]) != fmt.Sprint(i) || peer != 0 && r.Peer != peer {
			t.Fatalf("message %d: %s of peer %d after %d", i, show(r.Msg), r.Peer, peer)
		}
		peer = r.Peer
	}
}

// interopAddress finds an endpoint for libzmq to bind. For tcp, its port was free a moment ago.
func interopAddress(t *testing.T, endpoint string) string {
	t.Helper()
	if strings.HasPrefix(endpoint, "ipc://") {
		return endpoint
	}
	pull, err := NewPull(Options{})
	noError(t, err)
	address, err := pull.Listen(endpoint)
	noError(t, err)
	noError(t, pull.Close())
	return address
}
