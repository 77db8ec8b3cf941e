package core

import (
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

const (
	kindOpen  = link.Open
	kindAbort = link.Abort
)

// chainEmitter is where role i of a session emits to: the next role of the chain, or the edges that leave the node.
type chainEmitter struct {
	c    *Core
	s    *sess
	role int
}

// Partitions implements role.Emitter.
func (o *chainEmitter) Partitions() int {
	if o.role+1 < len(o.c.cfg.Roles) {
		return 1
	}
	n := 1
	for _, e := range o.c.out {
		n = max(n, e.partitions())
	}
	return n
}

// Emit implements role.Emitter.
func (o *chainEmitter) Emit(partition int, m role.Message) {
	if o.s.err != nil {
		return // the session is lost; what it still emits would only be thrown away elsewhere
	}
	if next := o.role + 1; next < len(o.c.cfg.Roles) {
		o.c.hand(o.s, next, m)
		return
	}
	if m.Chunk != nil {
		m = role.Message{Stream: m.Stream, Payload: m.Chunk.Append(nil)}
	}
	reference := o.s.reference(m.Stream)
	for _, e := range o.c.out {
		if carries(e.cfg.Streams, reference) {
			o.c.frame(e, e.pick(o.s.ID, partition), link.Frame{Kind: link.Data, Session: o.s.ID, Stream: m.Stream, Payload: m.Payload})
		}
	}
}

// hand gives data to a role, and records it if it changed state. Then the payload is kept, at least until the commit is
// stored; otherwise it is nobody's any more.
func (c *Core) hand(s *sess, i int, m role.Message) (kept bool) {
	c.build.touch(s)
	var durable bool
	err := c.guard(s, i, func() (err error) {
		durable, err = c.cfg.Roles[i].Take(s.ID, m, s.out[i])
		return err
	})
	if err != nil {
		s.fail(err)
		return true // the role may have failed halfway
	}
	if durable {
		c.record(record.Input{Op: record.Data, Role: i, Session: s.ID, Stream: m.Stream, Payload: m.Payload})
	}
	return durable
}

func (s *sess) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// frame adds a frame to an outbox and to the commit that is being built.
func (c *Core) frame(e *outEdge, to *link.Sender, f link.Frame) {
	f = to.Add(f)
	c.build.rec.Frames = append(c.build.rec.Frames, record.Frame{Edge: e.cfg.Name, To: e.to(to), Frame: f})
	c.build.bytes += f.Size()
	c.Counters.BytesOut += uint64(len(f.Payload))
}

// toAll puts a frame on every link of the edges that match.
func (c *Core) toAll(id session.ID, match func(*outEdge) bool, kind link.Kind, stream int, payload []byte) {
	for _, e := range c.out {
		if !match(e) {
			continue
		}
		for _, to := range e.senders {
			c.frame(e, to, link.Frame{Kind: kind, Session: id, Stream: stream, Payload: payload})
		}
	}
}

// record adds a call to the commit that is being built.
func (c *Core) record(in record.Input) {
	c.build.rec.Inputs = append(c.build.rec.Inputs, in)
	c.build.bytes += len(in.Payload) + inputOverhead
}

const inputOverhead = 32

// discardEmitter is the emitter of recovery: what comes out of repeated calls is in the log already.
type discardEmitter struct{ partitions int }

func (d discardEmitter) Partitions() int        { return d.partitions }
func (d discardEmitter) Emit(int, role.Message) {}
