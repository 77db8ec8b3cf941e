package zmqx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

func TestPushPull_MessagesArriveWholeAndInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		push := newPush(t, Options{}, address)
		const n = 3000
		rnd := rand.New(rand.NewPCG(1, 2))
		sizes := []int{0, 1, 255, 256, 4000, directSize - 1, directSize, 70_000, 300_000}
		var want []Message
		for i := range n {
			m := Message{[]byte(fmt.Sprint(i))}
			for range rnd.IntN(4) {
				m = append(m, bytes.Repeat([]byte{byte(i)}, sizes[rnd.IntN(len(sizes)-2+2*(i%10/9))]))
			}
			want = append(want, m)
		}
		go func() {
			for i := range want {
				if err := push.send(context.Background(), want[i]); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		c := &collector{from: pull}
		for i := range want {
			got := c.next(t).Msg
			if len(got) != len(want[i]) {
				t.Fatalf("message %d has %d parts, want %d", i, len(got), len(want[i]))
			}
			for k := range got {
				if !bytes.Equal(got[k], want[i][k]) {
					t.Fatalf("message %d part %d: %d bytes differ from the %d sent", i, k, len(got[k]), len(want[i][k]))
				}
			}
		}
	})
}

// TestRecycle_NewMessagesAreWhole: a receiver that gives its batches back still gets the right bytes.
func TestRecycle_NewMessagesAreWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		push := newPush(t, Options{}, address)
		const n = 500
		sizes := []int{40_000, 300_000, directSize, 50_000, 100}
		go func() {
			for i := range n {
				if err := push.send(context.Background(), Message{[]byte("h"), bytes.Repeat([]byte{byte(i)}, sizes[i%len(sizes)])}); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		for i := 0; i < n; {
			batch, err := pull.Recv(testContext(t))
			noError(t, err)
			for _, r := range batch {
				if !bytes.Equal(r.Msg[1], bytes.Repeat([]byte{byte(i)}, sizes[i%len(sizes)])) {
					t.Fatalf("message %d has the wrong bytes", i)
				}
				i++
			}
			pull.Recycle(batch)
		}
	})
}

func TestPull_FanInKeepsOrderPerPeer(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		const senders, n = 8, 2000
		var wg sync.WaitGroup
		defer wg.Wait()
		for s := range senders {
			push := newPush(t, Options{}, address)
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range n {
					if err := push.send(context.Background(), text(fmt.Sprint(s), fmt.Sprint(i))); err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		next, peerOf := map[string]int{}, map[string]PeerID{}
		c := &collector{from: pull}
		for range senders * n {
			r := c.next(t)
			sender := string(r.Msg[0])
			if next[sender] == 0 {
				peerOf[sender] = r.Peer
			}
			if want := fmt.Sprint(next[sender]); string(r.Msg[1]) != want || r.Peer != peerOf[sender] {
				t.Fatalf("sender %s peer %d: got %s, want %s from peer %d", sender, r.Peer, r.Msg[1], want, peerOf[sender])
			}
			next[sender]++
		}
	})
}

func TestPush_WaitsForItsPeerAndKeepsWhatWasSentBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		noError(t, pull.Close())
		push := newPush(t, Options{}, address)
		noError(t, push.TrySend(text("a"), text("b", "c")))
		if n, size := push.queue.size(); n != 2 || size != 3 {
			t.Fatalf("queued %d messages, %d bytes", n, size)
		}
		pull, _ = newPull(t, Options{}, address)
		c := &collector{from: pull}
		c.expect(t, "a")
		c.expect(t, "b|c")
		await.Until(t, "the queue is empty", func() bool { n, _ := push.queue.size(); return n == 0 })
	})
}

func TestR1_SecondPeerIsRefused(t *testing.T) {
	_, address := newPull(t, Options{}, "tcp://127.0.0.1:0")
	push := newPush(t, Options{}, address)
	if err := push.Connect(address); !errors.Is(err, errSecondPeer) {
		t.Fatalf("second Connect of a PUSH: %v", err)
	}
	req := newReq(t, Options{}, address)
	if err := req.Connect(address); !errors.Is(err, errSecondPeer) {
		t.Fatalf("second Connect of a REQ: %v", err)
	}
}

func TestPush_BoundsInMessagesAndBytes(t *testing.T) {
	push := newPush(t, Options{QueueMessages: 3, QueueBytes: 100}, ipcEndpoint(t)) // nobody listens
	noError(t, push.TrySend(text("1"), text("2")))
	if err := push.TrySend(text("3"), text("4")); !errors.Is(err, errFull) {
		t.Fatalf("four of three messages: %v", err)
	}
	if n, _ := push.queue.size(); n != 2 {
		t.Fatalf("a refused TrySend left %d messages", n)
	}
	noError(t, push.TrySend(text("3")))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := push.send(ctx, text("4")); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Send into a full queue: %v", err)
	}
	byBytes := newPush(t, Options{QueueBytes: 100}, ipcEndpoint(t))
	noError(t, byBytes.TrySend(Message{make([]byte, 1000)})) // a single message is accepted, whatever the bound
	if err := byBytes.TrySend(text("x")); !errors.Is(err, errFull) {
		t.Fatalf("a byte more than the bound: %v", err)
	}
}

func TestPush_RefusesWhatItsPeerWouldRefuse(t *testing.T) {
	push := newPush(t, Options{MaxFrame: 100, MaxParts: 2, MaxMessage: 150}, ipcEndpoint(t))
	for name, m := range map[string]Message{
		"no part": {}, "three parts": text("a", "b", "c"), "large part": {make([]byte, 101)},
		"large message": {make([]byte, 100), make([]byte, 51)},
	} {
		if err := push.TrySend(m); !errors.Is(err, ErrUnsendable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	noError(t, push.TrySend(Message{make([]byte, 100), make([]byte, 50)}))
}

// TestPull_HoldsTheSenderBack: a receiver that does not receive holds its sender back, and nothing is lost.
func TestPull_HoldsTheSenderBack(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		push := newPush(t, Options{QueueBytes: 1 << 20}, address)
		sent := fillUp(t, push)
		c := &collector{from: pull}
		for i := range sent {
			if got := c.next(t).Msg; string(got[0]) != fmt.Sprint(i) {
				t.Fatalf("message %d is %s", i, show(got))
			}
		}
	})
}

// fillUp sends numbered messages until none is taken any more, and returns how many were taken.
func fillUp(t testing.TB, push *Push) int {
	t.Helper()
	payload := make([]byte, 64<<10)
	sent, full := 0, 0
	for full < 50 {
		switch err := push.TrySend(Message{[]byte(fmt.Sprint(sent)), payload}); {
		case err == nil:
			sent, full = sent+1, 0
		case errors.Is(err, errFull):
			full++
			time.Sleep(2 * time.Millisecond)
		default:
			t.Fatal(err)
		}
		if sent > 10_000 {
			t.Fatal("the sender is not held back")
		}
	}
	return sent
}

// beyondBuffers is more than the kernel's buffers of a connection and a PULL's inbox hold together.
const beyondBuffers = 256 << 20

// overfill queues beyondBuffers, so that a part stays queued, however late the writer runs. fillUp waits until the writer has written
// nothing for a while, which on a busy machine does not show how much room there is. The messages share their memory.
func overfill(t testing.TB, push *Push) {
	t.Helper()
	payload := make([]byte, 1<<20)
	for size := 0; size < beyondBuffers; size += len(payload) {
		if err := push.TrySend(Message{payload}); errors.Is(err, errFull) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestReconnect_AfterTheServerCameBackOnTheSameEndpoint(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		told := newEvents()
		push := newPush(t, Options{OnEvent: told.take}, address)
		var last PeerID
		for round := 1; round <= 5; round++ {
			c := &collector{from: pull}
			connected := told.await(t, Connected)
			if connected.Peer <= last {
				t.Fatalf("peer %d after peer %d", connected.Peer, last)
			}
			last = connected.Peer
			noError(t, push.TrySend(text("round", fmt.Sprint(round))))
			c.expect(t, fmt.Sprint("round|", round))
			noError(t, pull.Close())
			gone := told.await(t, Disconnected)
			if gone.Peer != last || gone.Err == nil {
				t.Fatalf("event %+v after peer %d", gone, last)
			}
			pull, _ = newPull(t, Options{}, address)
		}
	})
}

// TestR7_QueueIsDroppedWithItsConnection: what is queued for a connection is dropped and counted when the connection ends. What is sent
// later arrives.
func TestR7_QueueIsDroppedWithItsConnection(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		told := newEvents()
		push := newPush(t, Options{OnEvent: told.take, QueueBytes: beyondBuffers}, address)
		told.await(t, Connected) // before that the queue belongs to no connection
		overfill(t, push)
		queued, _ := push.queue.size()
		noError(t, pull.Close())
		gone := told.await(t, Disconnected)
		if gone.Dropped == 0 || gone.Dropped > queued {
			t.Fatalf("%d messages dropped of %d queued", gone.Dropped, queued)
		}
		if n, size := push.queue.size(); n != 0 || size != 0 {
			t.Fatalf("%d messages, %d bytes are still queued", n, size)
		}
		pull, _ = newPull(t, Options{}, address)
		noError(t, push.TrySend(text("fresh")))
		(&collector{from: pull}).expect(t, "fresh")
	})
}

func TestPush_ResetMakesANewConnection(t *testing.T) {
	pull, address := newPull(t, Options{}, "tcp://127.0.0.1:0")
	told := newEvents()
	push := newPush(t, Options{OnEvent: told.take}, address)
	told.await(t, Connected)
	push.Reset()
	if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errReset) {
		t.Fatalf("cause %v", gone.Err)
	}
	told.await(t, Connected)
	noError(t, push.TrySend(text("again")))
	(&collector{from: pull}).expect(t, "again")
}

func TestUnreachableIsReportedOncePerOutage(t *testing.T) {
	told := newEvents()
	failed := countLogs("cannot connect")
	newPush(t, Options{OnEvent: told.take, BackoffMax: 10 * time.Millisecond, Logger: slog.New(failed)}, ipcEndpoint(t))
	told.await(t, Unreachable)
	await.Until(t, "ten attempts", func() bool { return failed.n.Load() > 10 })
	if len(told) > 0 {
		t.Fatalf("told again: %+v", <-told)
	}
}

func TestClose_LingersForTheQueueAndNoLonger(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pull, address := newPull(t, Options{}, endpoint)
		told := newEvents()
		push := newPush(t, Options{Linger: deadlineForTests, OnEvent: told.take}, address)
		told.await(t, Connected)
		const n = 200
		go func() {
			for i := range n {
				if err := push.TrySend(Message{[]byte(fmt.Sprint(i)), make([]byte, 20_000)}); err != nil {
					t.Error(err)
				}
			}
			if err := push.Close(); err != nil {
				t.Error(err)
			}
		}()
		c := &collector{from: pull}
		for i := range n {
			if got := c.next(t).Msg; string(got[0]) != fmt.Sprint(i) {
				t.Fatalf("message %d is %s", i, show(got))
			}
		}
		_, unread := newPull(t, Options{ReceiveBytes: 512 << 10, MaxFrame: 64 << 10}, ipcEndpoint(t))
		stuck := newPush(t, Options{Linger: 30 * time.Millisecond, QueueBytes: 64 << 20, QueueMessages: 1 << 10}, unread)
		for range 1000 { // more than sockets and the receiver hold
			noError(t, stuck.TrySend(Message{make([]byte, 60_000)}))
		}
		await.Until(t, "a connection", func() bool { return len(stuck.allPeers()) == 1 })
		began := time.Now()
		noError(t, stuck.Close())
		if took := time.Since(began); took < 30*time.Millisecond || took > deadlineForTests {
			t.Fatalf("Close lingered for %v", took)
		}
	})
}

// TestClose_DoesNotWaitForConnections: Close does not wait for messages to a peer that never came or has gone.
func TestClose_DoesNotWaitForConnections(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		never := newPush(t, Options{Linger: time.Hour}, ipcEndpoint(t))
		noError(t, never.TrySend(text("nobody will hear this")))
		noError(t, never.Close())

		told := newEvents()
		pull, address := newPull(t, Options{}, endpoint)
		gone := newPush(t, Options{Linger: time.Hour, OnEvent: told.take}, address)
		told.await(t, Connected)
		noError(t, pull.Close())
		told.await(t, Disconnected)
		noError(t, gone.TrySend(text("nor this")))
		noError(t, gone.Close())

		// The connection ends while Close waits for it.
		slow, address := newPull(t, Options{ReceiveBytes: 512 << 10, MaxFrame: 64 << 10}, endpoint)
		waits := newPush(t, Options{Linger: time.Hour, QueueBytes: 64 << 20, QueueMessages: 1 << 10}, address)
		for range 1000 {
			noError(t, waits.TrySend(Message{make([]byte, 60_000)}))
		}
		await.Until(t, "a connection", func() bool { return len(waits.allPeers()) == 1 })
		closed := make(chan error, 1)
		go func() { closed <- waits.Close() }()
		noError(t, slow.Close())
		noError(t, <-closed)
	})
}

func TestClose_EndsAllWaitingCalls(t *testing.T) {
	pull, address := newPull(t, Options{}, "tcp://127.0.0.1:0")
	router, routerAddress := newRouter(t, Options{}, "tcp://127.0.0.1:0")
	sub := newSub(t, Options{})
	req := newReq(t, Options{}, routerAddress)
	full := newPush(t, Options{QueueMessages: 1}, ipcEndpoint(t))
	noError(t, full.TrySend(text("x")))
	push := newPush(t, Options{}, address)
	pub, _ := newPub(t, Options{}, "tcp://127.0.0.1:0")

	waiting := []func() error{
		func() error { _, err := pull.Recv(context.Background()); return err },
		func() error { _, err := sub.Recv(context.Background()); return err },
		func() error { _, err := req.Do(context.Background(), text("?")); return err },
		func() error { return full.send(context.Background(), text("y")) },
	}
	results := make(chan error, len(waiting)+1)
	for _, w := range waiting {
		go func() { results <- w() }()
	}
	(&collector{from: router}).expect(t, "|?") // the question is in flight
	go func() { _, err := router.Recv(context.Background()); results <- err }()
	for _, s := range []closer{pull, sub, req, full, push, pub, router} {
		noError(t, s.Close())
	}
	for range len(waiting) + 1 {
		if err := <-results; !errors.Is(err, errClosed) {
			t.Errorf("a waiting call returned %v", err)
		}
	}
	ctx := context.Background()
	_, reqErr := req.Do(ctx, text("?"))
	_, listenErr := pull.Listen("tcp://127.0.0.1:0")
	_, subErr := sub.Connect(address)
	for i, err := range []error{sub.Subscribe("x"), router.Send(1, text("x")), push.TrySend(text("x")), push.send(ctx, text("x")),
		pub.Send(text("x")), reqErr, listenErr, subErr} {
		if !errors.Is(err, errClosed) {
			t.Errorf("call %d after Close: %v", i, err)
		}
	}
}

func TestRecv_HonoursItsContext(t *testing.T) {
	pull, _ := newPull(t, Options{}, "tcp://127.0.0.1:0")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := pull.Recv(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Recv: %v", err)
	}
}
