package client

import (
	"context"
	"fmt"
	"runtime"

	"posta.dev/posta/protocol"
)

// Upload sends every stream in the order the cluster gave, and waits after each until all of it is durable everywhere:
// reference streams end before facts begin (R11).
func (c *Client) Upload(ctx context.Context) error {
	found, err := c.plan(c.opened.Streams)
	if err != nil {
		return err
	}
	return c.lost(ctx, c.upload(ctx, found))
}

// plan finds the files of all streams, so that a missing one is known before anything is sent.
func (c *Client) plan(streams []protocol.Stream) ([][]Source, error) {
	found := make([][]Source, len(streams))
	for i, s := range streams {
		var err error
		if found[i], err = c.cfg.Find(s); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (c *Client) upload(ctx context.Context, found [][]Source) error {
	c.score.state(Uploading)
	for i := range c.opened.Streams {
		for _, source := range found[i] {
			c.score.stream(i).expect(source)
		}
	}
	var memory [][]byte // of pieces: what a stream has used the next one uses
	for i, s := range c.opened.Streams {
		var err error
		if memory, err = c.uploadStream(ctx, s, found[i], c.score.stream(i), memory); err != nil {
			return fmt.Errorf("upload %s: %w", s.Name, err)
		}
		if err := c.end(ctx, s.Name); err != nil {
			return fmt.Errorf("end of %s: %w", s.Name, err)
		}
		c.score.stream(i).ended.Store(true)
	}
	c.stage.Store(sent)
	return nil
}

func (s *streamScore) expect(source Source) {
	s.files.Add(1)
	if total := s.total.Load(); source.Size < 0 || total < 0 {
		s.total.Store(-1)
	} else {
		s.total.Store(total + source.Size)
	}
}

// uploadStream lets readers and lanes work at one feed until all of the stream is durable. It takes memory for pieces, and returns what
// there is then.
func (c *Client) uploadStream(ctx context.Context, s protocol.Stream, files []Source, score *streamScore, memory [][]byte) ([][]byte, error) {
	g := newGroup(ctx)
	readers := min(len(files), runtime.GOMAXPROCS(0), 4)
	f := newFeed(s, files, score, c.chunkBytes(), readers, len(c.lanes), memory)
	for range readers {
		g.do(f.read)
	}
	for _, l := range c.lanes {
		g.do(func(ctx context.Context) error { return f.serve(ctx, l) })
	}
	if err := g.wait(); err != nil {
		return nil, err
	}
	return f.left(), nil
}

func (c *Client) chunkBytes() int {
	if c.cfg.Chunk > 0 {
		return c.cfg.Chunk
	}
	const usual = 256 << 10 // for a cluster that does not say
	if c.opened.Chunk <= 0 {
		return usual
	}
	return min(c.opened.Chunk, protocol.MaxData)
}

// end says to every input that the stream has ended, and how far each of its lanes got. All chunks are acknowledged by now.
func (c *Client) end(ctx context.Context, stream string) error {
	g := newGroup(ctx)
	for i, input := range c.inputs {
		q := protocol.Request{Type: protocol.End, Session: c.cfg.Session, Stream: stream, Lanes: c.lanesOf(i)}
		frame := q.Append(nil)
		g.do(func(ctx context.Context) error {
			reply, err := input.ask(ctx, frame)
			if err == nil && reply.Type != protocol.OK {
				err = surprise(input, reply)
			}
			return err
		})
	}
	return g.wait()
}

func (c *Client) lanesOf(input int) (lanes []protocol.LaneSeq) {
	for _, l := range c.lanes {
		if l.input == input && l.seq > 0 {
			lanes = append(lanes, protocol.LaneSeq{Lane: l.id, Seq: l.seq})
		}
	}
	return lanes
}
