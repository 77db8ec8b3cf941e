package core

import (
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/trace"
)

// streamEnded is called when all senders have ended a stream of a session. Ends go through the chain one after the other: a stream that
// ends while another end is on its way waits for that one.
func (c *Core) streamEnded(s *sess) {
	c.build.control = true
	if s.ending == nil {
		c.continueEnding(s)
	}
}

// end takes the end of a stream through the chain from role i on, and out of the node. It stops where a role has more to
// emit than the windows hold; continueEnding continues from there.
func (c *Core) end(s *sess, stream, i int) {
	for ; i < len(c.cfg.Roles); i++ {
		r := c.cfg.Roles[i]
		c.flush(s, i)
		if s.err != nil {
			return
		}
		more := false
		c.record(record.Input{Op: record.End, Role: i, Session: s.ID, Stream: stream})
		ok := c.run(s, i, stream, func() (err error) {
			more, err = r.End(s.ID, stream, s.out[i])
			return err
		})
		if !ok {
			return
		}
		c.build.touch(s)
		if more {
			s.ending = &ending{stream, i}
			return
		}
		c.flush(s, i)
	}
	c.pass(s, stream)
}

// pass sends the end of a stream on, on every link of the edges that carry it (R12). After the last one the session has
// left this node.
func (c *Core) pass(s *sess, stream int) {
	if s.err != nil {
		return
	}
	if s.passed[stream] {
		panic(fmt.Sprintf("R12: the end of stream %d of session %s is passed on twice", stream, s.ID))
	}
	s.passed[stream] = true
	reference := s.reference(stream)
	c.toAll(link.Frame{Kind: link.End, Session: s.ID, Stream: stream}, func(e *outEdge) bool { return e.carries(reference) })
	if !slices.Contains(s.passed, false) {
		c.drop(s.ID, tombstone{Outcome: role.Outcome{Owner: s.Owner}, Openers: s.Openers}, true)
	}
}

// continueEndings lets each session that ends do one step more, if there is room, and reports whether one did. If a session does a slice of
// a long computation, the other sessions come first next time.
func (c *Core) continueEndings() (progress bool) {
	waiting := c.ending
	c.ending = nil
	for i, s := range waiting {
		if c.working {
			c.ending = append(slices.Clone(waiting[i:]), c.ending...)
			return progress
		}
		if c.continueEnding(s) {
			progress = true
		}
	}
	return progress
}

// continueEnding does one step for the ends of a session: it calls the role that has more to emit, or begins the next end. It queues the
// session if there is more to do.
func (c *Core) continueEnding(s *sess) (progress bool) {
	if c.sessions[s.ID] != s {
		return false
	}
	switch next := s.nextEnd(); {
	case s.ending != nil:
		progress = c.more(s, *s.ending)
	case next < 0:
		return false
	default:
		c.end(s, next, 0)
		progress = true
	}
	c.settle(s)
	if c.sessions[s.ID] == s && (s.ending != nil || s.nextEnd() >= 0) && !slices.Contains(c.ending, s) {
		c.ending = append(c.ending, s)
	}
	return progress
}

// more calls the role that an end waits for, if there is room for what it emits. What the role computes before that (Worker) needs no room.
// progress is false if the computation needs further slices, or if there is no room.
func (c *Core) more(s *sess, at ending) (progress bool) {
	if w, ok := c.cfg.Roles[at.role].(role.Worker); ok {
		working := false
		ok := c.run(s, at.role, at.stream, func() (err error) {
			working, err = w.Work(s.ID)
			return err
		})
		if c.working = ok && working; c.working {
			c.waits(s, trace.Turn)
			return false
		} else if !ok {
			return true
		}
	}
	switch {
	case !c.room(s.reference(at.stream)):
		c.waits(s, trace.Blocked)
		return false
	case c.build.bytes >= c.cfg.Commit:
		c.waits(s, trace.Log)
		return false
	}
	more := false
	c.record(record.Input{Op: record.More, Role: at.role, Session: s.ID, Stream: at.stream})
	ok := c.run(s, at.role, at.stream, func() (err error) {
		more, err = c.cfg.Roles[at.role].More(s.ID, s.out[at.role])
		return err
	})
	if ok && !more {
		s.ending = nil
		c.flush(s, at.role)
		c.end(s, at.stream, at.role+1)
	}
	return true
}

// endsReference reports whether the end of a reference stream has not gone through the whole chain yet. A joiner gets facts only after that
// (R11).
func (s *sess) endsReference() bool {
	next := s.nextEnd()
	return s.ending != nil && s.reference(s.ending.stream) || next >= 0 && s.reference(next)
}

// nextEnd returns a stream that all senders have ended and whose end has not been passed on, -1 if there is none.
func (s *sess) nextEnd() int {
	for i := range s.ended {
		if s.ended[i] && !s.passed[i] {
			return i
		}
	}
	return -1
}

// flush lets role i emit what it has folded.
func (c *Core) flush(s *sess, i int) {
	if s.err == nil {
		c.run(s, i, noStream, func() error { return c.cfg.Roles[i].Flush(s.ID, s.out[i]) })
	}
}

// markEos notes that a sender has ended a stream and reports whether it was the last one (R12). A second end from the same
// sender changes nothing.
func (c *Core) markEos(s *sess, stream int, from linkKey) (all bool) {
	if s.ended[stream] {
		return false
	}
	if s.eos[stream] == nil {
		s.eos[stream] = map[linkKey]bool{}
	}
	s.eos[stream][from] = true
	s.ended[stream] = len(s.eos[stream]) >= max(1, c.sendersOf(s.reference(stream)))
	return s.ended[stream]
}

// sendersOf counts the senders of such a stream, known from the topology (R12).
func (c *Core) sendersOf(reference bool) int {
	n := 0
	for i := range c.cfg.In {
		if carries(c.cfg.In[i].Streams, reference) {
			n += len(c.cfg.In[i].From)
		}
	}
	return n
}
