package zmqx

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

// greetingBytes returns a ZMTP 3.0 NULL greeting.
func greetingBytes() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func property(name, value string) []byte {
	b := append([]byte{byte(len(name))}, name...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

func command(body []byte) []byte {
	return append(appendHeader(nil, flagCommand, len(body)), body...)
}

func readyBytes(kind, identity string) []byte {
	body := append([]byte("\x05READY"), property("Socket-Type", kind)...)
	return command(append(body, property("Identity", identity)...))
}

// wireMessage returns the bytes of a message on the wire.
func wireMessage(parts ...string) []byte {
	var b []byte
	for i, p := range parts {
		flags := byte(flagMore)
		if i == len(parts)-1 {
			flags = 0
		}
		b = append(appendHeader(b, flags, len(p)), p...)
	}
	return b
}

// rawClient completes a handshake and returns the connection to the test. If the machine stands still for HandshakeTimeout, the listener
// ends the handshake, and rawClient begins another one.
func rawClient(t testing.TB, endpoint, kind, identity string) net.Conn {
	t.Helper()
	for first := time.Now(); ; {
		began := time.Now()
		conn := rawDial(t, endpoint)
		err := rawHandshake(conn, kind, identity)
		if err == nil {
			return conn
		}
		if took := time.Since(began); took < quick().HandshakeTimeout || time.Since(first) > deadlineForTests {
			t.Fatalf("a handshake ends after %v: %v", took, err)
		}
		conn.Close()
	}
}

func rawHandshake(conn net.Conn, kind, identity string) error {
	if _, err := conn.Write(append(greetingBytes(), readyBytes(kind, identity)...)); err != nil {
		return err
	}
	reply := make([]byte, greetingSize+2)
	if _, err := io.ReadFull(conn, reply); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, make([]byte, reply[greetingSize+1]))
	return err
}

// besideAGoodPeer runs an attack on a PULL while a good peer sends. It checks that the good peer is served before, during and after the
// attack, and that memory does not grow.
func besideAGoodPeer(t *testing.T, o Options, endpoint string, attack func(t *testing.T, address string, pull *Pull)) {
	t.Helper()
	pull, address := newPull(t, o, endpoint)
	besideAPair(t, pull, address, newPush(t, Options{}, address), attack)
}

// besideAPair is besideAGoodPeer for a pair that the test supplies.
func besideAPair(t *testing.T, pull *Pull, address string, push *Push, attack func(t *testing.T, address string, pull *Pull)) {
	t.Helper()
	served := make(chan struct{}) // one token per answered message
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background()) // without a deadline: an attack may take longer than one wait
	defer wg.Wait()
	defer stop()
	wg.Add(1)
	go func() {
		defer wg.Done()
		for i := 0; ctx.Err() == nil; i++ {
			want := fmt.Sprint("good ", i)
			if err := push.send(ctx, text(want)); err != nil {
				return
			}
			if !recvUntil(ctx, pull, want) {
				return
			}
			select {
			case served <- struct{}{}:
			case <-ctx.Done():
			default:
			}
		}
	}()
	awaitServed := func(when string) {
		t.Helper()
		for range 3 {
			select {
			case <-served:
			case <-time.After(deadlineForTests):
				t.Fatalf("the good peer is not served %s the attack", when)
			}
		}
	}
	awaitServed("before")
	before := heap()
	attack(t, address, pull)
	awaitServed("after")
	stop()
	wg.Wait()
	began := time.Now()
	noError(t, pull.Close())
	if took := time.Since(began); took > deadlineForTests {
		t.Errorf("Close waited %v for the attackers", took)
	}
	if grown := int64(heap()) - int64(before); grown > 32<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}

// recvUntil receives messages, those of attackers included, until want arrives.
func recvUntil(ctx context.Context, pull *Pull, want string) bool {
	for {
		batch, err := pull.Recv(ctx)
		if err != nil {
			return false
		}
		for _, r := range batch {
			if string(r.Msg[0]) == want {
				return true
			}
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// quick returns options with short times, so that attacks that wait end soon.
func quick() Options {
	return Options{HandshakeTimeout: 500 * time.Millisecond, ReadStall: 150 * time.Millisecond}
}

func TestHostile_SilentClients(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		// No handshake times out: room is made by evicting the oldest connections.
		o := Options{MaxHandshakes: 8, HandshakeTimeout: time.Hour}
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			var silent []net.Conn
			for range 50 {
				silent = append(silent, rawDial(t, address))
			}
			// Newcomers are admitted although there are more silent connections than places.
			for range 5 {
				late := newPush(t, Options{}, address)
				peers := pull.connects()
				noError(t, late.send(testContext(t), text("late")))
				await.Until(t, "the late peer connects", func() bool { return pull.connects() > peers })
			}
			for _, c := range silent[:len(silent)-o.MaxHandshakes] {
				expectClosed(t, c)
			}
			noError(t, silent[len(silent)-1].SetReadDeadline(time.Now().Add(20*time.Millisecond)))
			if _, err := io.ReadAll(silent[len(silent)-1]); !os.IsTimeout(err) {
				t.Errorf("the youngest silent client was evicted as well: %v", err)
			}
		})
	})
}

func TestHostile_HandshakeCutAtEveryByte(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		o, refused := quick(), countLogs("connection refused")
		o.Logger = slog.New(refused)
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			whole := append(greetingBytes(), readyBytes("PUSH", "me")...)
			for n := range len(whole) {
				conn := rawDial(t, address)
				_, _ = conn.Write(whole[:n]) // the handshake may have timed out already
				if n%2 == 0 {                // half of them disconnect, half of them stay silent
					conn.Close()
				}
			}
			await.Until(t, "all are refused", func() bool { return refused.n.Load() == int64(len(whole)) })
			if n := pull.peerCount(); n != 1 {
				t.Fatalf("%d peers", n)
			}
		})
	})
}

func TestHostile_BadHandshakes(t *testing.T) {
	after := func(b []byte) []byte { return append(greetingBytes(), b...) }
	greeting := func(at int, b byte) []byte {
		g := greetingBytes()
		g[at] = b
		return append(g, readyBytes("PUSH", "")...)
	}
	cases := map[string][]byte{
		"http request":             []byte("GET / HTTP/1.1\r\nHost: posta.example\r\nUser-Agent: curious\r\nAccept: */*\r\n\r\n"),
		"old version":              greeting(10, 2),
		"other mechanism":          greeting(12, 'P'),
		"bad signature":            greeting(9, 0),
		"bad server flag":          greeting(32, 7),
		"unknown socket type":      after(readyBytes("NONSENSE", "")),
		"wrong socket type":        after(readyBytes("REQ", "")),
		"no socket type":           after(command([]byte("\x05READY"))),
		"other command":            after(command([]byte("\x05HELLO"))),
		"empty command":            after(command(nil)),
		"name beyond the end":      after(command([]byte{200, 'R'})),
		"property name beyond end": after(command([]byte("\x05READY\xf0So"))),
		"no property value":        after(command([]byte("\x05READY\x0bSocket-Type"))),
		"half a value length":      after(command([]byte("\x05READY\x0bSocket-Type\x00\x00"))),
		"value beyond the end":     after(command([]byte("\x05READY\x0bSocket-Type\x7f\xff\xff\xffPUSH"))),
		"value of 2^32-1":          after(command([]byte("\x05READY\x0bSocket-Type\xff\xff\xff\xffPUSH"))),
		"trailing byte":            after(command(append(readyBytes("PUSH", "")[2:], 1))),
		"message instead":          after(wireMessage("hello")),
		"reserved flags":           after([]byte{0xf4, 1, 0}),
		"command with more":        after([]byte{flagCommand | flagMore, 1, 0}),
		"long ready":               after(append(appendHeader(nil, flagCommand, 1<<20), make([]byte, 1<<20)...)),
		"ready of 2^63":            after([]byte{flagCommand | flagLong, 0x80, 0, 0, 0, 0, 0, 0, 0}),
		"ready of 2^63-1":          after([]byte{flagCommand | flagLong, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
	}
	onBoth(t, func(t *testing.T, endpoint string) {
		o, refused := quick(), countLogs("connection refused")
		o.Logger = slog.New(refused)
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			for name, b := range cases {
				before := refused.n.Load()
				conn := rawDial(t, address)
				_, _ = conn.Write(b) // the node may refuse before everything is written
				expectClosed(t, conn)
				await.Until(t, name+" is refused", func() bool { return refused.n.Load() == before+1 })
			}
			if n := pull.connects(); n != 1 {
				t.Fatalf("%d handshakes were good", n)
			}
		})
	})
}

// TestHostile_LongReadyIsRefusedByItsHeader: a READY that is too long is refused by its header. No memory is allocated for it, and nothing
// waits for its content.
func TestHostile_LongReadyIsRefusedByItsHeader(t *testing.T) {
	for _, size := range []int{maxCommand + 1, 1 << 30, 1<<63 - 1} {
		client, server := net.Pipe()
		go func() {
			go io.Copy(io.Discard, client)
			client.Write(append(greetingBytes(), appendHeader(nil, flagCommand, size)...))
		}()
		err := shakeHands(server, newFrameReader(server, Options{}.limits()), "PULL", true)
		client.Close()
		server.Close()
		if !errors.Is(err, errHandshake) || !errors.Is(err, errTooLarge) {
			t.Errorf("READY of %d bytes: %v", size, err)
		}
	}
}

// TestHostile_MalformedReadyIsAnErrorOfThatPeerOnly: the engine really panics. Without a recover this READY would end the process.
func TestHostile_MalformedReadyIsAnErrorOfThatPeerOnly(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	go func() {
		go io.Copy(io.Discard, client)
		client.Write(append(greetingBytes(), command([]byte("\x05READY\x0bSocket-Type\x00"))...))
	}()
	err := shakeHands(server, newFrameReader(server, Options{}.limits()), "PULL", true)
	server.Close()
	if !errors.Is(err, errHandshake) || !strings.Contains(err.Error(), "malformed READY") {
		t.Fatalf("got %v", err)
	}
}

func TestHostile_RandomBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	onBoth(t, func(t *testing.T, endpoint string) {
		besideAGoodPeer(t, quick(), endpoint, func(t *testing.T, address string, pull *Pull) {
			for i := range 60 {
				var conn net.Conn
				if i%3 > 0 {
					conn = rawClient(t, address, "PUSH", "")
				} else {
					conn = rawDial(t, address)
				}
				_, _ = conn.Write(noise(1 + rnd.IntN(5000)))
				conn.Close()
			}
			await.Until(t, "only the good peer is left", func() bool { return pull.peerCount() == 1 })
		})
	})
}

func TestHostile_FramesAboveTheLimits(t *testing.T) {
	// No clock may end a connection: a machine that stands still for ReadStall would be the cause in place of the frame.
	o := Options{HandshakeTimeout: deadlineForTests, ReadStall: deadlineForTests, MaxFrame: 1 << 20, MaxParts: 4, MaxMessage: 2 << 20}
	part := func(size uint64) []byte {
		return binary.BigEndian.AppendUint64([]byte{flagLong | flagMore}, size)
	}
	full := func(size int) []byte { return append(part(uint64(size)), make([]byte, size)...) }
	cases := map[string][]byte{
		"2^63":            part(1 << 63),
		"2^64-1":          part(1<<64 - 1),
		"2^62":            part(1 << 62),
		"one above":       part(1<<20 + 1),
		"many parts":      bytes.Repeat([]byte{flagMore, 0}, 5),
		"message":         append(append(full(1<<20), full(1<<20)...), part(1)...),
		"long command":    binary.BigEndian.AppendUint64([]byte{flagLong | flagCommand}, maxCommand+1),
		"reserved flags":  {0x80, 0},
		"command in more": {flagMore | flagCommand, 0},
	}
	onBoth(t, func(t *testing.T, endpoint string) {
		told := newEvents()
		o.OnEvent = told.take
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			for name, b := range cases {
				conn := rawClient(t, address, "PUSH", "")
				_, _ = conn.Write(b)
				expectClosed(t, conn)
				gone := told.await(t, Disconnected)
				if !errors.Is(gone.Err, errTooLarge) && !errors.Is(gone.Err, errProtocol) {
					t.Errorf("%s: %v", name, gone.Err)
				}
			}
		})
	})
}

// TestHostile_AnnouncedFramesCostOnlyWhatCame: memory for a large frame grows with the bytes that have arrived, so a header alone costs
// nothing.
func TestHostile_AnnouncedFramesCostOnlyWhatCame(t *testing.T) {
	o := Options{ReadStall: deadlineForTests}
	besideAGoodPeer(t, o, "tcp://127.0.0.1:0", func(t *testing.T, address string, pull *Pull) {
		before := heap()
		var conns []net.Conn
		for range 200 {
			conn := rawClient(t, address, "PUSH", "")
			_, err := conn.Write(appendHeader(nil, 0, 64*mib)) // 12 GiB in all
			noError(t, err)
			conns = append(conns, conn)
		}
		await.Until(t, "all are peers", func() bool { return pull.peerCount() == 201 })
		if grown := int64(heap()) - int64(before); grown > 64<<20 {
			t.Fatalf("200 headers cost %d MiB", grown>>20)
		}
		for _, c := range conns {
			c.Close()
		}
		await.Until(t, "all are gone", func() bool { return pull.peerCount() == 1 })
	})
}

func TestHostile_StopsInMidFrame(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		o, told := Options{HandshakeTimeout: time.Minute, ReadStall: 500 * time.Millisecond}, newEvents()
		o.OnEvent = told.take
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			large := append(appendHeader(nil, 0, 1<<20), make([]byte, 300_000)...)
			for name, b := range map[string][]byte{
				"one byte": {flagLong}, "header": appendHeader(nil, 0, 100), "small body": wireMessage("hello")[:4],
				"between parts": wireMessage("a", "b")[:3], "large body": large,
			} {
				conn := rawClient(t, address, "PUSH", "")
				_, err := conn.Write(b)
				noError(t, err)
				expectClosed(t, conn)
				if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errStalled) {
					t.Errorf("%s: %v", name, gone.Err)
				}
			}
		})
	})
}

// TestHostile_SilentBetweenMessages: a peer may be silent between messages for as long as it likes. The deadline of a message is removed
// when the message is complete.
func TestHostile_SilentBetweenMessages(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		told := newEvents()
		o := Options{HandshakeTimeout: time.Minute, ReadStall: 500 * time.Millisecond, OnEvent: told.take}
		pull, address := newPull(t, o, endpoint)
		whole := wireMessage("whole")
		for times := 0; times < 3; {
			conn := rawClient(t, address, "PUSH", "")
			told.await(t, Connected)
			// If the machine stands still between the two halves, the peer is disconnected, and another one tries.
			for connected := true; connected && times < 3; {
				began := time.Now()
				_, err := conn.Write(whole[:4]) // this sets a deadline
				noError(t, err)
				time.Sleep(o.ReadStall / 10)
				_, _ = conn.Write(whole[4:]) // it fails if the peer was disconnected, and an event reports that
				select {
				case <-pull.C():
				case e := <-told:
					if took := time.Since(began); took < o.ReadStall || !errors.Is(e.Err, errStalled) {
						t.Fatalf("after %v: %v: %v", took, e.Kind, e.Err)
					}
					connected = false
					continue
				}
				time.Sleep(2 * o.ReadStall)
				if len(told) > 0 {
					e := <-told
					t.Fatalf("a silent peer: %v: %v", e.Kind, e.Err)
				}
				times++
			}
		}
	})
}

// TestHostile_Slowloris: a peer sends one byte at a time, faster than any deadline between bytes.
func TestHostile_Slowloris(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		besideAGoodPeer(t, quick(), endpoint, func(t *testing.T, address string, _ *Pull) {
			drip := func(conn net.Conn, b []byte) {
				began := time.Now()
				for _, c := range b {
					if _, err := conn.Write([]byte{c}); err != nil {
						return
					}
					time.Sleep(5 * time.Millisecond)
					if time.Since(began) > deadlineForTests {
						t.Error("a dripping peer was never dropped")
						return
					}
				}
				t.Error("a dripping peer came to the end")
			}
			drip(rawDial(t, address), append(greetingBytes(), readyBytes("PUSH", strings.Repeat("x", 255))...))
			drip(rawClient(t, address, "PUSH", ""), append(appendHeader(nil, 0, 1000), make([]byte, 1000)...))
			drip(rawClient(t, address, "PUSH", ""), append(appendHeader(nil, 0, 100_000), make([]byte, 3000)...))
		})
	})
}

func TestHostile_ThousandsOfConnects(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		o := quick()
		o.MaxHandshakes, o.MaxPeers = 16, 20
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			e, err := parseEndpoint(address)
			noError(t, err)
			handshake := append(greetingBytes(), readyBytes("PUSH", "")...)
			most := 0
			for i := range 2000 {
				conn, err := net.Dial(e.network, e.address)
				if err != nil {
					continue // a full backlog counts as a refusal, too
				}
				if i%4 == 0 {
					_, _ = conn.Write(handshake)
				}
				if i%50 == 0 {
					most = max(most, runtime.NumGoroutine())
				}
				defer conn.Close()
			}
			if most > 300 {
				t.Errorf("%d goroutines", most)
			}
			if n := pull.peerCount(); n > o.MaxPeers {
				t.Errorf("%d peers, MaxPeers is %d", n, o.MaxPeers)
			}
		})
	})
}

// TestHostile_StolenIdentityHasNoEffect: whatever name a peer claims, an answer goes to the connection that sent the question.
func TestHostile_StolenIdentityHasNoEffect(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		router, address := newRouter(t, Options{}, endpoint)
		victim := rawClient(t, address, "DEALER", "alice")
		c := &collector{from: router}
		_, err := victim.Write(wireMessage("victim asks"))
		noError(t, err)
		asked := c.expect(t, "victim asks")
		thief := rawClient(t, address, "DEALER", "alice")
		_, err = thief.Write(wireMessage("thief asks"))
		noError(t, err)
		stolen := c.expect(t, "thief asks")
		if asked.Peer == stolen.Peer {
			t.Fatal("both have the same PeerID")
		}
		noError(t, router.Send(asked.Peer, text("for the victim")))
		noError(t, router.Send(stolen.Peer, text("for the thief")))
		for conn, want := range map[net.Conn]string{victim: "for the victim", thief: "for the thief"} {
			got := make([]byte, len(wireMessage(want)))
			_, err := io.ReadFull(conn, got)
			noError(t, err)
			if !bytes.Equal(got, wireMessage(want)) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// TestPingIsAnswered: the answer to a PING has its context, also between the parts of a message. A flood of PINGs takes no memory.
func TestPingIsAnswered(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		conn := rawClient(t, address, "PUSH", "")
		ping, pong := command([]byte("\x04PING\x00\x10ctx")), command([]byte("\x04PONGctx"))
		expectPong := func() {
			t.Helper()
			got := make([]byte, len(pong))
			_, err := io.ReadFull(conn, got)
			noError(t, err)
			if !bytes.Equal(got, pong) {
				t.Fatalf("got %q", got)
			}
		}
		_, err := conn.Write(ping)
		noError(t, err)
		expectPong()
		m := wireMessage("a", "b")
		_, err = conn.Write(append(append(append([]byte{}, m[:3]...), ping...), m[3:]...))
		noError(t, err)
		expectPong()
		c := &collector{from: pull}
		c.expect(t, "a|b")
		for name, odd := range map[string][]byte{"no ttl": []byte("\x04PING"), "empty": {}, "unknown": []byte("\x03FOO"),
			"long": append([]byte("\x04PING\x00\x00"), make([]byte, 17)...)} {
			if _, err := conn.Write(command(odd)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		_, err = conn.Write(append(bytes.Repeat(ping, 10_000), wireMessage("after the flood")...))
		noError(t, err)
		c.expect(t, "after the flood")
	})
}
