package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/jsonl"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/client/source/text"
	"posta.dev/posta/client/source/unpack"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// Sample is the header of a file, and whole records from some places in it.
type Sample struct {
	Name    string // below the data directory, as the cluster is told
	Path    string // where it is
	Size    int64  // in bytes; below 0 if it is not known
	Header  []byte // as it travels, with its mark
	Records [][]byte
	Line    uint64   // line of the file on which the first of Records starts
	Offsets []int64  // of each of Records: where it is in the file; 0 for the first one, and if that is not known
	Keys    []string // of the objects of JSON Lines, as many as Header has columns at first; nil for other files

	Columns []parquet.Column // of a file that declares their types; it has no Header and no Records
	Rows    int64            // how many rows such a file has
}

const (
	sampleBytes = 128 << 10 // of records from one place of a file
	sampleFiles = 16        // how many files are read beyond their header: the first, the last, and some between them
)

// Sampled reads samples of the files of a stream, in the order of their names: the headers of all, records from the start of some, and from
// the middle and the end of those that are plain CSV. The stream's Comma, if it has one, separates the columns in the files, and form says
// what files of CSV are.
func (in *Input) Sampled(ctx context.Context, stream protocol.Stream, form csv.Form) ([]Sample, error) {
	comma := cmp.Or(stream.Comma, in.Comma)
	stream.Comma = 0
	sources, err := in.filesOf(ctx, stream)
	if err != nil {
		return nil, err
	}
	samples := make([]Sample, 0, len(sources))
	for i := range sources {
		records := len(sources) <= sampleFiles || i*(sampleFiles-1)/(len(sources)-1) != (i-1)*(sampleFiles-1)/(len(sources)-1) || i == 0
		s, err := sample(ctx, &sources[i], stream, comma, form, records)
		if err != nil {
			return nil, unlessOver(ctx, err)
		}
		samples = append(samples, s)
	}
	return samples, nil
}

func sample(ctx context.Context, src *Source, stream protocol.Stream, comma byte, form csv.Form, records bool) (s Sample, err error) {
	s = Sample{Name: src.Name, Path: src.Path, Size: src.Size}
	file, err := src.open(ctx)
	if err != nil {
		return s, err
	}
	defer closeWith(ctx, file, &err)()
	f := &streamUpload{stream: stream, counters: &streamCounters{}, chunkBytes: sampleBytes, comma: comma, form: form, warnings: &warnings{},
		notes: &warnings{}}
	cut, header, err := f.begin(file, src)
	if errors.Is(err, errNoColumns) {
		if err = f.nameColumns(ctx, src, &s); err == nil {
			if s.Keys == nil {
				return s, nil
			}
			return s, f.sampleNamed(ctx, src, &s, records)
		}
	}
	if err != nil {
		return s, err
	}
	s.Header = bytes.Clone(header)
	if !records {
		return s, nil
	}
	chunk, line, err := cut.Next(nil)
	switch {
	case err == io.EOF:
		return s, nil
	case err != nil:
		return s, fmt.Errorf("%s: %w", src.where(), err)
	}
	s.Records, s.Offsets, s.Line = append(s.Records, bytes.Clone(chunk[headRoom:])), append(s.Offsets, 0), line
	if form.Plain() && !src.held && src.Size > 4*sampleBytes && plain(src, header) {
		for _, at := range []int64{src.Size / 2, src.Size - sampleBytes} {
			if piece, from, err := recordsAt(src, at); err == nil { // otherwise the start is enough: a sample is a guess
				s.Records, s.Offsets = append(s.Records, piece), append(s.Offsets, from)
			}
		}
	}
	return s, nil
}

// nameColumns finds the columns of a file whose cutter needs to know them. Those of Parquet have types, so their values are not looked at.
func (f *streamUpload) nameColumns(ctx context.Context, src *Source, s *Sample) (err error) {
	file, err := src.open(ctx)
	if err != nil {
		return err
	}
	defer closeWith(ctx, file, &err)()
	at, r, err := f.located(file, src)
	if err != nil {
		return fmt.Errorf("%s: %w", src.where(), err)
	}
	if at != nil {
		if s.Columns, s.Rows, err = parquet.Columns(at, at.Size()); err != nil {
			return fmt.Errorf("%s: %w", src.where(), err)
		}
		return nil
	}
	pieces := f.jsonPieces(src)
	if len(pieces) == 0 {
		if r, err = (unpack.File{Path: src.where(), Named: src.Says.Pack, Read: &f.counters.read, Packed: &src.packed}).Open(r); err != nil {
			return err
		}
		in, err := text.Open(r, text.Want{Comma: f.stream.Comma})
		if err != nil {
			return fmt.Errorf("%s: %w", src.where(), err)
		}
		start, err := jsonl.Beginning(in, 4*sampleBytes)
		if err != nil {
			return fmt.Errorf("%s: %w", src.where(), err)
		}
		pieces = [][]byte{start}
	}
	s.Keys = jsonl.Keys(bytes.Join(pieces, []byte{'\n'}))
	for _, key := range s.Keys {
		f.columns = append(f.columns, csv.Column{Name: key, Key: key, Keyed: true, Optional: true})
	}
	if len(f.columns) == 0 {
		return fmt.Errorf("%s: no line at its beginning has a key", src.where())
	}
	return nil
}

// jsonPieces returns lines from the start, the middle and the end of a file of JSON Lines; nil if its bytes on disk are not JSON Lines, or
// if it is held.
func (f *streamUpload) jsonPieces(src *Source) (pieces [][]byte) {
	if src.held {
		return nil
	}
	head, err := src.local()
	if err != nil {
		return nil
	}
	defer func() { _ = head.Close() }() // read only
	start, err := jsonl.Beginning(head, sampleBytes)
	if err != nil {
		return nil
	}
	if is, err := jsonl.Looks(start); !is || err != nil {
		return nil
	}
	pieces = [][]byte{start}
	if src.Size > 4*sampleBytes {
		for _, at := range []int64{src.Size / 2, src.Size - sampleBytes} {
			if piece, _, err := recordsAt(src, at); err == nil {
				pieces = append(pieces, piece)
			}
		}
	}
	return pieces
}

// sampleNamed takes the sample of a file whose columns are known now.
func (f *streamUpload) sampleNamed(ctx context.Context, src *Source, s *Sample, records bool) (err error) {
	file, err := src.open(ctx)
	if err != nil {
		return err
	}
	defer closeWith(ctx, file, &err)()
	cut, header, err := f.begin(file, src)
	if err != nil {
		return err
	}
	if c, ok := cut.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	s.Header = bytes.Clone(header)
	cutters := []cutter{cut}
	if !records {
		cutters = nil
	} else if pieces := f.jsonPieces(src); len(pieces) > 1 {
		for _, p := range pieces[1:] {
			c := jsonl.NewCutter(bytes.NewReader(p), f.columns, f.stream.Comma, sampleBytes, protocol.MaxData)
			c.LeaveRoom(headRoom)
			cutters = append(cutters, c)
		}
	}
	for i, c := range cutters {
		chunk, line, err := c.Next(nil)
		if err == io.EOF {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", src.where(), err)
		}
		if i == 0 {
			s.Line = line
		}
		s.Records, s.Offsets = append(s.Records, bytes.Clone(chunk[headRoom:])), append(s.Offsets, 0)
	}
	return nil
}

// plain reports whether the bytes on disk begin with the header. If they do, the rest of them are records as they are.
func plain(src *Source, header []byte) bool {
	f, err := src.local()
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // read only
	head := make([]byte, len(header)+3)
	n, _ := io.ReadFull(f, head)
	if len(header) > 3 && header[0] == '\x1e' {
		header = header[3:] // its mark
	}
	return bytes.HasPrefix(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")), bytes.TrimPrefix(header, []byte("\xef\xbb\xbf")))
}

// recordsAt returns the whole lines near a place in a file, and where they begin. If a field holds line feeds, the first and the last line
// may be parts of records.
func recordsAt(src *Source, at int64) (piece []byte, begin int64, err error) {
	f, err := src.local()
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	piece = make([]byte, sampleBytes)
	n, err := f.ReadAt(piece, at)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	piece = piece[:n]
	from, to := bytes.IndexByte(piece, '\n')+1, bytes.LastIndexByte(piece, '\n')+1
	if from >= to {
		return nil, 0, csv.ErrHeader
	}
	return piece[from:to], at + int64(from), nil
}

// PlainPattern removes the ending of packed files from a pattern: trips.csv for trips.csv.gz. Nodes know files by their names without that
// ending.
func PlainPattern(pattern string) string {
	at, file := path.Split(pattern)
	return at + source.WithoutPack(file)
}
