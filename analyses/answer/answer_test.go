package answer

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/quick"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

func sample() *Answer {
	return &Answer{
		Analysis: "a", Session: "s",
		Queries: []Query{
			{Name: "z", Columns: []string{"x", "y"}, Rows: [][]any{{"é\x00\"\\\n\xff", int64(-3)}, {"", 1365.0}}},
			{Name: "b", Columns: []string{"only"}},
		},
		Rejected: []Rejected{{"t", analyses.Rejects{Rows: 2, First: []analyses.Reject{{File: "f", Line: 7, Reason: "r\t"}}}}, {Stream: "u"}},
	}
}

func TestJSONIsPinned(t *testing.T) {
	got, err := sample().AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"analysis": "a", "session": "s", "queries": {
  "z": {"columns": ["x", "y"], "rows": [
    ["é\u0000\"\\\n` + "\uFFFD" + `", -3],
    ["", 1365.0]]},
  "b": {"columns": ["only"], "rows": []}
}, "rejected": {
  "t": {"rows": 2, "first": [
    {"file": "f", "line": 7, "reason": "r\t"}]},
  "u": {"rows": 0, "first": []}
}}
`
	if string(got) != want {
		t.Fatalf("%s\nwant\n%s", got, want)
	}
}

func TestAnyTextAndNumberIsValidJSONAndReadsBack(t *testing.T) {
	back := func(s string, b []byte, f float64, n int64) bool {
		a := &Answer{Queries: []Query{{Name: "q", Rows: [][]any{{s, string(b), f, n}}}}}
		p, err := json.Marshal(a)
		if err != nil {
			return false
		}
		var got struct {
			Queries map[string]struct{ Rows [][]json.RawMessage }
		}
		if json.Unmarshal(p, &got) != nil {
			return false
		}
		var (
			s2 string
			f2 float64
			n2 int64
		)
		row := got.Queries["q"].Rows[0]
		if json.Unmarshal(row[0], &s2) != nil || json.Unmarshal(row[2], &f2) != nil || json.Unmarshal(row[3], &n2) != nil {
			return false
		}
		return s2 == strings.ToValidUTF8(s, "\uFFFD") && math.Float64bits(f2) == math.Float64bits(f) && n2 == n &&
			strings.ContainsAny(string(row[2]), ".e")
	}
	if err := quick.Check(back, nil); err != nil {
		t.Fatal(err)
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, 1e-7, 1e21, 1e20, 0.1, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		if !back("\x7f\x1f", []byte{0xc3, 0x28}, f, math.MinInt64) {
			t.Errorf("%v does not read back", f)
		}
	}
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	for _, v := range []any{math.NaN(), math.Inf(1), 7} {
		a := &Answer{Queries: []Query{{Name: "q", Rows: [][]any{{v}}}}}
		if _, err := a.AppendJSON(nil); !errors.Is(err, ErrNotJSON) || !strings.Contains(err.Error(), "query q") {
			t.Errorf("%v: %v", v, err)
		}
	}
}

var errReduce = errors.New("reduce")

// emitting returns an analysis with one query that emits row, or fails.
func emitting(row []any, err error) *analyses.Analysis {
	return &analyses.Analysis{
		Name:    "a",
		Streams: []analyses.Stream{{Name: "s", Schema: []batch.FieldSpec{{Name: "x", Kind: batch.Int}}}},
		Tables:  []fold.Spec{{Name: "t", Stream: "s", Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}}},
		Queries: []analyses.Query{{Name: "q", Columns: []string{"x", "y"}, Tables: []string{"t"}}},
		Reduce: func(_ analyses.Args, _ int, _ []*fold.Table, emit func(...any)) error {
			emit(row...)
			return err
		},
	}
}

func tablesOf(a *analyses.Analysis) []*fold.Table {
	return []*fold.Table{fold.NewTable(&a.Tables[0]), fold.NewTable(&analyses.RejectedSpec)}
}

func TestReduceChecksWhatIsEmitted(t *testing.T) {
	for name, c := range map[string]struct {
		row []any
		err error
		ok  bool
	}{
		"fits":          {[]any{"a", int64(1)}, nil, true},
		"too few":       {[]any{"a"}, nil, false},
		"int":           {[]any{"a", 1}, nil, false},
		"nil and bool":  {[]any{nil, true}, nil, true},
		"reduce's fail": {[]any{"a", 1.0}, errReduce, false},
	} {
		a := emitting(c.row, c.err)
		ans, err := Reduce(a, nil, "s", tablesOf(a))
		if (err == nil) != c.ok || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if c.ok && (ans.Query("q") == nil || ans.Query("none") != nil || ans.Rejected[0].Stream != "s") {
			t.Errorf("%s: %+v", name, ans)
		}
	}
}

func TestReduceRefusesASpoiltTable(t *testing.T) {
	a := emitting([]any{"a", "b"}, nil)
	tables := tablesOf(a)
	row := tables[0].Row(tables[0].Key())
	tables[0].AddSum(row, 0, math.MaxInt64)
	tables[0].AddSum(row, 0, 1)
	if _, err := Reduce(a, nil, "s", tables); !errors.Is(err, fold.ErrOverflow) {
		t.Fatal(err)
	}
}
