package bounds

import (
	"math"
	"testing"
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
