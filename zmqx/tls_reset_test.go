package zmqx

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// resetting passes connections on to an address. It ends the first ones in the middle of the handshake: with a reset or with an orderly
// end, before the dialler has sent anything, after it has, or after the listener has answered.
func resetting(t *testing.T, to string, first int) (address string, ended *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { l.Close() })
	ended = new(atomic.Int64)
	go func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			beyond, err := net.Dial("tcp", strings.TrimPrefix(to, "tcp://"))
			if err != nil {
				conn.Close()
				return
			}
			if n >= first {
				go pass(conn, beyond)
				continue
			}
			buf := make([]byte, 4<<10)
			if n%3 > 0 {
				k, _ := conn.Read(buf)
				_, _ = beyond.Write(buf[:k])
			}
			if n%3 > 1 {
				k, _ := beyond.Read(buf)
				_, _ = conn.Write(buf[:k/2])
			}
			if n%2 == 0 { // a reset
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = beyond.(*net.TCPConn).SetLinger(0)
			}
			conn.Close()
			beyond.Close()
			ended.Add(1)
		}
	}()
	return "tcp://" + l.Addr().String(), ended
}

func pass(a, b net.Conn) {
	go func() { _, _ = io.Copy(a, b); a.Close() }()
	_, _ = io.Copy(b, a)
	b.Close()
}

// TestS3_AHandshakeThatIsCutIsRetried: a connection that ends in the middle of the handshake is no refusal, on either side. The dialler
// tries again, and what is to be sent arrives.
func TestS3_AHandshakeThatIsCutIsRetried(t *testing.T) {
	const cuts = 6
	k := newKeyring(t)
	told := newEvents()
	pull, address := keyedPull(t, k, Options{HandshakeTimeout: time.Minute}, "tcp://127.0.0.1:0")
	proxy, ended := resetting(t, address, cuts)
	push := keyedPush(t, k, Options{OnEvent: told.take, HandshakeTimeout: time.Minute, BackoffMin: time.Millisecond,
		BackoffMax: 10 * time.Millisecond}, proxy)
	noError(t, push.TrySend(text("at", "last")))
	(&collector{from: pull}).expect(t, "at|last")
	if n := ended.Load(); n != cuts {
		t.Errorf("%d handshakes were cut, not %d", n, cuts)
	}
	for len(told) > 0 {
		if e := <-told; errors.Is(e.Err, ErrRefused) {
			t.Errorf("a cut handshake counts as a refusal: %v", e.Err)
		}
	}
}
