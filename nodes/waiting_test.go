package nodes_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/topology"
)

// twoInputs returns a cluster that gives a silent client up soon. It has one joiner, so all facts go through that joiner.
func twoInputs(t *testing.T, clientTimeout string) *cluster {
	t.Helper()
	return start(t, topology.Variant{
		Replicas: map[string]int{"input": 2, "joiner": 1},
		Settings: map[string]string{"limits.client_timeout": clientTimeout, "limits.retry_after": "100ms"},
	})
}

// ask sends one request to one input.
func (c *cluster) ask(input int, q protocol.Request) (protocol.Reply, error) {
	return client.RequestOnce(context.Background(), nil, c.topo.EntryPoints()[input-1], q, 10*time.Second)
}

func (c *cluster) must(input int, q protocol.Request) protocol.Reply {
	c.t.Helper()
	r, err := c.ask(input, q)
	if err != nil {
		c.t.Fatalf("%s at input-%d: %v", q.Type, input, err)
	}
	return r
}

// age returns for how long a session has been open at an input; false if it is not open there.
func (c *cluster) age(input int, id session.ID) (time.Duration, bool) {
	c.t.Helper()
	for _, s := range c.must(input, protocol.Request{Type: protocol.Sessions}).Sessions {
		if s.Session == id && s.State == session.Running {
			return s.Age, true
		}
	}
	return 0, false
}

type ending struct {
	answer *client.Answer
	err    error
}

// TestB13_AClientThatWaitsAtTheSecondInputIsAliveAtTheFirst: a session is open at the first input, and its client waits at the second
// input, which is busy for three times limits.client_timeout. The session is not given up, and its answer is right.
func TestB13_AClientThatWaitsAtTheSecondInputIsAliveAtTheFirst(t *testing.T) {
	const timeout = 2 * time.Second
	dir, want := data(t, 2000)
	c := twoInputs(t, timeout.String())
	c.must(2, protocol.Request{Type: protocol.Hold, Lease: time.Minute})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	id, ended := session.New(), make(chan ending, 1)
	go func() {
		a, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: dir, Session: id})
		ended <- ending{a, err}
	}()
	await.Until(t, "the session is open at the first input", func() bool { _, open := c.age(1, id); return open })
	await.Until(t, "its client waits for long", func() bool {
		age, open := c.age(1, id)
		if !open {
			t.Fatal("the session was given up at the first input while its client waits at the second one")
		}
		return age > 3*timeout
	})
	if _, open := c.age(2, id); open {
		t.Fatal("the second input was to be busy")
	}
	c.must(2, protocol.Request{Type: protocol.Hold})
	e := <-ended
	if e.err != nil {
		t.Fatalf("run: %v", e.err)
	}
	if got := truth.Queries(t, e.answer); !bytes.Equal(got, want) {
		t.Errorf("answers differ:\n got %.2000s\nwant %.2000s", got, want)
	}
}

// TestB14_AClientThatOnlyPingsDelaysOthersBriefly: a client opens a session at two inputs, ends its reference streams at the first, sends
// facts there, and only pings from then on. Its facts wait at the joiner, and the facts of other sessions wait behind them. They wait for
// limits.client_timeout at most, not for limits.results_ttl, which is an hour. Then the client gets the reason why its session was given
// up.
func TestB14_AClientThatOnlyPingsDelaysOthersBriefly(t *testing.T) {
	const timeout = 2 * time.Second
	dir, want := data(t, 2000)
	c := twoInputs(t, timeout.String())
	blocker := protocol.Request{Session: session.New(), Token: session.NewToken()}
	say := func(input int, q protocol.Request) (protocol.Reply, error) {
		q.Session, q.Token = blocker.Session, blocker.Token
		return c.ask(input, q)
	}
	began := func(input int, q protocol.Request) {
		t.Helper()
		if _, err := say(input, q); err != nil {
			t.Fatalf("%s at input-%d: %v", q.Type, input, err)
		}
	}
	for input := range 2 {
		began(input+1, protocol.Request{Type: protocol.Open, Analysis: "bikes"})
	}
	for _, stream := range []string{"weather", "stations"} {
		began(1, protocol.Request{Type: protocol.End, Stream: stream})
	}
	began(1, protocol.Request{
		Type: protocol.Chunk, Stream: "trips", Seq: 1, File: "montreal/trips.csv", Line: 2,
		Header: []byte("start_date,start_station_code,end_date,end_station_code,duration_sec,is_member,yearid"),
		Data:   []byte("2017-06-01 08:00:00,1,2017-06-01 08:10:00,2,600.0,1,2017\n"),
	})
	verdict, stop := make(chan error, 1), make(chan struct{})
	defer func() { close(stop) }()
	go func() {
		for {
			for input := range 2 {
				if _, err := say(input+1, protocol.Request{Type: protocol.Ping}); err != nil {
					verdict <- err
					return
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(timeout / 10):
			}
		}
	}()
	if got := c.analyse(dir, nil); !bytes.Equal(got, want) { // within a minute, or the test fails
		t.Errorf("answers differ:\n got %.2000s\nwant %.2000s", got, want)
	}
	select {
	case err := <-verdict:
		if !errors.Is(err, protocol.ErrExpired) || !strings.Contains(err.Error(), "ended no reference stream at node input-2") ||
			!strings.Contains(err.Error(), "limits.client_timeout") {
			t.Errorf("the client that only pings hears %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the client that only pings hears nothing of its end")
	}
}
