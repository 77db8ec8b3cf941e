package core

import (
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// take moves the link's hwm past a frame and applies the frame.
func (c *Core) take(l *inLink, f *link.Frame) {
	l.recv.Took(f)
	if s := c.sessions[f.Session]; s != nil {
		c.cfg.Trace.Took(s.trace, l.index, f.Size(), l.bytes, l.arrived())
		c.cfg.Trace.Touch(s.trace)
	}
	c.build.moved(l)
	c.build.bytes += f.Size()
	c.Counters.FramesIn++
	c.Counters.BytesIn += uint64(len(f.Payload))
	switch f.Kind {
	case link.Open:
		c.takeOpen(l, f)
	case link.TakeOver:
		c.takeTakeOver(l, f)
	case link.Data:
		c.takeData(l, f)
	case link.End:
		c.takeEnd(l, f)
	case link.Abort:
		c.takeAbort(f)
	}
}

// takeAbort fails a session, even if the reason cannot be read.
func (c *Core) takeAbort(f *link.Frame) {
	why, err := decodeTombstone(f.Payload)
	if err != nil {
		why.Reason = fmt.Sprintf(
			"node %s gives up the session, and says why in a form that node %s cannot read: do they run different versions?", f.From, c.cfg.Self)
	}
	why.Failed = true
	c.abortFor(f.Session, why)
}

func (c *Core) takeOpen(l *inLink, f *link.Frame) {
	if c.sessions[f.Session] != nil {
		if c.openAgain(l, f); l.leftBehind {
			c.abort(f.Session, c.leftBehind(f))
		}
		return
	}
	s, err := c.announced(f.Session, f.Payload)
	if gone, ok := c.tombstones.Get(f.Session); ok && !(gone.claim() && (err != nil || !gone.same(&s))) {
		switch {
		case gone.claim(): // now it is known which session its client has lost
			c.abortFor(s.ID, tombstone{gone.Outcome, s.Openers})
		case err != nil || gone.same(&s):
			c.openAgain(l, f)
		default:
			_ = c.refuseOpen(s) // it travels as an abort
		}
		return
	}
	if err != nil {
		c.fail(f.Session, fmt.Errorf("node %s: %w", c.cfg.Self, err))
		return
	}
	why := c.rewired(s)
	if l.leftBehind {
		why = c.leftBehind(f)
	}
	if why != "" {
		c.abortFor(s.ID, tombstone{role.Outcome{Failed: true, Reason: why, Owner: s.Owner}, s.Openers}) // it is told to its owner alone (S5)
		return
	}
	if err := c.open(s, f.Payload, l.key(), true); err != nil {
		c.fail(f.Session, err)
	}
}

// leftBehind returns why a session fails if a late frame of a lost log opens it (see markLeftBehind).
func (c *Core) leftBehind(f *link.Frame) string {
	return fmt.Sprintf("node %s lost its data (log %s is gone) before node %s had begun the session: start the session again", f.From,
		f.ID.LogID, c.cfg.Self)
}

func (c *Core) takeData(l *inLink, f *link.Frame) {
	if s := c.expected(l, f); s != nil {
		if kept := c.deliver(s, 0, role.Message{Stream: f.Stream, Payload: f.Payload}); !kept && len(f.Payload) >= minReleased {
			c.released = append(c.released, f.Payload)
		}
		c.settle(s)
	}
}

// minReleased is the size in bytes from which it is cheaper to give a buffer back than to allocate another one.
const minReleased = 16 << 10

// expected returns the session of a frame that carries data or ends a stream, nil if the session is over. The frame must fit what came over
// the link before: an open comes first, and nothing follows an end. If it does not fit, this node or the sender has lost earlier frames
// with its disk, and the session's answer would be wrong (R8). Each link is checked by itself. A disk may be lost when one link's open was
// acknowledged and another's was not, and the session as a whole would then seem complete.
func (c *Core) expected(l *inLink, f *link.Frame) *sess {
	s := c.sessions[f.Session]
	if s == nil {
		if _, gone := c.left(f.Session); !gone {
			c.abort(f.Session, c.lostFrames(f, "is of a session that nobody has opened here"))
		}
		return nil
	}
	if !c.knownStream(s, f) {
		return nil
	}
	switch {
	case !s.opened[l.key()]:
		c.abort(s.ID, c.lostFrames(f, "has no open before it"))
		return nil
	case s.eos[f.Stream][l.key()]:
		c.abort(s.ID, c.lostFrames(f, "is behind the stream's end"))
		return nil
	}
	return s
}

func (c *Core) lostFrames(f *link.Frame, how string) string {
	return fmt.Sprintf("node %s or %s lost its data: frame %d of edge %s (%s, stream %d) %s; start the session again",
		f.From, c.cfg.Self, f.Seq, f.Edge, f.Kind, f.Stream, how)
}

// knownStream reports whether the analysis has a stream of the frame's number. If it does not, the two nodes run different programs, and
// the session fails.
func (c *Core) knownStream(s *sess, f *link.Frame) bool {
	if f.Stream < len(s.ended) {
		return true
	}
	c.abort(s.ID, fmt.Sprintf("node %s sends stream %d of analysis %s, which has %d here: the nodes run different versions",
		f.From, f.Stream, s.Analysis.Name, len(s.ended)))
	return false
}

func (c *Core) takeEnd(l *inLink, f *link.Frame) {
	s := c.expected(l, f)
	if s == nil {
		return
	}
	c.record(record.Input{Op: record.Ended, Session: s.ID, Stream: f.Stream, Edge: f.Edge, From: f.From})
	if c.markEos(s, f.Stream, l.key()) {
		c.streamEnded(s)
	}
}
