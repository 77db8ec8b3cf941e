package parse

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// TestN7_ColumnsGiveTheRowsOfTheirText: rows, rejected rows with their lines and reasons, and pieces.
func TestN7_ColumnsGiveTheRowsOfTheirText(t *testing.T) {
	w := columnar.NewWriter(2)
	w.Column(1).Dictionary(3)
	text := []byte{}
	for i := range 300 {
		word := [][]byte{[]byte("a;b"), {}, []byte("ü\n")}[i%3]
		if n := int64(i * 7 % 11); i%13 == 0 {
			w.Column(0).AppendNull()
			text = append(text, ';')
		} else {
			w.Column(0).AppendInt(columnar.Int, n)
			text = fmt.Appendf(text, "%d;", n)
		}
		w.Column(1).AppendWord(uint32(i%3), word)
		text = append(csv.AppendField(text, word, ';'), '\n')
	}
	columns := w.Append(nil)
	type result struct {
		rows, rejected string
		pieces         []uint64
		rejects        analyses.Rejects
	}
	var results []result
	for _, c := range []struct{ header, data []byte }{{csv.Marked([]byte("n;text"), ';', true), text},
		{csv.MarkedColumnar([]byte("n;text"), ';', 18), columns}} {
		p := parser(t, string(c.header))
		var r result
		p.OnReject = func(_ string, line uint64, row []byte, why error) {
			r.rejected += fmt.Sprintf("%d %q %v\n", line, row, why)
		}
		for range 2 {
			var err error
			if _, r.rejects, err = p.Chunk(c.data, 7); err != nil {
				t.Fatal(err)
			}
			r.rows += read(t, p)
		}
		rejects, err := p.Pieces(c.data, 7, 400, func(line uint64) { r.pieces, r.rows = append(r.pieces, line), r.rows+read(t, p) })
		if err != nil || rejects.Rows != r.rejects.Rows || len(r.pieces) < 3 {
			t.Fatalf("%v, %+v, %v", err, rejects, r.pieces)
		}
		results = append(results, r)
	}
	a, b := results[0], results[1]
	if a.rows != b.rows || a.rejected != b.rejected || !slices.Equal(a.pieces, b.pieces) || fmt.Sprint(a.rejects) != fmt.Sprint(b.rejects) ||
		a.rejects.Rows == 0 {
		t.Errorf("%+v\nand of columns\n%+v", a, b)
	}
}

// TestN6_ADamagedChunkOfColumnsIsAnError: it names the file, the line and what is wrong.
func TestN6_ADamagedChunkOfColumnsIsAnError(t *testing.T) {
	p := parser(t, string(csv.MarkedColumnar([]byte("n;text"), ';', 18)))
	_, _, err := p.Chunk([]byte("1;2\n"), 7)
	if !errors.Is(err, columnar.ErrMalformed) || !bytes.Contains([]byte(err.Error()), []byte("f.csv, rows from line 7: ")) {
		t.Error(err)
	}
	if _, err := p.Pieces([]byte{1, 9}, 7, 400, func(uint64) {}); !errors.Is(err, columnar.ErrMalformed) {
		t.Error(err)
	}
}
