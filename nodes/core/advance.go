package core

import "posta.dev/posta/link"

// Advance takes what can be taken, until the commit that is being built is full. It serves the links in turn, one frame
// each, so that a busy one does not starve the others.
func (c *Core) Advance() {
	if c.retired != "" {
		return
	}
	if c.full {
		c.hurryAborts()
	}
	c.continueEndings()
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
	}
}

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
			return false
		}
		c.take(l, f)
		l.pop()
		return true
	}
	c.Counters.dropped(verdict)
	l.recv.Dropped(verdict, f.ID)
	l.pop()
	return true
}

// hurryAborts lets aborts that wait in a queue fail their sessions at once, where the disk is full (W5): what comes before them in the queue may
// need more room than there is, and for a session that has left only the hwm is stored. Any node may fail any session at any time (R13), so that
// is no other end than the abort's own, which changes nothing when its turn comes.
func (c *Core) hurryAborts() {
	for _, l := range c.inOrder {
		for i := l.head; i < len(l.queue); i++ {
			f := &l.queue[i]
			if f.Kind != link.Abort || !l.recv.Intact(f) {
				continue
			}
			if v := l.recv.Check(f); v == link.Take || v == link.Gap {
				c.takeAbort(f)
			}
		}
	}
}

// mayTake says whether a frame may be taken now. Opens, takeovers and aborts never wait. Facts wait for their session's reference data
// (R11) and for room downstream (R9); reference data waits for room only where it is passed on, and never in a joiner.
func (c *Core) mayTake(f *link.Frame) bool {
	if f.Kind != link.Data && f.Kind != link.End {
		return true
	}
	s := c.sessions[f.Session]
	if s == nil || f.Stream >= len(s.ended) {
		return true // to be ignored
	}
	if s.ending != nil {
		return false
	}
	reference := s.reference(f.Stream)
	if c.cfg.Joiner {
		return reference || s.ready() && c.room(false)
	}
	return c.room(reference)
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
