package analysistest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"posta/analyses"
	"posta/analyses/parse"
	"posta/batch"
	"posta/csv"
	"posta/fold"
)

// bench is a directory of data, cut and parsed, and a joiner that has the reference streams.
type bench struct {
	a      *analyses.Analysis
	args   analyses.Args
	dir    string
	joiner analyses.Joiner
	facts  []*stream
}

// stream is the data of a fact stream, which is one file.
type stream struct {
	index  int
	parser *parse.FileParser
	chunks [][]byte
	frames [][]byte
	pos    []analyses.Position
	rows   int
	bytes  int
}

// chunkBytes is what the client sends at once.
const chunkBytes = 256 << 10

// Bench measures what an analysis does with each of its fact streams in dir, in the form in which the engine calls it: parse
// (a chunk of CSV becomes a frame), join (a frame becomes partials: decode, Facts, Flush, partition, encode) and merge (partials
// become tables). All data is in memory. wireB/row is what a row takes on its way to a joiner, outB/row on its way from there.
func Bench(b *testing.B, a *analyses.Analysis, dir string) {
	b.Helper()
	x := &bench{a: a, dir: dir}
	var err error
	if x.args, err = a.Args(nil); err == nil {
		x.joiner, err = a.NewJoiner(x.args, analyses.Replica{Of: 1})
	}
	for i := range a.Streams {
		if err == nil {
			err = x.load(i)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range x.facts {
		name := a.Streams[s.index].Name
		b.Run(name+"/parse", func(b *testing.B) { x.parse(b, s) })
		b.Run(name+"/join", func(b *testing.B) { x.join(b, s) })
		b.Run(name+"/merge", func(b *testing.B) { x.merge(b, s) })
	}
}

// load cuts and parses a file; that of a reference stream goes to the joiner.
func (x *bench) load(index int) error {
	s := &stream{index: index}
	name := x.a.Streams[index].Files
	file := analyses.File{Name: name}
	data, err := os.ReadFile(filepath.Join(x.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	cutter := csv.NewCutter(bytes.NewReader(data), x.a.Streams[index].Comma, chunkBytes, 16<<20)
	header, err := cutter.Header()
	if err == nil {
		s.parser, err = parse.NewFile(x.a, index, x.args, file, header)
	}
	for err == nil {
		var chunk []byte
		var line uint64
		if chunk, line, err = cutter.Next(nil); err == nil {
			err = x.take(s, chunk, analyses.Position{File: file, Line: line})
		}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if !x.a.Streams[index].Reference {
		x.facts = append(x.facts, s)
	}
	return x.joiner.End(index)
}

func (x *bench) take(s *stream, chunk []byte, pos analyses.Position) error {
	rows, _, err := s.parser.Chunk(chunk, pos.Line)
	if err != nil {
		return err
	}
	frame := s.parser.Builder().Append(nil)
	if x.a.Streams[s.index].Reference {
		b, err := batch.Decode(frame, x.a.Streams[s.index].Schema)
		if err != nil {
			return err
		}
		return x.joiner.Reference(s.index, b, pos)
	}
	s.chunks, s.frames, s.pos = append(s.chunks, chunk), append(s.frames, frame), append(s.pos, pos)
	s.rows, s.bytes = s.rows+rows, s.bytes+len(chunk)
	return nil
}

func (x *bench) parse(b *testing.B, s *stream) {
	b.SetBytes(int64(s.bytes))
	var frame []byte
	wire := 0
	for b.Loop() {
		wire = 0
		for i, c := range s.chunks {
			if _, _, err := s.parser.Chunk(c, s.pos[i].Line); err != nil {
				b.Fatal(err)
			}
			frame = s.parser.Builder().Append(frame[:0])
			wire += len(frame)
		}
	}
	s.report(b)
	b.ReportMetric(float64(wire)/float64(s.rows), "wireB/row")
}

func (x *bench) join(b *testing.B, s *stream) {
	b.SetBytes(int64(s.bytes))
	tables := x.tables()
	sent := 0
	for b.Loop() {
		sent = 0
		x.partials(b, s, tables, func(_ int, p []byte) { sent += len(p) })
	}
	s.report(b)
	b.ReportMetric(float64(sent)/float64(s.rows), "outB/row")
}

func (x *bench) tables() []*fold.Table {
	var tables []*fold.Table
	for i := range x.a.Tables {
		tables = append(tables, fold.NewTable(&x.a.Tables[i]))
	}
	return tables
}

// partials does all that a joiner does with the frames of a stream, for two aggregators.
func (x *bench) partials(b *testing.B, s *stream, tables []*fold.Table, send func(table int, payload []byte)) {
	var out []byte
	for i, f := range s.frames {
		d, err := batch.Decode(f, x.a.Streams[s.index].Schema)
		if err == nil {
			err = x.joiner.Facts(s.index, d, s.pos[i])
		}
		if err == nil {
			err = x.joiner.Flush(tables)
		}
		if err != nil {
			b.Fatal(err)
		}
		for n, t := range tables {
			if t.Len() == 0 {
				continue
			}
			for _, rows := range t.Partition(2) {
				out = t.AppendRows(out[:0], rows)
				send(n, out)
			}
			t.Reset()
		}
	}
}

// merge is what the aggregators do together.
func (x *bench) merge(b *testing.B, s *stream) {
	var tables []int
	var payloads [][]byte
	x.partials(b, s, x.tables(), func(table int, p []byte) {
		tables, payloads = append(tables, table), append(payloads, bytes.Clone(p))
	})
	b.SetBytes(int64(s.bytes))
	kept := 0
	for b.Loop() {
		merged := x.tables()
		for i, p := range payloads {
			if err := merged[tables[i]].Merge(p); err != nil {
				b.Fatal(err)
			}
		}
		kept = 0
		for _, t := range merged {
			kept += t.Bytes()
		}
	}
	s.report(b)
	b.ReportMetric(float64(kept)/1e6, "keptMB")
}

func (s *stream) report(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.rows), "ns/row")
}
