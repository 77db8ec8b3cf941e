package values

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

var blockKinds = []types.Kind{types.BigInt, types.Double, types.Bool, types.Text, types.Interval, types.TextList, types.Date}

// same describes a value so that two descriptions are equal if the bits are.
func same(v *eval.Vector, row int32) string {
	if v.IsNull(row) {
		return "NULL"
	}
	switch v.Kind {
	case types.Double:
		return fmt.Sprint(math.Float64bits(v.Floats[row]))
	case types.Bool:
		return fmt.Sprint(v.Bools[row])
	case types.Text:
		return fmt.Sprintf("%q", v.Texts[row])
	case types.Interval:
		return fmt.Sprint(v.Intervals[row])
	case types.TextList:
		l := v.Lists[row]
		text := ""
		for i, s := range l.Items {
			if l.Nulls != nil && l.Nulls[i] {
				s = "NULL" // its text is anything
			}
			text += fmt.Sprintf("%q,", s)
		}
		return text
	}
	return fmt.Sprint(v.Ints[row])
}

func randomVector(r *rand.Rand, kind types.Kind, n int) *eval.Vector {
	v := eval.NewVector(kind, n)
	nulls, wide := []int{0, 10, 100}[r.IntN(3)], r.IntN(65)
	for i := range int32(n) {
		x := r.Uint64() >> (63 - min(wide, 63)) >> 1
		switch kind {
		case types.Double:
			v.Floats[i] = []float64{math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Float64frombits(r.Uint64()), 1.5}[r.IntN(5)]
		case types.Bool:
			v.Bools[i] = x&1 == 1
		case types.Text:
			v.Texts[i] = strings.Repeat("é\x00", int(x%70))
		case types.Interval:
			v.Intervals[i] = plan.Interval{Months: int32(x), Days: -int32(x >> 3), Micros: int64(x)}
		case types.TextList:
			for range x % 4 {
				v.Lists[i].Items = append(v.Lists[i].Items, fmt.Sprint(x))
				if x%3 == 0 {
					v.Lists[i].Nulls = append(v.Lists[i].Nulls, len(v.Lists[i].Items) == 2)
				}
			}
		default:
			v.Ints[i] = []int64{int64(x), -int64(x), math.MinInt64, math.MaxInt64}[r.IntN(2+2*(wide&1))]
		}
		if r.IntN(100) < nulls {
			v.SetNull(i)
		}
	}
	return v
}

// FuzzBlocks: the rows of a block are those that were appended, bit by bit, and a cut block is an error.
func FuzzBlocks(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint16(seed*7))
	}
	f.Fuzz(func(t *testing.T, seed uint64, count uint16) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := int(count) % 3000
		var columns []*eval.Vector
		var kinds []types.Kind
		for _, k := range blockKinds {
			kinds = append(kinds, k)
			if r.IntN(8) == 0 {
				columns = append(columns, nil)
				continue
			}
			columns = append(columns, randomVector(r, k, n))
		}
		var rows []int32
		for i := range int32(n) {
			if r.IntN(3) > 0 {
				rows = append(rows, i)
			}
		}
		b := AppendBlock(nil, columns, rows)
		got, read, err := ReadBlock(b, kinds)
		if err != nil || read != len(rows) {
			t.Fatalf("%d rows, not %d; %v", read, len(rows), err)
		}
		for c, v := range columns {
			if (v == nil) != (got[c] == nil) {
				t.Fatalf("column %d is there, or is not", c)
			}
			for k, row := range rows {
				if v == nil {
					continue
				}
				if is, want := same(got[c], int32(k)), same(v, row); is != want {
					t.Fatalf("column %d, row %d is %s, not %s", c, k, is, want)
				}
				if got[c].IsNull(int32(k)) && got[c].Kind == types.BigInt && got[c].Ints[k] != 0 {
					t.Fatal("a NULL has a value")
				}
			}
		}
		for range 20 {
			if cut := b[:r.IntN(len(b))]; len(cut) < len(b) {
				if _, _, err := ReadBlock(cut, kinds); err == nil {
					t.Fatalf("%d of %d bytes are taken for a block", len(cut), len(b))
				}
			}
		}
	})
}

// FuzzReadBlock: any bytes are an error, or rows.
func FuzzReadBlock(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 5))
	var columns []*eval.Vector
	for _, k := range blockKinds {
		columns = append(columns, randomVector(r, k, 9))
	}
	f.Add(AppendBlock(nil, columns, []int32{0, 3, 8}))
	f.Fuzz(func(t *testing.T, b []byte) {
		columns, n, err := ReadBlock(b, blockKinds)
		if err != nil {
			return
		}
		for _, v := range columns {
			for row := range int32(n) {
				if v != nil {
					same(v, row)
				}
			}
		}
	})
}
