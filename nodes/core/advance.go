package core

import "posta.dev/posta/link"

// Advance takes what can be taken, until the commit that is being built is full. It serves the links in turn, one frame
// each, so that a busy one does not starve the others.
func (c *Core) Advance() {
	if c.retired != "" {
		return
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

// mayTake says whether a frame may be taken now. Opens and aborts never wait. Facts wait for their session's reference data
// (R11) and for room downstream (R9); reference data waits for room only where it is passed on, and never in a joiner.
func (c *Core) mayTake(f *link.Frame) bool {
	if f.Kind == link.Open || f.Kind == link.Abort {
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
