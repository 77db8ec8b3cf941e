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

// chunk is whole records of one file, on their way from a reader to a lane.
type chunk struct {
	file   string
	header []byte
	line   uint64
	memory []byte // headRoom bytes for the head of a request, then the records
}

// headRoom is enough for the head of a chunk's request, but for the longest header lines.
const headRoom = 2 << 10

func (p *chunk) data() []byte { return p.memory[headRoom:] }

// streamUpload hands the chunks that the readers of one stream cut to the lanes that send them. The channel between them has no
// buffer, and the memory of chunks is used again: at any time there is one chunk for each reader and lane, and what a cutter has read
// ahead.
type streamUpload struct {
	stream     protocol.Stream
	files      []Source
	counters   *streamCounters
	chunkBytes int

	next    atomic.Int32 // the first file that no reader has taken
	reading atomic.Int32 // readers that have not finished
	chunks  chan chunk
	spare   chan []byte // memory for chunks, nil at first; one for each reader and lane
}

// read cuts one file after the other. The last reader that finishes closes the channel; a reader that failed does not, since the
// stream is then incomplete.
func (f *streamUpload) read(ctx context.Context) error {
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
		close(f.chunks)
	}
	return nil
}

func (f *streamUpload) readFile(ctx context.Context, source Source) (err error) {
	file, err := source.Open()
	if err != nil {
		return err
	}
	defer closeWith(ctx, file, &err)()
	r, err := decompressed(file, source, &f.counters.read)
	if err != nil {
		return err
	}
	cut := csv.NewCutter(r, f.stream.Comma, f.chunkBytes, protocol.MaxData)
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

// closeWith closes a file when the caller has finished with it, or as soon as ctx ends: a read of a silent pipe would otherwise keep
// a run that was cancelled, or has failed, for ever.
func closeWith(ctx context.Context, file io.Closer, err *error) (finished func()) {
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

// cutOne hands one chunk to a lane; io.EOF when there are no more.
func (f *streamUpload) cutOne(ctx context.Context, cut *csv.Cutter, file string, header []byte) error {
	memory, err := receive(ctx, f.spare)
	if err != nil {
		return err
	}
	records, line, err := cut.Next(memory)
	if err == io.EOF {
		f.spare <- memory
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return send(ctx, f.chunks, chunk{file: file, header: header, line: line, memory: records})
}

// sendChunks lets a lane pull chunks until there are no more.
func (f *streamUpload) sendChunks(ctx context.Context, l *lane) error {
	for {
		p, err := receive(ctx, f.chunks)
		if err == errNoMore {
			return nil
		}
		if err != nil {
			return err
		}
		free, err := l.send(ctx, f.stream.Name, p)
		if err != nil {
			return err
		}
		f.counters.chunks.Add(1)
		f.counters.acked.Add(int64(len(p.data())))
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
