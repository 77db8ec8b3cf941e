package zmqx

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestConnect_LendsItsPort: another socket can listen at the port from which a connection comes, while it lasts and after it has ended. The
// port may be that of a node which is down.
func TestConnect_LendsItsPort(t *testing.T) {
	seen := newEvents()
	o := quick()
	o.OnEvent = seen.take
	_, address := newPull(t, o, "tcp://127.0.0.1:0")
	push := newPush(t, quick(), address)
	port := "tcp://" + seen.await(t, Connected).Remote
	for _, when := range []string{"lasts", "has ended"} {
		pull, err := NewPull(quick())
		closing(t, pull, err)
		if _, err := pull.Listen(port); err != nil {
			t.Errorf("while the connection %s: %v", when, err)
		}
		noError(t, pull.Close())
		noError(t, push.Close())
	}
}

// TestConnect_WithItself: a socket that the kernel has connected with itself keeps nobody from listening there.
func TestConnect_WithItself(t *testing.T) {
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		noError(t, err)
		at := l.Addr()
		noError(t, l.Close())
		conn, err := (&net.Dialer{Control: lendPort, LocalAddr: at}).DialContext(testContext(t), "tcp", at.String())
		if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EADDRNOTAVAIL) {
			continue // somebody else was given the port
		}
		noError(t, err)
		if conn.LocalAddr().String() != conn.RemoteAddr().String() {
			noError(t, conn.Close()) // somebody else listens there
			continue
		}
		for range 2 { // while it lasts, and after it has ended
			pull, err := NewPull(quick())
			closing(t, pull, err)
			must[string](t)(pull.Listen("tcp://" + at.String()))
			noError(t, pull.Close())
			_ = conn.Close()
		}
		return
	}
}
