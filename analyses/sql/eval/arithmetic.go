package eval

import (
	"math"
	"math/bits"

	"posta.dev/posta/analyses/sql/syntax"
)

// both computes two operands.
func both(b *batch, sel []int32, l, r node) (lv, rv *Vector, err error) {
	if lv, err = l.eval(b, sel); err != nil {
		return nil, nil, err
	}
	rv, err = r.eval(b, sel)
	return lv, rv, err
}

// ints is arithmetic of BIGINTs, and of the digits of DECIMALs. A result that does not fit is an error, except in rows where an
// operand is NULL: there the operand's number has no meaning. most is the largest number of digits of a DECIMAL, 0 for BIGINT.
type ints struct {
	l, r node
	by   *int64 // the right operand, if it is constant
	op   string
	most int64
	at   syntax.Pos
	out  Vector
}

func (k *ints) eval(b *batch, sel []int32) (*Vector, error) {
	if k.by != nil && len(sel) == b.n {
		l, err := k.l.eval(b, sel)
		if err != nil {
			return nil, err
		}
		k.out.reset(b.n)
		k.out.nullsOf(l)
		if k.add(l.Ints) {
			return &k.out, nil
		}
	}
	l, r, err := both(b, sel, k.l, k.r)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(l, r)
	x, y, z := l.Ints, r.Ints, k.out.Ints
	if k.fits(x, y, z, sel) {
		return &k.out, nil
	}
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
		return nil, &Error{k.at, bad, "the result of " + k.op + " does not fit into a " + k.out.Kind.String()}
	}
	if k.most != 0 {
		return k.checked(sel)
	}
	return &k.out, nil
}

// add adds the constant to all rows, or subtracts it. It returns false for other operators, and if a result may not fit.
func (k *ints) add(x []int64) bool {
	by, z := *k.by, k.out.Ints
	switch {
	case k.op == "-" && by != math.MinInt64:
		by = -by
	case k.op != "+":
		return false
	}
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if k.most != 0 {
		least, most = -k.most, k.most
	}
	// The sum fits if x is between these bounds. They do not overflow, as by is less than the distance between them.
	if by > 0 {
		most -= by
	} else {
		least -= by
	}
	if least > most {
		return false
	}
	span, odd := uint64(most)-uint64(least), false
	x = x[:len(z)]
	for i := range z {
		v := x[i]
		z[i] = v + by
		if uint64(v)-uint64(least) > span {
			odd = true
		}
	}
	return !odd
}

// fits computes sums, differences and products without a branch for each row. It returns false for other operators, and if a
// result may not fit, for a row in which an operand is NULL as well. Then all rows have to be computed again, one by one.
func (k *ints) fits(x, y, z []int64, sel []int32) bool {
	odd := int64(0) // negative if a result may not fit
	if len(sel) == len(z) && k.most == 0 && k.op != "*" {
		return k.fitsAll(x[:len(z)], y[:len(z)], z)
	}
	switch k.op {
	case "+":
		for _, i := range sel {
			s := x[i] + y[i]
			z[i] = s
			odd |= (x[i]^s)&(y[i]^s) | k.tooLong(s)
		}
	case "-":
		for _, i := range sel {
			s := x[i] - y[i]
			z[i] = s
			odd |= (x[i]^y[i])&(x[i]^s) | k.tooLong(s)
		}
	case "*":
		// The float64 of a product is off by less than 2^-51 of it.
		limit := 0x1p62
		if k.most != 0 {
			limit = float64(k.most) * (1 - 0x1p-50)
		}
		for _, i := range sel {
			z[i] = x[i] * y[i]
			if f := float64(x[i]) * float64(y[i]); !(f < limit && f > -limit) {
				odd = -1
			}
		}
	default:
		return false
	}
	return odd >= 0
}

// fitsAll is fits for sums and differences of BIGINTs in all rows.
func (k *ints) fitsAll(x, y, z []int64) bool {
	odd := int64(0)
	switch k.op {
	case "+":
		for i := range z {
			s := x[i] + y[i]
			z[i] = s
			odd |= (x[i] ^ s) & (y[i] ^ s)
		}
	case "-":
		for i := range z {
			s := x[i] - y[i]
			z[i] = s
			odd |= (x[i] ^ y[i]) & (x[i] ^ s)
		}
	default:
		return false
	}
	return odd >= 0
}

// tooLong is negative if v has more digits than the DECIMAL type has. v+most cannot overflow unless v itself is the result of an
// overflow, which the caller finds.
func (k *ints) tooLong(v int64) int64 {
	if k.most == 0 {
		return 0
	}
	return (v + k.most) | (k.most - v)
}

// checked refuses results with more digits than the DECIMAL type has.
func (k *ints) checked(sel []int32) (*Vector, error) {
	for _, i := range sel {
		if v := k.out.Ints[i]; (v > k.most || v < -k.most) && !k.out.IsNull(i) {
			return nil, &Error{k.at, i, "the result of " + k.op + " has more than 18 digits, which a DECIMAL cannot hold: write x::DOUBLE"}
		}
	}
	return &k.out, nil
}

// divide is // and %, which truncate toward zero. Division by zero gives NULL. Dividing the least BIGINT by -1 is an error, as
// in DuckDB.
func (k *ints) divide(x, y, z []int64, sel []int32) (bad int32) {
	bad = -1
	for _, i := range sel {
		switch {
		case y[i] == 0:
			k.out.SetNull(i)
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

// multiply returns a product, and whether it fits into 64 bits.
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

// floats is arithmetic of DOUBLEs. A kernel has only one operation, and rounds its result, so no processor can fuse two
// operations.
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
	case "%": // % by zero gives NaN, as in DuckDB
		for _, i := range sel {
			z[i] = math.Mod(x[i], y[i])
		}
	}
	return &k.out, nil
}

// negate is - of a DOUBLE. It is not 0 - x, which would lose the sign of zero.
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
