package security

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// TestR16_AGreedyClientTakesNoMemoryFromAnother: alice fills the joiners with stations, in one session after the other. Beyond what she may
// hold, her largest session fails, and she is told why. Her other sessions continue, and bob's get their answers.
func TestR16_AGreedyClientTakesNoMemoryFromAnother(t *testing.T) {
	d := generated(t, 5_000)
	v := overTCP()
	v.Settings = map[string]string{"limits.memory": "2MiB", "limits.node_memory": "4MiB", "limits.client_timeout": "10m"}
	c := start(t, v)
	ctx := until(t)
	c.analyse(ctx, bob, d)
	var held []protocol.Request
	for _, rows := range []int{8000, 7000, 6000} { // of 110 bytes and more: two sessions hold less than 2 MiB, three hold more
		held = append(held, c.fill(ctx, alice, rows))
	}
	largest, entry := held[0], c.entries()[0]
	for {
		_, err := client.RequestOnce(ctx, c.keys[alice], entry, largest, patience)
		var refused *protocol.Error
		if errors.As(err, &refused) && refused.Code == protocol.ErrFailed && strings.Contains(refused.Message, "limits.node_memory is 4194304") {
			break
		}
		if err != nil || ctx.Err() != nil {
			t.Fatalf("alice's largest session: %v, %v", err, ctx.Err())
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.analyse(ctx, bob, d)
	for _, q := range held[1:] {
		if reply, err := client.RequestOnce(ctx, c.keys[alice], entry, q, patience); err != nil || reply.State != session.Running {
			t.Errorf("another session of alice is %+v, %v", reply.State, err)
		}
	}
}

// fill opens a session and sends stations to it, but no end. It returns the request that asks how the session is.
func (c *cluster) fill(ctx context.Context, who security.Identity, rows int) protocol.Request {
	c.t.Helper()
	cfg := c.config(who, &dataset{dir: c.t.TempDir()})
	q := protocol.Request{Type: protocol.Open, Session: session.New(), Token: session.NewToken(), Analysis: cfg.Analysis}
	send := func(q protocol.Request) {
		for _, n := range c.topo.Holding(topology.Input) {
			if _, err := client.RequestOnce(ctx, cfg.Keys, client.NamedEndpoint(n.Sockets.Client.Dial, string(n.ID)), q, patience); err != nil {
				c.t.Fatalf("%s: %v", q.Type, err)
			}
		}
	}
	send(q)
	q.Type = protocol.Chunk
	q.Stream, q.File, q.Header = "stations", "montreal/stations.csv", []byte("code,name,latitude,longitude,yearid")
	for done := 0; done < rows; done += 1000 {
		q.Seq, q.Line, q.Data = q.Seq+1, uint64(2+done), nil
		for i := range 1000 {
			q.Data = fmt.Appendf(q.Data, "%d,%0110d,45.5,-73.5,2017\n", done+i, done+i)
		}
		send(q)
	}
	return protocol.Request{Type: protocol.Ping, Session: q.Session, Token: q.Token}
}
