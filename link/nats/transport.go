package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

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

// New opens the node's control socket and starts connecting to the server. A server that is not there is no error: it is said in the log,
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
			t.out[linkKey{e.Name(), ""}] = newOutgoing(t, e.Name(), subjectOf(topo.Name, e.Name(), self.ID, ""), receivers...)
			continue
		}
		for _, n := range receivers {
			t.out[linkKey{e.Name(), n.ID}] = newOutgoing(t, e.Name(), subjectOf(topo.Name, e.Name(), self.ID, n.ID), n)
		}
	}
	for _, e := range topo.EdgesTo(self.Stage) {
		for _, n := range topo.Senders(e) {
			to := self.ID
			if e.Socket == topology.Pub {
				to = ""
			}
			t.in[linkKey{e.Name(), n.ID}] = &incoming{
				t: t, subject: subjectOf(topo.Name, e.Name(), n.ID, to), unacked: brokered.NewUnacked[string](),
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

// Acks implements link.Transport: the server is told what is durable here, and the senders are.
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
	for end := time.Now().Add(min(linger, t.cfg.Topology.Limits.Drain)); time.Now().Before(end) && !t.handedOver(); {
		time.Sleep(5 * time.Millisecond)
	}
	close(t.stop)
	t.cut()
	err := t.control.Close()
	t.wg.Wait()
	close(t.events)
	return err
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

const (
	backoffMin = 20 * time.Millisecond
	backoffMax = time.Second
)

func pause(ctx context.Context, wait *time.Duration) {
	*wait = min(max(backoffMin, 2**wait), backoffMax)
	timer := time.NewTimer(*wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// keep has a connection made, served until it breaks, and made again, until ctx ends. Only one that has stood for a while is the end of an
// outage: a server that greets and hangs up again would be dialled without a pause, and told of each time.
func (t *Transport) keep(ctx context.Context, what string, serve func(context.Context, *nats.Conn)) {
	defer t.wg.Done()
	outage := brokered.NewOutage(t.cfg.Log, "NATS at "+topology.RedactURL(t.cfg.Topology.NATS.URL)+", "+what)
	wait := time.Duration(0)
	for ctx.Err() == nil {
		err := t.onConnection(ctx, what, func(alive context.Context, nc *nats.Conn) {
			began := time.Now()
			stood := time.AfterFunc(brokered.Steady, func() { outage.Over(time.Now()) })
			serve(alive, nc)
			stood.Stop()
			if time.Since(began) >= brokered.Steady {
				wait = 0
			}
		})
		if ctx.Err() == nil {
			outage.Failed(time.Now(), explain(err))
			pause(ctx, &wait)
		}
	}
}

// onConnection serves one connection, and returns when all that was started on it has ended. The library's own reconnecting is turned
// down: it would hide that messages on the way are lost, and what it holds back meanwhile is held by the link already.
func (t *Transport) onConnection(ctx context.Context, what string, serve func(context.Context, *nats.Conn)) error {
	closed := make(chan struct{})
	nc, err := nats.Connect(t.cfg.Topology.NATS.URL, nats.NoReconnect(), nats.Timeout(t.cfg.Topology.Limits.Handshake),
		nats.Name("posta "+t.cfg.Topology.Name+" "+string(t.cfg.Node.ID)+" "+what), nats.PingInterval(pings), nats.MaxPingsOutstanding(2),
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return err
	}
	defer func() { nc.Close(); <-closed }()
	if err := roomFor(nc, t.cfg.Topology); err != nil {
		return err
	}
	alive, end := context.WithCancel(ctx)
	defer end()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		serve(alive, nc)
	}()
	select {
	case <-closed:
		err = nc.LastError()
		if err == nil {
			err = nats.ErrConnectionClosed
		}
	case <-ctx.Done():
		_ = nc.FlushTimeout(linger) // a server that does not answer is left without a word
	}
	end()
	nc.Close()
	wg.Wait()
	return err
}

// pings find a server whose machine is gone.
const pings = 5 * time.Second

var (
	errPayload   = errors.New("max_payload of NATS is too small")
	errLost      = errors.New("the server did not take a message")
	errJetStream = errors.New("it has no JetStream for this user: write jetstream {} into the server's file")
)

// explain adds to an error what to do about it.
func explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w: correct user and password in the url of [nats]", err)
	case errors.Is(err, errPayload), errors.Is(err, errLost), errors.Is(err, errJetStream):
		return err
	}
	return fmt.Errorf("%w: start the server (nats-server -js), or correct the url of [nats]", err)
}

// onLink runs one session after the other, for as long as the connection stands.
func (t *Transport) onLink(ctx context.Context, nc *nats.Conn, subject string, session func(context.Context, *nats.Conn) error) {
	wait := time.Duration(0)
	for ctx.Err() == nil && !nc.IsClosed() {
		began := time.Now()
		err := session(ctx, nc)
		if ctx.Err() != nil || nc.IsClosed() {
			return // what broke is the connection, and that is told by who keeps it
		}
		t.cfg.Log.Warn("a link over NATS begins again; nothing is lost", "subject", subject, "err", advise(err))
		if time.Since(began) > 10*backoffMax {
			wait = 0
		}
		pause(ctx, &wait)
	}
}
