package eval

import (
	"math"
	"math/bits"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// both computes two operands.
func both(b *batch, sel []int32, l, r node) (lv, rv *Vector, err error) {
	if lv, err = l.eval(b, sel); err != nil {
		return nil, nil, err
	}
	rv, err = r.eval(b, sel)
	return lv, rv, err
}

// ints is arithmetic of BIGINTs. What does not fit is an error, but not where an operand is NULL: whatever stands there means nothing.
type ints struct {
	l, r node
	op   string
	at   syntax.Pos
	out  Vector
}

func (k *ints) eval(b *batch, sel []int32) (*Vector, error) {
	l, r, err := both(b, sel, k.l, k.r)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(l, r)
	x, y, z := l.Ints, r.Ints, k.out.Ints
	bad := int32(-1)
	switch k.op {
	case "+":
		for _, i := range sel {
			s := x[i] + y[i]
			z[i] = s
			if (x[i]^s)&(y[i]^s) < 0 && bad < 0 && !k.out.IsNull(i) {
				bad = i
			}
		}
	case "-":
		for _, i := range sel {
			s := x[i] - y[i]
			z[i] = s
			if (x[i]^y[i])&(x[i]^s) < 0 && bad < 0 && !k.out.IsNull(i) {
				bad = i
			}
		}
	case "*":
		for _, i := range sel {
			p, ok := multiply(x[i], y[i])
			z[i] = p
			if !ok && bad < 0 && !k.out.IsNull(i) {
				bad = i
			}
		}
	default:
		bad = k.divide(x, y, z, sel)
	}
	if bad >= 0 {
		return nil, &Error{k.at, bad, "the result of " + k.op + " does not fit into a BIGINT"}
	}
	return &k.out, nil
}

// divide is // and %, which truncate toward zero; by zero they are NULL. The least BIGINT has neither by -1, as in DuckDB.
func (k *ints) divide(x, y, z []int64, sel []int32) (bad int32) {
	bad = -1
	for _, i := range sel {
		switch {
		case y[i] == 0:
			k.out.setNull(i)
		case x[i] == math.MinInt64 && y[i] == -1:
			if bad < 0 && !k.out.IsNull(i) {
				bad = i
			}
		case k.op == "%":
			z[i] = x[i] % y[i]
		default:
			z[i] = x[i] / y[i]
		}
	}
	return bad
}

// multiply returns a product and whether it fits.
func multiply(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	h := int64(hi)
	if x < 0 {
		h -= y
	}
	if y < 0 {
		h -= x
	}
	return int64(lo), h == int64(lo)>>63
}

// floats is arithmetic of DOUBLEs. Each result is rounded by itself: no two operations meet in one kernel, so no processor fuses them.
type floats struct {
	l, r node
	op   string
	out  Vector
}

func (k *floats) eval(b *batch, sel []int32) (*Vector, error) {
	l, r, err := both(b, sel, k.l, k.r)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(l, r)
	x, y, z := l.Floats, r.Floats, k.out.Floats
	switch k.op {
	case "+":
		for _, i := range sel {
			z[i] = x[i] + y[i]
		}
	case "-":
		for _, i := range sel {
			z[i] = x[i] - y[i]
		}
	case "*":
		for _, i := range sel {
			z[i] = x[i] * y[i]
		}
	case "/":
		for _, i := range sel {
			z[i] = x[i] / y[i]
		}
	case "%": // by zero NaN, as in DuckDB
		for _, i := range sel {
			z[i] = math.Mod(x[i], y[i])
		}
	}
	return &k.out, nil
}

// negate is - of a DOUBLE: 0 - x would lose the sign of zero.
type negate struct {
	x   node
	out Vector
}

func (k *negate) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(x)
	for _, i := range sel {
		k.out.Floats[i] = -x.Floats[i]
	}
	return &k.out, nil
}

// cast converts numbers, and dates to timestamps.
type cast struct {
	x        node
	from     types.Kind
	try      bool
	min, max int64
	at       syntax.Pos
	out      Vector
}

func compileCast(e *bind.Cast, out Vector) (node, error) {
	x, err := compile(e.X)
	if err != nil {
		return nil, err
	}
	k := &cast{x, e.X.Type().Kind, e.Try, math.MinInt64, math.MaxInt64, e.At, out}
	if e.Range != nil {
		k.min, k.max = e.Range.Min, e.Range.Max
	}
	switch [2]types.Kind{k.from, out.Kind} {
	case [2]types.Kind{types.BigInt, types.BigInt}, [2]types.Kind{types.BigInt, types.Double}, [2]types.Kind{types.Double, types.BigInt}, [2]types.Kind{types.Date, types.Timestamp}:
		return k, nil
	}
	return nil, unsupported(k.from.String() + " as " + e.T.String())
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

func (k *cast) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(x)
	bad := int32(-1)
	fails := func(i int32) {
		switch {
		case k.out.IsNull(i):
		case k.try:
			k.out.setNull(i)
		case bad < 0:
			bad = i
		}
	}
	switch {
	case k.out.Kind == types.Double:
		for _, i := range sel {
			k.out.Floats[i] = float64(x.Ints[i])
		}
	case k.from == types.Double:
		for _, i := range sel {
			r := math.RoundToEven(x.Floats[i])
			if !(r >= -0x1p63 && r < 0x1p63) || int64(r) < k.min || int64(r) > k.max {
				fails(i)
				continue
			}
			k.out.Ints[i] = int64(r)
		}
	case k.from == types.Date:
		for _, i := range sel {
			v, ok := multiply(x.Ints[i], microsPerDay)
			if k.out.Ints[i] = v; !ok {
				fails(i)
			}
		}
	default:
		for _, i := range sel {
			if k.out.Ints[i] = x.Ints[i]; x.Ints[i] < k.min || x.Ints[i] > k.max {
				fails(i)
			}
		}
	}
	if bad >= 0 {
		return nil, &Error{k.at, bad, "the value does not fit into the type that it is converted to"}
	}
	return &k.out, nil
}
