package e2e

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/link"
	"posta.dev/posta/link/zmq"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TestHostile_StrangerInAPlace takes a node's addresses while the node is down, and answers with rubbish: garbled acknowledgements and
// heartbeats, garbled frames on its broadcast socket, HTTP instead of replies. No process fails because of it, and when the node is back
// the run completes.
func TestHostile_StrangerInAPlace(t *testing.T) {
	d := generated(t, 60_000)
	c := start(t, topology.Variant{Replicas: map[string]int{"output": 2}})
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	c.watchMemory(ctx)
	for i, id := range []topology.NodeID{"input-1", "joiner-2", "aggregator-1", "output-1"} {
		g := newGate(500_000)
		r := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10, Timeout: 500 * time.Millisecond})
		until(t, "facts are on their way", func() bool { return r.acked("trips") > 100_000 })
		c.kill(id)
		// A machine that stands still for some seconds may let nobody dial the stranger in time.
		noise := rand.New(rand.NewPCG(9, uint64(i)))
		if !await.Within(patience, func() bool { return c.impersonate(id, noise) > 0 }) {
			t.Errorf("nobody has listened to the stranger in the place of %s", id)
		}
		c.supervise(id)
		close(g.open)
		d.check(t, r.answer())
	}
	cancel()
	c.flatMemory(mostUnderAttack)
	c.noUnexpectedExits()
}

// impersonate listens on a node's sockets for a while, and returns how many messages it could send.
func (c *cluster) impersonate(id topology.NodeID, r *rand.Rand) (said int) {
	c.t.Helper()
	n, err := c.topo.Node(id)
	if err != nil {
		c.t.Fatal(err)
	}
	a := &attacker{nodes: c.ids(), edges: c.topo.Edges, r: r}
	for _, e := range n.Sockets.List() {
		if path, ok := strings.CutPrefix(e.Bind, "ipc://"); ok {
			_ = os.Remove(path) // the dead node's socket
		}
		switch e.Kind {
		case topology.KindControl, topology.KindBroadcast:
			said += c.publishRubbish(a, e)
		case topology.KindClient:
			defer c.answerRubbish(e)()
		}
	}
	time.Sleep(300 * time.Millisecond) // so that clients send requests
	return said
}

// publishRubbish waits for subscribers and sends them messages that no node would send.
func (c *cluster) publishRubbish(a *attacker, e topology.NamedEndpoint) (said int) {
	var peers atomic.Int64
	pub, err := zmqx.NewPub(zmqx.Options{Linger: 200 * time.Millisecond, OnEvent: func(e zmqx.Event) {
		switch e.Kind {
		case zmqx.Connected:
			peers.Add(1)
		case zmqx.Disconnected:
			peers.Add(-1)
		}
	}})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = pub.Close() }()
	if _, err := pub.Listen(e.Bind); err != nil {
		c.t.Fatal(err)
	}
	await.Within(2*time.Second, func() bool { return peers.Load() > 0 })
	time.Sleep(50 * time.Millisecond) // so that they subscribe
	for i := range 3000 {
		m := zmqx.Message{[]byte(zmq.BeatTopic), a.noise(a.r.IntN(300))}
		switch {
		case e.Kind == topology.KindBroadcast:
			edge := a.edges[a.r.IntN(len(a.edges))]
			m = zmqx.Message{[]byte(edge.Name() + "\x00"), a.garbledFrame(), a.noise(a.r.IntN(500))}
		case i%3 == 0:
			m = zmqx.Message{[]byte("A" + string(a.nodes[a.r.IntN(len(a.nodes))]) + "\x00"), a.garbledAck()}
		case i%3 == 1:
			m[1] = bombs[i%len(bombs)]
		}
		if pub.Send(m) == nil && peers.Load() > 0 {
			said++
		}
		if i%100 == 0 {
			time.Sleep(time.Millisecond) // so that they are not flooded
		}
	}
	return said
}

// garbledAck returns an acknowledgement that cannot be decoded, or names a node that does not exist. One that can be decoded and names a
// node could be a real node's.
func (a *attacker) garbledAck() []byte {
	for {
		k := link.Ack{
			Edge: a.edges[a.r.IntN(len(a.edges))].Name(), To: a.nodes[a.r.IntN(len(a.nodes))], Hwm: link.Seq(a.r.Uint64()),
			Resend: a.r.IntN(2) == 0, Receiver: a.nodes[a.r.IntN(len(a.nodes))],
		}
		copy(k.Log[:], a.noise(16))
		copy(k.ID.LogID[:], a.noise(16))
		b := a.garbled(k.Append(nil))
		if got, err := link.DecodeAck(&link.Interner{}, b); err != nil || got.Receiver != k.Receiver {
			return b
		}
	}
}

// answerRubbish accepts connections and sends bytes that are not ZMTP. For clients that is the same as silence.
func (c *cluster) answerRubbish(e topology.NamedEndpoint) (stop func()) {
	l, err := net.Listen("unix", strings.TrimPrefix(e.Bind, "ipc://"))
	if err != nil {
		c.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) // or the clients would receive nothing
			_ = conn.Close()
		}
	}()
	return func() {
		_ = l.Close() // the node will need the address
		<-done
	}
}
