package core

import (
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// streamEnded goes on with a session of which a stream has ended from all senders. Ends pass one after the other: a stream
// that ends while another is on its way out waits for it.
func (c *Core) streamEnded(s *sess) {
	c.build.control = true
	if s.ending == nil {
		c.continueEnding(s)
	}
}

// end takes the end of a stream through the chain from role i on, and out of the node. It stops where a role has more to
// emit than the windows hold; continueEnding goes on from there.
func (c *Core) end(s *sess, stream, i int) {
	for ; i < len(c.cfg.Roles); i++ {
		r := c.cfg.Roles[i]
		c.flush(s, i)
		if s.err != nil {
			return
		}
		more := false
		c.record(record.Input{Op: record.End, Role: i, Session: s.ID, Stream: stream})
		err := c.guard(s, i, func() (err error) {
			more, err = r.End(s.ID, stream, s.out[i])
			return err
		})
		if err != nil {
			s.fail(err)
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
	s.passed[stream] = true
	reference := s.reference(stream)
	c.toAll(s.ID, func(e *outEdge) bool { return carries(e.cfg.Streams, reference) }, link.End, stream, nil)
	for _, p := range s.passed {
		if !p {
			return
		}
	}
	c.drop(s.ID, role.Outcome{}, true)
}

// continueEndings lets roles that have more to emit do so while there is room.
func (c *Core) continueEndings() {
	waiting := c.ending
	c.ending = nil
	for _, s := range waiting {
		c.continueEnding(s)
	}
}

// continueEnding passes the ends of one session that have come, as far as there is room. It queues the session if it has
// to wait.
func (c *Core) continueEnding(s *sess) {
	for c.sessions[s.ID] == s {
		if s.ending == nil {
			next := s.nextEnd()
			if next < 0 {
				return
			}
			c.end(s, next, 0)
		} else if c.build.bytes >= c.cfg.Commit || !c.room(s.reference(s.ending.stream)) {
			c.ending = append(c.ending, s)
			return
		} else {
			c.more(s, *s.ending)
		}
		c.settle(s)
	}
}

// more calls the role that an end waits for.
func (c *Core) more(s *sess, at ending) {
	more := false
	c.record(record.Input{Op: record.More, Role: at.role, Session: s.ID, Stream: at.stream})
	err := c.guard(s, at.role, func() (err error) {
		more, err = c.cfg.Roles[at.role].More(s.ID, s.out[at.role])
		return err
	})
	switch {
	case err != nil:
		s.fail(err)
	case !more:
		s.ending = nil
		c.flush(s, at.role)
		c.end(s, at.stream, at.role+1)
	}
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
	if s.err != nil {
		return
	}
	if err := c.guard(s, i, func() error { return c.cfg.Roles[i].Flush(s.ID, s.out[i]) }); err != nil {
		s.fail(err)
	}
}

func message(f *link.Frame) role.Message {
	return role.Message{Stream: f.Stream, Payload: f.Payload}
}
