package core

import (
	"errors"
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/internal/watch"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// sess is a session that runs in this node.
type sess struct {
	role.Session
	announcement []byte             // the newest one, after all takeovers; an announcement that is of another session fails the session (R17)
	opened       map[linkKey]bool   // the links that have announced it; data and ends come only over these (see expected)
	eos          []map[linkKey]bool // of each stream: the links that have ended it (R12)
	ended        []bool             // of each stream: all its senders have ended it; never becomes false again
	passed       []bool             // of each stream: its end was passed on, once; only of streams that have ended
	ending       *ending            // the end that is on its way through the chain, nil if none is; frames are taken meanwhile
	dirty        bool               // recovery only: a role may have something to flush
	out          []*chainEmitter    // of each role: where it emits to
	trace        *trace.Session     // nil: it is not recorded
	err          error              // of a role during the current call; settle aborts the session when the call is over
}

// ending is a stream's end that waits at a role of the chain, because that role has more to emit.
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

// waitsFor reports whether the session still waits for a link to end a stream.
func (s *sess) waitsFor(l *inLink) bool {
	for stream := range s.ended {
		if carries(l.edge.Streams, s.reference(stream)) && !s.eos[stream][l.key()] {
			return true
		}
	}
	return false
}

// open starts a session in every role of the chain. live is false in recovery. A live open is recorded, and announced downstream.
func (c *Core) open(s role.Session, announcement []byte, from linkKey, live bool) error {
	x := c.newSession(s, announcement)
	x.opened[from] = true
	c.tombstones.Delete(s.ID) // at most another client's claim
	c.sessions[s.ID] = x
	if live {
		x.trace = c.cfg.Trace.Begin(s.ID, s.Analysis.Name, s.Trace, false)
		c.cfg.Trace.Touch(x.trace)
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
// reaches the client. The watch notes what the call is about, so that a call that never ends can be named (N9). stream may be noStream.
func (c *Core) guard(s *sess, i, stream int, call func() error) (err error) {
	defer c.cfg.Watch.Leave(c.cfg.Watch.Enter(c.doing(s, i, stream)))
	c.cfg.Trace.Enter(s.trace, i)
	defer c.cfg.Trace.Leave()
	defer func() {
		if stage := c.cfg.Roles[i].Name(); err != nil {
			err = protocol.With(fmt.Errorf("analysis %s failed in stage %s (node %s): %w", s.Analysis.Name, stage, c.cfg.Self, err),
				protocol.Fields{protocol.FieldAnalysis: s.Analysis.Name, protocol.FieldStage: stage, protocol.FieldNode: string(c.cfg.Self)})
		}
	}()
	defer role.Explain(&err, nil)
	return call()
}

// noStream stands for a call that concerns no particular stream.
const noStream = -1

func (c *Core) doing(s *sess, i, stream int) watch.Doing {
	d := watch.Doing{Role: c.cfg.Roles[i].Name(), Session: s.ID}
	if stream >= 0 && stream < len(s.Analysis.Streams) {
		d.Stream = s.Analysis.Streams[stream].Name
	}
	return d
}

// run is guard for a session that continues after the call: settle aborts it if the call failed.
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

// rewired returns why a session that began under another wiring than this node's cannot continue here. It would wait for another number of
// ends, and its keys would be divided in two ways (R12). So it would end with half an answer, or never. Rejected: to demand that nobody
// changes the topology while sessions run. `posta deploy` ensures that, but an editor does not.
func (c *Core) rewired(s role.Session) string {
	if s.Wiring == "" || s.Wiring == c.cfg.Wiring {
		return ""
	}
	return fmt.Sprintf("the topology of node %s joins stages otherwise than when the session began: it was changed meanwhile, or nodes "+
		"read different files; start the session again",
		c.cfg.Self)
}

// settle is called after a call into the roles. It aborts a session that failed during the call. This waits until now because no role of
// the session may be on the stack.
func (c *Core) settle(s *sess) {
	if s.err == nil {
		return
	}
	err := s.err
	s.err = nil
	c.fail(s.ID, err)
}

// abort fails a session here and downstream (R13), whether it runs, has left, or was never here. A second abort changes nothing.
func (c *Core) abort(id session.ID, reason string) {
	c.abortFor(id, tombstone{Outcome: role.Outcome{Failed: true, Reason: reason}})
}

// fail is abort for an error, whose fields travel with its text.
func (c *Core) fail(id session.ID, err error) {
	c.abortFor(id, tombstone{Outcome: role.Outcome{Failed: true, Reason: err.Error(), Fields: protocol.FieldsOf(err)}})
}

// GiveUp fails a session that has made this node's process die. It is called after recovery, before anything is taken in.
func (c *Core) GiveUp(id session.ID, reason string) { c.abort(id, reason) }

// abortFor is abort with everything that is known about the failure. If the openers in why have another founder than those of the session
// here, the failed session is another one with the same id (R17), and is refused. A client's claim about another owner's session changes
// nothing (S5).
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
	why.Reason = why.Reason[:min(len(why.Reason), maxReason)] // roles get the same text now and in recovery
	c.forwardAbort(id, why)
	c.drop(id, why, true)
}

// refuse fails a session whose id another session has, or had a short while ago (R17). The other session stays as it is, so this node keeps
// nothing of the refused one. It only passes the failure on, once, and an output reports it to the inputs. Rejected: to let the new session
// replace one that has left. Frames of the old session may still be on their way on some links, and data frames carry only the id, so the
// two could not be distinguished.
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
			r.Refused(role.Ended{ID: id, Opener: why.Openers.Founder(), Owner: why.Owner, Failed: true, Code: why.Code, Reason: why.Reason,
				Fields: why.Fields})
		}
	}
}

// refuseOpen refuses a session that an announcement would open.
func (c *Core) refuseOpen(s role.Session) error {
	reason := fmt.Sprintf("node %s has had another session with the id %s: choose another session id", c.cfg.Self, s.ID)
	c.refuse(s.ID, tombstone{Outcome: role.Outcome{Failed: true, Reason: reason, Owner: s.Owner}, Openers: s.Openers})
	return errors.New(reason)
}

// wasHere refuses to open a session that this node remembers and the gateway does not. The gateway remembers another session of the id in
// its place. Rejected: to answer that all is well, as to a repeated announcement. The gateway would then count for ever a session that
// nobody runs and no abort ends (R13).
func (c *Core) wasHere(id session.ID, gone tombstone) error {
	if gone.Failed {
		return protocol.With(errors.New(gone.Reason), gone.Fields)
	}
	return fmt.Errorf("node %s has had session %s, and it is over: run it again under another session id", c.cfg.Self, id)
}

// refusedKey is a session that was refused, and who began it.
type refusedKey struct {
	id      session.ID
	founder session.TokenHash
}

// holder returns the openers and the owner of a session that runs here or has left. known is false if this node has not been told its
// openers.
func (c *Core) holder(id session.ID) (t tombstone, known bool) {
	if s := c.sessions[id]; s != nil {
		t = tombstone{Outcome: role.Outcome{Owner: s.Owner}, Openers: s.Openers}
	} else {
		t, _ = c.tombstones.Get(id)
	}
	return t, len(t.Openers) > 0
}

// left returns what is remembered of a session that has left this node. A client's claim about a session that was never here does not
// count.
func (c *Core) left(id session.ID) (tombstone, bool) {
	t, ok := c.tombstones.Get(id)
	return t, ok && !t.claim()
}

// forwardAbort sends a failure downstream as a structure, so that no text of a client can become its code.
func (c *Core) forwardAbort(id session.ID, why tombstone) {
	c.toAll(link.Frame{Kind: link.Abort, Session: id, Payload: why.append(nil)}, everyEdge)
}

// drop removes a session from this node and its roles, and leaves a tombstone.
func (c *Core) drop(id session.ID, why tombstone, live bool) {
	if live {
		c.build.control, c.build.leaves = true, true
		c.record(record.Input{Op: record.Drop, Session: id, Payload: why.append(nil)})
	}
	if s := c.sessions[id]; s != nil {
		s.ending = nil
		c.cfg.Trace.Left(s.trace, why.Failed)
		delete(c.sessions, id)
	}
	for _, r := range c.cfg.Roles {
		r.Drop(id, why.Outcome)
	}
	c.tombstones.put(id, why)
}
