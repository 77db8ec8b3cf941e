package core

import (
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/trace"
)

// Advance takes what can be taken, until the commit that is being built is full. It serves the links in turn, one frame each, and then the
// sessions that end, one call each, so that none starves the others. It does at most one slice of a long computation. Working then reports
// that more is left, and the caller soon calls Advance again.
func (c *Core) Advance() {
	worked := c.working
	c.working = false
	if c.retired != "" {
		return
	}
	if c.full || worked {
		c.hurryAborts()
	}
	for progress := true; progress && c.build.bytes < c.cfg.Commit && c.retired == ""; {
		progress = false
		for i := range c.inOrder {
			if c.build.bytes >= c.cfg.Commit {
				return
			}
			if c.step(c.inOrder[(c.turn+i)%len(c.inOrder)]) {
				progress = true
			}
		}
		c.turn++
		if c.build.bytes < c.cfg.Commit && c.continueEndings() {
			progress = true
		}
		if c.working {
			return
		}
	}
}

// Working reports whether the last Advance has left a computation unfinished.
func (c *Core) Working() bool { return c.working }

// step deals with the frame at the head of a link's queue; false if there is none or it has to wait.
func (c *Core) step(l *inLink) bool {
	f := l.peek()
	if f == nil {
		return false
	}
	if f.Kind == link.Hello {
		c.hello(l, f)
		l.pop()
		return true
	}
	if !l.sound && !c.intact(l, f) {
		l.pop()
		return true
	}
	l.sound = true
	verdict := l.recv.Check(f)
	if verdict == link.Take {
		if !c.mayTake(f) {
			c.heldUp(l, f)
			return false
		}
		if c.ahead(f) {
			return false
		}
		c.take(l, f)
		l.pop()
		return true
	}
	c.dropFrame(l, verdict, f)
	l.pop()
	return true
}

// ahead lets the role do a slice of a long computation that it needs to take a frame, and reports whether there is more to do before that.
func (c *Core) ahead(f *link.Frame) bool {
	r, ok := c.cfg.Roles[0].(role.Slicer)
	s := c.sessions[f.Session]
	if !ok || f.Kind != link.Data || s == nil || f.Stream >= len(s.ended) {
		return false
	}
	more := false
	c.run(s, 0, f.Stream, func() error {
		more = r.Ahead(s.ID, role.Message{Stream: f.Stream, Payload: f.Payload})
		return nil
	})
	if more {
		c.working = true
		c.waits(s, trace.Turn)
	}
	c.settle(s)
	return more
}

// hurryAborts applies aborts that wait in the queues at once when the disk is full (W5), or when the node works long on a frame before
// them. The frames before an abort may need more room than there is; once their session has left, only their hwm is stored. Any node may
// fail any session at any time (R13), so the session ends as it would at the abort's turn, and at its turn the abort changes nothing. An
// abort of a session that has already failed here is left to wait. Two clients can claim to have lost one session, and to pass on both
// claims in turn at each call would fill the outbox without bound (R16).
func (c *Core) hurryAborts() {
	for _, l := range c.inOrder {
		for i := l.head; i < len(l.queue); i++ {
			f := &l.queue[i].Frame
			if f.Kind != link.Abort || !l.recv.Intact(f) {
				continue
			}
			if gone, ok := c.tombstones.Get(f.Session); ok && gone.Failed {
				continue
			}
			if v := l.recv.Check(f); v == link.Take || v == link.Gap {
				c.takeAbort(f)
			}
		}
	}
}

// mayTake reports whether a frame may be taken now. Opens, takeovers and aborts never wait. Facts wait for their session's reference data
// (R11) and for room downstream (R9); reference data waits for room only where it is passed on, and never in a joiner.
func (c *Core) mayTake(f *link.Frame) bool {
	if f.Kind != link.Data && f.Kind != link.End {
		return true
	}
	s := c.sessions[f.Session]
	if s == nil || f.Stream >= len(s.ended) {
		return true // take ignores it or fails the session
	}
	reference := s.reference(f.Stream)
	if c.cfg.Joiner {
		return reference || s.ready() && !s.endsReference() && c.room(false)
	}
	return c.room(reference)
}

// heldUp records what the frame at the head of a link's queue waits for.
func (c *Core) heldUp(l *inLink, f *link.Frame) {
	s := c.sessions[f.Session]
	why := trace.Blocked
	if c.cfg.Joiner && (!s.ready() || s.endsReference()) {
		why = trace.Reference
	}
	c.cfg.Trace.Wait(s.trace, why, l.arrived())
}

// room reports whether the edges that carry such a stream have room for more (R9).
func (c *Core) room(reference bool) bool {
	for _, e := range c.out {
		if e.carries(reference) && !e.room() {
			return false
		}
	}
	return true
}
