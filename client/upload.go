package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
)

// upload connects the readers and the lanes of a session.
type upload struct {
	ctx     context.Context // ends with the upload
	streams []*streamUpload
	spare   chan []byte // memory for chunks, nil at first; one for each reader and lane
}

// Upload sends every stream in the order the cluster gave, and waits after each until all of it is durable everywhere:
// reference streams end before facts begin (R11).
func (c *Client) Upload(ctx context.Context) error {
	opened := c.opened()
	if c.phase() == core.Uploaded {
		return nil // before it was resumed
	}
	found, err := c.plan(ctx, opened.Streams)
	if err != nil {
		return err
	}
	if err := c.compare(ctx, &opened, found); err != nil {
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
	err = g.wait()
	c.event(func(time.Time) { c.sending = nil }) // frees the memory for chunks
	return asInput(err)
}

// asInput marks an error as ErrInput if an input node found it in a file that it read.
func asInput(err error) error {
	if errors.Is(err, protocol.ErrBadInput) {
		return badInput(err)
	}
	return err
}

// roots returns the directories below which each input reads files in place, none if all files are to be sent, and whether it also reads
// parts of files.
func (c *Client) roots() (all [][]string, columns []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, columns = make([][]string, c.session.Inputs()), make([]bool, c.session.Inputs())
	for i := range all {
		columns[i] = c.session.ReadsColumns(i)
		if !c.cfg.Send && c.cfg.Chunk == 0 && c.had == nil { // a session that is resumed has to compare the files here
			all[i] = c.session.Roots(i)
		}
	}
	return all, columns
}

// plan finds the files of all streams, so that a missing one is known before anything is sent.
func (c *Client) plan(ctx context.Context, streams []protocol.Stream) ([][]Source, error) {
	found, err := c.findOf(ctx, streams)
	if err == nil && c.cfg.Resume {
		err = readTwice(found)
	}
	return found, err
}

func (c *Client) findOf(ctx context.Context, streams []protocol.Stream) ([][]Source, error) {
	if c.cfg.Find == nil {
		return c.find(ctx, streams)
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

// find returns the files of the streams, as Config.Input says, or Dir and Named.
func (c *Client) find(ctx context.Context, streams []protocol.Stream) ([][]Source, error) {
	in := c.cfg.Input
	if in == nil {
		in = &Input{Dir: c.cfg.Dir, Named: c.cfg.Named, Stdin: c.cfg.Stdin}
	}
	return in.find(ctx, streams, c.warnings)
}

func (c *Client) newUpload(ctx context.Context, opened *protocol.Reply, found [][]Source) *upload {
	readers := 1 // a stream without files has one as well: the last reader closes its channel
	for _, files := range found {
		readers = max(readers, min(len(files), runtime.GOMAXPROCS(0), 4))
	}
	u := &upload{ctx: ctx, spare: make(chan []byte, readers+max(c.cfg.Lanes, len(opened.Inputs)))}
	for range cap(u.spare) {
		u.spare <- nil
	}
	roots, columns := c.roots()
	for i, s := range opened.Streams {
		n := c.reading.stream(i)
		if c.cfg.Head != nil {
			if head := c.cfg.Head(s.Name); head > 0 {
				u.streams = append(u.streams, c.newHead(u, opened, s, found[i], n, head))
				continue
			}
		}
		// largest first, so that no input reads a large file alone at the end
		if slices.ContainsFunc(roots, func(of []string) bool { return len(of) > 0 }) {
			found[i] = slices.Clone(found[i])
			slices.SortStableFunc(found[i], func(a, b Source) int { return cmp.Compare(b.Size, a.Size) })
		}
		for _, source := range found[i] {
			n.expect(source)
		}
		f := c.newStreamUpload(opened, s, found[i])
		f.counters, f.chunks, f.spare, f.inspect = n, make(chan chunk), u.spare, c.cfg.Inspect
		f.inPlace = newInPlace(roots, columns)
		f.reading.Store(int32(readers))
		u.streams = append(u.streams, f)
	}
	return u
}

// newHead returns the upload of a stream of which only the first head bytes are needed. It has one reader.
func (c *Client) newHead(u *upload, opened *protocol.Reply, stream protocol.Stream, found []Source, n *streamCounters,
	head int64) *streamUpload {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Source) int { return cmp.Compare(a.Name, b.Name) })
	for _, source := range found {
		n.expect(source)
	}
	if total := n.total.Load(); total > head {
		n.total.Store(head)
	}
	f := c.newStreamUpload(opened, stream, found)
	f.counters, f.chunks, f.spare, f.inspect = n, make(chan chunk), u.spare, c.cfg.Inspect
	f.inPlace = newInPlace(make([][]string, len(opened.Inputs)), nil)
	f.head, f.partial = head, &c.partial
	f.reading.Store(1)
	return f
}

// newStreamUpload returns a streamUpload that knows how the stream's files are read. It has no channel and no counters yet.
func (c *Client) newStreamUpload(opened *protocol.Reply, stream protocol.Stream, found []Source) *streamUpload {
	f := &streamUpload{stream: stream, files: found, chunkBytes: c.chunkBytes(opened), frame: opened.Frame, warnings: c.warnings,
		notes: c.notes, comma: c.cfg.Comma, had: c.had}
	if c.cfg.Forms != nil {
		f.form = c.cfg.Forms(stream.Name)
	}
	if c.cfg.Columns != nil {
		f.columns = c.cfg.Columns(stream.Name)
	}
	if c.cfg.Skips != nil {
		f.skips = c.cfg.Skips(stream.Name)
	}
	if c.cfg.Tests != nil {
		f.tests = c.cfg.Tests(stream.Name)
	}
	f.lines = c.cfg.Lines
	return f
}

// read reads one stream after the other. It may be ahead of the lanes by as many chunks as there is memory for.
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
