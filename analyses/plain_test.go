package analyses

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// plain returns an analysis without a parser, with columns of all kinds.
func plain() *Analysis {
	a := sound()
	a.NewParser = nil
	a.Streams = []Stream{{
		Name: "f", Files: "f.csv", Columns: append(Columns("i", "f", "d"), Column{Name: "t", Optional: true}),
		Schema: []batch.FieldSpec{
			{Name: "i", Kind: batch.Int}, {Name: "f", Kind: batch.Float}, {Name: "d", Kind: batch.Dict}, {Name: "t", Kind: batch.Text},
		},
	}}
	return a
}

func fields(texts ...string) [][]byte {
	out := make([][]byte, len(texts))
	for i, s := range texts {
		if s != "absent" {
			out[i] = []byte(s)
		}
	}
	return out
}

func TestN7_WithoutAParserColumnsAreWhatTheSchemaSays(t *testing.T) {
	a := plain()
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	b := batch.NewBuilder(a.Streams[0].Schema)
	row, err := a.RowParser(nil, 0, File{}, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fields [][]byte
		want   string // "" if the row is accepted
	}{
		{fields("1", "2.5", "a", "b"), ""},
		{fields("-7", "1e3", "", "absent"), ""},
		{fields("1.5", "2.5", "a", "b"), `i "1.5" is not an integer`},
		{fields("", "2.5", "a", "b"), "i is empty"},
		{fields("1", "absent", "a", "b"), "f is empty"},
		{fields("1", strings.Repeat("x", 1000), "a", "b"), `f "` + strings.Repeat("x", maxQuoted) + `" is not a number`},
	} {
		before := b.Rows()
		if err := row(c.fields); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%.30q: %v, want %q", c.fields, err, c.want)
		} else if err != nil {
			b.Truncate(before)
		}
	}
	got, err := batch.Decode(b.Append(nil), a.Streams[0].Schema)
	if err != nil || got.Rows() != 2 {
		t.Fatalf("%v, %d rows", err, got.Rows())
	}
	i, f, d, text := got.Ints(0), got.Floats(1), got.Dicts(2), got.Texts(3)
	if s := fmt.Sprintf("%d %v %q %q, %d %v %q %q", i.At(0), f.At(0), d.At(0), text.At(0), i.At(1), f.At(1), d.At(1), text.At(1)); s !=
		`1 2.5 "a" "b", -7 1000 "" ""` {
		t.Error(s)
	}
}

func TestAParserOfItsOwnIsUsed(t *testing.T) {
	a, mine := plain(), errors.New("mine")
	a.NewParser = func(Args, int, File, *batch.Builder) (func([][]byte) error, error) { return nil, mine }
	if _, err := a.RowParser(nil, 0, File{}, batch.NewBuilder(a.Streams[0].Schema)); !errors.Is(err, mine) {
		t.Error(err)
	}
}

var countSpecs = []fold.Spec{
	{Name: "sum", Stream: "f", Keys: []fold.Key{{Name: "k", Kind: fold.KeyInt}}, Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}},
	{Name: "all", Stream: "f", Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}},
}

// sumRows adds rows to the table of their key, and to the table of all rows.
func sumRows(f Facts, t []*fold.Table) error {
	all := t[1].Row(t[1].Key())
	for i := range f.Rows() {
		v := f.Ints(0).At(i)
		t[0].AddSum(t[0].Row(t[0].Key().Int(v%100)), 0, v+f.Args.Int(0))
		t[1].AddSum(all, 0, int64(f.Stream)+int64(f.Pos.Line))
	}
	return nil
}

func ints(t *testing.T, values ...int64) *batch.Batch {
	t.Helper()
	spec := []batch.FieldSpec{{Name: "x", Kind: batch.Int}}
	b := batch.NewBuilder(spec)
	for _, v := range values {
		b.Int(0).Append(v)
	}
	got, err := batch.Decode(b.Append(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func folder(t *testing.T) (Joiner, []*fold.Table) {
	t.Helper()
	j, err := FoldFacts(countSpecs, sumRows)(Args{"5"}, Replica{})
	if err != nil {
		t.Fatal(err)
	}
	return j, []*fold.Table{fold.NewTable(&countSpecs[0]), fold.NewTable(&countSpecs[1])}
}

func TestD1_FoldFactsFlushesEachRowOnce(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		j, tables := folder(t)
		want, all := map[int64]int64{}, int64(0)
		for range 1 + r.IntN(30) {
			values := make([]int64, r.IntN(200))
			for i := range values {
				values[i] = r.Int64N(1000)
				want[values[i]%100] += values[i] + 5
				all += 3 + 7
			}
			if err := j.Facts(3, ints(t, values...), Position{Line: 7}); err != nil {
				t.Fatal(err)
			}
			if r.IntN(3) == 0 {
				if err := j.Flush(tables); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(j.End(3), j.Flush(tables), j.Flush(tables)); err != nil {
			t.Fatal(err)
		}
		got := map[int64]int64{}
		for _, row := range tables[0].Rows() {
			got[tables[0].KeyInt(row, 0)] = tables[0].Sum(row, 0)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || tables[1].Sum(0, 0) != all {
			t.Fatalf("seed %d: %v and %d, want %v and %d", seed, got, tables[1].Sum(0, 0), want, all)
		}
	}
}

func TestFoldFactsReportsWhatSpoilsATable(t *testing.T) {
	j, _ := folder(t)
	if err := j.Facts(0, ints(t, math.MaxInt64-5, math.MaxInt64-5), Position{}); !errors.Is(err, fold.ErrOverflow) {
		t.Error(err)
	}
	j, tables := folder(t)
	row := tables[1].Row(tables[1].Key())
	tables[1].AddSum(row, 0, math.MaxInt64)
	if err := errors.Join(j.Facts(0, ints(t, 1), Position{Line: 1}), j.Flush(tables)); !errors.Is(err, fold.ErrOverflow) {
		t.Error(err)
	}
	mine := errors.New("mine")
	failing, err := FoldFacts(countSpecs, func(Facts, []*fold.Table) error { return mine })(nil, Replica{})
	if err != nil {
		t.Fatal(err)
	}
	if err := failing.Facts(0, ints(t, 1), Position{}); !errors.Is(err, mine) {
		t.Error(err)
	}
	if err := failing.Reference(2, ints(t, 1), Position{}); !errors.Is(err, ErrNoReference) || !strings.Contains(err.Error(), "stream 2") {
		t.Error(err)
	}
}

func TestIntegersAreCheckedAndRead(t *testing.T) {
	check := Integer(-3, 1000)
	for v, ok := range map[string]bool{"-3": true, "1000": true, "0": true, "-4": false, "1001": false, "": false, "x": false, "1.0": false,
		"99999999999999999999": false} {
		if err := check(v); (err == nil) != ok || err != nil && err.Error() != "give an integer from -3 to 1000" {
			t.Errorf("%q: %v", v, err)
		}
	}
	if got := (Args{"x", "-12"}).Int(1); got != -12 {
		t.Error(got)
	}
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), "let its Check be Integer") {
			t.Errorf("an unchecked text is read as a number: %v", r)
		}
	}()
	(Args{"x"}).Int(0)
}

func TestASetIsCheckedWhole(t *testing.T) {
	b := sound()
	b.Name = "b"
	if err := (Set{sound(), b}).Check(); err != nil {
		t.Error(err)
	}
	if err := (Set{sound(), b, sound()}).Check(); !errors.Is(err, ErrBadAnalysis) || !strings.Contains(err.Error(), `two called "a"`) {
		t.Error(err)
	}
	b.Reduce = nil
	if err := (Set{sound(), b}).Check(); !errors.Is(err, ErrBadAnalysis) {
		t.Error(err)
	}
}

func TestColumnsAreNeeded(t *testing.T) {
	if got := Columns("a", "b"); !slices.Equal(got, []Column{{Name: "a"}, {Name: "b"}}) {
		t.Errorf("%+v", got)
	}
}
