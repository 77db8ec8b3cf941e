package control

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"posta.dev/posta/link"
	"posta.dev/posta/link/keyed"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// BeatTopic is the topic of heartbeats.
const BeatTopic = "H"

const ackTopic = "A"

// TraceTopic is the topic of the reports about a session (package nodes/trace). Subscribing to it asks for a report, and subscribing again
// asks again. A node has no other socket on which somebody who may watch it could ask.
func TraceTopic(id session.ID) string { return traceTopic + id.String() }

const traceTopic = "T"

// LinesTopic is the topic of the last lines of a node's log (package nodes/lastlog). As with TraceTopic, to subscribe is to ask.
func LinesTopic(node link.NodeID) string { return "L" + string(node) + "\x00" }

var errNoMessage = errors.New("it is neither a heartbeat nor an acknowledgement")

// Config is the configuration of the sockets.
type Config struct {
	Topology *topology.Topology
	Node     topology.Node
	Listen   bool // subscribe to the heartbeats of all nodes
	Acks     bool // acknowledgements go over these sockets
	Options  zmqx.Options
	Keys     *security.Keys // of the node; nil: plain ZMTP
	Log      *slog.Logger
	OnEvent  func(link.Event)  // called with what has arrived or connected, from several goroutines, and never after Close
	OnAsked  func(session.ID)  // called when somebody asks for the trace of a session, from several goroutines; must not block
	OnLines  func()            // called when somebody asks for the last lines of the node's log, as OnAsked; may be nil
	Silent   func(link.NodeID) // called when a receiver's connection has ended because it was silent for too long; may be nil
}

// silenceFactor times suspect_after is how long a receiver may be silent before its connections count as dead. A machine that was cut off
// does not close its connections. It may come back under another address, as a container does; TCP would continue sending to the old
// address for a quarter of an hour. If the factor is smaller, a window is sent again (R7) whenever a receiver was only stopped for a while.
const silenceFactor = 4

// Control is both sockets.
type Control struct {
	cfg Config
	pub *zmqx.Pub
	sub *zmqx.Sub // nil if the node subscribes to nothing
	wg  sync.WaitGroup
	bad keyed.Refusals
}

// New opens the sockets and starts connecting. On an error nothing is left open.
func New(cfg Config) (*Control, error) {
	c := &Control{cfg: cfg, bad: keyed.Refusals{Log: cfg.Log}}
	err := c.open()
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Control) open() (err error) {
	o := c.cfg.Options
	o.Subscribed = c.asked
	o.Known, o.TLS = c.known(), keyed.TLS(c.cfg.Keys, security.Control, keyed.Listeners(c.cfg.Topology))
	if c.pub, err = zmqx.NewPub(o); err != nil {
		return err
	}
	if _, err = c.pub.Listen(c.cfg.Node.Sockets.Control.Bind); err != nil {
		return err
	}
	if !c.cfg.Listen && !c.cfg.Acks {
		return nil
	}
	var from []topology.Node
	for _, n := range c.cfg.Topology.Nodes() {
		if n.ID != c.cfg.Node.ID && (c.cfg.Listen || c.receives(n)) {
			from = append(from, n)
		}
	}
	o = c.cfg.Options
	o.TLS = keyed.TLS(c.cfg.Keys, security.Control, keyed.Only(from))
	o.MaxSilence = silenceFactor * c.cfg.Topology.Medics.SuspectAfter
	o.OnEvent = func(ev zmqx.Event) {
		if c.cfg.Acks && ev.Kind == zmqx.Connected {
			c.cfg.OnEvent(link.Event{Answers: true, Node: from[ev.Endpoint].ID})
		}
		if c.cfg.Silent != nil && ev.Kind == zmqx.Disconnected && errors.Is(ev.Err, zmqx.ErrSilent) {
			c.cfg.Silent(from[ev.Endpoint].ID)
		}
	}
	if c.sub, err = zmqx.NewSub(o); err != nil {
		return err
	}
	for _, topic := range c.topics() {
		if err := c.sub.Subscribe(topic); err != nil {
			return err
		}
	}
	for _, n := range from {
		if _, err := c.sub.ConnectTo(n.Sockets.Control.Dial, n.Identity().String()); err != nil {
			return err
		}
	}
	c.wg.Go(func() { c.read(from) })
	return nil
}

// Recheck ends the connections of peers that the keys no longer admit.
func (c *Control) Recheck() {
	c.pub.Recheck()
	if c.sub != nil {
		c.sub.Recheck()
	}
}

// known tells subscribers from strangers (zmqx.Options.Known): a peer that subscribes to heartbeats, or to the
// acknowledgements for a node of the cluster, is known.
func (c *Control) known() func(zmqx.Message) bool {
	topics := []string{BeatTopic}
	for _, n := range c.cfg.Topology.Nodes() {
		topics = append(topics, ackTo(n.ID))
	}
	return func(m zmqx.Message) bool {
		return slices.ContainsFunc(topics, func(topic string) bool { return zmqx.Subscribes(m, topic) })
	}
}

// topics returns the topics to subscribe to. Heartbeats are always among them, because they show that a receiver is not silent.
func (c *Control) topics() []string {
	if c.cfg.Acks {
		return []string{ackTo(c.cfg.Node.ID), BeatTopic}
	}
	return []string{BeatTopic}
}

// receives reports whether n is at the end of one of the node's links.
func (c *Control) receives(n topology.Node) bool {
	return slices.ContainsFunc(c.cfg.Topology.EdgesFrom(c.cfg.Node.Stage), func(e topology.Edge) bool { return e.To == n.Stage })
}

func ackTo(n link.NodeID) string { return ackTopic + string(n) + "\x00" }

// read passes on what arrives, until the socket is closed.
func (c *Control) read(from []topology.Node) {
	names := &link.Interner{}
	for batch := range c.sub.C() {
		for _, e := range c.decode(names, from, batch) {
			c.cfg.OnEvent(e)
		}
	}
}

func (c *Control) decode(names *link.Interner, from []topology.Node, batch []zmqx.Received) (out []link.Event) {
	var acks link.Event
	mine := ackTo(c.cfg.Node.ID)
	for _, r := range batch {
		switch {
		case len(r.Msg) != 2:
			c.bad.Add(errNoMessage)
		case c.cfg.Acks && string(r.Msg[0]) == mine:
			a, err := link.DecodeAck(names, r.Msg[1])
			if err == nil && c.cfg.Keys != nil && a.Receiver != from[r.Endpoint].ID {
				err = fmt.Errorf("an acknowledgement of %q came from %s", a.Receiver, r.From)
			}
			if err != nil {
				c.bad.Add(err)
				continue
			}
			acks.Acks = append(acks.Acks, a)
		case string(r.Msg[0]) == BeatTopic && !c.cfg.Listen:
		case string(r.Msg[0]) == BeatTopic:
			out = append(out, link.Event{Heartbeat: r.Msg[1], Node: from[r.Endpoint].ID})
		default:
			c.bad.Add(errNoMessage)
		}
	}
	if acks.Acks != nil {
		out = append(out, acks)
	}
	return out
}

// SendAcks publishes acknowledgements.
func (c *Control) SendAcks(acks []link.Ack) {
	msgs := make([]zmqx.Message, len(acks))
	for i := range acks {
		msgs[i] = zmqx.Message{[]byte(ackTo(acks[i].To)), acks[i].Append(nil)}
	}
	// The only error is a closed socket, which has no subscribers.
	_ = c.pub.Send(msgs...)
}

// Heartbeat publishes the node's heartbeat: payload to nodes, public to medics and clients. Without keys nobody has proven a name, and all
// get payload.
func (c *Control) Heartbeat(payload, public []byte) {
	_ = c.pub.SendBy([]byte(BeatTopic), func(name string) []byte { // as in SendAcks
		if id, err := security.ParseIdentity(name); c.cfg.Keys != nil && (err != nil || id.Role != security.Node) {
			return public
		}
		return payload
	})
}

// Trace publishes a report about a session to those that have asked for it.
func (c *Control) Trace(id session.ID, report []byte) {
	_ = c.pub.Send(zmqx.Message{[]byte(TraceTopic(id)), report}) // as in SendAcks
}

// Lines publishes the last lines of the node's log to those that have asked for them.
func (c *Control) Lines(report []byte) {
	_ = c.pub.Send(zmqx.Message{[]byte(LinesTopic(c.cfg.Node.ID)), report}) // as in SendAcks
}

// asked passes on the question of a subscriber to a trace, or to the lines of the log.
func (c *Control) asked(topic string) {
	if topic == LinesTopic(c.cfg.Node.ID) && c.cfg.OnLines != nil {
		c.cfg.OnLines()
	}
	text, ok := strings.CutPrefix(topic, traceTopic)
	if !ok || c.cfg.OnAsked == nil {
		return
	}
	if id, err := session.Parse(text); err == nil {
		c.cfg.OnAsked(id)
	}
}

// Close sends what is queued, for at most Options.Linger, and stops.
func (c *Control) Close() error {
	var errs []error
	if c.pub != nil {
		errs = append(errs, c.pub.Close())
	}
	if c.sub != nil {
		errs = append(errs, c.sub.Close())
	}
	c.wg.Wait()
	return errors.Join(errs...)
}
