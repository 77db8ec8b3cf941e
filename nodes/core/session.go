package core

import (
	"errors"
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/watch"
	"posta.dev/posta/protocol/session"
)

// sess is a session that runs in this node.
type sess struct {
	role.Session
	announcement []byte             // of the newest takeover that was heard of; every other open is of the same session, or the session fails (R17)
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
	c.tombstones.Delete(s.ID) // at most another client's claim
	c.sessions[s.ID] = x
	if live {
		c.build.control = true
		c.record(record.Input{Op: record.Open, Session: s.ID, Edge: from.edge, From: from.from, Payload: announcement})
		c.toAll(link.Frame{Kind: link.Open, Session: s.ID, Payload: announcement}, everyEdge)
	}
	for i, r := range c.cfg.Roles {
		if err := c.guard(x, i, noStream, func() error { return r.Open(s) }); err != nil {
			return err
		}
	}
	return nil
}

// guard runs a role's code. A panic becomes an error, so that a poisoned batch fails its session and not the node (N6). The error's text
// reaches the client. The watch is told what the call is about, so that one that never ends can be named (N9); stream may be noStream.
func (c *Core) guard(s *sess, i, stream int, call func() error) (err error) {
	defer c.cfg.Watch.Leave(c.cfg.Watch.Enter(c.doing(s, i, stream)))
	defer role.Explain(&err, func() string {
		return fmt.Sprintf("analysis %s failed in stage %s (node %s)", s.Analysis.Name, c.cfg.Roles[i].Name(), c.cfg.Self)
	})
	return call()
}

// noStream stands for a call of no stream in particular.
const noStream = -1

func (c *Core) doing(s *sess, i, stream int) watch.Doing {
	d := watch.Doing{Role: c.cfg.Roles[i].Name(), Session: s.ID}
	if stream >= 0 && stream < len(s.Analysis.Streams) {
		d.Stream = s.Analysis.Streams[stream].Name
	}
	return d
}

// run is guard for a session that goes on after the call: settle aborts it if the call failed.
func (c *Core) run(s *sess, i, stream int, call func() error) (ok bool) {
	err := c.guard(s, i, stream, call)
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
	c.abortFor(id, tombstone{Outcome: role.Outcome{Failed: true, Reason: reason}})
}

// GiveUp fails a session that this node has died of. It is called after recovery, before anything is taken in.
func (c *Core) GiveUp(id session.ID, reason string) { c.abort(id, reason) }

// abortFor is abort with all that is known. Openers that are not those of the session here are of another session of its id (R17), and what a
// client claims of another owner's session changes nothing (S5).
func (c *Core) abortFor(id session.ID, why tombstone) {
	here, known := c.holder(id)
	switch {
	case known && len(why.Openers) > 0 && here.Openers.Founder() != why.Openers.Founder():
		c.refuse(id, why)
		return
	case known && why.claim() && here.Owner != why.Owner:
		return
	}
	if t, ok := c.tombstones.Get(id); ok && t.Failed && !(t.claim() && (t.Owner != why.Owner || len(why.Openers) > 0)) {
		return
	}
	if known {
		why.Owner = here.Owner
	}
	if len(why.Openers) < len(here.Openers) {
		why.Openers = here.Openers
	}
	why.Reason = why.Reason[:min(len(why.Reason), maxReason)] // what roles hear now they hear again in recovery
	c.forwardAbort(id, why)
	c.drop(id, why, true)
}

// refuse fails a session whose id another session has, or had a short while ago (R17). The other one stays as it is, so this node keeps nothing of
// the session, and only passes its failure on, once: an output tells the inputs. Turned down: to let the new session take the place of one that has
// left. Frames of the former one may be on their way on some links, and its data carry no more than the id.
func (c *Core) refuse(id session.ID, why tombstone) {
	k := refusedKey{id, why.Openers.Founder()}
	if _, done := c.rivals.Get(k); done {
		return
	}
	c.rivals.Put(k, struct{}{})
	c.build.control = true
	c.forwardAbort(id, why)
	for _, g := range c.gateways {
		if r, ok := g.(role.Refuser); ok {
			r.Refused(role.Ended{ID: id, Opener: why.Openers.Founder(), Owner: why.Owner, Failed: true, Code: why.Code, Reason: why.Reason})
		}
	}
}

// refuseOpen refuses a session that is announced.
func (c *Core) refuseOpen(s role.Session) error {
	reason := fmt.Sprintf("node %s has had another session with the id %s: choose another session id", c.cfg.Self, s.ID)
	c.refuse(s.ID, tombstone{Outcome: role.Outcome{Failed: true, Reason: reason, Owner: s.Owner}, Openers: s.Openers})
	return errors.New(reason)
}

// wasHere refuses a session that this node remembers, to a gateway that does not: it has lost its own memory to another session of the id. Turned
// down: to answer that all is well, as to a repeated announcement. The gateway would count a session that nobody runs and no abort
// finds, for ever (R13).
func (c *Core) wasHere(id session.ID, gone tombstone) error {
	if gone.Failed {
		return errors.New(gone.Reason)
	}
	return fmt.Errorf("node %s has had session %s, and it is over: run it again under another session id", c.cfg.Self, id)
}

// refusedKey is a session that was refused, and who began it.
type refusedKey struct {
	id      session.ID
	founder session.TokenHash
}

// holder returns who has opened a session that runs here or has left, and whose it is; false if nobody has told.
func (c *Core) holder(id session.ID) (t tombstone, known bool) {
	if s := c.sessions[id]; s != nil {
		t = tombstone{Outcome: role.Outcome{Owner: s.Owner}, Openers: s.Openers}
	} else {
		t, _ = c.tombstones.Get(id)
	}
	return t, len(t.Openers) > 0
}

// left returns what is remembered of a session that has left this node. What a client claims of one that was never here is not meant.
func (c *Core) left(id session.ID) (tombstone, bool) {
	t, ok := c.tombstones.Get(id)
	return t, ok && !t.claim()
}

// forwardAbort passes a failure on as a structure: no text of a client's can become its code.
func (c *Core) forwardAbort(id session.ID, why tombstone) {
	c.toAll(link.Frame{Kind: link.Abort, Session: id, Payload: why.append(nil)}, everyEdge)
}

// drop forgets a session and remembers that it did.
func (c *Core) drop(id session.ID, why tombstone, live bool) {
	if live {
		c.build.control, c.build.leaves = true, true
		c.record(record.Input{Op: record.Drop, Session: id, Payload: why.append(nil)})
	}
	if s := c.sessions[id]; s != nil {
		s.ending = nil
		delete(c.sessions, id)
	}
	for _, r := range c.cfg.Roles {
		r.Drop(id, why.Outcome)
	}
	c.tombstones.put(id, why)
}
