package parse

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

var errOdd = errors.New("number is odd")

// numbers returns an analysis whose only stream has a number and an optional text. It rejects odd numbers, but only after it
// has appended a column of the row.
func numbers() *analyses.Analysis {
	return &analyses.Analysis{
		Name: "numbers",
		Streams: []analyses.Stream{{
			Name: "s", Files: "*.csv", Comma: ';', Columns: []analyses.Column{{Name: "n"}, {Name: "text", Optional: true}},
			Schema: []batch.FieldSpec{{Name: "n", Kind: batch.Int}, {Name: "text", Kind: batch.Dict}, {Name: "given", Kind: batch.Int}},
		}},
		Tables: []fold.Spec{{Name: "t", Stream: "s", Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}}},
		NewParser: func(_ analyses.Args, _ int, file analyses.File, b *batch.Builder) (func([][]byte) error, error) {
			if file.Name == "refused.csv" {
				return nil, errOdd
			}
			return func(f [][]byte) error { return appendNumber(b, f) }, nil
		},
	}
}

func appendNumber(b *batch.Builder, f [][]byte) error {
	n, ok := csv.ParseInt(f[0])
	if !ok {
		return fmt.Errorf("n %q is not a number", f[0])
	}
	b.Int(0).Append(n)
	b.Dict(1).Append(f[1])
	switch {
	case n == 42: // an analysis with a mistake
		return nil
	case n%2 != 0:
		return errOdd
	}
	given := int64(0)
	if f[1] != nil {
		given = 1
	}
	b.Int(2).Append(given)
	return nil
}

func parser(t *testing.T, header string) *FileParser {
	t.Helper()
	p, err := NewFile(numbers(), 0, nil, analyses.File{Name: "f.csv"}, []byte(header))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, p *FileParser) string {
	t.Helper()
	b, err := batch.Decode(p.Builder().Append(nil), numbers().Streams[0].Schema)
	if err != nil {
		t.Fatal(err)
	}
	var w strings.Builder
	for row := range b.Rows() {
		d := b.Dicts(1)
		fmt.Fprintf(&w, "%d %q %d\n", b.Ints(0).At(row), d.Entry(int(d.Code(row))), b.Ints(2).At(row))
	}
	return w.String()
}

func TestN7_BadRowsAreTakenBackAndReported(t *testing.T) {
	p := parser(t, "\xef\xbb\xbftext;other;n\r\n")
	data := "a;;2\nb;;3\n\n\"q\"\";\n\";;4\nshort\nc;;x\r\n\"d\"x;;1\ne;;6"
	rows, rejects, err := p.Chunk([]byte(data), 100)
	if err != nil || rows != 3 || rejects.Rows != 4 {
		t.Fatalf("%v, %d rows, %+v", err, rows, rejects)
	}
	if got, want := read(t, p), "2 \"a\" 1\n4 \"q\\\";\\n\" 1\n6 \"e\" 1\n"; got != want {
		t.Errorf("%s want\n%s", got, want)
	}
	var lines []uint64
	for _, r := range rejects.First {
		lines = append(lines, r.Line)
		if r.File != "f.csv" || r.Reason == "" {
			t.Errorf("%+v", r)
		}
	}
	if want := []uint64{101, 105, 106, 107}; !slices.Equal(lines, want) {
		t.Errorf("rejected lines %v, want %v", lines, want)
	}
	if rejects.First[0].Reason != errOdd.Error() || rejects.First[1].Reason != "row has 1 field, and the header has 3" {
		t.Errorf("%+v", rejects.First)
	}
}

// A stray quote makes one record of many lines. They are counted as the rows that they were, and from a number on they fail the session, in
// whatever way the rows are read.
func TestN7_LinesThatAStrayQuoteTakesAreCounted(t *testing.T) {
	for _, c := range []struct {
		data, failed string
		rejects      uint64
	}{
		{"a;;2\nb;\"x;4\n" + strings.Repeat("c;;6\n", 10), "", 11},
		{"a;;2\nb;\"x;4\n" + strings.Repeat("c;;6\n", 20), "f.csv, line 3: the quote that opens field 2 is never closed", 0},
		{"a;;2\nb;\"x;4\n" + strings.Repeat("c;;6\n", 5) + "d;\"x\";4\ne;;8\n", "", 7},
		{"a;;2\nb;\"x;4\n" + strings.Repeat("c;;6\n", 20) + "d;\"x\";4\ne;;8\n", "f.csv, line 3: the quote that opens field 2", 0},
		// the row begins in line 3
		{"a;;2\n\"b\nb\";\"x;4\n" + strings.Repeat("c;;6\n", 20) + "d;x\";4\ne;;8\n",
			"f.csv, line 4: the quote that opens field 2 is closed much later", 0},
		{"a;;2\nb;\"x;4\n" + strings.Repeat("c;;6\n", 20) + "d;x\";4\ne;;8\n",
			"f.csv, line 3: the quote that opens field 2 is closed much later", 0},
	} {
		pieces := func(p *FileParser) (analyses.Rejects, error) {
			return p.Pieces([]byte(c.data), 2, 1<<20, func(uint64) {})
		}
		whole := func(p *FileParser) (analyses.Rejects, error) {
			_, rejects, err := p.Chunk([]byte(c.data), 2)
			return rejects, err
		}
		for _, read := range []func(p *FileParser) (analyses.Rejects, error){whole, pieces} {
			rejects, err := read(parser(t, "text;other;n\n"))
			if rejects.Rows != c.rejects || (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
				t.Errorf("%q: %d rejected, %v", c.data, rejects.Rows, err)
			}
		}
	}
}

func TestChunksDoNotSeeEachOther(t *testing.T) {
	p := parser(t, "n\n")
	if rows, _, err := p.Chunk([]byte("2\n4\n5\n"), 2); err != nil || rows != 2 {
		t.Fatal(rows, err)
	}
	if rows, rejects, err := p.Chunk([]byte("8\n"), 5); err != nil || rows != 1 || rejects.Rows != 0 {
		t.Fatal(rows, rejects, err)
	}
	if got := read(t, p); got != "8 \"\" 0\n" {
		t.Fatal(got)
	}
	if rows, _, err := p.Chunk(nil, 6); err != nil || rows != 0 || read(t, p) != "" {
		t.Fatal(rows, err)
	}
}

func TestFilesThatDoNotFitAreNamed(t *testing.T) {
	for header, name := range map[string]string{"text;m": "f.csv", "n;n": "f.csv", `"n`: "f.csv", "n": "refused.csv"} {
		_, err := NewFile(numbers(), 0, nil, analyses.File{Name: name}, []byte(header))
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", header, err)
		}
	}
}

func TestN6_RowsThatAreNotWholeAreAnErrorNotAPanic(t *testing.T) {
	for _, data := range []string{"2\n42\n", "42\n2\n4\n"} {
		if _, _, err := parser(t, "n").Chunk([]byte(data), 2); !errors.Is(err, batch.ErrSpec) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func FuzzChunk(f *testing.F) {
	f.Add([]byte("2;a\n3;b\n\"4\";\"c\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("42")) {
			return
		}
		p := parser(t, "n;text")
		rows, rejects, err := p.Chunk(data, 2)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte{'\n'}) + 1; uint64(rows)+rejects.Rows > uint64(n) {
			t.Fatalf("%d rows and %d rejected of %d lines", rows, rejects.Rows, n)
		}
		if got := strings.Count(read(t, p), "\n"); got != rows {
			t.Fatalf("%d rows are %d", rows, got)
		}
	})
}
