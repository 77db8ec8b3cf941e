package zmq

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/link/control"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Transport implements link.Transport.
type Transport struct {
	cfg       link.TransportConfig
	pull      *zmqx.Pull
	control   *control.Control
	broadcast *zmqx.Pub
	pushes    map[linkKey]*zmqx.Push
	pubEdges  map[string]bool
	subs      []*zmqx.Sub
	events    chan link.Event
	stop      chan struct{}
	wg        sync.WaitGroup
	bad       atomic.Uint64
}

type linkKey struct {
	edge string
	to   link.NodeID
}

// eventsCap is how many events may wait for the node's loop. Each is a batch of small frames, or one of the largest size, so it is few of them that
// bound the memory of a node whose loop is busy (R16).
const eventsCap = 16

// BeatTopic is the topic of heartbeats on control sockets, for medics and `posta status`.
const BeatTopic = control.BeatTopic

// New opens the node's sockets and starts connecting to the others.
func New(cfg link.TransportConfig) (t *Transport, err error) {
	t = &Transport{
		cfg: cfg, pushes: map[linkKey]*zmqx.Push{}, pubEdges: map[string]bool{},
		events: make(chan link.Event, eventsCap), stop: make(chan struct{}),
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("node %s: %w", cfg.Node.ID, err)
			_ = t.Close() // the error that stopped the start is the one to tell
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
	t.control, err = control.New(control.Config{
		Topology: cfg.Topology, Node: cfg.Node, Listen: cfg.Listen, Acks: true, Options: t.options(), Log: cfg.Log, OnEvent: t.tell,
		Silent: t.reset,
	})
	return t, err
}

// options are what the sockets have in common. The queue of a link holds a whole window, so a link that is connected never
// finds it full.
func (t *Transport) options() zmqx.Options {
	l := t.cfg.Topology.Limits
	return zmqx.Options{
		MaxFrame:         int(l.Frame),
		QueueBytes:       int(l.Window) + int(l.Frame),
		QueueMessages:    1 << 17,
		HandshakeTimeout: l.Handshake,
		Linger:           min(l.Drain, linger),
		BackoffMax:       200 * time.Millisecond, // a restarted node is found at once
		KeepAlive:        keepAlive,
		Logger:           t.cfg.Log,
		Accepts:          t.cfg.Accepts,
	}
}

// keepAlive is for broadcasts, on which nobody speaks for long: see package control.
const keepAlive = 3 * time.Second

// linger is how long Close goes on writing. What the node wanted to send has left its outboxes by then: these are the
// last acknowledgements and the tail of a queue.
const linger = 500 * time.Millisecond

func (t *Transport) listen() (err error) {
	s := t.cfg.Node.Sockets
	if s.Data.Exists() {
		o := t.options()
		o.Known = t.known()
		if t.pull, err = zmqx.NewPull(o); err != nil {
			return err
		}
		if _, err := t.pull.Listen(s.Data.Bind); err != nil {
			return err
		}
		t.read(t.pull.C(), t.frames(0))
	}
	if s.Broadcast.Exists() {
		t.broadcast, err = t.pub(s.Broadcast)
	}
	return err
}

// known tells senders from strangers: who has sent one frame of an edge that leads here is believed (zmqx.Options.Known).
func (t *Transport) known() func(zmqx.Message) bool {
	senders := map[linkKey]bool{}
	for _, e := range t.cfg.Topology.EdgesTo(t.cfg.Node.Stage) {
		for _, n := range t.cfg.Topology.Senders(e) {
			senders[linkKey{e.Name(), n.ID}] = true
		}
	}
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
	o.Known = t.subscribes
	p, err := zmqx.NewPub(o)
	if err != nil {
		return nil, err
	}
	if _, err := p.Listen(e.Bind); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// subscribes tells receivers from strangers: who asks for an edge of this node is believed.
func (t *Transport) subscribes(m zmqx.Message) bool {
	for edge := range t.pubEdges {
		if zmqx.Subscribes(m, broadcastTopic(edge)) {
			return true
		}
	}
	return false
}

func (t *Transport) openOut(e topology.Edge) error {
	if e.Socket == topology.Pub {
		return nil
	}
	for _, n := range t.cfg.Topology.Receivers(e) {
		o := t.options()
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
		if err := p.Connect(n.Sockets.Data.Dial); err != nil {
			return err
		}
	}
	return nil
}

// openIn subscribes to the broadcasts of an edge's senders.
func (t *Transport) openIn(e topology.Edge) error {
	senders := t.cfg.Topology.Senders(e)
	o := t.options()
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
		if _, err := s.Connect(n.Sockets.Broadcast.Dial); err != nil {
			return err
		}
	}
	t.read(s.C(), t.frames(1))
	return nil
}

// broadcastTopic ends in NUL: no edge's topic is the beginning of another's.
func broadcastTopic(edge string) string { return edge + "\x00" }

// reset makes the links to a node anew.
func (t *Transport) reset(to link.NodeID) {
	for key, p := range t.pushes {
		if key.to == to {
			p.Reset()
		}
	}
}

// tell hands an event over; it waits for room, but not beyond Close.
func (t *Transport) tell(e link.Event) {
	select {
	case t.events <- e:
	case <-t.stop:
	}
}

// Events implements link.Transport.
func (t *Transport) Events() <-chan link.Event { return t.events }
