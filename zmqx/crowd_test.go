package zmqx

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

// TestHostile_EndlessCommands: a peer sends commands without end. They are answered while the peer reads the answers. If it does not read,
// they take no memory and do not delay other peers.
func TestHostile_EndlessCommands(t *testing.T) {
	besideAGoodPeer(t, quick(), "tcp://127.0.0.1:0", func(t *testing.T, address string, pull *Pull) {
		conn := rawClient(t, address, "PUSH", "")
		noise := bytes.Repeat(command(append([]byte("\x04PING\x00\x00"), "0123456789abcdef"...)), 1000)
		unknown := bytes.Repeat(command(append([]byte("\x07UNKNOWN"), make([]byte, maxCommand-8)...)), 20)
		before := heap()
		for range 200 { // 5 MiB of PINGs whose PONGs are not read, and 32 MiB of other commands
			if _, err := conn.Write(append(noise, unknown...)); err != nil {
				break // it may be disconnected because it does not read
			}
		}
		if grown := int64(heap()) - int64(before); grown > 8*mib {
			t.Errorf("memory grew by %d MiB", grown>>20)
		}
	})
}

// TestHostile_LongSubscriptions: a subscriber may have MaxSubscriptions of MaxTopic bytes. If it wants more, or longer ones, it is
// disconnected before it takes more memory.
func TestHostile_LongSubscriptions(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		told := newEvents()
		pub, address := newPub(t, Options{OnEvent: told.take}, endpoint)
		good := newSub(t, Options{}, address)
		noError(t, good.Subscribe("good"))
		before := heap()
		for range 5 {
			conn := rawClient(t, address, "SUB", "")
			_, _ = conn.Write(wireMessage("\x01" + string(make([]byte, mib))))
			expectClosed(t, conn)
		}
		for i := range 5 {
			conn := rawClient(t, address, "SUB", "")
			var all []byte
			for k := range 2000 {
				all = append(all, wireMessage("\x01"+string(rune(i))+string(rune(1000+k))+string(make([]byte, 240)))...)
			}
			_, _ = conn.Write(all)
			expectClosed(t, conn)
		}
		for range 10 {
			if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errTooLarge) {
				t.Errorf("%v", gone.Err)
			}
		}
		if grown := int64(heap()) - int64(before); grown > 16*mib {
			t.Errorf("memory grew by %d MiB", grown>>20)
		}
		c := &collector{from: good}
		await.Until(t, "the good subscriber hears", func() bool {
			noError(t, pub.Send(text("good", "day")))
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			batch, err := good.Recv(ctx)
			c.rest = batch
			return err == nil
		})
		c.expect(t, "good|day")
	})
}

// TestHostile_ClientsThatNeverRead: clients send questions and never read the answers. The answers that wait for one client are bounded;
// beyond the bound it is disconnected. Another client gets its answers all the time.
func TestHostile_ClientsThatNeverRead(t *testing.T) {
	told := newEvents()
	o := Options{QueueBytes: mib, MaxFrame: mib, OnEvent: told.take}
	router, address := newRouter(t, o, "tcp://127.0.0.1:0")
	served := make(chan struct{})
	answer := make([]byte, 200<<10)
	go func() {
		defer close(served)
		for batch := range router.C() {
			for _, r := range batch {
				_ = router.Send(r.Peer, Message{nil, answer}) // the client may have been disconnected
			}
		}
	}()
	good := newReq(t, Options{}, address)
	ask := func() {
		t.Helper()
		if m, err := good.Do(testContext(t), text("good")); err != nil || len(m[0]) != len(answer) {
			t.Fatalf("%v", err)
		}
	}
	ask()
	before, goroutines := heap(), runtime.NumGoroutine()
	const clients = 20
	question := bytes.Repeat(wireMessage("", "give"), 100) // 20 MB of answers for each
	for range clients {
		conn := rawClient(t, address, "DEALER", "")
		_, _ = conn.Write(question)
		ask()
	}
	for range clients {
		if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errOverflow) {
			t.Errorf("%v", gone.Err)
		}
	}
	ask()
	if grown := int64(heap()) - int64(before); grown > 16*mib {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	await.Until(t, "their goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
	noError(t, router.Close())
	<-served
}

// TestHostile_TenThousandSilentConnections: connections arrive over tcp, stay open as long as they can, and send nothing, like those of
// port scanners.
func TestHostile_TenThousandSilentConnections(t *testing.T) {
	o := quick()
	o.MaxHandshakes, o.Accepts = 64, NewAcceptLimit(100, slog.New(slog.DiscardHandler))
	besideAGoodPeer(t, o, "tcp://127.0.0.1:0", func(t *testing.T, address string, pull *Pull) {
		e, err := parseEndpoint(address)
		noError(t, err)
		before := heap()
		var kept []net.Conn
		most := 0
		for i := range 10_000 {
			conn, err := net.Dial(e.network, e.address)
			if err != nil {
				continue // a full backlog counts as a refusal, too
			}
			kept = append(kept, conn)
			if len(kept) == 500 { // the test's own descriptors are limited
				for _, c := range kept {
					c.Close()
				}
				kept = kept[:0]
			}
			if i%100 == 0 {
				most = max(most, runtime.NumGoroutine())
			}
		}
		for _, c := range kept {
			c.Close()
		}
		if most > 300 {
			t.Errorf("%d goroutines", most)
		}
		if grown := int64(heap()) - int64(before); grown > 16*mib {
			t.Errorf("memory grew by %d MiB", grown>>20)
		}
	})
}
