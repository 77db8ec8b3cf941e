package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"

	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/text"
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
	Line    uint64  // line of the file on which the first of Records starts
	Offsets []int64 // of each of Records: where it is in the file; 0 for the first one, and if that is not known

	format.Columns // if these are declared, there is no Header and there are no Records
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
	of, in, err := f.detect(file, src)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, free(in)) }()
	enough := 4 * sampleBytes
	if in.At == nil && form.Plain() && !src.held && plain(src, in.Head) {
		enough = sampleBytes
		in.Pieces = sync.OnceValue(func() []format.Piece { return pieces(src) })
	}
	if s.Columns, err = of.Columns(in, enough); err != nil {
		return s, fmt.Errorf("%s: %w", src.where(), err)
	}
	if s.Declared {
		return s, nil
	}
	for _, key := range s.Keys {
		f.columns = append(f.columns, csv.Column{Name: key, Key: key, Keyed: true, Optional: true})
	}
	cut, err := f.cut(of, in, src)
	if err != nil {
		return s, err
	}
	if s.Header = bytes.Clone(cut.header); records {
		err = f.records(of, cut, src, &s)
	}
	return s, err
}

// records takes rows from the beginning of a file, and from its other pieces.
func (f *streamUpload) records(of format.Format, cut *begun, src *Source, s *Sample) error {
	chunk, line, err := cut.Next(nil)
	if err == nil {
		s.Records, s.Offsets, s.Line = append(s.Records, bytes.Clone(chunk[headRoom:])), append(s.Offsets, 0), line
	} else if err != io.EOF {
		return fmt.Errorf("%s: %w", src.where(), err)
	}
	_, asTheyAre := cut.Cutter.(format.InPlace)
	if cut.in.Pieces == nil || asTheyAre && (err != nil || !plain(src, unmarked(cut.header))) {
		return nil // the start is enough: a sample is a guess
	}
	for _, piece := range cut.in.Pieces() {
		if asTheyAre {
			s.Records, s.Offsets = append(s.Records, piece.Lines), append(s.Offsets, piece.At)
			continue
		}
		part, err := of.Cut(&format.File{File: &text.File{Reader: bytes.NewReader(piece.Lines)}}, f.want(src))
		if err == nil {
			chunk, _, err = part.Next(nil)
		}
		if err == io.EOF {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", src.where(), err)
		}
		s.Records, s.Offsets = append(s.Records, bytes.Clone(chunk[headRoom:])), append(s.Offsets, 0)
	}
	return nil
}

// unmarked returns a header without its mark.
func unmarked(header []byte) []byte {
	if len(header) > 3 && header[0] == '\x1e' {
		return header[3:]
	}
	return header
}

// pieces returns whole lines from the middle and the end of a large file.
func pieces(src *Source) (all []format.Piece) {
	if src.Size <= 4*sampleBytes {
		return nil
	}
	for _, at := range []int64{src.Size / 2, src.Size - sampleBytes} {
		if piece, from, err := recordsAt(src, at); err == nil { // the start is enough otherwise
			all = append(all, format.Piece{Lines: piece, At: from})
		}
	}
	return all
}

// plain reports whether the bytes on disk begin with those of the text.
func plain(src *Source, begin []byte) bool {
	f, err := src.local()
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // read only
	head := make([]byte, len(begin)+3)
	n, _ := io.ReadFull(f, head)
	return bytes.HasPrefix(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")), bytes.TrimPrefix(begin, []byte("\xef\xbb\xbf")))
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
