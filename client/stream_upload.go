package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"posta.dev/posta/client/resume"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// chunk is whole records of one file, on their way from a reader to a lane.
type chunk struct {
	file   string
	header []byte
	line   uint64
	at     uint64 // bytes of the file's records before it
	memory []byte // headRoom bytes for the head of a request, then the records
}

// headRoom is how many bytes are left free in front of a chunk's records. The head of a request fits, unless its header line is very long.
const headRoom = 2 << 10

func (p *chunk) data() []byte { return p.memory[headRoom:] }

// streamUpload hands the chunks of one stream from the readers that cut them to the lanes that send them. The channel between them has no
// buffer, and the memory of chunks is used again. So at any time there is at most one chunk for each reader and lane, plus what the cutters
// have read ahead.
type streamUpload struct {
	stream     protocol.Stream
	files      []Source
	counters   *streamCounters
	chunkBytes int
	frame      int                                        // how many bytes a request may have; 0 if the cluster does not say
	columns    []csv.Column                               // that are needed; nil if they are not known
	skips      func([]csv.Range) bool                     // which parts of files need not be read; may be nil
	tests      []columnar.Test                            // which rows count
	lines      func(stream, file string) ([]uint64, bool) // see Config.Lines; may be nil
	comma      byte                                       // separator that the user gave; 0 if it has to be detected
	form       csv.Form                                   // of the files that are CSV
	warnings   *warnings
	notes      *warnings                                                     // in which unusual form files are read
	inspect    func(stream, file string, header []byte) (inspectFunc, error) // may be nil
	had        *resume.Taken                                                 // what the cluster has of a session that is resumed; else nil

	head    int64        // how many bytes of the stream's records are enough; 0 if all are needed
	passed  int64        // how many bytes of records were handed to lanes; counted only if head is set
	partial *atomic.Bool // set when reading stops at head, so that rows may be left out

	inPlace *inPlace     // offers the stream's files to inputs
	taken   atomic.Int32 // how many files readers have taken
	reading atomic.Int32 // readers that have not finished
	chunks  chan chunk
	spare   chan []byte // memory for chunks, nil at first; one for each reader and lane
}

// read cuts one file after the other. The last reader that finishes closes the channel; a reader that failed does not, because the stream
// is incomplete then.
func (f *streamUpload) read(ctx context.Context) error {
	for {
		source, declined, err := f.nextFile(ctx)
		if err == errNoMore {
			break
		}
		if err == nil {
			err = f.readFile(ctx, source, declined)
		}
		if err != nil {
			return err
		}
	}
	if f.reading.Add(-1) == 0 {
		close(f.chunks)
	}
	return nil
}

// nextFile returns the next file. If the file, or a part of it, was offered to the inputs before, and none of them reads it, this is also
// returned.
func (f *streamUpload) nextFile(ctx context.Context) (_ Source, declined *placed, err error) {
	if f.full() {
		return Source{}, nil, errNoMore
	}
	if i := int(f.taken.Add(1)) - 1; i < len(f.files) {
		return f.files[i], nil, nil
	}
	p, err := f.inPlace.toSend(ctx)
	if err != nil {
		return Source{}, nil, err
	}
	if p.part() < 0 {
		f.counters.read.Add(-int64(p.From)) // it will be read again from its beginning
	}
	return p.source, p, nil
}

// full reports whether no more of the stream is needed.
func (f *streamUpload) full() bool { return f.head > 0 && f.passed >= f.head }

// sent counts the bytes of a chunk that goes to a lane. It needs no lock: a stream with a head has one reader.
func (f *streamUpload) sent(n int) {
	if f.head <= 0 {
		return
	}
	if f.passed += int64(n); f.full() {
		f.partial.Store(true)
	}
}

func (f *streamUpload) readFile(ctx context.Context, source Source, declined *placed) (err error) {
	file, err := source.open(ctx)
	if err != nil {
		return err
	}
	defer closeWith(ctx, file, &err)()
	cut, err := f.begin(file, &source)
	if err != nil {
		return badInput(err)
	}
	defer func() { err = errors.Join(err, cut.Close()) }()
	rest, err := f.rest(cut, &source)
	if err != nil {
		return badInput(err)
	}
	inspect, err := f.inspector(&source, cut.header)
	if err != nil {
		return badInput(err)
	}
	if inspect == nil && declined == nil && f.head == 0 {
		if offered, err := f.offerWhereItLies(ctx, file, &source, cut); offered || err != nil {
			return err
		}
	}
	if declined != nil && declined.part() >= 0 {
		if cut.Cutter, err = cut.Cutter.(format.Parted).Part(declined.part()); err != nil {
			return badInput(fmt.Errorf("%s: %w", source.where(), err))
		}
	}
	rows := false
	for err == nil {
		var some bool
		some, err = f.cutOne(ctx, rest, &source, cut.header, inspect)
		if rows = rows || some; err == nil && f.full() {
			return nil
		}
	}
	if err != io.EOF {
		return err
	}
	if err := rest.End(); err != nil {
		return badInput(err)
	}
	if all, ok := cut.Cutter.(interface{ Rows() int64 }); !rows && !(ok && all.Rows() > 0) {
		f.warnings.add(source.where(), noRows)
	}
	return nil
}

const noRows = "this file has a header and no rows"

// hasRows reports whether there is more in a chunk than empty lines.
func hasRows(chunk []byte) bool { return len(bytes.TrimLeft(chunk, "\r\n")) > 0 }

// inspectFunc looks at a chunk before it is sent.
type inspectFunc = func(chunk []byte, line uint64) error

// inspector returns the function that looks at the chunks of a file; nil if there is none.
func (f *streamUpload) inspector(source *Source, header []byte) (inspectFunc, error) {
	if f.inspect == nil {
		return nil, nil
	}
	inspect, err := f.inspect(f.stream.Name, source.Name, header)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.where(), err)
	}
	return inspect, nil
}

// limits keeps requests within the frame that the cluster accepts (R15). A request consists of a head with the file's header line, and the
// records.
func (f *streamUpload) limits(source *Source, header []byte) (chunkBytes, maxRecord int, err error) {
	if f.frame <= 0 {
		return f.chunkBytes, protocol.MaxData, nil
	}
	room := f.frame - requestHead - len(header) - len(source.Name) - len(f.stream.Name)
	if room <= 0 {
		return 0, 0, fmt.Errorf("%s: its header line has %d bytes, and the cluster lets requests of %d pass: raise limits.frame in the topology",
			source.where(), len(header), f.frame)
	}
	return min(f.chunkBytes, room), min(protocol.MaxData, room), nil
}

// requestHead is an upper bound, in bytes, of the keys and numbers in a chunk's request.
const requestHead = 512

// closeWith closes a file when the caller has finished with it, or as soon as ctx ends. Otherwise a read of a silent pipe would keep a run
// that was cancelled, or has failed, from ending.
func closeWith(ctx context.Context, file io.Closer, err *error) (finished func()) {
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = file.Close() // the caller gets the reason why ctx ended
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

// cutOne cuts one chunk and hands it to a lane; it returns io.EOF when there are no more. A chunk that the cluster has taken already is not
// handed on. rows reports whether the chunk has more than empty lines.
func (f *streamUpload) cutOne(ctx context.Context, rest *rest, source *Source, header []byte, inspect inspectFunc) (rows bool, err error) {
	memory, err := receive(ctx, f.spare)
	if err != nil {
		return false, err
	}
	records, line, taken, err := rest.next(memory)
	if err == io.EOF {
		f.spare <- memory
		return false, err
	}
	if errors.Is(err, csv.ErrRecordTooLong) && f.frame > 0 {
		err = fmt.Errorf("%w A record has to fit into a request, and the cluster lets requests of %d bytes pass (limits.frame)", err, f.frame)
	}
	if err != nil {
		return false, badInput(fmt.Errorf("%s: %w", source.where(), err))
	}
	p := chunk{file: source.Name, header: header, line: line, memory: records}
	p.at = rest.At() - uint64(len(p.data()))
	if inspect != nil {
		if err := inspect(p.data(), line); err != nil {
			return false, badInput(err)
		}
	}
	rows = hasRows(p.data())
	if taken {
		f.spare <- p.memory
		return rows, nil
	}
	f.sent(len(p.data()))
	return rows, send(ctx, f.chunks, p)
}

// errNoMore says that there are no more files or chunks.
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
