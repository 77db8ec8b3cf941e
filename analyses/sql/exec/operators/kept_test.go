package operators

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// value returns the value of a row in a form that can be compared.
func value(v *eval.Vector, row int32) string {
	switch {
	case v.IsNull(row):
		return "NULL"
	case v.Kind == types.Double:
		return fmt.Sprint(v.Floats[row])
	case v.Kind == types.Bool:
		return fmt.Sprint(v.Bools[row])
	case v.Kind == types.Text:
		return fmt.Sprintf("%q", v.Texts[row])
	case v.Kind == types.Interval:
		return fmt.Sprint(v.Intervals[row])
	case v.Kind == types.TextList:
		return fmt.Sprint(v.Lists[row])
	}
	return fmt.Sprint(v.Ints[row])
}

// FuzzKeptRows adds batches of all types, with few and with many distinct texts, and compares the rows that come back.
func FuzzKeptRows(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	kinds := []types.Kind{types.BigInt, types.Double, types.Bool, types.Text, types.Interval, types.TextList, types.Date}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		distinct := []int{1, 5, fewTexts - 1, fewTexts, fewTexts + 1, 1 << 20}[r.IntN(6)]
		nulls, coded := []int{0, 0, 3, 100}[r.IntN(4)], r.IntN(2) == 0
		var fields []plan.Field
		for _, k := range kinds {
			fields = append(fields, plan.Field{Type: types.Of(k)})
		}
		fields = append(fields, plan.Field{Type: types.Of(types.BigInt)}) // nobody reads this one
		read := slices.Repeat([]bool{true}, len(kinds))
		x := &Executor{limit: 1 << 30, pause: func() {}}
		s := x.keep(fields, append(read, false))
		want := make([][]string, len(kinds))
		for left := r.IntN(4 * blockRows); left > 0; {
			n := 1 + r.IntN(min(left, 3000))
			left -= n
			b := &Batch{N: n}
			for i := range int32(n) {
				if r.IntN(10) > 0 {
					b.Sel = append(b.Sel, i)
				}
			}
			for c, k := range kinds {
				v := eval.NewVector(k, n)
				for i := range int32(n) {
					of := r.IntN(distinct)
					text := strings.Repeat("é", of%7) + fmt.Sprint(of)
					switch k {
					case types.Double:
						v.Floats[i] = float64(of) / 4
					case types.Bool:
						v.Bools[i] = of&1 == 1
					case types.Text:
						v.Texts[i] = text
					case types.Interval:
						v.Intervals[i] = plan.Interval{Months: int32(of), Days: int32(seed), Micros: -1}
					case types.TextList:
						v.Lists[i] = eval.List{Items: []string{text}}
					default:
						v.Ints[i] = int64(of) - 9
					}
					if r.IntN(100) < nulls {
						v.SetNull(i)
					}
				}
				if coded && k == types.Text {
					codes := map[string]uint32{}
					for i, text := range v.Texts {
						if _, ok := codes[text]; !ok {
							codes[text] = uint32(len(codes))
						}
						if v.Codes = append(v.Codes, codes[text]); v.IsNull(int32(i)) {
							v.Texts[i] = "the text of NULL is anything"
						}
					}
					v.Entries = len(codes)
				}
				b.Columns = append(b.Columns, v)
				for _, i := range b.Sel {
					want[c] = append(want[c], value(v, i))
				}
			}
			if err := s.add(&Batch{Columns: append(b.Columns, nil), N: n, Sel: b.Sel}); err != nil {
				t.Fatal(err)
			}
		}
		s.close()
		if s.columns[len(kinds)] != nil {
			t.Error("a column is kept that nobody reads")
		}
		room := make([]*eval.Vector, len(kinds))
		for range 20 {
			var rows []int32
			for range r.IntN(100) {
				if s.n > 0 && (nulls == 0 || r.IntN(30) > 0) {
					rows = append(rows, int32(r.IntN(s.n)))
				} else if r.IntN(9) == 0 {
					rows = append(rows, -1)
				}
			}
			for c := range kinds {
				v := s.columns[c].gather(rows, room[c])
				if r.IntN(2) == 0 {
					room[c] = v
				}
				for k, row := range rows {
					is := "NULL"
					if row >= 0 {
						is = want[c][row]
					}
					if got := value(v, int32(k)); got != is {
						t.Fatalf("row %d of %s is %s, not %s", row, kinds[c], got, is)
					}
					if v.Codes != nil && is != "NULL" && (int(v.Codes[k]) >= v.Entries || v.Dict.Texts[v.Codes[k]] != v.Texts[k]) {
						t.Fatalf("row %d has the code %d of %d", row, v.Codes[k], v.Entries)
					}
				}
			}
		}
		if s.release(); x.held != 0 {
			t.Errorf("%d bytes are still counted", x.held)
		}
	})
}
