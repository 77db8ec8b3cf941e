package movies_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"posta/analyses"
	"posta/analyses/local"
	"posta/analyses/movies"
	"posta/analyses/movies/moviesoracle"
	"posta/analyses/parse"
	"posta/batch"
	"posta/csv"
	"posta/fold"
)

// loaded is the chunks and frames of one stream, and a joiner that has the movies.
type loaded struct {
	a      *analyses.Analysis
	args   analyses.Args
	joiner analyses.Joiner
	parser *parse.FileParser
	chunks [][]byte
	frames [][]byte
	rows   int
	bytes  int
	sent   int
}

// load reads the movies, and one more stream if it is not theirs.
func load(b *testing.B, stream int) *loaded {
	b.Helper()
	l := &loaded{a: movies.New()}
	var err error
	if l.args, err = l.a.Args(nil); err == nil {
		l.joiner, err = l.a.NewJoiner(l.args, analyses.Replica{Of: 1})
	}
	if err != nil {
		b.Fatal(err)
	}
	dir := subject.Generated(b, 200000, 1)
	l.read(b, dir, 0)
	if stream == 0 {
		return l
	}
	if err := l.joiner.End(0); err != nil {
		b.Fatal(err)
	}
	l.read(b, dir, stream)
	return l
}

func (l *loaded) read(b *testing.B, dir string, stream int) {
	b.Helper()
	s := &l.a.Streams[stream]
	l.chunks, l.frames, l.rows, l.bytes, l.sent = nil, nil, 0, 0, 0
	data, err := os.ReadFile(filepath.Join(dir, s.Files))
	if err != nil {
		b.Fatal(err)
	}
	file := analyses.File{Name: s.Files}
	cutter := csv.NewCutter(bytes.NewReader(data), ',', 1<<20, 1<<24)
	header, err := cutter.Header()
	if err == nil {
		l.parser, err = parse.NewFile(l.a, stream, l.args, file, header)
	}
	for err == nil {
		var chunk []byte
		var line uint64
		if chunk, line, err = cutter.Next(nil); err == nil {
			err = l.take(stream, chunk, analyses.Position{File: file, Line: line})
		}
	}
	if !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
}

func (l *loaded) take(stream int, chunk []byte, pos analyses.Position) error {
	rows, _, err := l.parser.Chunk(chunk, pos.Line)
	if err != nil {
		return err
	}
	frame := l.parser.Builder().Append(nil)
	l.chunks, l.frames = append(l.chunks, chunk), append(l.frames, frame)
	l.rows, l.bytes, l.sent = l.rows+rows, l.bytes+len(chunk), l.sent+len(frame)
	if stream != 0 {
		return nil
	}
	decoded, err := batch.Decode(frame, l.a.Streams[0].Schema)
	if err != nil {
		return err
	}
	return l.joiner.Reference(0, decoded, pos)
}

var streams = []string{"movies", "ratings", "credits"}

// BenchmarkParse has the sentiment in movies and the literals in movies and credits; wireB/row is what a row takes on its way
// to the joiner.
func BenchmarkParse(b *testing.B) {
	for stream, name := range streams {
		b.Run(name, func(b *testing.B) {
			l := load(b, stream)
			b.SetBytes(int64(l.bytes))
			for b.Loop() {
				for _, c := range l.chunks {
					if _, _, err := l.parser.Chunk(c, 2); err != nil {
						b.Fatal(err)
					}
				}
			}
			perRow(b, l.rows)
			b.ReportMetric(float64(l.sent)/float64(l.rows), "wireB/row")
		})
	}
}

// BenchmarkJoiner is all that a joiner does with a frame of facts: decode, fold, flush, partials.
func BenchmarkJoiner(b *testing.B) {
	for stream, name := range streams {
		if stream == 0 {
			continue
		}
		b.Run(name, func(b *testing.B) {
			l := load(b, stream)
			var tables []*fold.Table
			for i := range l.a.Tables {
				tables = append(tables, fold.NewTable(&l.a.Tables[i]))
			}
			b.SetBytes(int64(l.sent))
			for b.Loop() {
				for _, f := range l.frames {
					l.join(b, stream, f, tables)
				}
			}
			perRow(b, l.rows)
		})
	}
}

func (l *loaded) join(b *testing.B, stream int, frame []byte, tables []*fold.Table) {
	d, err := batch.Decode(frame, l.a.Streams[stream].Schema)
	if err == nil {
		err = l.joiner.Facts(stream, d, analyses.Position{})
	}
	if err == nil {
		err = l.joiner.Flush(tables)
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range tables {
		for _, rows := range t.Partition(2) {
			t.AppendRows(nil, rows)
		}
		t.Reset()
	}
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// BenchmarkWhole compares all of it, in one goroutine, with the oracle.
func BenchmarkWhole(b *testing.B) {
	dir := subject.Generated(b, 200000, 1)
	b.Run("local", func(b *testing.B) {
		for b.Loop() {
			if _, err := local.Run(movies.New(), os.DirFS(dir), local.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("oracle", func(b *testing.B) {
		for b.Loop() {
			if _, err := moviesoracle.Run(dir, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
