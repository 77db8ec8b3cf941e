package core

import (
	"fmt"
	"math"
	"time"

	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/scratch"
)

// Core is the state machine of one node. It is owned by one goroutine.
type Core struct {
	// Made by New, and the same until the process ends.
	cfg      Config
	in       map[linkKey]*inLink // every link that ends at this node
	inOrder  []*inLink           // the same links in the topology's order, for everything that must not depend on the order of a map
	out      []*outEdge          // every edge that leaves here, in the topology's order
	outboxes []*outbox           // the outboxes of out, in order; records and snapshots state the progress of each once (R2)
	departed departed            // links that the topology no longer has; recovery fills it
	gateways []role.Gateway      // the roles that are gateways, in the chain's order

	// The sessions. Open, drop and recovery change them. A session that runs is in sessions, and one that has left has a tombstone; none
	// has both (R13). A session that was never here has neither, and the oldest tombstones are dropped.
	sessions   map[session.ID]*sess
	tombstones tombstones
	// refused sessions whose failure was passed on; not durable, because passing it on twice does no harm
	rivals bounded.Map[refusedKey, struct{}]
	ending []*sess // sessions with a pending end; continueEnding and recovery add, continueEndings takes

	// The commits. Calls record their changes in build. Seal makes a commit in flight of build, and empties build; Stored clears inflight.
	// So at most one commit is being stored (N2), and build holds nothing that a sealed commit holds.
	build    build
	inflight *Commit

	// What may leave with the next Output. Everything that these replies report is durable (R3): a reply that waits for the disk is in
	// build or inflight.
	replies          []Reply
	released         [][]byte // payloads that nobody uses any more: no record, outbox or role has a view into them
	releasedRequests [][]byte // bodies of requests, likewise; no held request has a view into them

	// confirmed: every receiver has answered a hello of this life, so what this log sends continues what they have (R14). Until then the
	// node neither sends frames nor acknowledges any; see confirm. A log that is opened for the first time is confirmed from the start. A
	// log that was opened before is not, even if it has no records, because it may have lost them all.
	confirmed bool
	retired   string // why this log must not be used any more (R14); empty while it may

	full bool // the disk is full; the shell reports it (DiskFull)

	working   bool // the last Advance has left a computation unfinished
	turn      int  // modulo the number of links: the link that Advance serves first; it grows each round, so that no link starves
	Counters  Counters
	strangers [link.Verdicts]uint64 // dropped frames of links that this node does not have, by verdict
	lastDrop  droppedFrame
	refused   string // which message was refused last, and why (M10, R18); Refused empties it
	err       error  // why the process must end; nil while it may continue
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

// Output is what may leave now. Its slices are valid until the next call.
type Output struct {
	Sends            []Send
	Acks             []link.Ack
	Replies          []Reply
	Released         [][]byte // large payloads of received frames that nobody uses any more
	ReleasedRequests [][]byte // large bodies of clients' requests, likewise

	// Hello is when the next hello is due if nothing is heard until then; zero if none is.
	Hello time.Time
}

// New returns the core of a node that has stored nothing yet.
func New(cfg Config) (*Core, error) {
	if len(cfg.Roles) == 0 {
		return nil, fmt.Errorf("node %s has no role", cfg.Self)
	}
	for _, limit := range []*int{&cfg.Frame, &cfg.Record, &cfg.Memory, &cfg.Held, &cfg.Tables} {
		if *limit == 0 {
			*limit = math.MaxInt
		}
	}
	c := &Core{cfg: cfg, in: map[linkKey]*inLink{}, sessions: map[session.ID]*sess{}, tombstones: newTombstones(),
		rivals: bounded.NewMap[refusedKey, struct{}](role.Remembered), confirmed: cfg.ID.Incarnation <= 1}
	for _, e := range cfg.In {
		for _, n := range e.From {
			l := &inLink{edge: e, index: len(c.inOrder), recv: link.NewReceiver(e.link(n, cfg.Self))}
			c.in[linkKey{e.Name, n}] = l
			c.inOrder = append(c.inOrder, l)
		}
	}
	for _, e := range cfg.Out {
		o := newOutEdge(cfg, e, len(c.outboxes))
		c.out = append(c.out, o)
		c.outboxes = append(c.outboxes, o.outboxes...)
	}
	for i, r := range cfg.Roles {
		if g, ok := r.(role.Gateway); ok {
			g.Attach(&host{c, i})
			c.gateways = append(c.gateways, g)
		}
		if s, ok := r.(role.Spiller); ok {
			s.AttachFiles(cfg.Files)
		}
		if s, ok := r.(interface{ AttachScratch(scratch.Disk) }); ok { // role.Base
			s.AttachScratch(cfg.Scratch)
		}
	}
	return c, nil
}

// Close ends the computations of the roles. The core must not be used afterwards.
func (c *Core) Close() {
	for _, r := range c.cfg.Roles {
		if w, ok := r.(interface{ Close() }); ok { // role.Worker, role.Slicer
			w.Close()
		}
	}
}

// Receive queues frames that have arrived. A frame that belongs to no link of this node is dropped and counted. If a link's queue holds
// more than two windows, the sender sends repeats or rubbish. Further frames are then dropped and counted, too, and asked for again later
// (R9). A hello is queued even then, because a hello of a new life may make room (dropSuperseded). Hellos in a row replace each other, so
// they do not pile up.
func (c *Core) Receive(frames []link.Frame) {
	for i := range frames {
		f := &frames[i]
		l := c.in[linkKey{f.Edge, f.From}]
		if l == nil {
			c.strangers[link.Unknown]++
			c.noteDrop(link.Unknown, f)
			continue
		}
		if f.Kind == link.Hello && (!c.intact(l, f) || !c.addressedToUs(f)) {
			continue
		}
		if was := l.recv.ID(); !was.Reaches(f.ID) && !c.intact(l, f) || !c.believes(f.From, was, f.ID) {
			continue
		}
		if l.bytes > 2*c.cfg.Window && f.Kind != link.Hello {
			c.dropFrame(l, link.Gap, f)
			continue
		}
		l.push(*f, c.cfg.Trace.Arrival())
	}
}

// addressedToUs reports whether a hello is for this node and introduces its sender. On a PUB socket every receiver gets every hello. A
// hello which says that this life is superseded retires the log (R14).
func (c *Core) addressedToUs(f *link.Frame) bool {
	h, err := link.DecodeHello(f.Payload)
	if err != nil || h.To != c.cfg.Self {
		return false
	}
	if h.Superseded != 0 {
		if h.Superseded == c.cfg.ID.Life {
			c.retire(fmt.Sprintf("node %s knows another log of this node, or another opening of this one", f.From))
		}
		return false
	}
	return true
}

// Ack takes an acknowledgement.
func (c *Core) Ack(a link.Ack, now time.Time) {
	if a.To != c.cfg.Self || c.retired != "" {
		return
	}
	for i, o := range c.outboxes {
		if o.edge != a.Edge || !c.believes(a.Receiver, o.Peer(a.Receiver), a.ID) {
			continue
		}
		before := o.Peer(a.Receiver).LogID
		lost, setBack := o.Ack(a, now)
		o.trip.end(o.Acked(), now, c.cfg.RoundTrip)
		c.cfg.Trace.Acked(i, uint64(o.Acked()))
		if o.Peer(a.Receiver).LogID != before {
			c.build.newLog = true
		}
		if lost != nil {
			c.receiverLostDisk(a.Receiver, lost)
		}
		if setBack != "" {
			c.retire(setBack)
		}
	}
}

// Connected reports that a connection to a receiver is up.
func (c *Core) Connected(edge string, to link.NodeID) {
	for _, o := range c.outboxes {
		if o.edge == edge {
			o.Connected(to)
		}
	}
}

// Answers reports that a receiver's acknowledgements reach this node from now on.
func (c *Core) Answers(from link.NodeID) {
	for _, o := range c.outboxes {
		o.Answers(from)
	}
}

// Dialled reports that a connection that this node made to a sender is up: frames published before may be lost.
func (c *Core) Dialled(edge string, from link.NodeID) {
	if l := c.in[linkKey{edge, from}]; l != nil {
		l.dialled = true
		l.recv.Reconnected()
	}
}

// Request hands a client's request to the gateway that knows it; false if none does.
func (c *Core) Request(now time.Time, r *role.Request) bool {
	prepared(r.Chunk)
	if c.retired != "" {
		return true // its client repeats it, and the next log answers
	}
	for _, g := range c.gateways {
		if g.Request(now, r) {
			return true
		}
	}
	return false
}

// Heartbeat passes another node's heartbeat on to the gateways.
func (c *Core) Heartbeat(now time.Time, h role.Heard) {
	for _, g := range c.gateways {
		if l, ok := g.(role.HeartbeatListener); ok {
			l.Heartbeat(now, h)
		}
	}
}

// Tick lets time pass for gateways. It also gives them what this node's heartbeats report to other nodes, because a node does not receive
// its own heartbeats.
func (c *Core) Tick(now time.Time) {
	for _, g := range c.gateways {
		g.Tick(now)
	}
	for _, g := range c.gateways {
		if l, ok := g.(role.HeartbeatListener); ok {
			l.Heartbeat(now, role.Heard{From: c.cfg.Self, ID: c.cfg.ID, Full: c.full, Ended: c.endOf(l.Awaits()), Waiting: c.Waiting()})
		}
	}
}

// Output returns what may leave now: acknowledgements that are due, durable frames, hellos, replies.
func (c *Core) Output(now time.Time) Output {
	o := Output{Replies: c.replies, Released: c.released, ReleasedRequests: c.releasedRequests}
	c.replies, c.released, c.releasedRequests = nil, c.released[:0], c.releasedRequests[:0]
	if c.retired != "" || c.err != nil {
		return Output{}
	}
	confirmed := c.confirm()
	for _, l := range c.inOrder {
		if a, ok := l.recv.Rejection(c.cfg.Self, c.cfg.ID, now, c.cfg.Pace); ok {
			o.Acks = append(o.Acks, a)
		}
		if l.edge.Dialled && !l.dialled || !confirmed {
			continue // the sender's frames would come before this node's own connection stands
		}
		if a, ok := l.recv.Ack(c.cfg.Self, c.cfg.ID, now, c.cfg.Pace); ok {
			o.Acks = append(o.Acks, a)
		}
	}
	for _, e := range c.out {
		o.Sends = e.output(o.Sends, confirmed, now, c.cfg.Pace)
	}
	for _, b := range c.outboxes {
		if at, due := b.NextHello(c.cfg.Pace.Hello); due && (o.Hello.IsZero() || at.Before(o.Hello)) {
			o.Hello = at
		}
		if err := b.Err(); err != nil {
			c.err = fmt.Errorf("node %s: %w: the memory of this process cannot be trusted, and it ends; its log has the frame as it was made",
				c.cfg.Self, err)
			return Output{}
		}
	}
	for i := range o.Sends {
		c.Counters.FramesOut += uint64(len(o.Sends[i].Frames))
	}
	return o
}

// Err returns why the process must end; nil while it may continue. Output detects the reason.
func (c *Core) Err() error { return c.err }

// Unsent reports that the transport did not accept the frame with the number from, and those after it. An empty to means all receivers.
func (c *Core) Unsent(edge string, to link.NodeID, from link.Seq) {
	for _, o := range c.outboxes {
		if o.edge != edge {
			continue
		}
		for _, p := range o.Peers() {
			if p == to || to == "" {
				o.Unsend(p, from)
			}
		}
	}
}

// progress returns how far each outbox is, in order, as every record states it.
func (c *Core) progress() []link.Progress {
	all := make([]link.Progress, len(c.outboxes))
	for i, o := range c.outboxes {
		all[i] = o.progress()
	}
	return all
}

// record adds a call to the commit that is being built.
func (c *Core) record(in record.Input) {
	c.build.rec.Inputs = append(c.build.rec.Inputs, in)
	c.build.bytes += len(in.Payload) + inputOverhead
}

// inputOverhead is how many bytes a recorded call adds to the size of a commit beside its payload; an estimate.
const inputOverhead = 32
