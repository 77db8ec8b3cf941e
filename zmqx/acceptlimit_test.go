package zmqx

import (
	"log/slog"
	"net"
	"testing"
)

// count returns how many connections the limit counts.
func (l *AcceptLimit) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.accepted)
}

// TestR16_ConnectionsOfAllSockets: two sockets share a limit. Strangers connect to one of them, with and without a handshake. They take no
// descriptors beyond their share, and not the connection of a known peer at the other socket. A peer that comes late is admitted.
func TestR16_ConnectionsOfAllSockets(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		said := countLogs("as many connections are open as this process has file descriptors for; the quietest is closed for each new one. " +
			"Raise the limit of open files (ulimit -n), or find out who connects and says nothing")
		o := Options{Known: ours, Accepts: NewAcceptLimit(6, slog.New(said))}
		pull, data := newPull(t, o, endpoint)
		if endpoint != "tcp://127.0.0.1:0" {
			endpoint = ipcEndpoint(t)
		}
		router, clients := newRouter(t, o, endpoint)
		good := newPush(t, Options{}, data)
		c := &collector{from: pull}
		noError(t, good.TrySend(text("ours")))
		c.expect(t, "ours")
		var strangers []net.Conn
		for i := range 30 {
			if i%2 == 0 {
				strangers = append(strangers, rawDial(t, clients))
			} else {
				strangers = append(strangers, rawClient(t, clients, "REQ", ""))
			}
			if n := o.Accepts.count(); n > 6 {
				t.Fatalf("%d connections, 6 are allowed", n)
			}
		}
		late := newReq(t, Options{}, clients)
		done := make(chan struct{})
		go func() {
			defer close(done)
			batch, err := router.Recv(testContext(t))
			if err == nil {
				err = router.Send(batch[0].Peer, text("", "yes"))
			}
			if err != nil {
				t.Error(err)
			}
		}()
		if m, err := late.Do(testContext(t), text("late")); err != nil || string(m[0]) != "yes" {
			t.Errorf("%v, %v", m, err)
		}
		<-done
		noError(t, good.TrySend(text("ours again")))
		c.expect(t, "ours again")
		if n := good.connects(); n != 1 {
			t.Errorf("the known peer came %d times", n)
		}
		if n := said.n.Load(); n != 1 {
			t.Errorf("it was logged %d times", n)
		}
		for _, s := range strangers[:20] {
			expectClosed(t, s)
		}
		noError(t, router.Close())
		noError(t, pull.Close())
		if n := o.Accepts.count(); n != 0 {
			t.Errorf("%d connections are counted after Close", n)
		}
	})
}
