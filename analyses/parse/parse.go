// Package parse drives the parser function of an analysis over CSV, or over columns (package columnar): it takes header and
// chunks, and gives typed columns and rejected rows. Both the engine's parser role and the runner of tests use it, so only
// this package knows how an analysis gets its rows.
//
//	p, err := parse.NewFile(a, stream, args, file, header)
//	for each chunk of whole records {
//		rows, rejects, err := p.Chunk(data, firstLine)
//		frame = p.Builder().Append(frame[:0])
//	}
//
// A row that does not parse is skipped, counted and reported (N7). Only a fault of the whole file is an error, such as a header
// that lacks a column. The package does no I/O and starts no goroutine. Between chunks it keeps only memory to reuse.
package parse

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/progress"
)

// ErrFile is wrapped by the errors of [NewFile]: the file does not fit its stream.
var ErrFile = errors.New("file does not fit its stream")

// FileParser parses the chunks of one file, in any order. It is used by one goroutine at a time.
type FileParser struct {
	// OnReject, if set, is called for each rejected row, which is valid during the call. of is the name under which the row is
	// counted (analyses.Stream.Counts).
	OnReject func(of string, line uint64, row []byte, why error)

	of      string // name of the stream
	file    analyses.File
	comma   byte
	mapping csv.Mapping
	row     func(fields [][]byte) error
	run     func() (rows, read, taken int) // parses the next rows, no more than most, many at once; nil: there is only row
	scanner csv.Scanner
	columns *columnar.Scanner // replaces scanner if chunks hold columns; else nil
	scan    scanner           // that of the two which is used
	builder *batch.Builder
	done    progress.Rows

	longest int // how many rows a run may have
	most    int // how many rows the next run may have
	rest    int // how many rows are read one by one before the next run is looked for
	wait    int // the last value of rest

	parties []*party         // parties that share the rows, see analyses.Stream.Parties
	missing analyses.Missing // see analyses.File.Missing
	reasons []error          // by party: why it has rejected the last shared row; nil if it has not
}

// scanner goes through the rows of a chunk.
type scanner interface {
	Next() bool
	Fields() [][]byte
	Err() error
	Line() uint64
	Quoted() *csv.Bits
	Row() []byte // as a record of CSV
}

// NewFile returns the parser of a file of a stream of a. header is the file's first line, with or without its end.
func NewFile(a *analyses.Analysis, stream int, args analyses.Args, file analyses.File, header []byte) (*FileParser, error) {
	return NewFileWith(batch.NewBuilder(a.Streams[stream].Schema), a, stream, args, file, header)
}

// NewFileWith is NewFile with the builder from a parser of another file of the same stream. That parser must no longer be
// used. Most of a parser's memory is in its builder.
func NewFileWith(b *batch.Builder, a *analyses.Analysis, stream int, args analyses.Args, file analyses.File, header []byte) (*FileParser,
	error) {
	s := &a.Streams[stream]
	fail := func(err error) error {
		return fmt.Errorf("%w: %s as stream %s of %s: %w", ErrFile, file.Name, s.Name, a.Name, err)
	}
	mapping, err := s.Mapping(header)
	if err != nil {
		return nil, fail(err)
	}
	p := &FileParser{of: s.Name, file: file, comma: s.Comma, mapping: mapping, builder: b}
	if p.parties, err = newParties(s, file, header); err != nil {
		return nil, fail(err)
	}
	if len(p.parties) > 0 {
		file.Missing, p.reasons = &p.missing, make([]error, len(p.parties))
	}
	p.scan = &p.scanner
	if mapping.Columnar() {
		p.columns = columnar.NewScanner(mapping)
		p.scan, file.Cells = p.columns, p.columns.Cells()
	}
	file.Line, file.Quoted = p.scan.Line, p.scan.Quoted()
	if p.row, err = a.RowParser(args, stream, file, p.builder); err != nil {
		return nil, fail(err)
	}
	p.runs(a, args, stream, file)
	return p, nil
}

// runs sets run, if the analysis reads many rows of the file at once.
func (p *FileParser) runs(a *analyses.Analysis, args analyses.Args, stream int, file analyses.File) {
	p.longest = csv.MaxRun
	switch {
	case p.columns != nil && a.NewColumnParser != nil:
		p.longest = columnar.MaxRun
		p.run = runsOf(p, p.columns, a.NewColumnParser(args, stream, file, p.builder))
	case p.columns == nil && a.NewRunParser != nil:
		p.run = runsOf(p, &p.scanner, a.NewRunParser(args, stream, file, p.builder))
	}
}

// runsOf returns the function that reads the next run of a scanner by parse; nil if there is no parse.
func runsOf[T any, R interface {
	*T
	Rows() int
}](p *FileParser, s interface {
	Run(most int) R
	Took(rows int)
}, parse func(R) (read, taken int)) func() (rows, read, taken int) {
	if parse == nil {
		return nil
	}
	return func() (rows, read, taken int) {
		run := s.Run(p.most)
		if run == nil {
			return 0, 0, 0
		}
		read, taken = parse(run)
		s.Took(read)
		return run.Rows(), read, taken
	}
}

// reset begins a chunk. It returns an error only for a damaged chunk of columns, because every row of text can be read or
// rejected.
func (p *FileParser) reset(data []byte, firstLine uint64) error {
	p.builder.Reset()
	p.most, p.rest, p.wait = p.longest, 0, 0
	if p.columns == nil {
		p.scanner.Reset(data, p.comma, p.mapping, firstLine)
		return nil
	}
	if err := p.columns.Reset(data, firstLine); err != nil {
		return fmt.Errorf("%s, rows from line %d: %w", p.file.Name, firstLine, err)
	}
	return nil
}

// fields returns the fields of the row, or what is wrong with it.
func (p *FileParser) fields() ([][]byte, error) { return p.scan.Fields(), rowError(p.scan.Err()) }

// rowError returns what is wrong with a row, by the scanner's error. Lines that a stray quote has swallowed fail the session: they are not
// one bad row, but an unknown number of good ones.
func rowError(err error) error {
	if err == nil {
		return nil
	}
	if e := (*csv.RowError)(nil); errors.As(err, &e) && e.Fault == csv.RowsInQuotes {
		return analyses.Fails(err)
	}
	return err
}

// reject counts a rejected row. One of several lines counts as many rows, because a quote in the wrong place makes one row of several.
func reject(r *analyses.Rejects, file string, line uint64, err error) {
	r.Add(file, line, err)
	if e := (*csv.RowError)(nil); errors.As(err, &e) {
		r.Rows += uint64(max(e.Lines, 1) - 1)
	}
}

// Builder holds the rows of the last chunk.
func (p *FileParser) Builder() *batch.Builder { return p.builder }

// Chunk parses whole records; the first one starts in line firstLine of the file. The accepted rows are in Builder until the
// next call. An error shows a mistake of the analysis: rows that are not whole, or more than a batch holds (N6).
func (p *FileParser) Chunk(data []byte, firstLine uint64) (rows int, rejects analyses.Rejects, err error) {
	if err := p.reset(data, firstLine); err != nil {
		return 0, rejects, err
	}
	for {
		if p.run != nil {
			rows += p.readRuns()
		}
		if !p.scan.Next() {
			break
		}
		p.done.Row()
		fields, err := p.fields()
		if err == nil {
			if err = p.row(fields); err == nil {
				rows++
				continue
			}
			p.builder.Truncate(rows)
			if err == analyses.ErrSkip || errors.Is(err, analyses.ErrSkip) { // the comparison is for the many rows that WHERE excludes
				continue
			}
		}
		if len(p.parties) > 0 {
			taken, err := p.share(rows)
			if err != nil {
				return 0, rejects, p.failed(err)
			}
			if p.count(&rejects); taken {
				rows++
			}
			continue
		}
		if analyses.IsFailing(err) {
			return 0, rejects, p.failed(err)
		}
		reject(&rejects, p.file.Name, p.scan.Line(), err)
		if p.OnReject != nil {
			p.OnReject(p.of, p.scan.Line(), p.scan.Row(), err)
		}
	}
	if err := p.builder.Check(); err != nil {
		return 0, rejects, fmt.Errorf("parse %s from line %d: %w", p.file.Name, firstLine, err)
	}
	if n := p.builder.Rows(); n != rows {
		return 0, rejects, fmt.Errorf("parse %s from line %d: %w: %d rows made %d", p.file.Name, firstLine, batch.ErrSpec, rows, n)
	}
	return rows, rejects, nil
}

// mostWait is how many rows are read one by one, at most, before a run is looked for again.
const mostWait = 64

// readRuns reads rows many at a time, up to one that has to be read alone, and returns how many are taken. A run that ends early has cost
// as much as a whole one, so the next one is as short as this one was; and where there is none, the next ones are not looked for at each
// row. So a file whose rows are in no usual form, or are rejected, takes hardly more time than without runs.
func (p *FileParser) readRuns() (taken int) {
	if p.rest > 0 {
		p.rest--
		return 0
	}
	for {
		rows, n, kept := p.run()
		p.done.Add(n)
		taken += kept
		switch {
		case n == 0:
			p.most = min(p.most, mostWait)
			p.rest, p.wait = p.wait, min(2*p.wait+1, mostWait)
			return taken
		case n < rows:
			p.most, p.wait = n, 0
			return taken
		}
		p.most, p.wait = min(2*p.most, p.longest), 0
	}
}

// failed adds the row's place to an error that fails the session. The place of a stray quote is its own line, which may be behind the row's
// first one.
func (p *FileParser) failed(err error) error {
	line := p.scan.Line()
	if e := (*csv.RowError)(nil); errors.As(err, &e) {
		line = e.OpenLine
	}
	return analyses.InRow(err, p.file.Name, line)
}
