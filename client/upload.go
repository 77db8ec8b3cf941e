package client

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"posta.dev/posta/protocol"
)

// upload is what readers hand to the lanes of a session.
type upload struct {
	ctx     context.Context // ends with the upload
	streams []*streamUpload
	spare   chan []byte // memory for chunks, nil at first; one for each reader and lane
}

// Upload sends every stream in the order the cluster gave, and waits after each until all of it is durable everywhere:
// reference streams end before facts begin (R11).
func (c *Client) Upload(ctx context.Context) error {
	opened := c.opened()
	found, err := c.plan(opened.Streams)
	if err != nil {
		return err
	}
	g := newErrGroup(ctx)
	u := c.newUpload(g.ctx, &opened, found)
	c.event(func(now time.Time) {
		c.doing, c.sending = Uploading, u
		c.session.Upload(now)
	})
	g.run(c.awaitTask)
	g.run(func(context.Context) error { return u.read() })
	return g.wait()
}

// plan finds the files of all streams, so that a missing one is known before anything is sent.
func (c *Client) plan(streams []protocol.Stream) ([][]Source, error) {
	if c.cfg.Find == nil {
		return c.find(streams)
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

// find returns the files that are named, and of the other streams those that are below the directory.
func (c *Client) find(streams []protocol.Stream) ([][]Source, error) {
	if len(c.cfg.Named) == 0 {
		return findAll(c.cfg.Dir, streams, c.warnings)
	}
	found, err := c.findNamed(streams)
	if err != nil {
		return nil, err
	}
	var rest []protocol.Stream
	for i, s := range streams {
		if found[i] == nil {
			rest = append(rest, s)
		}
	}
	if len(rest) == 0 {
		return found, nil
	}
	if c.cfg.Dir == "" {
		return nil, badInput(fmt.Errorf("%w: no file is named for stream %s; name one, or the directory that has it", ErrNoFiles, rest[0].Name))
	}
	others, err := findAll(c.cfg.Dir, rest, c.warnings)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i] == nil {
			found[i], others = others[0], others[1:]
		}
	}
	return found, nil
}

func (c *Client) newUpload(ctx context.Context, opened *protocol.Reply, found [][]Source) *upload {
	readers := 1 // of a stream without files, too: the last reader closes its channel
	for _, files := range found {
		readers = max(readers, min(len(files), runtime.GOMAXPROCS(0), 4))
	}
	u := &upload{ctx: ctx, spare: make(chan []byte, readers+max(c.cfg.Lanes, len(opened.Inputs)))}
	for range cap(u.spare) {
		u.spare <- nil
	}
	for i, s := range opened.Streams {
		n := c.reading.stream(i)
		for _, source := range found[i] {
			n.expect(source)
		}
		f := &streamUpload{stream: s, files: found[i], counters: n, chunkBytes: c.chunkBytes(opened), frame: opened.Frame, chunks: make(chan chunk),
			spare: u.spare, warnings: c.warnings, notes: c.notes, comma: c.cfg.Comma, inspect: c.cfg.Inspect}
		if c.cfg.Columns != nil {
			f.columns = c.cfg.Columns(s.Name)
		}
		f.reading.Store(int32(readers))
		u.streams = append(u.streams, f)
	}
	return u
}

// read reads one stream after the other. It may be ahead of what is sent, by the memory of the chunks there are.
func (u *upload) read() error {
	for _, f := range u.streams {
		g := newErrGroup(u.ctx)
		for range f.reading.Load() {
			g.run(f.read)
		}
		if err := g.wait(); err != nil {
			return fmt.Errorf("upload %s: %w", f.stream.Name, err)
		}
	}
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

func (c *Client) chunkBytes(opened *protocol.Reply) int {
	if c.cfg.Chunk > 0 {
		return c.cfg.Chunk
	}
	const usual = 256 << 10 // for a cluster that does not say
	if opened.Chunk <= 0 {
		return usual
	}
	return min(opened.Chunk, protocol.MaxData)
}
