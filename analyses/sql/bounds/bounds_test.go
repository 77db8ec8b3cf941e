package bounds

import (
	"fmt"
	"math"
	"testing"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

func TestUnitsAreRoundedDown(t *testing.T) {
	for _, c := range []struct {
		v        int64
		from, to int
		want     int64
		whole    bool
		ok       bool
	}{
		{15, 1, 0, 1, false, true}, {-15, 1, 0, -2, false, true}, {-20, 1, 0, -2, true, true}, {1001, 3, 0, 1, false, true},
		{1000, 3, 0, 1, true, true},
		{-1, 18, 0, -1, false, true}, {7, 0, 2, 700, true, true}, {math.MaxInt64 / 10, 0, 1, math.MaxInt64 / 10 * 10, true, true},
		{math.MaxInt64/10 + 1, 0, 1, 0, false, false}, {math.MinInt64, 0, 1, 0, false, false},
		{math.MinInt64, 2, 0, math.MinInt64/100 - 1, false, true},
	} {
		if n, whole, ok := inUnits(c.v, c.from, c.to); ok != c.ok || ok && (n != c.want || whole != c.whole) {
			t.Errorf("inUnits(%d, %d, %d) = %d, %t, %t", c.v, c.from, c.to, n, whole, ok)
		}
	}
}

// TestOnly_ValuesInUnitsOfTheColumn: constants with other digits than the column count as its values, and those that it cannot have not at
// all.
func TestOnly_ValuesInUnitsOfTheColumn(t *testing.T) {
	cents, text, double := types.DecimalOf(9, 2), types.Of(types.Text), types.Of(types.Double)
	is := func(of types.Type, values ...plan.Expr) plan.Expr {
		return plan.Call(types.Of(types.Bool), 0, "IN", append([]plan.Expr{plan.Field{ID: 5, Type: of}.Ref(0)}, values...)...)
	}
	many := make([]plan.Expr, mostOnly+1)
	for i := range many {
		many[i] = plan.Value(cents, 0, int64(i))
	}
	for _, c := range []struct {
		of   types.Type
		e    plan.Expr
		want string
	}{
		{cents, is(cents, plan.Value(types.Of(types.BigInt), 0, int64(7)), plan.Value(types.DecimalOf(9, 3), 0, int64(7))), "[700] true"},
		{cents, is(cents, plan.Value(types.DecimalOf(9, 3), 0, int64(70)), plan.Value(cents, 0, nil)), "[7] true"},
		{cents, is(cents, plan.Value(types.Of(types.BigInt), 0, int64(math.MaxInt64))), "[] false"},
		{cents, is(cents, plan.Value(types.Of(types.Date), 0, int64(7))), "[] false"},
		{text, is(text, plan.Value(text, 0, "a"), plan.Value(text, 0, "b")), "[a b] true"},
		{double, is(double, plan.Value(double, 0, 1.5)), "[1.5] true"},
		{double, is(double, plan.Value(double, 0, math.NaN())), "[] false"},
		{cents, is(cents, many[1:]...), "256 true"},
		{cents, is(cents, many...), "[] false"},
		{cents, plan.And(is(cents, many[:2]...), is(cents, many[1])), "[1] true"},
	} {
		values, ok := Only(c.e, c.of)
		got := fmt.Sprint(values, ok)
		if len(values) > 9 {
			got = fmt.Sprint(len(values), ok)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", shown(c.e), got, c.want)
		}
	}
}
