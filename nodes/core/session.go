package core

import (
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// sess is a session that runs in this node.
type sess struct {
	role.Session
	announcement []byte             // of the first open; every other open is equal to it, or the session fails
	opened       map[linkKey]bool   // the links that have announced it; data and ends come only over these (see expected)
	eos          []map[linkKey]bool // of each stream: the links that have ended it (R12)
	ended        []bool             // of each stream: all its senders have ended it; never becomes false again
	passed       []bool             // of each stream: its end was passed on, once; only of streams that have ended
	ending       *ending            // the end that is on its way through the chain, nil if none is; no frame is taken meanwhile
	dirty        bool               // recovery only: a role may have something to flush
	out          []*chainEmitter    // of each role: where it emits to
	err          error              // of a role during the current call; settle aborts the session when the call is over
}

// ending is an end that waits in the chain, because the role has more to emit.
type ending struct{ stream, role int }

func (c *Core) newSession(s role.Session, announcement []byte) *sess {
	n := len(s.Analysis.Streams)
	x := &sess{
		Session: s, announcement: announcement, opened: map[linkKey]bool{},
		eos: make([]map[linkKey]bool, n), ended: make([]bool, n), passed: make([]bool, n),
	}
	for i := range c.cfg.Roles {
		x.out = append(x.out, &chainEmitter{c, x, i})
	}
	return x
}

func (s *sess) reference(stream int) bool { return s.Analysis.Streams[stream].Reference }

// ready reports whether the session's reference streams have ended from every sender (R11).
func (s *sess) ready() bool {
	for i, ended := range s.ended {
		if s.reference(i) && !ended {
			return false
		}
	}
	return true
}

// waitsFor reports whether a link has yet to end a stream of the session.
func (s *sess) waitsFor(l *inLink) bool {
	for stream := range s.ended {
		if carries(l.edge.Streams, s.reference(stream)) && !s.eos[stream][l.key()] {
			return true
		}
	}
	return false
}

// open starts a session in every role of the chain. live says that this is not recovery: it is recorded and announced.
func (c *Core) open(s role.Session, announcement []byte, from linkKey, live bool) error {
	x := c.newSession(s, announcement)
	x.opened[from] = true
	c.sessions[s.ID] = x
	if live {
		c.build.control = true
		c.record(record.Input{Op: record.Open, Session: s.ID, Edge: from.edge, From: from.from, Payload: announcement})
		c.toAll(link.Frame{Kind: link.Open, Session: s.ID, Payload: announcement}, everyEdge)
	}
	for i, r := range c.cfg.Roles {
		if err := c.guard(x, i, func() error { return r.Open(s) }); err != nil {
			return err
		}
	}
	return nil
}

// guard runs a role's code. A panic becomes an error, so that a poisoned batch fails its session and not the node (N6). The error's text
// reaches the client.
func (c *Core) guard(s *sess, i int, call func() error) (err error) {
	defer role.Explain(&err, func() string {
		return fmt.Sprintf("analysis %s failed in stage %s (node %s)", s.Analysis.Name, c.cfg.Roles[i].Name(), c.cfg.Self)
	})
	return call()
}

// run is guard for a session that goes on after the call: settle aborts it if the call failed.
func (c *Core) run(s *sess, i int, call func() error) (ok bool) {
	err := c.guard(s, i, call)
	if s.err == nil {
		s.err = err
	}
	return err == nil
}

func (c *Core) announced(id session.ID, payload []byte) (role.Session, error) {
	return role.ReadAnnouncement(id, payload, c.cfg.Known, c.cfg.Replica)
}

// rewired says why a session cannot go on here, if it began under another wiring than this node's: it would wait for another number of
// ends, and keys would be divided in two ways (R12). So it would end with half an answer, or never. Turned down: to ask that nobody changes
// the topology while sessions run. `posta deploy` sees to that, an editor does not.
func (c *Core) rewired(s role.Session) string {
	if s.Wiring == "" || s.Wiring == c.cfg.Wiring {
		return ""
	}
	return fmt.Sprintf("the topology of node %s joins stages otherwise than when the session began: it was changed meanwhile, or nodes read different files; start the session again",
		c.cfg.Self)
}

// settle ends a call into the roles: a failed session is aborted now, when no role of it is on the stack any more.
func (c *Core) settle(s *sess) {
	if s.err == nil {
		return
	}
	err := s.err
	s.err = nil
	c.abort(s.ID, err.Error())
}

// abort fails a session here and downstream (R13): once, whether it runs, has passed, or was never heard of.
func (c *Core) abort(id session.ID, reason string) {
	c.abortFor(id, role.Outcome{Failed: true, Reason: reason})
}

func (c *Core) abortFor(id session.ID, why role.Outcome) {
	why.Reason = why.Reason[:min(len(why.Reason), maxReason)] // what roles hear now they hear again in recovery
	if t, ok := c.tombstones.Get(id); ok && t.Failed {
		return
	}
	c.forwardAbort(id, why)
	c.drop(id, why, true)
}

// forwardAbort passes a failure on as a structure: no text of a client's can become its code.
func (c *Core) forwardAbort(id session.ID, why role.Outcome) {
	c.toAll(link.Frame{Kind: link.Abort, Session: id, Payload: encodeOutcome(why)}, everyEdge)
}

// drop forgets a session and remembers that it did.
func (c *Core) drop(id session.ID, why role.Outcome, live bool) {
	if live {
		c.build.control = true
		c.record(record.Input{Op: record.Drop, Session: id, Payload: encodeOutcome(why)})
	}
	if s := c.sessions[id]; s != nil {
		s.ending = nil
		delete(c.sessions, id)
	}
	for _, r := range c.cfg.Roles {
		r.Drop(id, why)
	}
	c.tombstones.put(id, why)
}
