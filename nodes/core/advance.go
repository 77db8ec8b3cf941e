package core

import (
	"bytes"
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
)

// Advance takes what can be taken, until the commit that is being built is full. It serves the links in turn, one frame
// each, so that a busy one does not starve the others.
func (c *Core) Advance() {
	c.continueEndings()
	for progress := true; progress && c.build.bytes < c.cfg.Commit; {
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
	c.countDropped(verdict)
	l.recv.Dropped(verdict)
	l.pop()
	return true
}

func (c *Core) countDropped(v link.Verdict) {
	switch v {
	case link.Duplicate:
		c.Counters.Duplicates++
	case link.Gap:
		c.Counters.Gaps++
	case link.Zombie:
		c.Counters.Zombies++
	case link.Unknown:
		c.Counters.Unknown++
	}
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

// room reports whether the edges that carry such a stream can take more.
func (c *Core) room(reference bool) bool {
	for _, e := range c.out {
		if carries(e.cfg.Streams, reference) && !e.room() {
			return false
		}
	}
	return true
}

func (c *Core) hello(l *inLink, f *link.Frame) {
	g, err := link.DecodeHello(f.Payload)
	if err != nil || g.To != c.cfg.Self {
		return
	}
	old := l.recv.ID()
	lost := l.recv.Hello(f.ID, g)
	switch {
	case lost && old.LogID == f.ID.LogID:
		c.ownDiskLost(l, fmt.Sprintf("node %s lost its data (it knows nothing of frames from %s that it acknowledged): start the session again", c.cfg.Self, f.From))
	case lost:
		c.senderLostDisk(l, fmt.Sprintf("node %s lost its data (log %s is gone, it comes with %s): start the session again", f.From, old.LogID, f.ID.LogID))
	}
	if lost || l.recv.ID() != old {
		c.build.moved(l)
	}
}

// ownDiskLost fails the sessions that wait for a link of which this node's disk has lost frames: which of them the frames were of
// is lost, too.
func (c *Core) ownDiskLost(l *inLink, reason string) {
	for _, s := range c.sessionsByID() {
		if s.waits(l) {
			c.abort(s.ID, reason)
		}
	}
}

// senderLostDisk fails the sessions that a sender's lost log had begun to send and had not ended (R8). Who the sender is counts, not
// which link told of it first: the lost log may have opened a session over one link and not over the other, and the new one
// would be waited for on both.
//
// Of a session that the lost log had opened nowhere nothing of its is here, as the open comes first on each link. It goes on: the
// new log sends all of it, or whoever stands before the sender has seen frames of it acknowledged, and fails it.
//
// Before an input nobody does. So where an input is lost its receivers speak for it: what it had ended here, and what has left
// since, may not have reached another receiver, and those behind would wait for ever. Where such a session has come to its end the
// abort changes nothing.
func (c *Core) senderLostDisk(l *inLink, reason string) {
	var same []*inLink
	for _, k := range c.inOrder {
		if k.recv.From() == l.recv.From() {
			same = append(same, k)
		}
	}
	for _, s := range c.sessionsByID() {
		waits := func(k *inLink) bool { return s.waits(k) }
		begun := func(k *inLink) bool {
			// Where the new log was heard before, the open is the new log's.
			return s.opened[k.key()] && (k == l || k.recv.ID().LogID != l.recv.ID().LogID)
		}
		if slices.ContainsFunc(same, begun) && (l.edge.Inputs || slices.ContainsFunc(same, waits)) {
			c.abort(s.ID, reason)
		}
	}
	if l.edge.Inputs {
		for _, id := range slices.Clone(c.tombstones.Keys()) { // none of the new log's: its hello comes before its ends, on each link
			c.abort(id, reason)
		}
	}
}

// take moves the hwm over a frame and lets it have its effect.
func (c *Core) take(l *inLink, f *link.Frame) {
	l.recv.Took(f)
	c.build.moved(l)
	c.build.bytes += f.Size()
	c.Counters.FramesIn++
	c.Counters.BytesIn += uint64(len(f.Payload))
	switch f.Kind {
	case link.Open:
		c.takeOpen(l, f)
	case link.Data:
		c.takeData(l, f)
	case link.End:
		c.takeEnd(l, f)
	case link.Abort:
		c.abort(f.Session, string(f.Payload[:min(len(f.Payload), maxReason)]))
	}
}

func (c *Core) takeOpen(l *inLink, f *link.Frame) {
	if _, gone := c.tombstones.Get(f.Session); gone {
		return
	}
	if s := c.sessions[f.Session]; s != nil {
		if !bytes.Equal(f.Payload, s.announcement) {
			c.abort(s.ID, fmt.Sprintf("node %s announces the session otherwise than others do: nodes read different files, or it was opened with other parameters there", f.From))
			return
		}
		c.record(record.Input{Op: record.Join, Session: s.ID, Edge: f.Edge, From: f.From})
		s.opened[l.key()] = true
		return
	}
	s, err := c.announced(f.Session, f.Payload)
	if err != nil {
		c.abort(f.Session, fmt.Sprintf("node %s: %v", c.cfg.Self, err))
		return
	}
	if why := c.rewired(s); why != "" {
		c.abort(f.Session, why)
		return
	}
	if err := c.open(s, f.Payload, l.key(), true); err != nil {
		c.abort(f.Session, err.Error())
	}
}

func (c *Core) takeData(l *inLink, f *link.Frame) {
	if s := c.expected(l, f); s != nil {
		if kept := c.hand(s, 0, message(f)); !kept && len(f.Payload) >= minReleased {
			c.released = append(c.released, f.Payload)
		}
		c.settle(s)
	}
}

// minReleased is from what size on new memory costs more than the way back of the old.
const minReleased = 16 << 10

// expected returns the session of a frame that carries data or ends a stream, nil if it is over. The frame must fit what
// came over the link before: an open first, nothing behind an end. What does not was preceded by frames that this node or
// the sender has lost with its disk, and the session cannot be right any more (R8). The check is for each link, because a
// disk may be lost when one link's open was acknowledged and another's not: the session would seem whole.
func (c *Core) expected(l *inLink, f *link.Frame) *sess {
	s := c.sessions[f.Session]
	if s == nil {
		if _, gone := c.tombstones.Get(f.Session); !gone {
			c.abort(f.Session, c.lostFrames(f, "is of a session that nobody has opened here"))
		}
		return nil
	}
	if !c.known(s, f) {
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

// known guards against a stream number that the analysis does not have: two nodes with different programs.
func (c *Core) known(s *sess, f *link.Frame) bool {
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
