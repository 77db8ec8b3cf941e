package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/link/brokered"
	"posta.dev/posta/link/control"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Config is what a transport is made of.
type Config struct {
	Topology *topology.Topology
	Node     topology.Node
	Listen   bool // to the heartbeats of all nodes
	Log      *slog.Logger
}

// Transport implements link.Transport.
type Transport struct {
	cfg     Config
	control *control.Control
	out     map[linkKey]*outgoing // by edge and receiver; by edge alone where all receivers get the same message
	in      map[linkKey]*incoming // by edge and sender
	acks    *brokered.PendingAcks
	events  chan link.Event
	stop    chan struct{}      // closed when events are not read any more
	cut     context.CancelFunc // ends the connections
	wg      sync.WaitGroup
	bad     atomic.Uint64
}

type linkKey struct {
	edge string
	node link.NodeID
}

const (
	eventsCap = 64
	linger    = 500 * time.Millisecond // how long Close lets what is queued leave
)

// New opens the node's control socket and starts connecting to the broker. A broker that is not there is no error: it is said in the log,
// and tried again.
func New(cfg Config) (*Transport, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	t := &Transport{
		cfg: cfg, out: map[linkKey]*outgoing{}, in: map[linkKey]*incoming{}, acks: brokered.NewPendingAcks(),
		events: make(chan link.Event, eventsCap), stop: make(chan struct{}),
	}
	var err error
	t.control, err = control.New(control.Config{
		Topology: cfg.Topology, Node: cfg.Node, Listen: cfg.Listen, Log: cfg.Log, OnEvent: t.tell,
		Options: zmqx.Options{
			HandshakeTimeout: cfg.Topology.Limits.Handshake, BackoffMax: 200 * time.Millisecond,
			Linger: min(cfg.Topology.Limits.Drain, linger), Logger: cfg.Log,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", cfg.Node.ID, err)
	}
	t.plan()
	ctx, cancel := context.WithCancel(context.Background())
	t.cut = cancel
	t.wg.Add(2)
	go t.keep(ctx, "out", t.serveOut)
	go t.keep(ctx, "in", t.serveIn)
	return t, nil
}

// plan makes the ends of all links.
func (t *Transport) plan() {
	topo, self := t.cfg.Topology, t.cfg.Node
	for _, e := range topo.EdgesFrom(self.Stage) {
		receivers := topo.Receivers(e)
		if e.Socket == topology.Pub {
			t.out[linkKey{e.Name(), ""}] = newOutgoing(t, e.Name(), exchangeOf(topo.Name, e.Name(), self.ID), receivers...)
			continue
		}
		for _, n := range receivers {
			t.out[linkKey{e.Name(), n.ID}] = newOutgoing(t, e.Name(), "", n)
		}
	}
	for _, e := range topo.EdgesTo(self.Stage) {
		for _, n := range topo.Senders(e) {
			exchange := ""
			if e.Socket == topology.Pub {
				exchange = exchangeOf(topo.Name, e.Name(), n.ID)
			}
			t.in[linkKey{e.Name(), n.ID}] = &incoming{
				t: t, exchange: exchange, queue: queueOf(topo.Name, e.Name(), n.ID, self.ID), unacked: brokered.NewUnacked[uint64](),
			}
		}
	}
}

// Send implements link.Transport.
func (t *Transport) Send(edge string, to link.NodeID, frames []link.Frame) int {
	o := t.out[linkKey{edge, to}]
	if o == nil {
		return 0
	}
	return o.link.Offer(frames, time.Now())
}

// Acks implements link.Transport: the broker may forget what is durable here, and the senders are told.
func (t *Transport) Acks(acks []link.Ack) {
	for i := range acks {
		if in := t.in[linkKey{acks[i].Edge, acks[i].To}]; in != nil {
			in.unacked.Acked(&acks[i])
		}
	}
	t.acks.Put(acks)
}

// Heartbeat implements link.Transport.
func (t *Transport) Heartbeat(payload []byte) { t.control.Heartbeat(payload) }

// Events implements link.Transport.
func (t *Transport) Events() <-chan link.Event { return t.events }

// Undecodable counts messages that were thrown away because they are no node's.
func (t *Transport) Undecodable() uint64 { return t.bad.Load() + t.control.Undecodable() }

// Close implements link.Transport.
func (t *Transport) Close() error {
	select {
	case <-t.stop:
		return nil
	default:
	}
	t.flush(min(linger, t.cfg.Topology.Limits.Drain))
	close(t.stop)
	t.cut()
	err := t.control.Close()
	t.wg.Wait()
	close(t.events)
	return err
}

// flush waits until everything has been handed to the broker, but not long.
func (t *Transport) flush(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if t.handedOver() {
			return
		}
	}
}

func (t *Transport) handedOver() bool {
	for _, o := range t.out {
		if !o.link.HandedOver() {
			return false
		}
	}
	return t.acks.Empty()
}

// tell hands an event over; it waits for room, but not beyond Close.
func (t *Transport) tell(e link.Event) {
	select {
	case t.events <- e:
	case <-t.stop:
	}
}

func (t *Transport) refuse(err error) {
	if t.bad.Add(1) == 1 {
		t.cfg.Log.Warn("a message that no node sends was thrown away; more are counted in silence", "err", err)
	}
}

// heard takes what a receiver says, before the node does.
func (t *Transport) heard(a link.Ack) {
	if a.To != t.cfg.Node.ID {
		t.refuse(errors.New("an acknowledgement for another node"))
		return
	}
	o := t.out[linkKey{a.Edge, a.Receiver}]
	if o == nil {
		o = t.out[linkKey{a.Edge, ""}]
	}
	if o != nil {
		o.link.Heard(a)
	}
}
