package zmqx

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// echo answers every question with its own body, until the router closes.
func echo(t testing.TB, r *Router) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for batch := range r.C() {
			for _, q := range batch {
				if err := r.Send(q.Peer, q.Msg); err != nil && !errors.Is(err, errUnknownPeer) && !errors.Is(err, errOverflow) {
					t.Error(err)
				}
			}
		}
	}()
	t.Cleanup(func() { r.Close(); wg.Wait() })
}

func TestReqRouter_ManyClientsGetTheirOwnAnswers(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		router, address := newRouter(t, Options{}, endpoint)
		echo(t, router)
		var wg sync.WaitGroup
		defer wg.Wait()
		for c := range 10 {
			req := newReq(t, Options{}, address)
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 200 {
					want := text(fmt.Sprint(c), fmt.Sprint(i), "")
					got, err := req.Do(testContext(t), want)
					if err != nil || show(got) != show(want) {
						t.Errorf("client %d: got %q, %v", c, show(got), err)
						return
					}
				}
			}()
		}
	})
}

// TestReq_LateAnswerIsNotMistaken (the lazy pirate): an answer that arrives after the client has given up is never taken for the answer to
// the next question.
func TestReq_LateAnswerIsNotMistaken(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		told := newEvents()
		router, address := newRouter(t, Options{}, endpoint)
		req := newReq(t, Options{OnEvent: told.take}, address)
		told.await(t, Connected)
		ctx, giveUp := context.WithCancel(context.Background())
		defer giveUp()
		asked := make(chan error, 1)
		go func() { _, err := req.Do(ctx, text("one")); asked <- err }()
		c := &collector{from: router}
		one := c.expect(t, "|one")
		giveUp()
		if err := <-asked; !errors.Is(err, context.Canceled) {
			t.Fatalf("Do without an answer: %v", err)
		}
		if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errAbandoned) {
			t.Fatalf("%+v", gone)
		}
		_ = router.Send(one.Peer, text("", "late answer to one")) // to a connection that has ended or is about to
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			two := c.next(t)
			if two.Peer == one.Peer {
				t.Error("the second question came over the first one's connection")
			}
			_ = router.Send(one.Peer, text("", "very late answer to one"))
			if err := router.Send(two.Peer, text("", "answer to two")); err != nil {
				t.Error(err)
			}
		}()
		got, err := req.Do(testContext(t), text("two"))
		<-answered
		if err != nil || show(got) != "answer to two" {
			t.Fatalf("got %q, %v", show(got), err)
		}
	})
}

func TestReq_OneQuestionAtATime(t *testing.T) {
	router, address := newRouter(t, Options{}, "tcp://127.0.0.1:0")
	req := newReq(t, Options{}, address)
	first := make(chan error, 1)
	go func() { _, err := req.Do(testContext(t), text("one")); first <- err }()
	c := &collector{from: router}
	one := c.expect(t, "|one")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := req.Do(ctx, text("two")); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a second question while the first is open: %v", err)
	}
	noError(t, router.Send(one.Peer, text("", "answer")))
	noError(t, <-first)
}

func TestReq_LostConnectionIsAnErrorAndTheNextQuestionGoesThrough(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		router, address := newRouter(t, Options{}, endpoint)
		req := newReq(t, Options{}, address)
		result := make(chan error, 1)
		go func() { _, err := req.Do(testContext(t), text("one")); result <- err }()
		(&collector{from: router}).expect(t, "|one")
		noError(t, router.Close())
		if err := <-result; !errors.Is(err, errDisconnected) {
			t.Fatalf("Do: %v", err)
		}
		router, _ = newRouter(t, Options{}, address)
		echo(t, router)
		got, err := req.Do(testContext(t), text("two"))
		if err != nil || show(got) != "two" {
			t.Fatalf("got %q, %v", show(got), err)
		}
	})
}

// TestReq_UnaskedAnswerEndsTheConnection: an unexpected answer cannot be told from an expected one, so the connection ends.
func TestReq_UnaskedAnswerEndsTheConnection(t *testing.T) {
	told := newEvents()
	router, address := newRouter(t, Options{}, "tcp://127.0.0.1:0")
	req := newReq(t, Options{OnEvent: told.take}, address)
	go func() {
		q := (&collector{from: router}).next(t)
		_ = router.Send(q.Peer, text("", "answer"))
		_ = router.Send(q.Peer, text("", "another"))
	}()
	_, err := req.Do(testContext(t), text("?"))
	if err != nil && !errors.Is(err, errDisconnected) { // both answers may arrive in one read
		t.Fatal(err)
	}
	if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errProtocol) {
		t.Fatalf("%+v", gone)
	}
}

func TestRouter_SendNeverWaitsForAStuckPeer(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		told := newEvents()
		router, address := newRouter(t, Options{QueueBytes: 1 << 20, OnEvent: told.take}, endpoint)
		stuck := rawClient(t, address, "DEALER", "")
		_, err := stuck.Write(wireMessage("", "question"))
		noError(t, err)
		q := (&collector{from: router}).expect(t, "|question")
		big := Message{nil, make([]byte, 100_000)}
		for i := 0; ; i++ {
			err := router.Send(q.Peer, big)
			if errors.Is(err, errOverflow) || errors.Is(err, errUnknownPeer) {
				break
			}
			noError(t, err)
			if i > 10_000 {
				t.Fatal("the queue has no bound")
			}
		}
		if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errOverflow) {
			t.Fatalf("%+v", gone)
		}
		echo(t, router)
		req := newReq(t, Options{}, address)
		got, err := req.Do(testContext(t), text("good"))
		if err != nil || show(got) != "good" {
			t.Fatalf("got %q, %v", show(got), err)
		}
	})
}
