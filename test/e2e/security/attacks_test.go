package security

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/link"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// kindOf is what a node's socket is for.
var kindOf = map[topology.Kind]security.Kind{
	topology.KindData: security.Data, topology.KindBroadcast: security.Broadcast, topology.KindControl: security.Control,
	topology.KindClient: security.ClientAPI,
}

// TestS3_AttacksOnSockets: whoever has no key, one of another cluster, or one that is for something else is not a peer of any socket of any
// node, so that nothing it says is read, and it reads nothing. Sessions that run meanwhile have the right answers.
func TestS3_AttacksOnSockets(t *testing.T) {
	d := generated(t, 5_000)
	c := start(t, overTCP())
	ctx := until(t)
	c.analyse(ctx, alice, d) // everybody is there
	another := keytest.New(t, "posta")
	nobody := another.Client(t, security.Identity{Role: security.Operate, Name: "alice"})
	over := make(chan struct{})
	served := make(chan int, 1)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			select {
			case <-over:
				served <- n
				return
			default:
				c.analyse(ctx, alice, d)
			}
		}
		served <- n
	}()
	refused := 0
	for _, n := range c.topo.Nodes() {
		for _, e := range n.Sockets.List() {
			attackers := map[string]*security.Keys{
				"somebody with no key": nil, "a client of another cluster": nobody, "the node itself of another cluster": another.Of(t, n),
			}
			for _, id := range []security.Identity{alice, carol} {
				if e.Kind != topology.KindClient && (e.Kind != topology.KindControl || id != carol) {
					attackers["client "+id.String()] = c.keys[id]
				}
			}
			for _, other := range c.topo.Nodes() {
				if e.Kind != topology.KindControl && !c.mayUse(other, n, e.Kind) {
					attackers[other.Identity().String()] = c.ring.Load(t, other.Identity())
				}
			}
			for who, keys := range attackers {
				c.isRefused(fmt.Sprintf("%s at the socket for %s of %s", who, e.Kind, n.ID), n, e, keys)
				refused++
			}
		}
	}
	close(over)
	t.Logf("%d were refused while %d sessions ran", refused, <-served)
	c.analyse(ctx, alice, d)
}

// mayUse reports whether an edge leads to a node's socket for data from another one, or to the other one from the node's socket for
// broadcasts. Inputs may ask inputs what posta deploy has to know.
func (c *cluster) mayUse(other, n topology.Node, kind topology.Kind) bool {
	if kind == topology.KindClient {
		return other.Holds(topology.Input) && n.Holds(topology.Input)
	}
	for _, e := range c.topo.Edges {
		if kind == topology.KindData && e.Socket == topology.Push && e.From == other.Stage && e.To == n.Stage ||
			kind == topology.KindBroadcast && e.Socket == topology.Pub && e.From == n.Stage && e.To == other.Stage {
			return true
		}
	}
	return false
}

// isRefused tries to become a peer of a socket, with something to say.
func (c *cluster) isRefused(what string, n topology.Node, e topology.NamedEndpoint, keys *security.Keys) {
	c.t.Helper()
	events := make(chan zmqx.Event, 16)
	o := zmqx.Options{BackoffMin: time.Hour, BackoffMax: time.Hour, HandshakeTimeout: patience, OnEvent: func(e zmqx.Event) { events <- e }}
	if keys != nil {
		o.TLS = keys.Socket(kindOf[e.Kind], func(security.Identity) error { return nil })
	}
	var err error
	name := n.Identity().String()
	switch e.Kind {
	case topology.KindData:
		var s *zmqx.Push
		if s, err = zmqx.NewPush(o); err == nil {
			defer s.Close()
			err = errors.Join(s.TrySend(c.forged(n.ID, "")), s.ConnectTo(e.Dial, name))
		}
	case topology.KindClient:
		var s *zmqx.Req
		if s, err = zmqx.NewReq(o); err == nil {
			defer s.Close()
			err = s.ConnectTo(e.Dial, name)
		}
	default:
		var s *zmqx.Sub
		if s, err = zmqx.NewSub(o); err == nil {
			defer s.Close()
			_, dialled := s.ConnectTo(e.Dial, name)
			err = errors.Join(s.Subscribe(""), dialled)
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	select {
	case e := <-events:
		if e.Kind != zmqx.Unreachable {
			c.t.Errorf("%s: %v", what, e.Kind)
		}
	case <-time.After(patience):
		c.t.Errorf("%s hears nothing", what)
	}
}

// forged returns what a node would say to another one that has lost its disk: believed, it fails the sessions of both. Without a name it is
// that of any sender.
func (c *cluster) forged(to, from topology.NodeID) zmqx.Message {
	c.t.Helper()
	for _, e := range c.topo.Edges {
		for _, n := range c.topo.Nodes() {
			if e.To != c.node(to).Stage || e.From != n.Stage || e.Socket != topology.Push || from != "" && n.ID != from {
				continue
			}
			f := link.Frame{Edge: e.Name(), From: n.ID, Kind: link.Hello, ID: link.Identity{LogID: link.LogID{1}, Incarnation: 2, Life: 9},
				Payload: link.HelloPayload{To: to}.Encode()}.Sealed(to)
			return zmqx.Message{f.AppendHeader(nil), f.Payload}
		}
	}
	return zmqx.Message{[]byte("nobody sends here"), nil}
}

// TestS3_AMemberSpeaksForItselfAlone: a node that has been taken over says, with its own key and where it may speak, that another node has
// lost its disk. Whoever reads it throws it away, and the session that runs has the right answer.
func TestS3_AMemberSpeaksForItselfAlone(t *testing.T) {
	d := generated(t, 5_000)
	c := start(t, overTCP())
	ctx := until(t)
	c.analyse(ctx, alice, d) // everybody is there, so that a life of joiner-2 is known that could be over
	cl, err := client.Dial(ctx, c.config(alice, d))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.Open(ctx); err != nil {
		t.Fatal(err)
	}
	to := c.node("aggregator-1")
	connected := make(chan zmqx.Event, 16)
	push, err := zmqx.NewPush(zmqx.Options{
		TLS: c.ring.Load(t, c.node("joiner-1").Identity()).Socket(security.Data, func(security.Identity) error { return nil }), Linger: patience,
		OnEvent: func(e zmqx.Event) { connected <- e },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := push.ConnectTo(to.Sockets.Data.Dial, to.Identity().String()); err != nil {
		t.Fatal(err)
	}
	for e := range connected {
		if e.Kind == zmqx.Connected {
			break
		}
	}
	for range 20 {
		if err := push.TrySend(c.forged(to.ID, "joiner-2")); err != nil {
			t.Fatal(err)
		}
	}
	if err := push.Close(); err != nil { // all is written when it returns
		t.Fatal(err)
	}
	d.sent(ctx, t, cl)
}

// TestS5_AttacksOnASession: another client tries all that a client can say about alice's session, at every node that clients talk to,
// before its upload and after it; nothing of it takes effect.
func TestS5_AttacksOnASession(t *testing.T) {
	d := generated(t, 5_000)
	c := start(t, overTCP())
	ctx := until(t)
	cfg := c.config(alice, d)
	cfg.Session, cfg.Token = session.New(), session.NewToken()
	cl, err := client.Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.Open(ctx); err != nil {
		t.Fatal(err)
	}
	c.attackSession(ctx, cfg)
	if err := cl.Upload(ctx); err != nil {
		t.Fatal(err)
	}
	c.attackSession(ctx, cfg)
	a, err := cl.Results(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d.check(t, a)
	c.attackSession(ctx, cfg)
	if err := cl.Finish(ctx); err != nil {
		t.Fatal(err)
	}
}

// attackSession asks what changes a session or shows its answer, as bob and as carol, with the session's true token, too.
func (c *cluster) attackSession(ctx context.Context, of client.Config) {
	c.t.Helper()
	for _, who := range []security.Identity{bob, carol} {
		for _, entry := range c.entries() {
			for _, token := range []session.Token{session.NewToken(), of.Token, {}} {
				for _, q := range []protocol.Request{
					{Type: protocol.Open, Analysis: "bikes"},
					{Type: protocol.Open, Analysis: "bikes", Takeover: true},
					{Type: protocol.Chunk, Stream: "trips", Seq: 1, File: "a/trips.csv", Line: 2, Header: []byte("a,b"), Data: []byte("1,2\n")},
					{Type: protocol.End, Stream: "trips"},
					{Type: protocol.Results},
					{Type: protocol.Cancel}, {Type: protocol.Cancel, Force: true},
					{Type: protocol.Close}, {Type: protocol.Close, Force: true},
				} {
					q.Session, q.Token = of.Session, token
					reply, err := client.RequestOnce(ctx, c.keys[who], entry, q, patience)
					var refused *protocol.Error
					switch known := errors.As(err, &refused); {
					case known && who == carol && q.Type != protocol.Results:
						if refused.Code != protocol.ErrForbidden && refused.Code != protocol.ErrBadRequest {
							c.t.Errorf("%s of %s at %s is refused with %v, not because of its role", q.Type, who, entry, err)
						}
					case known:
					case q.Type == protocol.Close && err == nil && reply.Type == protocol.OK: // as for each session that is not there
					default:
						c.t.Errorf("%s of %s at %s is answered with %+v, %v", q.Type, who, entry, reply, err)
					}
					if err != nil && strings.Contains(err.Error(), alice.Name) {
						c.t.Errorf("%s of %s at %s tells whose the session is: %v", q.Type, who, entry, err)
					}
				}
			}
		}
	}
}
