package eval

import "posta.dev/posta/analyses/sql/types"

// compare is = <> < <= > >=. Operands have one type.
type compare struct {
	l, r node
	op   string
	kind types.Kind
	// The digits after the point, if the operands are DECIMALs.
	lscale, rscale uint8
	out            Vector
}

func (k *compare) eval(b *batch, sel []int32) (*Vector, error) {
	if len(sel) == b.n && k.lscale == k.rscale && k.kind != types.Bool {
		if by := constantInt(k.r); by != nil {
			l, err := k.l.eval(b, sel)
			if err != nil {
				return nil, err
			}
			k.out.reset(b.n)
			k.out.nullsOf(l)
			compareAll(k.op, l.Ints, *by, k.out.Bools)
			return &k.out, nil
		}
	}
	l, r, err := both(b, sel, k.l, k.r)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(l, r)
	k.rows(l, r, sel)
	return &k.out, nil
}

func (k *compare) rows(l, r *Vector, sel []int32) {
	switch k.kind {
	case types.Double:
		compareFloats(k.op, l.Floats, r.Floats, k.out.Bools, sel)
	case types.Text:
		compareRows(k.op, l.Texts, r.Texts, k.out.Bools, sel)
	case types.Bool:
		compareBools(k.op, l.Bools, r.Bools, k.out.Bools, sel)
	default:
		if k.lscale != k.rscale {
			scaledRows(k.op, l.Ints, k.lscale, r.Ints, k.rscale, k.out.Bools, sel)
			return
		}
		compareRows(k.op, l.Ints, r.Ints, k.out.Bools, sel)
	}
}

func compareRows[T int64 | string](op string, x, y []T, out []bool, sel []int32) {
	switch op {
	case "=":
		for _, i := range sel {
			out[i] = x[i] == y[i]
		}
	case "<>":
		for _, i := range sel {
			out[i] = x[i] != y[i]
		}
	case "<":
		for _, i := range sel {
			out[i] = x[i] < y[i]
		}
	case "<=":
		for _, i := range sel {
			out[i] = x[i] <= y[i]
		}
	case ">":
		for _, i := range sel {
			out[i] = x[i] > y[i]
		}
	case ">=":
		for _, i := range sel {
			out[i] = x[i] >= y[i]
		}
	}
}

// compareAll compares all rows with one number.
func compareAll(op string, x []int64, by int64, out []bool) {
	x = x[:len(out)]
	switch op {
	case "=":
		for i, v := range x {
			out[i] = v == by
		}
	case "<>":
		for i, v := range x {
			out[i] = v != by
		}
	case "<":
		for i, v := range x {
			out[i] = v < by
		}
	case "<=":
		for i, v := range x {
			out[i] = v <= by
		}
	case ">":
		for i, v := range x {
			out[i] = v > by
		}
	case ">=":
		for i, v := range x {
			out[i] = v >= by
		}
	}
}

// Of DOUBLEs, NaN equals NaN and is greater than all others; -0 equals 0.
func equalFloats(x, y float64) bool { return x == y || x != x && y != y }
func lessFloats(x, y float64) bool  { return x < y || x == x && y != y }

func compareFloats(op string, x, y []float64, out []bool, sel []int32) {
	switch op {
	case "=":
		for _, i := range sel {
			out[i] = equalFloats(x[i], y[i])
		}
	case "<>":
		for _, i := range sel {
			out[i] = !equalFloats(x[i], y[i])
		}
	case "<":
		for _, i := range sel {
			out[i] = lessFloats(x[i], y[i])
		}
	case "<=":
		for _, i := range sel {
			out[i] = !lessFloats(y[i], x[i])
		}
	case ">":
		for _, i := range sel {
			out[i] = lessFloats(y[i], x[i])
		}
	case ">=":
		for _, i := range sel {
			out[i] = !lessFloats(x[i], y[i])
		}
	}
}

// compareBools: false is less than true.
func compareBools(op string, x, y, out []bool, sel []int32) {
	switch op {
	case "=":
		for _, i := range sel {
			out[i] = x[i] == y[i]
		}
	case "<>":
		for _, i := range sel {
			out[i] = x[i] != y[i]
		}
	case "<":
		for _, i := range sel {
			out[i] = !x[i] && y[i]
		}
	case "<=":
		for _, i := range sel {
			out[i] = !x[i] || y[i]
		}
	case ">":
		for _, i := range sel {
			out[i] = x[i] && !y[i]
		}
	case ">=":
		for _, i := range sel {
			out[i] = x[i] || !y[i]
		}
	}
}

// distinct is IS [NOT] DISTINCT FROM, the comparison for which NULL is a value.
type distinct struct {
	compare
	same bool
}

func (k *distinct) eval(b *batch, sel []int32) (*Vector, error) {
	l, r, err := both(b, sel, k.l, k.r)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.rows(l, r, sel)
	for _, i := range sel {
		ln, rn := l.IsNull(i), r.IsNull(i)
		equal := ln && rn || !ln && !rn && k.out.Bools[i]
		k.out.Bools[i] = equal == k.same
	}
	return &k.out, nil
}

// logic is AND and OR. TRUE on the left decides OR, and FALSE on the left decides AND. The right side is computed only for the
// other rows.
type logic struct {
	l, r node
	or   bool
	open []int32
	out  Vector
}

func (k *logic) eval(b *batch, sel []int32) (*Vector, error) {
	l, err := k.l.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.open = k.open[:0]
	for _, i := range sel {
		if null := l.IsNull(i); null || l.Bools[i] != k.or {
			k.open = append(k.open, i)
			if null {
				k.out.SetNull(i)
			}
		}
		k.out.Bools[i] = k.or
	}
	if len(k.open) == 0 {
		return &k.out, nil
	}
	r, err := k.r.eval(b, k.open)
	if err != nil {
		return nil, err
	}
	for _, i := range k.open {
		switch {
		case r.IsNull(i):
			k.out.SetNull(i)
		case r.Bools[i] == k.or:
			k.out.Nulls[i>>6] &^= 1 << (i & 63)
		default:
			k.out.Bools[i] = !k.or
		}
	}
	return &k.out, nil
}

type not struct {
	x   node
	out Vector
}

func (k *not) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.out.nullsOf(x)
	for _, i := range sel {
		k.out.Bools[i] = !x.Bools[i]
	}
	return &k.out, nil
}

type isNull struct {
	x   node
	out Vector
}

func (k *isNull) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	for _, i := range sel {
		k.out.Bools[i] = x.IsNull(i)
	}
	return &k.out, nil
}

// caseWhen computes each condition for the rows for which no earlier condition was true, and each value for the rows that
// take it.
type caseWhen struct {
	args      []node // conditions and values in turn, then the value of ELSE
	yes, open []int32
	out       Vector
}

func (k *caseWhen) eval(b *batch, sel []int32) (*Vector, error) {
	k.out.reset(b.n)
	k.open = append(k.open[:0], sel...)
	for a := 0; a+1 < len(k.args) && len(k.open) > 0; a += 2 {
		c, err := k.args[a].eval(b, k.open)
		if err != nil {
			return nil, err
		}
		k.yes = k.yes[:0]
		rest := k.open[:0]
		for _, i := range k.open {
			if c.Bools[i] && !c.IsNull(i) {
				k.yes = append(k.yes, i)
			} else {
				rest = append(rest, i)
			}
		}
		k.open = rest
		if len(k.yes) == 0 {
			continue
		}
		v, err := k.args[a+1].eval(b, k.yes)
		if err != nil {
			return nil, err
		}
		k.out.take(v, k.yes)
	}
	if len(k.open) == 0 {
		return &k.out, nil
	}
	v, err := k.args[len(k.args)-1].eval(b, k.open)
	if err != nil {
		return nil, err
	}
	k.out.take(v, k.open)
	return &k.out, nil
}

// coalesce computes each argument for the rows for which all earlier ones are NULL.
type coalesce struct {
	args      []node
	open, has []int32
	out       Vector
}

func (k *coalesce) eval(b *batch, sel []int32) (*Vector, error) {
	k.out.reset(b.n)
	k.open = append(k.open[:0], sel...)
	for _, a := range k.args {
		if len(k.open) == 0 {
			break
		}
		v, err := a.eval(b, k.open)
		if err != nil {
			return nil, err
		}
		k.has = k.has[:0]
		rest := k.open[:0]
		for _, i := range k.open {
			if v.IsNull(i) {
				rest = append(rest, i)
			} else {
				k.has = append(k.has, i)
			}
		}
		k.out.take(v, k.has)
		k.open = rest
	}
	for _, i := range k.open {
		k.out.SetNull(i)
	}
	return &k.out, nil
}

// nullIf is NULL if both operands are equal, else the first one.
type nullIf struct {
	compare
	value Vector
}

func (k *nullIf) eval(b *batch, sel []int32) (*Vector, error) {
	l, r, err := both(b, sel, k.l, k.r)
	if err != nil {
		return nil, err
	}
	k.compare.out.reset(b.n)
	k.rows(l, r, sel)
	k.value.reset(b.n)
	k.value.take(l, sel)
	for _, i := range sel {
		if k.compare.out.Bools[i] && !l.IsNull(i) && !r.IsNull(i) {
			k.value.SetNull(i)
		}
	}
	return &k.value, nil
}
