package core

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Core is the state machine of one node. It is owned by one goroutine.
type Core struct {
	cfg              Config
	in               map[linkKey]*inLink
	inOrder          []*inLink
	out              []*outEdge
	sessions         map[session.ID]*sess
	tombstones       tombstones
	ending           []*sess // sessions whose role has more to emit before an end is passed on
	build            build
	inflight         *Commit
	replies          []Reply
	released         [][]byte // payloads that nobody uses any more
	releasedRequests [][]byte // requests' bodies, likewise
	turn             int      // which link is served first, so that none starves
	Counters         Counters
}

// Counters count since the node started.
type Counters struct {
	FramesIn, FramesOut uint64
	BytesIn, BytesOut   uint64
	Duplicates, Gaps    uint64
	Zombies, Unknown    uint64
	Commits             uint64
}

type linkKey struct {
	edge string
	from link.NodeID
}

// Reply is an answer to a client.
type Reply struct {
	To   role.Peer
	Body []byte
}

// Send is frames for one receiver of an edge, or for all of them if To is empty.
type Send struct {
	Edge   string
	To     link.NodeID
	Frames []link.Frame
}

// Output is what may leave now.
type Output struct {
	Sends            []Send
	Acks             []link.Ack
	Replies          []Reply
	Released         [][]byte // payloads of received frames, large ones, that nobody uses any more; valid until the next call
	ReleasedRequests [][]byte // bodies of clients' requests, likewise
}

// New returns the core of a node that has stored nothing yet.
func New(cfg Config) (*Core, error) {
	if len(cfg.Roles) == 0 {
		return nil, fmt.Errorf("node %s has no role", cfg.Self)
	}
	c := &Core{
		cfg: cfg, in: map[linkKey]*inLink{}, sessions: map[session.ID]*sess{}, tombstones: newTombstones(),
	}
	for _, e := range cfg.In {
		for _, n := range e.From {
			l := &inLink{edge: e, recv: link.NewReceiver(e.Name, n)}
			c.in[linkKey{e.Name, n}] = l
			c.inOrder = append(c.inOrder, l)
		}
	}
	for _, e := range cfg.Out {
		c.out = append(c.out, newOutEdge(cfg, e))
	}
	for i, r := range cfg.Roles {
		if g, ok := r.(role.Gateway); ok {
			g.Attach(&host{c, i})
		}
	}
	return c, nil
}

// Receive queues frames that have arrived. What belongs to no link of this node is dropped and counted. A link whose queue
// holds more than two windows is sent rubbish or repeats: what comes on top is dropped too and asked for again later.
func (c *Core) Receive(frames []link.Frame) {
	for i := range frames {
		f := &frames[i]
		l := c.in[linkKey{f.Edge, f.From}]
		if l == nil {
			c.Counters.Unknown++
			continue
		}
		if f.Kind == link.Hello && !c.addressedToUs(f) {
			continue
		}
		if l.bytes > 2*c.cfg.Window {
			c.Counters.Gaps++
			l.recv.Dropped(link.Gap)
			continue
		}
		l.push(*f)
	}
}

// addressedToUs reports whether a hello is for this node: on a PUB socket everybody hears it.
func (c *Core) addressedToUs(f *link.Frame) bool {
	g, err := link.DecodeHello(f.Payload)
	return err == nil && g.To == c.cfg.Self
}

// Ack takes an acknowledgement.
func (c *Core) Ack(a link.Ack, now time.Time) {
	if a.To != c.cfg.Self {
		return
	}
	for _, e := range c.out {
		if e.cfg.Name != a.Edge {
			continue
		}
		if lost := e.ack(a, now); lost != nil {
			c.receiverLostDisk(a.Receiver, lost)
		}
	}
}

// receiverLostDisk fails the sessions that a receiver has lost with its disk (R8): those that run here, and those that have
// left this node and may not be through with the others. Where a session has come to its end the abort changes nothing. Of
// those that have failed the receiver is told again: what it knew of them is lost, too. A session that began since is whole
// in the outbox, and goes on.
//
// No wrong answer hangs on it: a log that follows another takes no frame of a session without its open (see expected). But what
// was acknowledged never comes again, and somebody has to say that nobody needs to wait for it.
func (c *Core) receiverLostDisk(node link.NodeID, lost *link.LostLog) {
	reason := fmt.Sprintf("node %s lost its data while the session ran: start the session again", node)
	left := slices.Clone(c.tombstones.Keys())
	for _, s := range c.sessionsByID() {
		if lost.Affects(s.ID) {
			c.abort(s.ID, reason)
		}
	}
	for _, id := range left {
		switch t, _ := c.tombstones.Get(id); {
		case !lost.Affects(id):
		case t.Failed:
			c.forwardAbort(id, t.Reason)
		default:
			c.abort(id, reason)
		}
	}
}

// Connected says that a connection to a receiver stands.
func (c *Core) Connected(edge string, to link.NodeID) {
	for _, e := range c.out {
		if e.cfg.Name == edge {
			for _, s := range e.senders {
				s.Connected(to)
			}
		}
	}
}

// Dialled says that a connection that this node made to a sender stands: frames published before may be lost.
func (c *Core) Dialled(edge string, from link.NodeID) {
	if l := c.in[linkKey{edge, from}]; l != nil {
		l.dialled = true
		l.recv.Reconnected()
	}
}

// Request hands a client's request to the gateway that knows it; false if none does.
func (c *Core) Request(now time.Time, req *role.Request) bool {
	for _, r := range c.cfg.Roles {
		if g, ok := r.(role.Gateway); ok && g.Request(now, req) {
			return true
		}
	}
	return false
}

// Heartbeat passes on what another node says of itself.
func (c *Core) Heartbeat(now time.Time, from link.NodeID, id link.Identity, ended []role.Ended) {
	for _, r := range c.cfg.Roles {
		if w, ok := r.(role.HeartbeatListener); ok {
			w.Heartbeat(now, from, id, ended)
		}
	}
}

// Tick lets time pass for gateways.
func (c *Core) Tick(now time.Time) {
	for _, r := range c.cfg.Roles {
		if g, ok := r.(role.Gateway); ok {
			g.Tick(now)
		}
	}
	c.heartbeatSelf(now)
}

// heartbeatSelf lets output and input tell each other where one chain holds both: a node does not hear its own heartbeats.
func (c *Core) heartbeatSelf(now time.Time) {
	for _, r := range c.cfg.Roles {
		if _, ok := r.(role.HeartbeatListener); !ok {
			continue
		}
		if ended := c.Ended(); len(ended) > 0 {
			c.Heartbeat(now, c.cfg.Self, c.cfg.ID, ended)
		}
		return
	}
}

// Output returns what may leave now: acknowledgements that are due, durable frames, hellos, replies.
func (c *Core) Output(now time.Time) Output {
	o := Output{Replies: c.replies, Released: c.released, ReleasedRequests: c.releasedRequests}
	c.replies, c.released, c.releasedRequests = nil, c.released[:0], c.releasedRequests[:0]
	for _, l := range c.inOrder {
		if l.edge.Dialled && !l.dialled {
			continue // an answer now would come before we can hear it
		}
		if a, ok := l.recv.Ack(c.cfg.Self, c.cfg.ID, now, c.cfg.Pace); ok {
			o.Acks = append(o.Acks, a)
		}
	}
	for _, e := range c.out {
		o.Sends = e.output(o.Sends, now, c.cfg.Pace)
	}
	for i := range o.Sends {
		c.Counters.FramesOut += uint64(len(o.Sends[i].Frames))
	}
	return o
}

// Unsent says that the transport did not accept a frame and those after it.
func (c *Core) Unsent(edge string, to link.NodeID, from link.Seq) {
	for _, e := range c.out {
		if e.cfg.Name == edge {
			e.unsend(to, from)
		}
	}
}
