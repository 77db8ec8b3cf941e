package analysistest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// Loaded holds an analysis' data in memory, cut and parsed, with a joiner that has got the reference streams.
type Loaded struct {
	a       *analyses.Analysis
	args    analyses.Args
	dir     string
	tags    []string
	joiner  analyses.Joiner
	streams []*stream // by index
}

// stream is the data of a stream, which is one file.
type stream struct {
	index  int
	parser *parse.FileParser
	chunks [][]byte
	frames [][]byte
	pos    []analyses.Position
	rows   int
	bytes  int
}

// chunkBytes is how many bytes the client sends at a time.
const chunkBytes = 256 << 10

// Bench measures what an analysis does with each of its streams in dir, calling it as the engine does. A fact stream is
// measured by [Loaded.Parse], [Loaded.Join] and [Loaded.Merge], a reference stream by [Loaded.Parse] alone.
func Bench(b *testing.B, a *analyses.Analysis, dir string) {
	b.Helper()
	x := Load(b, a, dir)
	for i := range a.Streams {
		name := a.Streams[i].Name
		b.Run(name+"/parse", func(b *testing.B) { x.Parse(b, i) })
		if !a.Streams[i].Reference {
			b.Run(name+"/join", func(b *testing.B) { x.Join(b, i) })
			b.Run(name+"/merge", func(b *testing.B) { x.Merge(b, i) })
		}
	}
}

// Load reads the streams of an analysis, one file each, with tags for the stars of Files.
func Load(b *testing.B, a *analyses.Analysis, dir string, tags ...string) *Loaded {
	b.Helper()
	x := &Loaded{a: a, dir: dir, tags: tags}
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
	return x
}

// load cuts and parses a file. The joiner gets the rows of a reference stream.
func (x *Loaded) load(index int) error {
	s := &stream{index: index}
	x.streams = append(x.streams, s)
	name := x.a.Streams[index].Files
	for _, tag := range x.tags {
		name = strings.Replace(name, "*", tag, 1)
	}
	file := analyses.File{Name: name, Tags: x.tags}
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
	return x.joiner.End(index)
}

func (x *Loaded) take(s *stream, chunk []byte, pos analyses.Position) error {
	rows, _, err := s.parser.Chunk(chunk, pos.Line)
	if err != nil {
		return err
	}
	frame := s.parser.Builder().Append(nil)
	s.chunks, s.frames, s.pos = append(s.chunks, chunk), append(s.frames, frame), append(s.pos, pos)
	s.rows, s.bytes = s.rows+rows, s.bytes+len(chunk)
	if !x.a.Streams[s.index].Reference {
		return nil
	}
	decoded, err := batch.Decode(frame, x.a.Streams[s.index].Schema)
	if err != nil {
		return err
	}
	return x.joiner.Reference(s.index, decoded, pos)
}

// Parse measures the way from a chunk of CSV to a frame. wireB/row is the size of a row on the wire to a joiner, in bytes.
func (x *Loaded) Parse(b *testing.B, stream int) {
	s := x.streams[stream]
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

// Facts measures only a joiner's hot loop: batches were decoded before, and nothing is flushed.
func (x *Loaded) Facts(b *testing.B, stream int) {
	s := x.streams[stream]
	batches := make([]*batch.Batch, len(s.frames))
	for i, f := range s.frames {
		var err error
		if batches[i], err = batch.Decode(f, x.a.Streams[stream].Schema); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(s.bytes))
	for b.Loop() {
		for i, d := range batches {
			if err := x.joiner.Facts(stream, d, s.pos[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	s.report(b)
}

// Join measures everything that turns frames into partials in a joiner: decode, Facts, Flush, partition, encode. outB/row is
// the size of the partials, in bytes per row.
func (x *Loaded) Join(b *testing.B, stream int) {
	s := x.streams[stream]
	b.SetBytes(int64(s.bytes))
	tables := newTables(x.a, fold.NewOutgoing)
	sent := 0
	for b.Loop() {
		sent = 0
		x.partials(b, s, tables, func(_ int, p []byte) { sent += len(p) })
	}
	s.report(b)
	b.ReportMetric(float64(sent)/float64(s.rows), "outB/row")
}

// partials does everything that a joiner does with the frames of a stream, for two aggregators.
func (x *Loaded) partials(b *testing.B, s *stream, tables []*fold.Table, send func(table int, payload []byte)) {
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

// Merge measures how long the aggregators together take to merge partials into tables. keptMB is the memory of these tables.
func (x *Loaded) Merge(b *testing.B, stream int) {
	s := x.streams[stream]
	var tables []int
	var payloads [][]byte
	x.partials(b, s, newTables(x.a, fold.NewOutgoing), func(table int, p []byte) {
		tables, payloads = append(tables, table), append(payloads, bytes.Clone(p))
	})
	b.SetBytes(int64(s.bytes))
	kept := 0
	for b.Loop() {
		merged := newTables(x.a, fold.NewTable)
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

// Whole measures everything in one process, from files to answers, and the oracle for comparison.
func (s *Subject) Whole(b *testing.B, rows int) {
	dir := s.Generated(b, rows, 1)
	b.Run("posta", func(b *testing.B) {
		for b.Loop() {
			s.Run(b, dir, local.Options{})
		}
	})
	b.Run("oracle", func(b *testing.B) {
		for b.Loop() {
			s.Want(b, dir, nil)
		}
	})
}
