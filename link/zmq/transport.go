package zmq

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/link/control"
	"posta.dev/posta/link/keyed"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Transport implements link.Transport; its control sockets have Heartbeat, Trace and Lines.
type Transport struct {
	*control.Control
	cfg       link.TransportConfig
	accepts   *zmqx.AcceptLimit // limit of the node's process; nil: none
	pull      *zmqx.Pull
	broadcast *zmqx.Pub
	pushes    map[linkKey]*zmqx.Push
	pubEdges  map[string]bool
	subs      []*zmqx.Sub
	events    chan link.Event
	stop      chan struct{}
	wg        sync.WaitGroup
	bad       keyed.Refusals
	unwatch   func() // stops the keys' Reload from rechecking the sockets
}

type linkKey struct {
	edge string
	to   link.NodeID
}

// eventsCap is how many events may wait for the node's loop. It is small to bound the memory of a node whose loop is busy (R16): each event
// is a batch of small frames, or one frame of the largest size.
const eventsCap = 16

// BeatTopic is the topic of heartbeats on control sockets, for medics and `posta status`.
const BeatTopic = control.BeatTopic

// New opens the node's sockets and starts connecting to the others.
func New(cfg link.TransportConfig, accepts *zmqx.AcceptLimit) (t *Transport, err error) {
	t = &Transport{
		cfg: cfg, accepts: accepts, pushes: map[linkKey]*zmqx.Push{}, pubEdges: map[string]bool{},
		events: make(chan link.Event, eventsCap), stop: make(chan struct{}), bad: keyed.Refusals{Log: cfg.Log}, unwatch: func() {},
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("node %s: %w", cfg.Node.ID, err)
			_ = t.Close() // report only the error that prevented the start
		}
	}()
	for _, e := range cfg.Topology.EdgesFrom(cfg.Node.Stage) {
		if e.Socket == topology.Pub {
			t.pubEdges[e.Name()] = true
		}
	}
	if err := t.listen(); err != nil {
		return t, err
	}
	for _, e := range cfg.Topology.EdgesFrom(cfg.Node.Stage) {
		if err := t.openOut(e); err != nil {
			return t, err
		}
	}
	for _, e := range cfg.Topology.EdgesTo(cfg.Node.Stage) {
		if e.Socket == topology.Pub {
			if err := t.openIn(e); err != nil {
				return t, err
			}
		}
	}
	t.Control, err = control.New(control.Config{
		Topology: cfg.Topology, Node: cfg.Node, Listen: cfg.Listen, Acks: true, Options: t.options(), Keys: cfg.Keys, Log: cfg.Log,
		OnEvent: t.tell,
		Silent:  t.reset, OnAsked: t.asked, OnLines: cfg.OnLines,
	})
	if err != nil {
		return t, err
	}
	t.unwatch = cfg.Keys.OnReload(t.recheck)
	t.recheck() // the keys may have changed since the first socket was opened
	return t, nil
}

// recheck ends the connections of peers that the keys no longer admit.
func (t *Transport) recheck() {
	for _, p := range t.pushes {
		p.Recheck()
	}
	for _, s := range t.subs {
		s.Recheck()
	}
	if t.pull != nil {
		t.pull.Recheck()
	}
	if t.broadcast != nil {
		t.broadcast.Recheck()
	}
	t.Control.Recheck()
}

// options returns the options that all sockets share. The queue of a link holds a whole window, so a connected link never finds its queue
// full.
func (t *Transport) options() zmqx.Options {
	l := t.cfg.Topology.Limits
	return zmqx.Options{
		MaxFrame:         int(l.Frame),
		QueueBytes:       int(l.Window) + int(l.Frame),
		QueueMessages:    1 << 17,
		HandshakeTimeout: l.Handshake,
		Linger:           min(l.Drain, linger),
		BackoffMax:       50 * time.Millisecond, // so that a node that has just started is reached at once
		KeepAlive:        keepAlive,
		Logger:           t.cfg.Log,
		Accepts:          t.accepts,
	}
}

// keepAlive is for broadcast connections, which may be idle for long: see package control.
const keepAlive = 3 * time.Second

// linger is how long Close continues writing. All frames have left the outboxes by then: only the last acknowledgements and the end of a
// queue remain.
const linger = 500 * time.Millisecond

func (t *Transport) listen() (err error) {
	s := t.cfg.Node.Sockets
	if s.Data.Exists() {
		o := t.options()
		senders, members := t.senders()
		o.Known, o.TLS = known(senders), keyed.TLS(t.cfg.Keys, security.Data, keyed.Only(members))
		if t.pull, err = zmqx.NewPull(o); err != nil {
			return err
		}
		if _, err := t.pull.Listen(s.Data.Bind); err != nil {
			return err
		}
		t.read(t.pull.C(), t.frames(0, func(r *zmqx.Received, f *link.Frame) error { return pushedBy(senders, r, f) }))
	}
	if s.Broadcast.Exists() {
		t.broadcast, err = t.pub(s.Broadcast)
	}
	return err
}

// senders returns the links of push edges that lead here, and the nodes that they come from.
func (t *Transport) senders() (links map[linkKey]bool, members []topology.Node) {
	links = map[linkKey]bool{}
	for _, e := range t.cfg.Topology.EdgesTo(t.cfg.Node.Stage) {
		if e.Socket == topology.Pub {
			continue
		}
		for _, n := range t.cfg.Topology.Senders(e) {
			links[linkKey{e.Name(), n.ID}] = true
			members = append(members, n)
		}
	}
	return links, members
}

// known tells senders from strangers (zmqx.Options.Known): a peer that has sent one frame of an edge that leads here is known.
func known(senders map[linkKey]bool) func(zmqx.Message) bool {
	return func(m zmqx.Message) bool {
		if len(m) != 2 {
			return false
		}
		f, err := link.DecodeFrame(&link.Interner{}, m[0], m[1])
		return err == nil && senders[linkKey{f.Edge, f.From}]
	}
}

func (t *Transport) pub(e topology.Endpoint) (*zmqx.Pub, error) {
	o := t.options()
	o.Known, o.TLS = t.subscribes, keyed.TLS(t.cfg.Keys, security.Broadcast, keyed.Only(t.subscribers()))
	p, err := zmqx.NewPub(o)
	if err != nil {
		return nil, err
	}
	if _, err := p.Listen(e.Bind); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// subscribes tells receivers from strangers: a peer that subscribes to an edge of this node is known.
func (t *Transport) subscribes(m zmqx.Message) bool {
	for edge := range t.pubEdges {
		if zmqx.Subscribes(m, broadcastTopic(edge)) {
			return true
		}
	}
	return false
}

// subscribers returns the receivers of the pub edges that leave here.
func (t *Transport) subscribers() (members []topology.Node) {
	for _, e := range t.cfg.Topology.EdgesFrom(t.cfg.Node.Stage) {
		if e.Socket == topology.Pub {
			members = append(members, t.cfg.Topology.Receivers(e)...)
		}
	}
	return members
}

func (t *Transport) openOut(e topology.Edge) error {
	if e.Socket == topology.Pub {
		return nil
	}
	for _, n := range t.cfg.Topology.Receivers(e) {
		o := t.options()
		o.TLS = keyed.TLS(t.cfg.Keys, security.Data, nil)
		o.OnEvent = func(ev zmqx.Event) {
			if ev.Kind == zmqx.Connected {
				t.tell(link.Event{Connected: true, Edge: e.Name(), Node: n.ID})
			}
		}
		p, err := zmqx.NewPush(o)
		if err != nil {
			return err
		}
		t.pushes[linkKey{e.Name(), n.ID}] = p
		if err := p.ConnectTo(n.Sockets.Data.Dial, n.Identity().String()); err != nil {
			return err
		}
	}
	return nil
}

// openIn subscribes to the broadcasts of an edge's senders.
func (t *Transport) openIn(e topology.Edge) error {
	senders := t.cfg.Topology.Senders(e)
	o := t.options()
	o.TLS = keyed.TLS(t.cfg.Keys, security.Broadcast, keyed.Only(senders))
	o.OnEvent = func(ev zmqx.Event) {
		if ev.Kind == zmqx.Connected {
			t.tell(link.Event{Connected: true, Incoming: true, Edge: e.Name(), Node: senders[ev.Endpoint].ID})
		}
	}
	s, err := zmqx.NewSub(o)
	if err != nil {
		return err
	}
	t.subs = append(t.subs, s)
	if err := s.Subscribe(broadcastTopic(e.Name())); err != nil {
		return err
	}
	for _, n := range senders {
		if _, err := s.ConnectTo(n.Sockets.Broadcast.Dial, n.Identity().String()); err != nil {
			return err
		}
	}
	t.read(s.C(), t.frames(1, func(r *zmqx.Received, f *link.Frame) error {
		if f.Edge != e.Name() || f.From != senders[r.Endpoint].ID {
			return fmt.Errorf("%s published a frame of %q on edge %q", r.From, f.From, f.Edge)
		}
		return nil
	}))
	return nil
}

// broadcastTopic ends in NUL, so no edge's topic is a prefix of another's.
func broadcastTopic(edge string) string { return edge + "\x00" }

// reset reconnects the links to a node.
func (t *Transport) reset(to link.NodeID) {
	for key, p := range t.pushes {
		if key.to == to {
			p.Reset()
		}
	}
}

// tell passes an event to the loop. It waits for room, but not after Close.
func (t *Transport) tell(e link.Event) {
	select {
	case t.events <- e:
	case <-t.stop:
	}
}

// Events implements link.Transport.
func (t *Transport) Events() <-chan link.Event { return t.events }
