package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// gates observe the sessions at the inputs from outside: requests and replies. They check that an input admits another
// client only after the opener was silent for long enough, and obeys only the client that the session belongs to (R17).
type gates struct {
	w     *world
	of    map[gateKey]*gate
	asked map[role.Peer]asked
}

type gateKey struct {
	at link.NodeID
	id session.ID
}

type gate struct {
	opener session.Token // the last client that was told that the session is open; zero if there is none yet
	heard  time.Duration // the time of the opener's last request to this input
	// For each other token: the time of the opener's last request when that token first asked to take over. The first request counts, because
	// an input that crashes between the takeover and its answer answers later.
	silentSince map[session.Token]time.Duration
}

// asked is a request that a node has received and not answered.
type asked struct {
	gate   *gate
	opener session.Token // the opener when the request was received
	token  session.Token
	kind   protocol.RequestType
	takes  bool
	at     time.Duration
}

// mayTakeOver is how long the opener must have been silent before a takeover.
const mayTakeOver = 5 * time.Second

func newGates(w *world) gates { return gates{w, map[gateKey]*gate{}, map[role.Peer]asked{}} }

// watches reports whether these checks apply. A log that was lost or set back knows another opener or none. And other owners may send the
// opener's token, too; an input does not take them for the opener (S5).
func (g *gates) watches(n *node) bool {
	return g.w.faults.again && g.w.faults.owners == nil && g.w.losses == 0 && n.stage().holds(topology.Input)
}

// hears is called with a request that a node takes.
func (g *gates) hears(n *node, from role.Peer, body []byte) {
	if !g.watches(n) {
		return
	}
	q, err := protocol.DecodeRequest(body)
	if err != nil || q.Token == (session.Token{}) {
		return
	}
	k := gateKey{n.id, q.Session}
	at := g.of[k]
	if at == nil {
		at = &gate{silentSince: map[session.Token]time.Duration{}}
		g.of[k] = at
	}
	if q.Token == at.opener {
		at.heard = g.w.At
	} else if _, again := at.silentSince[q.Token]; q.Takeover && !again && at.opener != (session.Token{}) {
		at.silentSince[q.Token] = at.heard
	}
	g.asked[from] = asked{at, at.opener, q.Token, q.Type, q.Takeover, g.w.At}
}

// answers is called with what a node answers.
func (g *gates) answers(n *node, to role.Peer, r *protocol.Reply) {
	a, ok := g.asked[to]
	delete(g.asked, to)
	accepted := r.Type == protocol.OK || r.Type == protocol.Opened && r.State == session.Running
	if !ok || !g.watches(n) || !accepted {
		return
	}
	foreign := a.opener != (session.Token{}) && a.opener != a.token
	switch a.kind {
	case protocol.Open:
		if silent := g.w.At - a.gate.silentSince[a.token]; foreign && a.takes && silent < mayTakeOver {
			g.w.fail("R17: %s lets another client take a session over whose opener it heard %v ago", n.id, silent)
		}
		if foreign && a.takes {
			g.w.report.Counters["taken over"]++
		}
		if a.gate.opener != a.token {
			a.gate.opener, a.gate.heard = a.token, a.at
		}
	case protocol.Chunk, protocol.End, protocol.Ping:
		if foreign {
			g.w.fail("R17: %s heeds a %s of a client whose session another one has taken over", n.id, a.kind)
		}
	}
}

// strangers ask to take over a session whose client has just vanished or fallen asleep, in ways that no input may
// allow: at the first input with other parameters, at another one without the list of openers from the first one. They
// draw from their own source of chance.
func (c *client) strangers() {
	w := c.w
	r := rand.New(rand.NewPCG(w.Seed, 1000+uint64(c.n)))
	if !w.faults.dozes || w.faults.wipes > 0 || w.faults.setBacks > 0 {
		return
	}
	for range 4 {
		in := c.inputs[r.IntN(len(c.inputs))]
		q := protocol.Request{Type: protocol.Open, Session: c.id, Analysis: c.upload.analysis, Plan: c.upload.plan, Params: c.upload.params,
			Takeover: true, Token: session.Token{byte(r.IntN(256)), 's'}}
		if in == c.inputs[0] {
			c.upload.makeOther(&q)
		}
		w.After(mayTakeOver+time.Duration(r.Int64N(int64(3*time.Second))), func() {
			if !c.speech.opened[in] { // this request would open the session
				return
			}
			w.injected("stranger")
			w.postAs(c.who, in, q.Append(nil), &attempt{broken: func() {}, answered: func(reply protocol.Reply) {
				if reply.Type == protocol.Opened && w.losses == 0 {
					w.fail("R17: %s lets a stranger take over session %s, with other parameters or past the first input", in.id, c.id)
				}
			}})
		})
	}
}

// meddle lets strangers cancel and close the session, which must change nothing (R17). They draw from their own source
// of chance.
func (c *client) meddle() {
	w := c.w
	r := rand.New(rand.NewPCG(w.Seed, 2000+uint64(c.n)))
	nodes := slices.Concat(c.inputs, c.outputs)
	for range 3 {
		at := nodes[r.IntN(len(nodes))]
		q := protocol.Request{Type: protocol.Cancel, Session: c.id, Token: session.Token{byte(r.IntN(256)), 'm'}}
		if r.IntN(2) == 0 {
			q.Type = protocol.Close
		}
		w.After(time.Duration(r.Int64N(int64(6*time.Second))), func() {
			w.injected("meddling")
			w.tracef("a stranger says %s of session %s to %s", q.Type, c.id, at.id)
			w.postAs(c.who, at, q.Append(nil), nil)
		})
	}
}
