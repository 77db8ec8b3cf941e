package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// piece is whole records of one file, on their way from a reader to a lane.
type piece struct {
	file   string
	header []byte
	line   uint64
	memory []byte // headRoom bytes for the head of a request, then the records
}

// headRoom is enough for the head of a chunk's request, but for the longest header lines.
const headRoom = 2 << 10

func (p *piece) data() []byte { return p.memory[headRoom:] }

// feed is what the readers of one stream cut and its lanes carry away. The channel between them has no buffer, and the
// memory of pieces goes round: at any time there is one piece for each reader and lane, and what a cutter has read ahead.
type feed struct {
	stream protocol.Stream
	files  []Source
	score  *streamScore
	chunk  int // bytes

	next    atomic.Int32 // the first file that no reader has taken
	reading atomic.Int32 // readers that are not through
	pieces  chan piece
	spare   chan []byte // memory for pieces; has room for all there is
}

// newFeed takes the memory that the feed before it has left over.
func newFeed(s protocol.Stream, files []Source, score *streamScore, chunk, readers, lanes int, memory [][]byte) *feed {
	f := &feed{stream: s, files: files, score: score, chunk: chunk, pieces: make(chan piece),
		spare: make(chan []byte, readers+lanes)}
	f.reading.Store(int32(readers))
	for i := range cap(f.spare) {
		var m []byte
		if i < len(memory) {
			m = memory[i]
		}
		f.spare <- m
	}
	return f
}

// left returns the memory of pieces, when all have been carried away.
func (f *feed) left() (memory [][]byte) {
	for len(f.spare) > 0 {
		if m := <-f.spare; m != nil {
			memory = append(memory, m)
		}
	}
	return memory
}

// read cuts one file after the other. The last reader that is through tells the lanes; a reader that failed does not, since
// what came is then not all there is.
func (f *feed) read(ctx context.Context) error {
	for {
		i := int(f.next.Add(1)) - 1
		if i >= len(f.files) {
			break
		}
		if err := f.readFile(ctx, f.files[i]); err != nil {
			return err
		}
	}
	if f.reading.Add(-1) == 0 {
		close(f.pieces)
	}
	return nil
}

func (f *feed) readFile(ctx context.Context, source Source) (err error) {
	file, err := source.Open()
	if err != nil {
		return err
	}
	defer closeWith(ctx, file, &err)()
	r, err := unpacked(file, source, &f.score.read)
	if err != nil {
		return err
	}
	cut := csv.NewCutter(r, f.stream.Comma, f.chunk, protocol.MaxData)
	cut.LeaveRoom(headRoom)
	header, err := cut.Header()
	if err != nil {
		return fmt.Errorf("%s: %w", source.Name, err)
	}
	if len(header) > protocol.MaxHeader {
		return fmt.Errorf("%s: its header line has %d bytes; at most %d are taken", source.Name, len(header), protocol.MaxHeader)
	}
	for err == nil {
		err = f.cutOne(ctx, cut, source.Name, header)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// closeWith closes a file when the caller is through with it, or as soon as ctx ends: a read of a pipe in which nothing comes
// would otherwise keep a run that was cancelled, or has failed, for ever.
func closeWith(ctx context.Context, file io.Closer, err *error) (through func()) {
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = file.Close() // what is told is why
	})
	return func() {
		if stop() {
			*err = errors.Join(*err, file.Close())
			return
		}
		<-closed
		*err = context.Cause(ctx)
	}
}

// cutOne hands one piece to a lane; io.EOF when there are no more.
func (f *feed) cutOne(ctx context.Context, cut *csv.Cutter, file string, header []byte) error {
	memory, err := receive(ctx, f.spare)
	if err != nil {
		return err
	}
	chunk, line, err := cut.Next(memory)
	if err == io.EOF {
		f.spare <- memory
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return send(ctx, f.pieces, piece{file: file, header: header, line: line, memory: chunk})
}

// serve lets a lane pull pieces until there are no more.
func (f *feed) serve(ctx context.Context, l *lane) error {
	for {
		p, err := receive(ctx, f.pieces)
		if err == errNoMore {
			return nil
		}
		if err != nil {
			return err
		}
		free, err := l.carry(ctx, f.stream.Name, p)
		if err != nil {
			return err
		}
		f.score.chunks.Add(1)
		f.score.acked.Add(int64(len(p.data())))
		if !free {
			p.memory = nil
		}
		f.spare <- p.memory
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
