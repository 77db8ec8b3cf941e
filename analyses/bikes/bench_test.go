package bikes_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"posta/analyses"
	"posta/analyses/bikes"
	"posta/analyses/parse"
	"posta/batch"
	"posta/csv"
	"posta/fold"
)

// loaded is the data of one city: chunks of trips, and a joiner that has the reference streams.
type loaded struct {
	a      *analyses.Analysis
	joiner analyses.Joiner
	pos    analyses.Position
	parser *parse.FileParser
	chunks [][]byte
	frames [][]byte
	rows   int
	bytes  int
}

func load(b *testing.B, city string) *loaded {
	b.Helper()
	dir := subject.Generated(b, 400000, 1)
	l := &loaded{a: bikes.New(), pos: analyses.Position{File: analyses.File{Name: city + "/trips.csv", Tags: []string{city}}}}
	args, err := l.a.Args(nil)
	if err == nil {
		l.joiner, err = l.a.NewJoiner(args, analyses.Replica{Of: 1})
	}
	if err != nil {
		b.Fatal(err)
	}
	for stream := range l.a.Streams {
		l.read(b, args, dir, city, stream)
	}
	return l
}

func (l *loaded) read(b *testing.B, args analyses.Args, dir, city string, stream int) {
	b.Helper()
	s := &l.a.Streams[stream]
	data, err := os.ReadFile(filepath.Join(dir, city, s.Name+".csv"))
	if err != nil {
		b.Fatal(err)
	}
	cutter := csv.NewCutter(bytes.NewReader(data), ',', 1<<20, 1<<24)
	header, err := cutter.Header()
	if err == nil {
		l.parser, err = parse.NewFile(l.a, stream, args, l.pos.File, header)
	}
	for err == nil {
		var chunk []byte
		var line uint64
		if chunk, line, err = cutter.Next(nil); err == nil {
			err = l.take(stream, chunk, line)
		}
	}
	if !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
}

func (l *loaded) take(stream int, chunk []byte, line uint64) error {
	rows, _, err := l.parser.Chunk(chunk, line)
	if err != nil {
		return err
	}
	frame := l.parser.Builder().Append(nil)
	if !l.a.Streams[stream].Reference {
		l.chunks, l.frames = append(l.chunks, chunk), append(l.frames, frame)
		l.rows, l.bytes = l.rows+rows, l.bytes+len(chunk)
		return nil
	}
	decoded, err := batch.Decode(frame, l.a.Streams[stream].Schema)
	if err != nil {
		return err
	}
	return l.joiner.Reference(stream, decoded, analyses.Position{File: l.pos.File, Line: line})
}

var cities = []string{"montreal", "toronto", "washington"}

func BenchmarkParse(b *testing.B) {
	for _, city := range cities {
		b.Run(city, func(b *testing.B) {
			l := load(b, city)
			b.SetBytes(int64(l.bytes))
			for b.Loop() {
				for _, c := range l.chunks {
					if _, _, err := l.parser.Chunk(c, 2); err != nil {
						b.Fatal(err)
					}
				}
			}
			perRow(b, l.rows)
		})
	}
}

// BenchmarkFacts is the joiner's hot loop; wireB/row is what a row takes on its way to it.
func BenchmarkFacts(b *testing.B) {
	for _, city := range cities {
		b.Run(city, func(b *testing.B) {
			l := load(b, city)
			wire := 0
			batches := make([]*batch.Batch, len(l.frames))
			for i, f := range l.frames {
				wire += len(f)
				var err error
				if batches[i], err = batch.Decode(f, l.a.Streams[2].Schema); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			for b.Loop() {
				for _, d := range batches {
					if err := l.joiner.Facts(2, d, l.pos); err != nil {
						b.Fatal(err)
					}
				}
			}
			perRow(b, l.rows)
			b.ReportMetric(float64(wire)/float64(l.rows), "wireB/row")
		})
	}
}

// BenchmarkJoiner is all that a joiner does with a frame: decode, fold, flush, partials.
func BenchmarkJoiner(b *testing.B) {
	for _, city := range cities {
		b.Run(city, func(b *testing.B) {
			l := load(b, city)
			var tables []*fold.Table
			for i := range l.a.Tables {
				tables = append(tables, fold.NewTable(&l.a.Tables[i]))
			}
			var out []byte
			sent := 0
			b.ResetTimer()
			for b.Loop() {
				sent = 0
				for _, f := range l.frames {
					out = l.join(b, f, tables, out[:0])
					sent += len(out)
				}
			}
			perRow(b, l.rows)
			b.ReportMetric(float64(sent)/float64(l.rows), "outB/row")
		})
	}
}

func (l *loaded) join(b *testing.B, frame []byte, tables []*fold.Table, out []byte) []byte {
	d, err := batch.Decode(frame, l.a.Streams[2].Schema)
	if err == nil {
		err = l.joiner.Facts(2, d, l.pos)
	}
	if err == nil {
		err = l.joiner.Flush(tables)
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range tables {
		for _, rows := range t.Partition(2) {
			out = t.AppendRows(out, rows)
		}
		t.Reset()
	}
	return out
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}
