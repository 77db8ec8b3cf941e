package zmq

import (
	"log/slog"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/test/linktest"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TestS3_TheSuiteWithKeys: with keys a link does everything that it does without.
func TestS3_TheSuiteWithKeys(t *testing.T) {
	rings := map[string]*keytest.Ring{}
	linktest.Subject{
		Transport: topology.ZMQ,
		New: func(topo *topology.Topology, n topology.Node) (link.Transport, error) {
			if rings[topo.Name] == nil {
				rings[topo.Name] = keytest.New(t, topo.Name)
			}
			return New(link.TransportConfig{
				Topology: topo, Node: n, Listen: n.Holds(topology.Input), Log: slog.New(slog.DiscardHandler), Keys: rings[topo.Name].Of(t, n),
			}, nil)
		},
	}.Run(t)
}

// cluster is a topology over TCP whose nodes have keys.
type cluster struct {
	t    *testing.T
	topo *topology.Topology
	ring *keytest.Ring
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	topo := keytest.Loopback(t, topology.Variant{SplitParsers: true})
	return &cluster{t: t, topo: topo, ring: keytest.New(t, topo.Name)}
}

func (k *cluster) node(id topology.NodeID) topology.Node {
	k.t.Helper()
	n, err := k.topo.Node(id)
	if err != nil {
		k.t.Fatal(err)
	}
	return n
}

// open opens a node's transport. It uses the node's keys, or gives it some.
func (k *cluster) open(n topology.Node, keys *security.Keys) *Transport {
	k.t.Helper()
	tr, err := New(link.TransportConfig{Topology: k.topo, Node: n, Log: slog.New(slog.DiscardHandler), Keys: keys}, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			k.t.Error(err)
		}
	})
	return tr
}

// edge returns the edge between two stages on this kind of socket.
func (k *cluster) edge(from, to string, socket topology.Socket) string {
	k.t.Helper()
	for _, e := range k.topo.EdgesFrom(from) {
		if e.To == to && e.Socket == socket {
			return e.Name()
		}
	}
	k.t.Fatalf("no %s edge from %s to %s", socket, from, to)
	return ""
}

// patience is how long a test waits for something that must happen.
const patience = time.Minute

// push returns a raw sender. Without keys it speaks plain ZMTP.
func (k *cluster) push(keys *security.Keys, kind security.Kind, to topology.Node) (*zmqx.Push, keytest.Events) {
	k.t.Helper()
	events := keytest.NewEvents()
	o := zmqx.Options{OnEvent: events.Take, BackoffMax: 20 * time.Millisecond}
	if keys != nil {
		o.TLS = keys.Socket(kind, nil)
	}
	p, err := zmqx.NewPush(o)
	if err == nil {
		err = p.ConnectTo(to.Sockets.Data.Dial, to.Identity().String())
	}
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = p.Close() })
	return p, events
}

// pub returns a raw publisher at the address of a node.
func (k *cluster) pub(keys *security.Keys, kind security.Kind, at topology.Endpoint) (*zmqx.Pub, keytest.Events) {
	k.t.Helper()
	events := keytest.NewEvents()
	p, err := zmqx.NewPub(zmqx.Options{OnEvent: events.Take, TLS: keys.Socket(kind, func(security.Identity) error { return nil })})
	if err == nil {
		_, err = p.Listen(at.Bind)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = p.Close() })
	return p, events
}

func frame(edge string, from link.NodeID, seq link.Seq) link.Frame {
	return link.Frame{Edge: edge, From: from, ID: link.Identity{Incarnation: 1, Life: 1}, Life: 1, Seq: seq, Kind: link.Data}
}

// next returns the next event of a transport that ok accepts.
func next[T any](t *testing.T, tr *Transport, what func(link.Event) []T) []T {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-tr.Events():
			if got := what(e); len(got) > 0 {
				return got
			}
		case <-deadline:
			t.Fatal("nothing has arrived")
		}
	}
}

func frames(e link.Event) []link.Frame { return e.Frames }

func acks(e link.Event) []link.Ack { return e.Acks }

// TestS3_WhoMaySendToANode: only the senders of the edges that lead to a node are its peers, whatever keys other processes have.
func TestS3_WhoMaySendToANode(t *testing.T) {
	k := newCluster(t)
	joiner, parser := k.node("joiner-1"), k.node("parser-1")
	keys := k.ring.Of(t, joiner)
	edge := k.edge("parser", "joiner", topology.Push)
	revoked := k.ring.Of(t, k.node("parser-2"))
	k.ring.Revoke(t, joiner.Identity(), k.node("parser-2").Identity())
	medic, err := k.topo.Medic("medic-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Reload(); err != nil {
		t.Fatal(err)
	}
	strange := keytest.New(t, k.topo.Name)
	good := k.ring.Of(t, parser)
	tr := k.open(joiner, keys)

	for name, c := range map[string]struct {
		keys *security.Keys
		kind security.Kind
	}{
		"a plain peer":              {nil, ""},
		"a node of another edge":    {k.ring.Of(t, k.node("reducer-1")), security.Data},
		"another joiner":            {k.ring.Of(t, k.node("joiner-2")), security.Data},
		"a node that is not there":  {k.ring.Of(t, topology.Node{ID: "parser-9", Chain: parser.Chain}), security.Data},
		"a medic":                   {k.ring.Of(t, medic), security.Data},
		"an operator":               {k.ring.Client(t, security.Identity{Role: security.Operate, Name: "olga"}), security.Data},
		"the name of another CA":    {strange.Of(t, parser), security.Data},
		"a revoked key":             {revoked, security.Data},
		"the sender's control":      {good, security.Control},
		"the sender's broadcasting": {good, security.Broadcast},
	} {
		t.Run(name, func(t *testing.T) {
			p, events := k.push(c.keys, c.kind, joiner)
			if err := p.TrySend(messages(nil, []link.Frame{frame(edge, parser.ID, 7)})...); err != nil {
				t.Fatal(err)
			}
			if e := events.Await(t, zmqx.Connected, zmqx.Unreachable); e.Kind == zmqx.Connected {
				t.Errorf("%s is a peer", name)
			}
			_ = p.Close()
		})
	}

	p, events := k.push(good, security.Data, joiner)
	events.Await(t, zmqx.Connected)
	if err := p.TrySend(messages(nil, []link.Frame{frame(edge, parser.ID, 8)})...); err != nil {
		t.Fatal(err)
	}
	if got := next(t, tr, frames); len(got) != 1 || got[0].Seq != 8 {
		t.Errorf("the sender's frame was the first to be heard, and %+v came", got)
	}
}

// TestS3_AFrameInAnothersNameIsDropped: a node can send nothing in the name of another one, nor on an edge of other nodes.
func TestS3_AFrameInAnothersNameIsDropped(t *testing.T) {
	k := newCluster(t)
	joiner, parser := k.node("joiner-1"), k.node("parser-1")
	edge := k.edge("parser", "joiner", topology.Push)
	tr := k.open(joiner, k.ring.Of(t, joiner))
	p, _ := k.push(k.ring.Of(t, parser), security.Data, joiner)
	for i, f := range []link.Frame{
		frame(edge, "parser-2", 1), frame(edge, "", 2), frame("input-parser-any", parser.ID, 3),
		frame(k.edge("parser", "joiner", topology.Pub), parser.ID, 4),
		frame(edge, parser.ID, 5),
	} {
		if err := p.TrySend(messages(nil, []link.Frame{f})...); err != nil {
			t.Fatal(i, err)
		}
	}
	if got := next(t, tr, frames); len(got) != 1 || got[0].Seq != 5 {
		t.Errorf("%+v", got)
	}
	if n := tr.bad.Count(); n != 4 {
		t.Errorf("%d messages were dropped", n)
	}
}

// TestS3_ABroadcastInAnothersNameIsDropped: the same on SUB sockets, where a node has dialled several publishers.
func TestS3_ABroadcastInAnothersNameIsDropped(t *testing.T) {
	k := newCluster(t)
	joiner, parser := k.node("joiner-1"), k.node("parser-1")
	edge := k.edge("parser", "joiner", topology.Pub)
	pub, events := k.pub(k.ring.Of(t, parser), security.Broadcast, parser.Sockets.Broadcast)
	tr := k.open(joiner, k.ring.Of(t, joiner))
	if e := events.Await(t, zmqx.Connected); e.From != "node/joiner-1" {
		t.Errorf("%+v", e)
	}
	next(t, tr, func(e link.Event) []link.NodeID {
		if e.Connected && e.Incoming {
			return []link.NodeID{e.Node}
		}
		return nil
	})
	heard := make(chan []link.Frame, 1)
	go func() { heard <- next(t, tr, frames) }()
	tick := time.NewTicker(20 * time.Millisecond) // until the subscription has arrived
	defer tick.Stop()
	for {
		forged := []link.Frame{frame(edge, "parser-2", 1), frame(k.edge("parser", "joiner", topology.Push), parser.ID, 2),
			frame(edge, parser.ID, 3)}
		if err := pub.Send(messages([]byte(broadcastTopic(edge)), forged)...); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-heard:
			if got[0].Seq != 3 {
				t.Errorf("%+v", got)
			}
			if tr.bad.Count() < 2 {
				t.Errorf("%d were dropped", tr.bad.Count())
			}
			return
		case <-tick.C:
		}
	}
}

// TestS3_AnAckOfAnotherReceiverIsDropped: a receiver can acknowledge only its own frames. An acknowledgement makes the sender forget
// frames.
func TestS3_AnAckOfAnotherReceiverIsDropped(t *testing.T) {
	k := newCluster(t)
	joiner, parser := k.node("joiner-1"), k.node("parser-1")
	edge := k.edge("parser", "joiner", topology.Push)
	pub, events := k.pub(k.ring.Of(t, joiner), security.Control, joiner.Sockets.Control)
	tr := k.open(parser, k.ring.Of(t, parser))
	events.Await(t, zmqx.Connected)
	heard := make(chan []link.Ack, 1)
	go func() { heard <- next(t, tr, acks) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, receiver := range []link.NodeID{"joiner-2", joiner.ID} {
			a := link.Ack{Edge: edge, To: parser.ID, Hwm: 1, Receiver: receiver, ID: link.Identity{Incarnation: 1, Life: 1}}
			if err := pub.Send(zmqx.Message{[]byte("A" + string(parser.ID) + "\x00"), a.Append(nil)}); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case got := <-heard:
			if got[0].Receiver != joiner.ID {
				t.Errorf("%+v", got)
			}
			return
		case <-tick.C:
		}
	}
}

// TestS6_ARevokedNodeIsCutOff: Reload ends the connections of a revoked node at once, and no others.
func TestS6_ARevokedNodeIsCutOff(t *testing.T) {
	k := newCluster(t)
	joiner := k.node("joiner-1")
	keys := k.ring.Of(t, joiner)
	edge := k.edge("parser", "joiner", topology.Push)
	tr := k.open(joiner, keys)
	_, cut := k.push(k.ring.Of(t, k.node("parser-1")), security.Data, joiner)
	stays, others := k.push(k.ring.Of(t, k.node("parser-2")), security.Data, joiner)
	cut.Await(t, zmqx.Connected)
	others.Await(t, zmqx.Connected)
	k.ring.Revoke(t, joiner.Identity(), k.node("parser-1").Identity())
	if err := keys.Reload(); err != nil {
		t.Fatal(err)
	}
	cut.Await(t, zmqx.Disconnected)
	if e := cut.Await(t, zmqx.Connected, zmqx.Unreachable); e.Kind == zmqx.Connected {
		t.Error("it came back")
	}
	if err := stays.TrySend(messages(nil, []link.Frame{frame(edge, "parser-2", 9)})...); err != nil {
		t.Fatal(err)
	}
	if got := next(t, tr, frames); got[0].Seq != 9 {
		t.Errorf("%+v", got)
	}
	select {
	case e := <-others:
		t.Errorf("the other sender hears %+v", e)
	default:
	}
}
