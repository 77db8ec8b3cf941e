package zmqx

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
)

// counting returns bytes that count up from the first one.
var counting = func() (b []byte) {
	for i := range 5000 + 256 {
		b = append(b, byte(i))
	}
	return b
}()

// numbered returns message i: its number, and a body that follows from the number.
func numbered(i uint64) Message {
	return Message{binary.BigEndian.AppendUint64(nil, i), counting[i%256:][:i*7919%5000]}
}

// number returns the number of a message that is exactly as numbered made it.
func number(t *testing.T, m Message) uint64 {
	t.Helper()
	if len(m) != 2 || len(m[0]) != 8 {
		t.Fatalf("a message of %d parts has come", len(m))
	}
	i := binary.BigEndian.Uint64(m[0])
	if !bytes.Equal(m[1], numbered(i)[1]) {
		t.Fatalf("message %d has changed", i)
	}
	return i
}

// middleOfMany attacks nine of ten connections, until there were the given number of connections and enough attacks took place. A
// connection that the machine cuts short, because a timeout of the handshake or the client has passed, does not reach the place of its
// attack.
func middleOfMany(t *testing.T, server string, seed uint64, connections int, backOf4 int) *middle {
	t.Helper()
	rnd, n, done := rand.New(rand.NewPCG(seed, 1)), 0, &tally{}
	m := newMiddle(t, server, 20_000, done, func() attack {
		if n++; n%10 == 1 || n > connections && done.total() >= connections/4 {
			return attack{name: "none"}
		}
		return attack{attacks[rnd.IntN(len(attacks)-1)], rnd.IntN(3500), rnd.IntN(4) < backOf4}
	})
	m.attacked = connections
	return m
}

// over reports whether no connection is attacked any more.
func (m *middle) over() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken > m.attacked && m.done.total() >= m.attacked/4
}

// heard returns what the client, or the server, has sent in a connection that was not attacked.
func (m *middle) heard(back bool) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.said[back])
}

// TestS3_AManInTheMiddleOfPublishers: whatever is done to the bytes, records of other connections included, subscribers of each kind get
// the published messages unchanged, in order, and never twice. A replay of earlier bytes, to either side, is refused.
func TestS3_AManInTheMiddleOfPublishers(t *testing.T) {
	for seed, kind := range []security.Kind{security.Broadcast, security.Control} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			const connections = 40
			k, o := newKeyring(t), quick()
			o.BackoffMax = o.HandshakeTimeout / 20
			o.TLS = k.node(t, "sender-1").Socket(kind, onlyNodes)
			pub, address := newPub(t, o, "tcp://127.0.0.1:0")
			m := middleOfMany(t, address, uint64(seed), connections, 3)
			var wg sync.WaitGroup
			stop := make(chan struct{})
			t.Cleanup(func() { close(stop); wg.Wait() })
			wg.Add(1)
			go func() {
				defer wg.Done()
				pace := time.NewTicker(time.Millisecond)
				defer pace.Stop()
				for i := uint64(1); ; i++ {
					if err := pub.Send(numbered(i)); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-pace.C:
					case <-stop:
						return
					}
				}
			}()
			type subscriber struct {
				c    *collector
				last uint64
			}
			var all []*subscriber
			for i := range 2 {
				o.TLS = k.node(t, fmt.Sprint("receiver-", i+1)).Socket(kind, onlyNodes)
				sub := newSub(t, o)
				noError(t, sub.Subscribe(""))
				must[int](t)(sub.ConnectTo(m.address(), "node/sender-1"))
				all = append(all, &subscriber{c: &collector{from: sub}})
			}
			after := 0
			for over := false; after < 30; over = m.over() {
				for _, s := range all {
					r := s.c.next(t)
					if i := number(t, r.Msg); i <= s.last || r.From != "node/sender-1" {
						t.Fatalf("message %d of %s came after %d", i, r.From, s.last)
					} else {
						s.last = i
					}
				}
				if over {
					after++
				}
			}
			t.Logf("attacks: %v", m.done)
			repeatedToListener(t, address, m.heard(false))
			repeatedToDialler(t, m.heard(true), func(o Options, address string) {
				o.TLS = k.node(t, "receiver-3").Socket(kind, onlyNodes)
				must[int](t)(newSub(t, o).ConnectTo(address, "node/sender-1"))
			})
		})
	}
}

// TestS3_AManInTheMiddleOfClients: whatever is done to the bytes, a question arrives once and unchanged, and its answer is the answer to
// this question.
func TestS3_AManInTheMiddleOfClients(t *testing.T) {
	const connections = 50
	k, o := newKeyring(t), quick()
	o.BackoffMax = o.HandshakeTimeout / 20
	alice := k.pair(t, security.Client, "alice")
	o.TLS = k.load(t, "gateway-1", k.pair(t, security.Node, "gateway-1"),
		security.Clients{alice.Key.Fingerprint(): {Role: security.Submit, Name: "alice"}}).Socket(security.ClientAPI, anyone)
	router, address := newRouter(t, o, "tcp://127.0.0.1:0")
	m := middleOfMany(t, address, 9, connections, 2)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() { stop(); wg.Wait() })
	wg.Add(1)
	go func() {
		defer wg.Done()
		last := uint64(0)
		for {
			batch, err := router.Recv(ctx)
			if err != nil {
				return
			}
			for _, r := range batch {
				if len(r.Msg) != 3 || r.From != "submit/alice" {
					t.Errorf("%d parts of %s have come", len(r.Msg), r.From)
					return
				}
				i := binary.BigEndian.Uint64(r.Msg[1])
				if i <= last || !bytes.Equal(r.Msg[2], numbered(i)[1]) {
					t.Errorf("question %d came after %d, or has changed", i, last)
				}
				last = i
				_ = router.Send(r.Peer, append(Message{nil}, numbered(i+1_000_000)...)) // the client may be gone
			}
		}
	}()
	keys := k.load(t, "alice", alice, nil)
	o.TLS = keys.Socket(security.ClientAPI, anyone)
	req, err := NewReq(o)
	closing(t, req, err)
	noError(t, req.ConnectTo(m.address(), "node/gateway-1"))
	answered, after := 0, 0
	for i := uint64(1); after < 30; i++ {
		over := m.over()
		patience := 200 * time.Millisecond // if a record was removed, only this ends the connection
		if over {
			patience = deadlineForTests
		}
		each, cancel := context.WithTimeout(ctx, patience)
		answer, err := req.Do(each, numbered(i))
		cancel()
		if err != nil {
			continue
		}
		if got := number(t, answer); got != i+1_000_000 {
			t.Fatalf("question %d was answered with %d", i, got)
		}
		if answered++; over {
			after++
		}
	}
	t.Logf("%d answers, attacks: %v", answered, m.done)
	repeatedToListener(t, address, m.heard(false))
	repeatedToDialler(t, m.heard(true), func(o Options, address string) {
		o.TLS = keys.Socket(security.ClientAPI, anyone)
		again, err := NewReq(o)
		closing(t, again, err)
		noError(t, again.ConnectTo(address, "node/gateway-1"))
	})
}

// repeatedToListener replays to a listener what one of its clients has sent before.
func repeatedToListener(t *testing.T, address string, said []byte) {
	t.Helper()
	if len(said) < 1000 {
		t.Fatalf("only %d bytes were said", len(said))
	}
	conn := rawDial(t, address)
	_, _ = conn.Write(said)
	expectClosed(t, conn)
}

// repeatedToDialler replays to a dialler what a server has sent over another connection.
func repeatedToDialler(t *testing.T, said []byte, dial func(o Options, address string)) {
	t.Helper()
	if len(said) < 1000 {
		t.Fatalf("only %d bytes were said", len(said))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	told, over := newEvents(), make(chan struct{})
	go func() {
		defer close(over)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Write(said)
		_, _ = conn.Read(make([]byte, 64<<10)) // its ClientHello
		_, _ = conn.Read(make([]byte, 64<<10)) // its alert, or the end
	}()
	t.Cleanup(func() { l.Close(); <-over })
	dial(Options{OnEvent: told.take, BackoffMin: time.Hour, BackoffMax: time.Hour}, "tcp://"+l.Addr().String())
	if e := told.await(t, Unreachable); e.From != "" {
		t.Errorf("%+v", e)
	}
}

// TestS3_NoKindIsLedToAnother: all sockets of one node have its key. None accepts a connection that was meant for a socket of another kind.
func TestS3_NoKindIsLedToAnother(t *testing.T) {
	k := newKeyring(t)
	node, peer := k.node(t, "receiver-1"), k.node(t, "sender-1")
	kinds := []security.Kind{security.Data, security.Broadcast, security.Control, security.ClientAPI}
	listeners, sockets := map[security.Kind]string{}, map[security.Kind]*socket{}
	for _, kind := range kinds {
		o := Options{TLS: node.Socket(kind, onlyNodes), HandshakeTimeout: deadlineForTests}
		switch kind {
		case security.Data:
			s, address := newPull(t, o, "tcp://127.0.0.1:0")
			listeners[kind], sockets[kind] = address, s.socket
		case security.ClientAPI:
			s, address := newRouter(t, o, "tcp://127.0.0.1:0")
			listeners[kind], sockets[kind] = address, s.socket
		default:
			s, address := newPub(t, o, "tcp://127.0.0.1:0")
			listeners[kind], sockets[kind] = address, s.socket
		}
	}
	dial := func(meant security.Kind, o Options, address string) {
		o.TLS = peer.Socket(meant, onlyNodes)
		switch meant {
		case security.Data:
			s, err := NewPush(o)
			closing(t, s, err)
			noError(t, s.ConnectTo(address, "node/receiver-1"))
		case security.ClientAPI:
			s, err := NewReq(o)
			closing(t, s, err)
			noError(t, s.ConnectTo(address, "node/receiver-1"))
		default:
			s := newSub(t, o)
			must[int](t)(s.ConnectTo(address, "node/receiver-1"))
		}
	}
	for _, meant := range kinds {
		for _, led := range kinds {
			told := newEvents()
			// Each dials once, because the machine may stand still in a handshake.
			dial(meant, Options{OnEvent: told.take, BackoffMin: time.Hour, BackoffMax: time.Hour, HandshakeTimeout: deadlineForTests},
				listeners[led])
			if meant == led {
				told.await(t, Connected)
				continue
			}
			if e := told.await(t, Unreachable); e.From != "" {
				t.Errorf("%s at a socket for %s: %+v", meant, led, e)
			}
		}
	}
	for kind, s := range sockets {
		await.Until(t, "what was meant for the socket is there", func() bool { return s.connects() > 0 })
		if n := s.connects(); n != 1 {
			t.Errorf("the socket for %s took %d connections, and one was meant for it", kind, n)
		}
	}
}
