package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
)

// TestConstantsAreColumns: sums and comparisons with a constant are those with a column that repeats it, for all rows and for some.
func TestConstantsAreColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	most := field.Powers[types.MaxPrecision] - 1
	edges := []int64{0, 1, -1, 7, most, -most, most - 7, 7 - most, math.MaxInt64, math.MinInt64, math.MaxInt64 - 7, math.MinInt64 + 7}
	draw := func() int64 { return edges[r.IntN(len(edges))] >> (r.IntN(2) * r.IntN(64)) }
	for range 3000 {
		by, n := draw(), 1+r.IntN(130)
		limit, kind := int64(0), types.BigInt
		if r.IntN(2) == 0 {
			limit, kind = most, types.Decimal
		}
		x, repeated := NewVector(kind, n), NewVector(kind, n)
		var sel []int32
		all := r.IntN(2) == 0
		for i := range n {
			if x.Ints[i] = int64(i); r.IntN(20) == 0 {
				x.Ints[i] = draw()
			}
			if repeated.Ints[i] = by; all || r.IntN(2) == 0 {
				sel = append(sel, int32(i))
			}
			if r.IntN(200) == 0 {
				x.SetNull(int32(i))
			}
		}
		b := &batch{columns: []*Vector{x, repeated}, n: n}
		c := &constant{value: by, out: Vector{Kind: kind}}
		for _, op := range []string{"+", "-", "*", "//", "%"} {
			one := &ints{l: &column{0}, r: c, by: constantInt(c), op: op, most: limit, out: Vector{Kind: kind}}
			two := &ints{l: &column{0}, r: &column{1}, op: op, most: limit, out: Vector{Kind: kind}}
			sameNodes(t, fmt.Sprint(op, by), b, sel, one, two)
		}
		for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
			one := &compare{l: &column{0}, r: c, op: op, kind: kind, out: Vector{Kind: types.Bool}}
			two := &compare{l: &column{0}, r: &column{1}, op: op, kind: kind, out: Vector{Kind: types.Bool}}
			sameNodes(t, fmt.Sprint(op, by), b, sel, one, two)
		}
	}
}

func sameNodes(t *testing.T, what string, b *batch, sel []int32, one, two node) {
	t.Helper()
	v, err := one.eval(b, sel)
	w, fails := two.eval(b, sel)
	if !reflect.DeepEqual(err, fails) {
		t.Fatalf("%s: %v, and not %v", what, err, fails)
	}
	if err != nil {
		return
	}
	for _, i := range sel {
		if got, want := v.Value(int(i)), w.Value(int(i)); got != want {
			t.Fatalf("%s, row %d: %v, and not %v", what, i, got, want)
		}
	}
}
