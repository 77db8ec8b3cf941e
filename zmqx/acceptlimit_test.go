package zmqx

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"
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

// TestR16_AWaitingConnectionIsNotOvertakenForEver: a connection waits for the place of one that was evicted, and another one comes just
// when
// that place is free. The one that waits gets the place of the other; it waited for ever when nobody left by himself.
func TestR16_AWaitingConnectionIsNotOvertakenForEver(t *testing.T) {
	l := NewAcceptLimit(1, slog.New(slog.DiscardHandler))
	pipe := func() (ours, theirs net.Conn) {
		ours, theirs = net.Pipe()
		t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
		return ours, theirs
	}
	closed := func(theirs net.Conn) { // the eviction closes the other end
		_ = theirs.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := theirs.Read(make([]byte, 1)); err != io.EOF {
			t.Fatalf("a connection was not evicted: %v", err)
		}
	}
	first, firstPeer := pipe()
	a := l.enter(first, false)
	waits, _ := pipe()
	in := make(chan *accepted)
	go func() { in <- l.enter(waits, false) }()
	closed(firstPeer)

	second, secondPeer := pipe()
	l.mu.Lock() // the first leaves, and the second is there before the waiting one wakes
	l.removeLocked(a)
	b := l.addLocked(second, false)
	l.mu.Unlock()
	closed(secondPeer)
	l.leave(b)
	c := <-in
	l.leave(c)
	if len(l.accepted) != 0 || l.waiting != 0 || l.leaving != 0 {
		t.Errorf("%d are accepted, %d wait, %d are leaving, and none should be", len(l.accepted), l.waiting, l.leaving)
	}
}
