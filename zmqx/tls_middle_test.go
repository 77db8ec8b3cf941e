package zmqx

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
)

// attack is what a man in the middle does to one direction of one connection, at one place.
type attack struct {
	name string
	at   int  // the position of the byte, or of the first of two records, that is attacked
	back bool // the server's bytes are attacked, not the client's
}

var attacks = []string{
	"alter", "drop", "drop a record", "repeat", "repeat a record", "swap records", "insert", "cut", "shorten a record",
	"splice a record", "replace a record", "none",
}

// middle forwards connections to a server, and attacks each as the test says.
type middle struct {
	l      net.Listener
	server string
	next   func() attack
	life   int // bytes of one direction after which a connection is cut; 0: it is not cut
	done   *tally

	attacked int // number of connections that middleOfMany has attacked

	wg    sync.WaitGroup
	mu    sync.Mutex      // guards the fields below
	taken int             // connections so far
	conns []net.Conn      // of both sides
	said  map[bool][]byte // the longest stream that a client (false) or a server (true) has sent in a connection without attack
	last  map[bool][]byte // the last record that was forwarded in each direction, of any connection
}

// tally counts the attacks of several men in the middle.
type tally struct {
	mu    sync.Mutex
	times map[string]int
}

func (d *tally) count(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.times == nil {
		d.times = map[string]int{}
	}
	d.times[name]++
}

func (d *tally) total() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, times := range d.times {
		n += times
	}
	return n
}

func (d *tally) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprint(d.times)
}

// lacking returns an attack that was done less than three times; false if there is none.
func (d *tally) lacking() (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range attacks {
		if name != "none" && d.times[name] < 3 {
			return name, true
		}
	}
	return "", false
}

func newMiddle(t *testing.T, server string, life int, done *tally, next func() attack) *middle {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	e, err := parseEndpoint(server)
	noError(t, err)
	m := &middle{l: l, server: e.address, next: next, life: life, done: done, said: map[bool][]byte{}, last: map[bool][]byte{}}
	t.Cleanup(m.close)
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			m.wg.Add(1)
			go func() {
				defer m.wg.Done()
				m.pass(conn)
			}()
		}
	}()
	return m
}

func (m *middle) address() string { return "tcp://" + m.l.Addr().String() }

func (m *middle) close() {
	m.l.Close()
	m.mu.Lock()
	for _, c := range m.conns {
		c.Close()
	}
	m.mu.Unlock()
	m.wg.Wait()
}

func (m *middle) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", m.server)
	if err != nil {
		return // the server is closed
	}
	defer server.Close()
	m.mu.Lock()
	m.conns = append(m.conns, client, server)
	a := m.next()
	m.taken++
	m.mu.Unlock()
	both := make(chan struct{}, 2)
	direction := func(from, to net.Conn, a attack, back bool) {
		m.direction(from, to, a, back)
		from.Close()
		to.Close()
		both <- struct{}{}
	}
	none := attack{name: "none"}
	if a.back {
		go direction(client, server, none, false)
		go direction(server, client, a, true)
	} else {
		go direction(client, server, a, false)
		go direction(server, client, none, true)
	}
	<-both
	<-both
}

// direction forwards records, and attacks the record at the given place.
func (m *middle) direction(from, to net.Conn, a attack, back bool) {
	at, held, said := 0, []byte(nil), []byte(nil)
	for m.life == 0 || at < m.life {
		record := make([]byte, recordHeader)
		if _, err := io.ReadFull(from, record); err != nil {
			return
		}
		record = append(record, make([]byte, binary.BigEndian.Uint16(record[3:]))...)
		if _, err := io.ReadFull(from, record[recordHeader:]); err != nil {
			return
		}
		m.mu.Lock()
		if a.name == "none" && len(said) < 1<<20 {
			if said = append(said, record...); len(said) > len(m.said[back]) {
				m.said[back] = said
			}
		}
		another := bytes.Clone(m.last[back])
		m.last[back] = bytes.Clone(record)
		m.mu.Unlock()
		switch begin := at; {
		case held != nil:
			record, held = append(record, held...), nil
		case begin <= a.at && a.at < begin+len(record) && a.name != "none":
			m.done.count(a.name)
			i := a.at - begin
			at += len(record)
			switch a.name {
			case "alter":
				record[i] ^= 1 << (a.at % 8)
			case "drop":
				record = append(record[:i:i], record[i+1:]...)
			case "drop a record":
				record = nil
			case "repeat":
				record = append(record[:i+1:i+1], record[i:]...)
			case "repeat a record":
				record = append(record, record...)
			case "swap records":
				held, record = record, nil
			case "splice a record":
				record = append(another, record...)
			case "replace a record":
				record = another
			case "insert":
				record = append(append(record[:i:i], 23, 3, 3, 0, 1, 0), record[i:]...)
			case "cut":
				_, _ = to.Write(record[:i])
				return
			case "shorten a record":
				if len(record) > recordHeader {
					record = record[:len(record)-1]
					binary.BigEndian.PutUint16(record[3:], uint16(len(record)-recordHeader))
				}
			}
		default:
			at += len(record)
		}
		if _, err := to.Write(record); err != nil {
			return
		}
	}
}

// TestS3_AManInTheMiddle: whatever is done to the bytes between two sockets, a message that arrives was sent, is unchanged, and arrives
// once and in order. If nothing is done to a connection, all messages arrive. If a part of a handshake is missing, both sides wait for it
// until HandshakeTimeout, so several senders connect in parallel. The machine decides how much passes through a connection before it ends,
// and so which attacks take place: the senders continue until all have.
func TestS3_AManInTheMiddle(t *testing.T) {
	const senders, seed = 10, 5
	done := &tally{}
	var wg sync.WaitGroup
	for i := range senders { // t.Parallel would run only as many as there are processors
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.Run(fmt.Sprint(i+1), func(t *testing.T) { outlastTheMiddle(t, 15, done, rand.New(rand.NewPCG(seed, uint64(i)))) })
		}()
	}
	wg.Wait()
	t.Logf("attacks: %v", done)
}

// outlastTheMiddle sends until the given number of connections was attacked, and each attack was done.
func outlastTheMiddle(t *testing.T, connections int, done *tally, rnd *rand.Rand) {
	k := newKeyring(t)
	o := quick()
	o.HandshakeTimeout = 2 * time.Second // even a busy machine completes an honest handshake in that time
	o.BackoffMax = o.HandshakeTimeout / 20
	pull, address := keyedPull(t, k, o, "tcp://127.0.0.1:0")
	n := 0
	m := newMiddle(t, address, 0, done, func() attack {
		n++
		name, lacks := attacks[rnd.IntN(len(attacks))], true
		if n > connections {
			name, lacks = done.lacking()
		}
		if n%10 == 1 || !lacks {
			return attack{name: "none"}
		}
		most := 4000 // the bytes of both handshakes, and a few more
		if n%3 == 0 {
			most = 60_000
		}
		return attack{name, rnd.IntN(most), rnd.IntN(4) == 0}
	})
	push := keyedPush(t, k, o, m.address())

	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { // what is queued when a connection ends is dropped, so messages may be missing, but nothing else may happen
		defer wg.Done()
		for i := uint64(1); ; i++ {
			if push.send(ctx, numbered(i)) != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { stop(); wg.Wait() })
	c, last, arrived := &collector{from: pull}, map[PeerID]uint64{}, map[uint64]bool{} // last is of each connection, arrived of all
	one := func() {
		r := c.next(t)
		i := number(t, r.Msg)
		if i <= last[r.Peer] || arrived[i] || r.From != "node/sender-1" {
			t.Fatalf("message %d of %s came after %d, or once more (%v)", i, r.From, last[r.Peer], arrived[i])
		}
		last[r.Peer], arrived[i] = i, true
	}
	// An untouched connection would last for ever, so the sender drops it after a while.
	for taken, since, lacks := 0, 0, true; taken <= connections || lacks; since++ {
		one()
		_, lacks = done.lacking()
		m.mu.Lock()
		now := m.taken
		m.mu.Unlock()
		if now != taken {
			taken, since = now, 0
		}
		if since > 50 {
			push.Reset()
			since = 0
		}
	}
	for range 200 {
		one()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Logf("%d messages over %d connections", len(arrived), m.taken)
}

// TestS3_ConnectionsLedElsewhere: a man in the middle forwards connections to other ports, and replays what a sender has sent. No
// connection is admitted.
func TestS3_ConnectionsLedElsewhere(t *testing.T) {
	k := newKeyring(t)
	pull, address := keyedPull(t, k, quick(), "tcp://127.0.0.1:0")
	m := newMiddle(t, address, 0, &tally{}, func() attack { return attack{name: "none"} })
	push := keyedPush(t, k, Options{}, m.address())
	c := &collector{from: pull}
	for i := range 10 {
		noError(t, push.TrySend(text("message", fmt.Sprint(i))))
		c.expect(t, fmt.Sprint("message|", i))
	}
	noError(t, push.Close())
	await.Until(t, "the sender is gone", func() bool { return pull.peerCount() == 0 })
	m.mu.Lock()
	said := m.said[false]
	m.mu.Unlock()
	for range 3 { // the same bytes again, at once and in pieces
		conn := rawDial(t, address)
		_, _ = conn.Write(said)
		expectClosed(t, conn)
	}
	if n := pull.connects(); n != 1 {
		t.Errorf("a connection that repeats another one was admitted")
	}

	receiver2, address2 := newPull(t, Options{TLS: k.node(t, "receiver-2").Socket(security.Data, anyone)}, "tcp://127.0.0.1:0")
	receiver := must[*security.Keys](t)(security.Load(k.dir("receiver-1"), "posta", nil))
	// the same process, another port
	control, address3 := newPull(t, Options{TLS: receiver.Socket(security.Control, anyone)}, "tcp://127.0.0.1:0")
	for _, port := range []string{address2, address3} {
		elsewhere := newMiddle(t, port, 0, &tally{}, func() attack { return attack{name: "none"} })
		told := newEvents()
		lost := keyedPush(t, k, Options{OnEvent: told.take}, elsewhere.address())
		noError(t, lost.TrySend(text("for receiver-1 alone")))
		told.await(t, Unreachable)
		noError(t, lost.Close())
	}
	if n := receiver2.connects() + control.connects(); n > 0 {
		t.Errorf("%d connections were led elsewhere", n)
	}
}
