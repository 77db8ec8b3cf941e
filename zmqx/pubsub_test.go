package zmqx

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

// subscribed waits until the publisher has n subscriptions in all.
func subscribed(t testing.TB, pub *Pub, n int) {
	t.Helper()
	await.Until(t, fmt.Sprint(n, " subscriptions"), func() bool {
		have := 0
		for _, p := range pub.allPeers() {
			have += len(p.topics.list())
		}
		return have == n
	})
}

// unsubscribe sends what a SUB of libzmq sends. Our SUB never removes a subscription.
func unsubscribe(t testing.TB, sub *Sub, prefix string) {
	t.Helper()
	sub.topics.remove([]byte(prefix))
	for _, p := range sub.allPeers() {
		noError(t, p.queue.tryPut([]Message{text("\x00" + prefix)}))
	}
}

func TestPubSub_FiltersByPrefixAndHonoursUnsubscribe(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pub, address := newPub(t, Options{}, endpoint)
		sub := newSub(t, Options{}, address)
		noError(t, sub.Subscribe("a"))
		noError(t, sub.Subscribe("bb"))
		subscribed(t, pub, 2)
		c := &collector{from: sub}
		noError(t, pub.Send(text("c"), text("a1", "x"), text("b"), text("bb"), text("")))
		c.expect(t, "a1|x")
		c.expect(t, "bb")
		unsubscribe(t, sub, "a")
		subscribed(t, pub, 1)
		noError(t, pub.Send(text("a2"), text("bb2")))
		c.expect(t, "bb2")
		noError(t, sub.Subscribe("")) // everything
		subscribed(t, pub, 2)
		noError(t, pub.Send(text("zzz"), text("")))
		c.expect(t, "zzz")
		c.expect(t, "")
	})
}

func TestSub_ManyPublishersAndSubscriptionsSentAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		first, firstAddress := newPub(t, Options{}, endpoint)
		second, secondAddress := newPub(t, Options{}, ipcEndpoint(t))
		sub := newSub(t, Options{}, firstAddress, secondAddress)
		noError(t, sub.Subscribe("t"))
		subscribed(t, first, 1)
		subscribed(t, second, 1)
		c := &collector{from: sub}
		noError(t, first.Send(text("t1")))
		if r := c.expect(t, "t1"); r.Endpoint != 0 {
			t.Fatalf("endpoint %d", r.Endpoint)
		}
		noError(t, first.Close())
		noError(t, second.Send(text("t2")))
		if r := c.expect(t, "t2"); r.Endpoint != 1 {
			t.Fatalf("endpoint %d", r.Endpoint)
		}
		noError(t, sub.Subscribe("u"))
		first, _ = newPub(t, Options{}, firstAddress)
		subscribed(t, first, 2)
		noError(t, first.Send(text("u1"), text("t3")))
		c.expect(t, "u1")
		if r := c.expect(t, "t3"); r.Endpoint != 0 {
			t.Fatalf("endpoint %d", r.Endpoint)
		}
	})
}

// TestSub_TellsEachSubscriptionOnce: a publisher that is admitted while Subscribe runs hears the subscription once, for it may be a
// question.
func TestSub_TellsEachSubscriptionOnce(t *testing.T) {
	heard := make(chan string, 10)
	_, address := newPub(t, Options{Subscribed: func(prefix string) { heard <- prefix }}, "tcp://127.0.0.1:0")
	sub := newSub(t, Options{})
	noError(t, sub.Subscribe("before"))
	sub.mu.Lock() // as Subscribe does
	_, dialled := sub.Connect(address)
	await.Until(t, "the publisher is admitted", func() bool { return sub.peerCount() == 1 })
	asked := sub.subscribeLocked("meanwhile")
	sub.mu.Unlock()
	noError(t, dialled)
	noError(t, asked)
	await.Until(t, "the publisher has heard", func() bool { return len(heard) >= 2 })
	noError(t, sub.Subscribe("after"))
	var all []string
	for len(all) == 0 || all[len(all)-1] != "after" {
		all = append(all, <-heard)
	}
	slices.Sort(all)
	if want := []string{"after", "before", "meanwhile"}; !slices.Equal(all, want) {
		t.Errorf("the publisher has heard %q, want %q", all, want)
	}
}

// TestPub_SlowSubscriberIsAlone: a subscriber that does not read misses messages. The others get every message, and the publisher never
// waits.
func TestPub_SlowSubscriberIsAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		pub, address := newPub(t, Options{QueueBytes: 1 << 20, WriteTimeout: deadlineForTests}, endpoint)
		good, slow := newSub(t, Options{}, address), newSub(t, Options{}, address)
		noError(t, good.Subscribe(""))
		noError(t, slow.Subscribe(""))
		subscribed(t, pub, 2)
		c := &collector{from: good}
		payload := make([]byte, 50_000)
		const n = 1000 // 50 MB: far more than the kernel and the queue hold
		for i := range n {
			noError(t, pub.Send(Message{[]byte(fmt.Sprint(i)), payload}))
			if got := c.next(t).Msg; string(got[0]) != fmt.Sprint(i) {
				t.Fatalf("the good subscriber got %s instead of %d", got[0], i)
			}
		}
		if pub.peerCount() != 2 {
			t.Fatal("the slow subscriber was disconnected before its time")
		}
		// When the subscriber reads again, it gets the queued messages in order, and then the new ones.
		got, last := 0, -1
		for s := (&collector{from: slow}); last < n; got++ {
			noError(t, pub.Send(text(fmt.Sprint(n))))
			var i int
			if _, err := fmt.Sscan(string(s.next(t).Msg[0]), &i); err != nil || i <= last {
				t.Fatalf("the slow subscriber got %d after %d (%v)", i, last, err)
			}
			last = i
		}
		if got > n {
			t.Fatal("nothing was dropped for the slow subscriber")
		}
	})
}

// TestPub_StuckSubscriberIsDisconnected: a subscriber that never reads is disconnected after WriteTimeout.
func TestPub_StuckSubscriberIsDisconnected(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		told := newEvents()
		pub, address := newPub(t, Options{WriteTimeout: 100 * time.Millisecond, OnEvent: told.take}, endpoint)
		stuck := newSub(t, Options{BackoffMin: time.Minute}, address)
		noError(t, stuck.Subscribe(""))
		subscribed(t, pub, 1)
		for range 600 {
			noError(t, pub.Send(Message{make([]byte, 50_000)}))
		}
		if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errStalled) || gone.Dropped == 0 {
			t.Fatalf("%+v", gone)
		}
	})
}

func TestPub_BoundsSubscriptions(t *testing.T) {
	for name, greedy := range map[string]func(*Sub){
		"many": func(s *Sub) {
			for i := range 20 {
				_ = s.Subscribe(fmt.Sprint(i))
			}
		},
		"long": func(s *Sub) { _ = s.Subscribe("0123456789abcdef") },
	} {
		t.Run(name, func(t *testing.T) {
			told := newEvents()
			pub, address := newPub(t, Options{MaxSubscriptions: 10, MaxTopic: 8, OnEvent: told.take}, "tcp://127.0.0.1:0")
			good := newSub(t, Options{}, address)
			noError(t, good.Subscribe("x"))
			subscribed(t, pub, 1)
			bad := newSub(t, Options{BackoffMin: time.Minute}, address)
			greedy(bad)
			if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errTooLarge) {
				t.Fatalf("%+v", gone)
			}
			noError(t, pub.Send(text("x")))
			(&collector{from: good}).expect(t, "x")
		})
	}
}

func TestSubscriptions_Match(t *testing.T) {
	s := newSubscriptions(10, 10)
	for _, p := range []string{"ab", "abc", "xyz", "ab"} {
		noError(t, s.add([]byte(p)))
	}
	s.remove([]byte("nothing"))
	for topic, want := range map[string]bool{"": false, "a": false, "ab": true, "abd": true, "xy": false, "xyz1": true, "zab": false} {
		if s.match([]byte(topic)) != want {
			t.Errorf("match(%q) is %v", topic, !want)
		}
	}
	s.remove([]byte("ab"))
	if s.match([]byte("abd")) || !s.match([]byte("abcd")) {
		t.Error("removing ab took the wrong prefix")
	}
}

// TestSub_DropsWhatItDidNotSubscribeTo: messages of a publisher that does not filter do not get through.
func TestSub_DropsWhatItDidNotSubscribeTo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer l.Close()
	sub := newSub(t, Options{}, "tcp://"+l.Addr().String())
	noError(t, sub.Subscribe("t"))
	conn, err := l.Accept()
	noError(t, err)
	defer conn.Close()
	b := append(greetingBytes(), readyBytes("PUB", "")...)
	for _, topic := range []string{"a", "t1", "", "b", "t2"} {
		b = append(b, wireMessage(topic)...)
	}
	_, err = conn.Write(b)
	noError(t, err)
	c := &collector{from: sub}
	c.expect(t, "t1")
	c.expect(t, "t2")
}

// TestSub_DialsASilentPublisherAgain: a machine that is cut off closes no connection. So a subscriber dials again if it hears nothing; it
// keeps the connection to a publisher that sends.
func TestSub_DialsASilentPublisherAgain(t *testing.T) {
	pub, address := newPub(t, Options{}, "tcp://127.0.0.1:0")
	events := make(chan Event, 1000)
	const silence = time.Second
	last := time.Now() // before it sent what was heard last
	sub := newSub(t, Options{MaxSilence: silence, OnEvent: func(e Event) { events <- e }}, address)
	noError(t, sub.Subscribe("t"))
	next := func(kind EventKind, cause error) {
		t.Helper()
		if e := <-events; e.Kind != kind || !errors.Is(e.Err, cause) {
			t.Fatalf("%v: %v; want %v: %v", e.Kind, e.Err, kind, cause)
		}
	}
	said := 0
	// speak publishes a message, and reports whether it arrives before anything happens to the connection.
	speak := func() bool {
		said++
		words := fmt.Sprint("t", said)
		noError(t, pub.Send(text(words)))
		for len(events) == 0 {
			select {
			case batch := <-sub.C():
				if string(batch[len(batch)-1].Msg[0]) == words {
					return len(events) == 0
				}
			case <-time.After(silence / 100): // the publisher may not have the subscription yet, or something has happened
				noError(t, pub.Send(text(words)))
			}
		}
		return false
	}
	next(Connected, nil)
	// If the machine stood still for that long, the publisher was silent, and has to send once more.
	for began := time.Now(); time.Since(began) < 2*silence; time.Sleep(silence / 20) {
		spoke := time.Now()
		if speak() {
			last = spoke
			continue
		}
		next(Disconnected, ErrSilent)
		if quiet := time.Since(last); quiet < silence {
			t.Fatalf("the publisher spoke %v ago, and counts as silent", quiet)
		}
		next(Connected, nil)
		began = time.Now()
	}
	next(Disconnected, ErrSilent)
	next(Connected, nil)
	for !speak() { // the machine stood still again
		next(Disconnected, ErrSilent)
		next(Connected, nil)
	}
}
