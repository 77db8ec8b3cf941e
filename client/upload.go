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
	return c.explainUnknown(ctx, c.upload(ctx, found))
}

// plan finds the files of all streams, so that a missing one is known before anything is sent.
func (c *Client) plan(streams []protocol.Stream) ([][]Source, error) {
	if c.cfg.Find == nil {
		return findAll(c.cfg.Dir, streams, c.warnings)
	}
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
	c.counters.state(Uploading)
	for i := range c.opened.Streams {
		for _, source := range found[i] {
			c.counters.stream(i).expect(source)
		}
	}
	readers := 1 // of a stream without files, too: the last reader closes its channel
	for _, files := range found {
		readers = max(readers, min(len(files), runtime.GOMAXPROCS(0), 4))
	}
	spare := make(chan []byte, readers+len(c.lanes)) // what one stream has used the next one uses
	for range cap(spare) {
		spare <- nil
	}
	for i, s := range c.opened.Streams {
		if err := c.uploadStream(ctx, s, found[i], c.counters.stream(i), readers, spare); err != nil {
			return fmt.Errorf("upload %s: %w", s.Name, err)
		}
		if err := c.endStream(ctx, s.Name); err != nil {
			return fmt.Errorf("end of %s: %w", s.Name, err)
		}
		c.ended.Store(&s.Name)
		c.counters.stream(i).ended.Store(true)
	}
	c.phase.Store(phaseUploaded)
	return nil
}

func (s *streamCounters) expect(source Source) {
	s.files.Add(1)
	if total := s.total.Load(); source.Size < 0 || total < 0 {
		s.total.Store(-1)
	} else {
		s.total.Store(total + source.Size)
	}
}

// uploadStream lets readers and lanes work until all of the stream is durable. All of spare is back in its channel then.
func (c *Client) uploadStream(ctx context.Context, s protocol.Stream, files []Source, n *streamCounters, readers int, spare chan []byte) error {
	g := newErrGroup(ctx)
	f := &streamUpload{stream: s, files: files, counters: n, chunkBytes: c.chunkBytes(), frame: c.opened.Frame, chunks: make(chan chunk), spare: spare,
		warnings: c.warnings, inspect: c.cfg.Inspect}
	f.reading.Store(int32(readers))
	for range readers {
		g.run(f.read)
	}
	for _, l := range c.lanes {
		g.run(func(ctx context.Context) error { return f.sendChunks(ctx, l) })
	}
	return g.wait()
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

// endStream says to every input that the stream has ended, and how far each of its lanes got. All chunks are acknowledged by now.
func (c *Client) endStream(ctx context.Context, stream string) error {
	g := newErrGroup(ctx)
	for i, input := range c.inputs {
		q := c.request(protocol.End)
		q.Stream, q.Lanes = stream, c.lanesOf(i)
		g.run(func(ctx context.Context) error {
			_, err := input.request(ctx, q, protocol.OK)
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
