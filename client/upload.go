package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"posta/csv"
	"posta/protocol"
)

// piece is whole records of one file, on their way from a reader to a lane.
type piece struct {
	file   string
	header []byte
	line   uint64
	data   []byte
}

// Upload sends every stream in the order the cluster gave, and waits after each until all of it is durable everywhere:
// reference streams end before facts begin (R11).
func (c *Client) Upload(ctx context.Context) error {
	found, err := c.plan(c.opened.Streams)
	if err != nil {
		return err
	}
	return c.upload(ctx, found)
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
	for i, s := range c.opened.Streams {
		if err := c.uploadStream(ctx, s, found[i], c.score.stream(i)); err != nil {
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

// uploadStream connects readers and lanes by a channel without buffer, and buffers that go round: what is in memory is one
// piece for each of them, and what a cutter has read ahead.
func (c *Client) uploadStream(ctx context.Context, s protocol.Stream, files []Source, score *streamScore) error {
	g := newGroup(ctx)
	pieces := make(chan piece)
	readers := min(len(files), runtime.GOMAXPROCS(0), 4)
	spare := make(chan []byte, readers+len(c.lanes))
	for range cap(spare) {
		spare <- nil
	}
	var next, working atomic.Int32
	working.Store(int32(readers))
	for range readers {
		g.do(func(ctx context.Context) error {
			err := c.readFiles(ctx, s, files, &next, spare, pieces, score)
			if working.Add(-1) == 0 && err == nil {
				close(pieces)
			}
			return err
		})
	}
	for _, l := range c.lanes {
		g.do(func(ctx context.Context) error { return l.serve(ctx, s.Name, pieces, spare, score) })
	}
	return g.wait()
}

// readFiles takes one file after the other from those that no reader has taken yet.
func (c *Client) readFiles(ctx context.Context, s protocol.Stream, files []Source, next *atomic.Int32, spare <-chan []byte,
	out chan<- piece, score *streamScore) error {
	for {
		i := int(next.Add(1)) - 1
		if i >= len(files) {
			return nil
		}
		if err := c.readFile(ctx, s, files[i], spare, out, score); err != nil {
			return err
		}
	}
}

func (c *Client) readFile(ctx context.Context, s protocol.Stream, source Source, spare <-chan []byte, out chan<- piece,
	score *streamScore) (err error) {
	file, err := source.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, err := unpacked(file, source, &score.read)
	if err != nil {
		return err
	}
	cut := csv.NewCutter(r, s.Comma, c.chunkBytes(), protocol.MaxData)
	header, err := cut.Header()
	if err != nil {
		return fmt.Errorf("%s: %w", source.Name, err)
	}
	if len(header) > protocol.MaxHeader {
		return fmt.Errorf("%s: its header line has %d bytes; at most %d are taken", source.Name, len(header), protocol.MaxHeader)
	}
	for {
		buf, err := receive(ctx, spare)
		if err != nil {
			return err
		}
		data, line, err := cut.Next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", source.Name, err)
		}
		if err := send(ctx, out, piece{file: source.Name, header: header, line: line, data: data}); err != nil {
			return err
		}
	}
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

// serve pulls pieces until there are no more.
func (l *lane) serve(ctx context.Context, stream string, pieces <-chan piece, spare chan<- []byte, score *streamScore) error {
	for {
		p, err := receive(ctx, pieces)
		if err == errNoMore {
			return nil
		}
		if err != nil {
			return err
		}
		if err := l.carry(ctx, stream, p); err != nil {
			return err
		}
		score.chunks.Add(1)
		score.acked.Add(int64(len(p.data)))
		spare <- p.data // has room for all there are
	}
}

// errNoMore: the channel is closed.
var errNoMore = errors.New("no more")

func receive[T any](ctx context.Context, from <-chan T) (T, error) {
	select {
	case v, ok := <-from:
		if !ok {
			return v, errNoMore
		}
		return v, nil
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
