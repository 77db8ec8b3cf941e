package brokered

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/link/control"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Transport implements link.Transport except for the broker itself. It has two connections to the broker, one to publish and one to
// consume: a broker that is short of memory stops reading from publishers, but acknowledgements must still arrive. Tag is the broker's
// identifier of a delivery.
type Transport[Tag any] struct {
	*control.Control // has Heartbeat, Trace and Lines

	Config link.TransportConfig
	Out    []*Outgoing
	In     []*Incoming[Tag]

	troubles troubles

	unwatch func() // ends the recheck of the control socket at each Reload of the keys
	acks    *pendingAcks
	events  chan link.Event
	stop    chan struct{}      // closed when nobody reads events any longer
	cut     context.CancelFunc // ends the connections
	wg      sync.WaitGroup     // of the connections
	bad     atomic.Uint64
}

// Broker is the part of a transport that depends on the broker, for one connection. It connects, calls outage.Connected, and runs the ends
// of all links over the connection until it breaks or ctx ends. When all that it started has ended, it returns the reason.
type Broker struct {
	Name    string // "NATS at HOST:PORT", for the log
	Out, In func(ctx context.Context, outage *Outage) error
}

// ErrSameName is wrapped when another process is connected to the broker as this node. Two clusters with the same name would take each
// other's frames, and their nodes would conclude that their peers had lost their data.
var ErrSameName = errors.New("another process is connected to this broker as the same node of a cluster of the same name")

// SameNameAdvice is what to do about it.
const SameNameAdvice = "give one of the two clusters another name ([cluster] name), or end the other process"

const (
	// eventsCap is how many events may wait for the node's loop. Each may be a message of the largest size, so their number is small: it
	// bounds the memory of a node whose loop is busy (R16).
	eventsCap = 16
	// Linger is how long Close waits for queued messages to leave.
	Linger = 500 * time.Millisecond
)

// New opens the node's control socket and makes the ends of all links. accepts limits the incoming connections of the process; nil: no
// limit.
func New[Tag any](cfg link.TransportConfig, accepts *zmqx.AcceptLimit) (*Transport[Tag], error) {
	t := &Transport[Tag]{Config: cfg, acks: newPendingAcks(), events: make(chan link.Event, eventsCap), stop: make(chan struct{})}
	var err error
	t.Control, err = control.New(control.Config{
		Topology: cfg.Topology, Node: cfg.Node, Listen: cfg.Listen, Keys: cfg.Keys, Log: cfg.Log, OnEvent: t.emit, OnAsked: t.asked,
		OnLines: cfg.OnLines,
		Options: zmqx.Options{
			HandshakeTimeout: cfg.Topology.Limits.Handshake, BackoffMax: 200 * time.Millisecond,
			Linger: min(cfg.Topology.Limits.Drain, Linger), Logger: cfg.Log, Accepts: accepts,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", cfg.Node.ID, err)
	}
	t.unwatch = cfg.Keys.OnReload(t.Control.Recheck)
	t.Control.Recheck() // the keys may have changed since it was opened
	t.makeEnds()
	return t, nil
}

// makeEnds makes the ends of all links. A pub edge has one sending end for all receivers.
func (t *Transport[Tag]) makeEnds() {
	topo, self := t.Config.Topology, t.Config.Node
	capacity := int(topo.Limits.Window) + int(topo.Limits.Frame)
	for _, e := range topo.EdgesFrom(self.Stage) {
		var receivers []link.NodeID
		for _, n := range topo.Receivers(e) {
			receivers = append(receivers, n.ID)
		}
		if e.Socket == topology.Pub {
			t.Out = append(t.Out, newOutgoing(e.Name(), "", capacity, receivers...))
			continue
		}
		for _, to := range receivers {
			t.Out = append(t.Out, newOutgoing(e.Name(), to, capacity, to))
		}
	}
	for _, e := range topo.EdgesTo(self.Stage) {
		for _, n := range topo.Senders(e) {
			in := &Incoming[Tag]{unacked: newUnacked[Tag](), Edge: e.Name(), From: n.ID, To: self.ID, emit: t.emit, discard: t.discard}
			if e.Socket == topology.Pub {
				in.To = ""
			}
			t.In = append(t.In, in)
		}
	}
}

// Start begins to keep both connections up. An absent broker is not an error: it is logged, and dialled again.
func (t *Transport[Tag]) Start(b Broker) {
	ctx, cancel := context.WithCancel(context.Background())
	t.cut = cancel
	for what, serve := range map[string]func(context.Context, *Outage) error{"out": b.Out, "in": b.In} {
		outage := newOutage(t.Config.Log, b.Name, what, &t.troubles)
		t.wg.Go(func() { keepConnected(ctx, outage, serve) })
	}
}

// outgoing returns the sending end of a link, or of the pub edge that the link is part of; nil if there is none.
func (t *Transport[Tag]) outgoing(edge string, to link.NodeID) *Outgoing {
	for _, o := range t.Out {
		if o.Edge == edge && (o.To == to || o.To == "") {
			return o
		}
	}
	return nil
}

// Send implements link.Transport.
func (t *Transport[Tag]) Send(edge string, to link.NodeID, frames []link.Frame) int {
	o := t.outgoing(edge, to)
	if o == nil {
		return 0
	}
	return o.offer(frames, time.Now())
}

// Acks implements link.Transport: the broker may forget what is durable here, and the senders are told.
func (t *Transport[Tag]) Acks(acks []link.Ack) {
	for i := range acks {
		for _, in := range t.In {
			if in.Edge == acks[i].Edge && in.From == acks[i].To {
				in.acked(&acks[i])
			}
		}
	}
	t.acks.Put(acks)
}

// asked passes the question for a session's trace to the loop. It does not wait: while the loop is busy it drops the question, and the one
// who asked repeats it.
func (t *Transport[Tag]) asked(id session.ID) {
	select {
	case t.events <- link.Event{Asked: &id}:
	default:
	}
}

// Trouble implements link.Troubled.
func (t *Transport[Tag]) Trouble() string { return t.troubles.Text(time.Now()) }

// LinkFailed reports that a link, or the acknowledgements, failed on an intact connection and begin again; err says what to do.
func (t *Transport[Tag]) LinkFailed(what string, err error) {
	if t.troubles.failed(what, what+": "+err.Error(), time.Now()) {
		t.Config.Log.Warn("a link over the broker begins again; nothing is lost", "link", what, "err", err)
	}
}

// Events implements link.Transport.
func (t *Transport[Tag]) Events() <-chan link.Event { return t.events }

// Close implements link.Transport.
func (t *Transport[Tag]) Close() error {
	select {
	case <-t.stop:
		return nil
	default:
	}
	for end := time.Now().Add(min(Linger, t.Config.Topology.Limits.Drain)); time.Now().Before(end) && !t.handedOver(); {
		time.Sleep(5 * time.Millisecond)
	}
	close(t.stop)
	t.cut()
	t.unwatch()
	err := t.Control.Close()
	t.wg.Wait()
	close(t.events)
	return err
}

// handedOver reports whether the broker has been given everything that could be given to it.
func (t *Transport[Tag]) handedOver() bool {
	for _, o := range t.Out {
		if !o.HandedOver() {
			return false
		}
	}
	return t.acks.Empty()
}

// emit hands over an event. It waits while the channel is full, until Close at the latest.
func (t *Transport[Tag]) emit(e link.Event) {
	select {
	case t.events <- e:
	case <-t.stop:
	}
}

func (t *Transport[Tag]) discard(err error) {
	if t.bad.Add(1) == 1 {
		t.Config.Log.Warn("a message that no node sends was thrown away; more are counted in silence", "err", err)
	}
}

// Begin is called when a sending end has a new connection: it empties the queue, and the node's links begin again where their receivers say
// (R7).
func (t *Transport[Tag]) Begin(o *Outgoing) {
	o.begin()
	for _, node := range o.Receivers {
		t.emit(link.Event{Connected: true, Edge: o.Edge, Node: node})
	}
}

// PublishAcks passes the acknowledgements of links to publish, until ctx ends or publish fails. They are not stored, because each is
// repeated (R6).
func (t *Transport[Tag]) PublishAcks(ctx context.Context, publish func(link.Ack) error) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.acks.Wake():
			for _, a := range t.acks.Take() {
				if err := publish(a); err != nil {
					return err
				}
			}
		}
	}
}

// ReceiveAck takes an acknowledgement that came through the broker.
func (t *Transport[Tag]) ReceiveAck(names *link.Interner, body []byte) {
	a, err := link.DecodeAck(names, body)
	if err == nil && a.To != t.Config.Node.ID {
		err = errors.New("an acknowledgement for another node")
	}
	if err != nil {
		t.discard(err)
		return
	}
	if o := t.outgoing(a.Edge, a.Receiver); o != nil {
		o.heard(a)
	}
	t.emit(link.Event{Acks: []link.Ack{a}})
}
