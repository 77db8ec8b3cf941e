package zmqx

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

// ours is the Options.Known of these tests.
func ours(m Message) bool { return strings.HasPrefix(string(m[0]), "ours") }

// held returns how much memory the messages take that a socket is receiving.
func (i *intake) held() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.known.held + i.strangers.held
}

func (i *intake) waits() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.known.waiting) + len(i.strangers.waiting)
}

// half sends a message without its last byte.
func half(conn net.Conn, size int, wg *sync.WaitGroup) {
	wg.Add(1)
	go func() {
		defer wg.Done()
		_, _ = conn.Write(append(appendHeader(nil, 0, size), make([]byte, size-1)...)) // the connection may be cut meanwhile
	}()
}

// TestR16_HalfFrames: 40 strangers each send a message without its end. Together they may hold a bounded amount of memory, which they once
// exceeded. Known peers are served as usual. A stranger that sends a whole message gets its turn when the others are cut off.
func TestR16_HalfFrames(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		o := Options{MaxFrame: mib, MaxMessage: mib, ReceiveBytes: 8 * mib, ReadStall: 500 * time.Millisecond, Known: ours}
		pull, address := newPull(t, o, endpoint)
		good := newPush(t, Options{}, address)
		received := make(chan int, 1<<10)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for batch := range pull.C() {
				for _, r := range batch {
					received <- len(r.Msg[len(r.Msg)-1])
				}
			}
		}()
		defer func() { noError(t, pull.Close()); <-done }()
		take := func(want int) {
			t.Helper()
			select {
			case n := <-received:
				if n != want {
					t.Fatalf("a message of %d bytes, want %d", n, want)
				}
			case <-time.After(deadlineForTests):
				t.Fatal("no message came")
			}
		}
		noError(t, good.send(testContext(t), text("ours", "hello")))
		take(len("hello"))

		const strangers, size = 40, mib
		before := heap()
		var wg sync.WaitGroup
		defer wg.Wait()
		var conns []net.Conn
		for range strangers {
			conn := rawClient(t, address, "PUSH", "")
			defer conn.Close()
			conns = append(conns, conn)
		}
		for _, conn := range conns { // in parallel: the first of them is cut off ReadStall after it has begun
			half(conn, size, &wg)
		}
		await.Until(t, "the strangers' room is full", func() bool { return pull.intake.waits() > 20 })
		for range 20 {
			noError(t, good.send(testContext(t), Message{make([]byte, size)}))
			take(size)
			if held := pull.intake.held(); held > o.ReceiveBytes {
				t.Fatalf("%d bytes are held, ReceiveBytes is %d", held, o.ReceiveBytes)
			}
		}
		// The test's own memory also holds one message for each stranger that is still writing.
		if grown := int64(heap()) - int64(before) - strangers*size; grown > int64(o.ReceiveBytes)+12*mib {
			t.Errorf("memory grew by %d MiB", grown>>20)
		}
		late := newPush(t, Options{}, address)
		noError(t, late.send(testContext(t), Message{make([]byte, size-1)}))
		take(size - 1)
		await.Until(t, "all is given back", func() bool { return pull.intake.held() == 0 && pull.intake.waits() == 0 })
	})
}

// drip sends a message in pieces with pauses. It reports whether everything was sent.
func drip(conn net.Conn, size, piece int, pause time.Duration) bool {
	b := append(appendHeader(nil, 0, size), make([]byte, size)...)
	for len(b) > 0 {
		n := min(piece, len(b))
		if _, err := conn.Write(b[:n]); err != nil {
			return false
		}
		b = b[n:]
		time.Sleep(pause)
	}
	return true
}

// TestR16_SlowPeersMakeRoom: a peer is fast enough for ReadStall, and much slower than allowed while other peers wait. It is cut off when a
// peer waits, and only then. ReadStall is far longer than the pauses, because a busy machine may stop the test's peer for a second, too.
func TestR16_SlowPeersMakeRoom(t *testing.T) {
	told := newEvents()
	o := Options{MaxFrame: mib, MaxMessage: mib, ReceiveBytes: 2 * mib, ReadStall: 3 * time.Second, Known: ours, OnEvent: told.take}
	pull, address := newPull(t, o, "tcp://127.0.0.1:0")
	if !drip(rawClient(t, address, "PUSH", ""), 128<<10, 8<<10, 220*time.Millisecond) { // 3.5 s in all; 3.1 s are allowed while others wait
		t.Error("a slow peer was cut off though nobody waited")
	}
	c := &collector{from: pull}
	if n := c.next(t).Msg.Size(); n != 128<<10 {
		t.Errorf("%d bytes came", n)
	}
	slow := make(chan bool)
	go func() { slow <- drip(rawClient(t, address, "PUSH", ""), mib, 4<<10, 60*time.Millisecond) }() // 15 s in all; 4 s are allowed
	await.Until(t, "the slow one has the room", func() bool { return pull.intake.held() == mib })
	honest := newPush(t, Options{}, address)
	noError(t, honest.TrySend(Message{bytes.Repeat([]byte("x"), mib)}))
	if r := c.next(t); len(r.Msg[0]) != mib || r.Msg[0][0] != 'x' {
		t.Errorf("another message came: %s", show(r.Msg))
	}
	if <-slow {
		t.Error("the slow peer came to its end while another one waited")
	}
	for {
		if gone := told.await(t, Disconnected); errors.Is(gone.Err, errStalled) && strings.Contains(gone.Err.Error(), "ReceiveBytes") {
			break
		}
	}
}

// TestR16_WaitingForOurselvesIsNoFault: complete messages take their room until the socket's own receiver takes them, and no peer is cut
// off for that.
func TestR16_WaitingForOurselvesIsNoFault(t *testing.T) {
	told := newEvents()
	o := Options{MaxFrame: mib, MaxMessage: mib, ReceiveBytes: 2 * mib, ReadStall: 100 * time.Millisecond, OnEvent: told.take}
	pull, address := newPull(t, o, "tcp://127.0.0.1:0")
	const peers = 10
	for range peers {
		noError(t, newPush(t, Options{}, address).TrySend(Message{make([]byte, mib)}))
	}
	await.Until(t, "some wait", func() bool { return pull.intake.waits() >= peers-inboxDepth-2 })
	time.Sleep(2*o.ReadStall + time.Second) // longer than any of them may take
	c := &collector{from: pull}
	for range peers {
		c.next(t)
	}
	for len(told) > 0 {
		if e := <-told; e.Kind == Disconnected {
			t.Errorf("a peer was cut off: %v", e.Err)
		}
	}
}

// TestR16_ReadBuffers: only a few connections get full read buffers. The others use small ones and read the same messages.
func TestR16_ReadBuffers(t *testing.T) {
	i := newIntake(Options{ReceiveBytes: mib})
	var all []*share
	n := 0
	for range 100 {
		s := i.share(nil)
		all = append(all, s)
		first := s.grow()
		if again := s.grow(); first && again {
			n++
		}
	}
	if n != maxGrowth/growth {
		t.Errorf("%d of 100 have a full buffer", n)
	}
	all[0].end()
	if !all[99].grow() || i.grown > maxGrowth {
		t.Error("what was given back is given to nobody")
	}
	many := bytes.Repeat(wireMessage(strings.Repeat("x", 500)), 2000)
	large := bytes.Repeat(append(appendHeader(nil, flagMore, 15<<10), make([]byte, 15<<10)...), 15) // many parts, none of them large
	many = append(append(many, large...), wireMessage("end")...)
	f := newFrameReader(bytes.NewReader(many), Options{MaxFrame: mib, MaxParts: 16, MaxMessage: mib}.limits())
	p := &peer{}
	p.known.Store(true)
	f.share, f.most = i.share(p), allowance
	for got := 0; ; {
		batch, err := f.next()
		if err != nil {
			if err != io.EOF || got != 2001 {
				t.Errorf("%d messages, %v", got, err)
			}
			break
		}
		got += len(batch)
		f.share.giveBack()
	}
	if len(f.buf) > allowance {
		t.Errorf("the buffer has %d bytes", len(f.buf))
	}
}

// TestHostile_StrangersEvictStrangers: talking strangers do not evict a known peer that is silent.
func TestHostile_StrangersEvictStrangers(t *testing.T) {
	o := Options{MaxPeers: 4, Known: ours}
	pull, address := newPull(t, o, "tcp://127.0.0.1:0")
	good := newPush(t, Options{}, address)
	c := &collector{from: pull}
	noError(t, good.TrySend(text("ours")))
	c.expect(t, "ours")
	for range 20 {
		stranger := rawClient(t, address, "PUSH", "")
		defer stranger.Close()
		_, err := stranger.Write(wireMessage("strange"))
		noError(t, err)
		c.expect(t, "strange")
	}
	noError(t, good.TrySend(text("ours again")))
	c.expect(t, "ours again")
	if n := good.connects(); n != 1 {
		t.Errorf("the known peer was evicted: it came %d times", n)
	}
}
