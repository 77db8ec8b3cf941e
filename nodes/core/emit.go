package core

import (
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/progress"
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

// Limits implements role.Emitter.
func (o *chainEmitter) Limits() role.Limits { return o.c.limits() }

func (c *Core) limits() role.Limits { return role.Limits{Frame: c.cfg.Frame, Memory: c.cfg.Memory} }

// Emit implements role.Emitter.
func (o *chainEmitter) Emit(partition int, m role.Message) {
	progress.Mark()
	if o.s.err != nil {
		return // the session is lost; what it still emits would only be thrown away elsewhere
	}
	if next := o.role + 1; next < len(o.c.cfg.Roles) {
		o.c.deliver(o.s, next, m)
		return
	}
	if m.Chunk != nil {
		m = role.Message{Stream: m.Stream, Payload: m.Chunk.Append(nil)}
	}
	if o.s.err = o.c.tooLarge(o.s, m); o.s.err != nil {
		return
	}
	reference := o.s.reference(m.Stream)
	for _, e := range o.c.out {
		if e.carries(reference) {
			o.c.frame(e.pick(o.s.ID, partition), link.Frame{Kind: link.Data, Session: o.s.ID, Stream: m.Stream, Payload: m.Payload})
		}
	}
}

// tooLarge returns why data must not become a frame (R15). The receiver would refuse the frame however often it is sent, and everything
// behind it would wait for ever. Roles split what they emit, so this is only the last check. The commit that the frame would be part of has
// a bound, too, because the log takes no larger record.
func (c *Core) tooLarge(s *sess, m role.Message) error {
	what := func() string {
		return fmt.Sprintf("stream %s: a message from node %s", s.Analysis.Streams[m.Stream].Name, c.cfg.Self)
	}
	if size := len(m.Payload); size > c.cfg.Frame {
		return role.TooLarge(what(), size, c.cfg.Frame)
	}
	if size := c.build.bytes + len(m.Payload); size > c.cfg.Record-recordReserve {
		return fmt.Errorf("%s would make a commit of %d bytes, and the log takes records of %d: lower limits.commit in the topology, or give "+
			"the stream in smaller files",
			what(), size, c.cfg.Record)
	}
	return nil
}

// recordReserve is the room in bytes for what a record has beside data: high-water marks, calls without payload, aborts.
const recordReserve = 64 << 20

// deliver gives data to a role, and records it if it changed state. kept says that the payload is still used, at least until the commit is
// stored.
func (c *Core) deliver(s *sess, i int, m role.Message) (kept bool) {
	c.build.touch(s)
	c.cfg.Trace.Touch(s.trace)
	var durable bool
	ok := c.run(s, i, m.Stream, func() (err error) {
		durable, err = c.cfg.Roles[i].Take(s.ID, m, s.out[i])
		return err
	})
	if !ok {
		return true // the role may have failed halfway
	}
	if durable {
		c.record(record.Input{Op: record.Data, Role: i, Session: s.ID, Stream: m.Stream, Payload: m.Payload})
	}
	return durable
}

// frame adds a frame to an outbox and to the commit that is being built.
func (c *Core) frame(o *outbox, f link.Frame) {
	f = o.Add(f)
	if s := c.sessions[f.Session]; s != nil {
		c.cfg.Trace.Made(s.trace, o.index, uint64(f.Seq), f.Size())
	}
	c.build.rec.Frames = append(c.build.rec.Frames, record.Frame{Edge: o.edge, To: o.to, Frame: f})
	c.build.bytes += f.Size()
	c.Counters.BytesOut += uint64(len(f.Payload))
}

// toAll adds a frame to every outbox of the edges that match.
func (c *Core) toAll(f link.Frame, match func(*outEdge) bool) {
	for _, e := range c.out {
		if !match(e) {
			continue
		}
		for _, o := range e.outboxes {
			c.frame(o, f)
		}
	}
}

func everyEdge(*outEdge) bool { return true }

// discardEmitter is the emitter of recovery. It drops what repeated calls emit, because the log has that already.
type discardEmitter struct{ partitions int }

func (d discardEmitter) Partitions() int        { return d.partitions }
func (d discardEmitter) Limits() role.Limits    { return role.NoLimits }
func (d discardEmitter) Emit(int, role.Message) {}
