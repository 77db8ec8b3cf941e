package parse

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// shared returns an analysis with two parties. One wants even numbers and no text, the other wants a text and skips "skip". A row that is
// wrong for one of them has 0 or "" in place of what that one reads.
func shared() *analyses.Analysis {
	number := analyses.Party{Name: "s for numbers", Columns: analyses.Columns("n"), Schema: []batch.FieldSpec{{Name: "n", Kind: batch.Int}},
		NewParser: func(_ analyses.File, b *batch.Builder) func([][]byte) error {
			return func(f [][]byte) error { return addEven(b, f[0]) }
		}}
	text := analyses.Party{Name: "s for texts", Columns: analyses.Columns("text"), Schema: []batch.FieldSpec{{Name: "text", Kind: batch.Dict}},
		NewParser: func(_ analyses.File, b *batch.Builder) func([][]byte) error {
			return func(f [][]byte) error {
				switch string(f[0]) {
				case "skip":
					return analyses.ErrSkip
				case "fail":
					return analyses.Fails(errOdd)
				case "":
					return errEmptyText
				}
				b.Dict(0).Append(f[0])
				return nil
			}
		}}
	return &analyses.Analysis{
		Name: "shared",
		Streams: []analyses.Stream{{
			Name: "s", Files: "*.csv", Comma: ';', Columns: analyses.Columns("n", "text"),
			PlannedStream: analyses.PlannedStream{Parties: []analyses.Party{number, text}},
			Schema:        []batch.FieldSpec{{Name: "n", Kind: batch.Int}, {Name: "text", Kind: batch.Dict}, {Name: "missing", Kind: batch.Int}},
		}},
		Tables: []fold.Spec{{Name: "t", Stream: "s", Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}}},
		NewParser: func(_ analyses.Args, _ int, file analyses.File, b *batch.Builder) (func([][]byte) error, error) {
			return func(f [][]byte) error {
				missing := *file.Missing
				if err := addEven(b, f[0]); err != nil {
					if missing == 0 {
						return err
					}
					b.Int(0).Append(0)
				}
				if len(f[1]) == 0 && missing == 0 {
					return errEmptyText
				}
				b.Dict(1).Append(f[1])
				b.Int(2).Append(int64(missing))
				return nil
			}, nil
		},
	}
}

var errEmptyText = errors.New("text is empty")

func addEven(b *batch.Builder, p []byte) error {
	n, ok := csv.ParseInt(p)
	if !ok || n%2 != 0 {
		return fmt.Errorf("%q is not an even number", p)
	}
	b.Int(0).Append(n)
	return nil
}

// TestN7_APartyRejectsRowsForItself: a row counts for each party that accepts it alone, and appears once among the rejects of each other
// party, in one piece or in several, in CSV and in columns.
func TestN7_APartyRejectsRowsForItself(t *testing.T) {
	const data = "2;a\n3;b\n4;\n5;\n6\n7\n8;skip\n9;skip\n\"1\"0;c\n12;\"d;\"\"e\"\n"
	type result struct {
		rows     string
		rejected []string
	}
	parse := func(header, data []byte, most int) (r result) {
		p, err := NewFile(shared(), 0, nil, analyses.File{Name: "f.csv"}, header)
		if err != nil {
			t.Fatal(err)
		}
		take := func(uint64) {
			b, err := batch.Decode(p.Builder().Append(nil), shared().Streams[0].Schema)
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Rows() {
				d := b.Dicts(1)
				r.rows += fmt.Sprintf("%d %s %d, ", b.Ints(0).At(i), d.Entry(int(d.Code(i))), b.Ints(2).At(i))
			}
		}
		listed := 0
		p.OnReject = func(string, uint64, []byte, error) { listed++ }
		var rejects analyses.Rejects
		if most == 0 {
			_, rejects, err = p.Chunk(data, 2)
			take(2)
		} else {
			rejects, err = p.Pieces(data, 2, most, take)
		}
		if err != nil || uint64(listed) != rejects.Rows || len(rejects.First) > 0 {
			t.Fatalf("%v, %d listed of %+v", err, listed, rejects)
		}
		table := fold.NewTable(&analyses.RejectedSpec)
		s := &shared().Streams[0]
		s.AddRejects(&rejects, table)
		for _, name := range s.Counts() {
			all, err := analyses.RejectsOf(table, name)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprint(name, " ", all.Rows)
			for _, one := range all.First {
				text += fmt.Sprintf("; %d: %s", one.Line, one.Reason)
			}
			r.rejected = append(r.rejected, text)
		}
		return r
	}
	const broken = "there is text after the closing quote of field 1, which opens in line 10; write a quote inside a quoted field twice"
	want := result{`2 a 0, 0 b 1, 4  2, 8 skip 0, 12 d;"e 0, `, []string{
		`s for numbers 6; 3: "3" is not an even number; 5: "5" is not an even number; 6: row has 1 field, and the header has 2; 7: row has 1 field, and the header has 2; 9: "9" is not an even number; 10: ` + broken,
		"s for texts 5; 4: text is empty; 5: text is empty; 6: row has 1 field, and the header has 2; 7: row has 1 field, and the header has " +
			"2; 10: " + broken,
	}}
	for _, most := range []int{0, 60, 1 << 20} {
		if got := parse([]byte("n;text"), []byte(data), most); got.rows != want.rows || !slices.Equal(got.rejected, want.rejected) {
			t.Errorf("pieces of %d bytes: %q", most, got)
		}
	}

	w := columnar.NewWriter(2)
	for i, text := range []string{"a", "b", "", "", "skip", "skip", "d;\"e"} {
		w.Column(0).AppendInt(columnar.Int, int64(2+i))
		w.Column(1).AppendText([]byte(text))
	}
	want = result{`2 a 0, 0 b 1, 4  2, 6 skip 0, 8 d;"e 0, `, []string{
		`s for numbers 3; 3: "3" is not an even number; 5: "5" is not an even number; 7: "7" is not an even number`,
		"s for texts 2; 4: text is empty; 5: text is empty"}}
	if got := parse(csv.MarkedColumnar([]byte("n;text"), ';', 18), w.Append(nil), 0); got.rows != want.rows ||
		!slices.Equal(got.rejected, want.rejected) {
		t.Errorf("of columns: %q", got)
	}

	p, err := NewFile(shared(), 0, nil, analyses.File{Name: "f.csv"}, []byte("n;text"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Chunk([]byte("2;a\n3;fail\n"), 2); !errors.Is(err, errOdd) {
		t.Errorf("a row for which a party fails the session: %v", err)
	}
}
