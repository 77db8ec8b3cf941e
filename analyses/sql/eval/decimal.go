package eval

import (
	"cmp"
	"math"

	"posta.dev/posta/analyses/sql/field"
)

// rescale changes the number of digits after the point of a DECIMAL, and rounds half away from zero.
func rescale(v int64, from, to uint8) (int64, bool) {
	if to >= from {
		return multiply(v, field.Powers[to-from])
	}
	power := field.Powers[from-to]
	q, r := v/power, v%power
	if r >= (power+1)/2 {
		q++
	} else if r <= -(power+1)/2 {
		q--
	}
	return q, true
}

// compareScaled compares two DECIMALs exactly, or a DECIMAL with a BIGINT, which has no digits after the point.
func compareScaled(x int64, xs uint8, y int64, ys uint8) int {
	if xs > ys {
		return -compareScaled(y, ys, x, xs)
	}
	v, ok := multiply(x, field.Powers[ys-xs])
	if !ok { // x has more digits than y can have
		return cmp.Compare(x, 0)
	}
	return cmp.Compare(v, y)
}

// scaledRows is compareRows for operands with different numbers of digits after the point.
func scaledRows(op string, x []int64, xs uint8, y []int64, ys uint8, out []bool, sel []int32) {
	for _, i := range sel {
		c := compareScaled(x[i], xs, y[i], ys)
		switch op {
		case "=":
			out[i] = c == 0
		case "<>":
			out[i] = c != 0
		case "<":
			out[i] = c < 0
		case "<=":
			out[i] = c <= 0
		case ">":
			out[i] = c > 0
		case ">=":
			out[i] = c >= 0
		}
	}
}

// roundTo rounds a BIGINT, or the digits of a DECIMAL, to a multiple of a power of ten, half away from zero. From 19 digits
// on, the result is 0, as in DuckDB.
func roundTo(v int64, digits int64) (int64, bool) {
	switch {
	case digits <= 0:
		return v, true
	case digits >= 19:
		return 0, true
	}
	power := field.Powers[digits]
	q, _ := rescale(v, uint8(digits), 0)
	if q > math.MaxInt64/power || q < math.MinInt64/power {
		return 0, false
	}
	return q * power, true
}
