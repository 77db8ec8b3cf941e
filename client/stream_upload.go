package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	files "posta.dev/posta/client/source"
	"posta.dev/posta/client/source/jsonl"
	"posta.dev/posta/client/source/text"
	"posta.dev/posta/client/source/unpack"
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
	frame      int          // bytes that a request may have; 0: the cluster does not say
	columns    []csv.Column // that are needed; nil if they are not known
	comma      byte         // what the user says that separates columns; 0: it is looked for
	warnings   *warnings
	notes      *warnings                                                     // what was found, and is read
	inspect    func(stream, file string, header []byte) (inspectFunc, error) // may be nil

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
		return badInput(err)
	}
	defer closeWith(ctx, file, &err)()
	cut, header, err := f.begin(file, &source)
	if err != nil {
		return badInput(err)
	}
	inspect, err := f.inspector(&source, header)
	if err != nil {
		return badInput(err)
	}
	rows := false
	for err == nil {
		var some bool
		some, err = f.cutOne(ctx, cut, &source, header, inspect)
		rows = rows || some
	}
	if err != io.EOF {
		return err
	}
	if !rows {
		f.warnings.add(source.where(), "this file has a header and no rows")
	}
	return nil
}

// begin reads the header of a file, and checks what can be checked before a row is sent.
func (f *streamUpload) begin(file io.Reader, source *Source) (cutter, []byte, error) {
	r, err := unpack.File{Path: source.where(), Named: source.Says.Pack, Read: &f.counters.read}.Open(file)
	if err != nil {
		return nil, nil, err
	}
	cut, header, err := f.look(r, source)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", source.where(), err)
	}
	if len(header) > protocol.MaxHeader {
		return nil, nil, fmt.Errorf("%s: its header line has %d bytes; at most %d are taken", source.where(), len(header), protocol.MaxHeader)
	}
	if err := f.limit(cut, source, header); err != nil {
		return nil, nil, err
	}
	return cut, header, nil
}

// cutter cuts a file into chunks of whole records, as csv.Cutter does.
type cutter interface {
	Header() ([]byte, error)
	Limit(chunkBytes, maxRecord int)
	Next(buf []byte) (chunk []byte, firstLine uint64, err error)
}

// look finds out how a text is written, and what cuts it. The header has a mark where it differs from what the stream's files are.
func (f *streamUpload) look(r io.Reader, source *Source) (cutter, []byte, error) {
	in, err := text.Open(r, text.Want{Comma: f.stream.Comma, Columns: f.columns, Given: f.comma})
	if err != nil {
		return nil, nil, err
	}
	own := f.stream.Comma
	if own == 0 {
		own = ','
	}
	if in.Encoding != "" {
		f.notes.add(source.where(), "read as "+in.Encoding)
	}
	lines, err := jsonl.Looks(in.Head)
	switch {
	case err != nil:
		return nil, nil, err
	case lines, source.Says.Form == files.JSONLines && len(in.Head) == 0:
		if source.Says.Form != files.JSONLines {
			f.notes.add(source.where(), "read as JSON Lines")
		}
		return f.convert(in)
	case source.Says.Form == files.JSONLines:
		return nil, nil, fmt.Errorf("%w: the file does not begin with a JSON object", jsonl.ErrNotLines)
	}
	cut := csv.NewCutter(in, in.Comma, f.chunkBytes, protocol.MaxData)
	cut.LeaveRoom(headRoom)
	header, err := cut.Header()
	if err == nil && in.Comma != own {
		f.notes.add(source.where(), "columns are separated by "+csv.SeparatorName(in.Comma))
		header = csv.Marked(header, in.Comma, false)
	}
	return cut, header, err
}

// convert returns what turns JSON Lines into rows.
func (f *streamUpload) convert(r io.Reader) (cutter, []byte, error) {
	if f.columns == nil {
		return nil, nil, errNoColumns
	}
	cut := jsonl.NewCutter(r, f.columns, f.stream.Comma, f.chunkBytes, protocol.MaxData)
	cut.LeaveRoom(headRoom)
	header, err := cut.Header()
	return cut, header, err
}

// errNoColumns is about a file in which columns are found by name only.
var errNoColumns = errors.New("this is no CSV, and which columns the analysis needs is not known to this program: run it with the program of the cluster, or export the file as CSV")

// inspectFunc looks at a chunk before it is sent.
type inspectFunc = func(chunk []byte, line uint64) error

// inspector returns what looks at the chunks of a file, nil if nothing does.
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

// limit keeps chunks within what the cluster lets pass (R15): a request is a head with the file's header line, and the records.
func (f *streamUpload) limit(cut cutter, source *Source, header []byte) error {
	if f.frame <= 0 {
		return nil
	}
	room := f.frame - requestHead - len(header) - len(source.Name) - len(f.stream.Name)
	if room <= 0 {
		return fmt.Errorf("%s: its header line has %d bytes, and the cluster lets requests of %d pass: raise limits.frame in the topology",
			source.where(), len(header), f.frame)
	}
	cut.Limit(min(f.chunkBytes, room), min(protocol.MaxData, room))
	return nil
}

// requestHead is more than the keys and numbers of a chunk's request take.
const requestHead = 512

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

// cutOne hands one chunk to a lane; io.EOF when there are no more. rows reports whether there is more in it than empty lines.
func (f *streamUpload) cutOne(ctx context.Context, cut cutter, source *Source, header []byte, inspect inspectFunc) (rows bool, err error) {
	memory, err := receive(ctx, f.spare)
	if err != nil {
		return false, err
	}
	records, line, err := cut.Next(memory)
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
	if inspect != nil {
		if err := inspect(p.data(), line); err != nil {
			return false, badInput(err)
		}
	}
	rows = len(bytes.TrimLeft(p.data(), "\r\n")) > 0
	return rows, send(ctx, f.chunks, p)
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
