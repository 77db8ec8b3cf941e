package exec

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

// groups is an aggregation that tables can hold. The table has a row for each group; its key is the wire form of the group's
// keys.
type groups struct {
	Node  *plan.Aggregation
	Aggs  []aggregate
	cells []fold.Agg
}

// aggregate says how cells of a table represent an aggregate of SQL.
type aggregate struct {
	from     *plan.Aggregate
	arg      plan.Expr // nil: count(*)
	kind     aggregateKind
	cell     int         // the first of its cells
	by       *plan.Order // of leastBy
	distinct bool        // DISTINCT: the values are in a table of their own, and only the reducer uses the cells

	Before, After int // how many numbers surround the place of a row; see Leaf.Numbers
}

type aggregateKind uint8

const (
	countRows   aggregateKind = iota
	countValues               // cell: Sum
	sumInts                   // cells: Sum of the high half, Sum of the low half, Sum of the count
	SumFloats                 // cells: Exact of finite values, Sum of the count, Least of NaN and the infinities
	meanInts                  // as sumInts
	meanFloats                // as sumFloats
	least                     // cell: MinText
	greatest                  // cell: MaxText
	everyTrue                 // cell: MinText
	someTrue                  // cell: MaxText
	firstValue                // cell: MinText of position and value
	lastValue                 // cell: MaxText of position and value
	leastBy                   // cell: MinText of the order's value, position and value
	deviation                 // cells: as sumFloats, then those of squares
	steps                     // cell: Histogram; only without keys
	hashes                    // cell: Smallest; only without keys
)

// NewGroups returns how tables fold an aggregation, nil if they cannot.
func NewGroups(a *plan.Aggregation) *groups {
	if len(a.Sets) != 1 || len(a.Sets[0]) != len(a.Keys) {
		return nil
	}
	for _, k := range a.Keys {
		if !Ordered(k.Type().Kind) || !Computed(k) {
			return nil
		}
	}
	g := &groups{Node: a}
	for _, agg := range a.Aggs {
		if !g.add(agg) {
			return nil
		}
	}
	if len(g.cells) > fold.MaxAggs {
		return nil
	}
	if len(a.Keys) == 0 && len(g.cells) == 0 { // SELECT 1 FROM t GROUP BY (): a table has a column at least
		g.cells = []fold.Agg{{Name: "a0", Kind: fold.Sum}}
	}
	return g
}

// add adds an aggregate; false if it does not fold.
func (g *groups) add(a *plan.Aggregate) bool {
	if a.Filter != nil && !Computed(a.Filter) {
		return false
	}
	x := aggregate{from: a, cell: len(g.cells)}
	name := ""
	name, x.distinct = takesDistinct(a)
	kind := types.Null
	if len(a.Args) > 0 {
		x.arg = a.Args[0]
		if c, ok := x.arg.(*plan.Cast); ok && a.Func == "avg" && c.Implicit && c.X.Type().IsNumber() {
			x.arg = c.X // the mean is computed from the exact values, not from the DOUBLEs nearest to them
		}
		kind = x.arg.Type().Kind
	}
	as := foldingOf(a, name, kind)
	switch {
	case (name == "min_by" || name == "max_by") && !x.distinct && Ordered(a.Args[1].Type().Kind) && Computed(a.Args[1]):
		x.kind, x.by = leastBy, &plan.Order{X: a.Args[1], Desc: name == "max_by"}
		g.cells = append(g.cells, named(fold.Agg{Kind: fold.MinText}, len(g.cells)))
	case len(a.Args) > 1 || as == nil || as.whole && len(g.Node.Keys) > 0:
		return false
	default:
		x.kind = as.as
		for _, c := range as.cells {
			g.cells = append(g.cells, named(c, len(g.cells)))
		}
	}
	if x.arg != nil && !Computed(x.arg) || x.distinct && (x.kind < countValues || x.kind > meanFloats || !Ordered(kind)) {
		return false
	}
	g.Aggs = append(g.Aggs, x)
	return true
}

// folding is how an aggregate folds values of some kinds: as what, and in which cells of a group.
type folding struct {
	names string // of aggregates, with spaces between them
	of    func(types.Kind) bool
	as    aggregateKind
	cells []fold.Agg
	whole bool // only where all rows are one group
}

var (
	sumCell   = fold.Agg{Kind: fold.Sum}
	exactCell = fold.Agg{Kind: fold.Exact}
	leastCell = fold.Agg{Kind: fold.Least, N: 3} // which of NaN and the infinities there were
	minCell   = fold.Agg{Kind: fold.MinText}
	maxCell   = fold.Agg{Kind: fold.MaxText}
)

// foldings are the aggregates of one argument that fold.
var foldings = []folding{
	{"count", anyKind, countValues, []fold.Agg{sumCell}, false},
	{"sum", exactKind, sumInts, []fold.Agg{sumCell, sumCell, sumCell}, false},
	{"sum", isDouble, SumFloats, []fold.Agg{exactCell, sumCell, leastCell}, false},
	{"avg", exactKind, meanInts, []fold.Agg{sumCell, sumCell, sumCell}, false},
	{"avg", isDouble, meanFloats, []fold.Agg{exactCell, sumCell, leastCell}, false},
	{"var_samp var_pop stddev_samp stddev_pop", isDouble, deviation,
		[]fold.Agg{exactCell, sumCell, leastCell, exactCell, exactCell, exactCell}, false},
	{"min", Ordered, least, []fold.Agg{minCell}, false},
	{"max", Ordered, greatest, []fold.Agg{maxCell}, false},
	{"bool_and", anyKind, everyTrue, []fold.Agg{minCell}, false},
	{"bool_or", anyKind, someTrue, []fold.Agg{maxCell}, false},
	{"any_value first", anyKind, firstValue, []fold.Agg{minCell}, false},
	{"last", anyKind, lastValue, []fold.Agg{maxCell}, false},
	{"quartiles", anyKind, steps, []fold.Agg{tail.QuartileCell}, true},
	{"approx_unique", anyKind, hashes, []fold.Agg{tail.DistinctCell}, true},
}

var countAll = folding{as: countRows, cells: []fold.Agg{sumCell}}

func anyKind(types.Kind) bool     { return true }
func isDouble(k types.Kind) bool  { return k == types.Double }
func exactKind(k types.Kind) bool { return k == types.BigInt || k == types.Decimal }

// foldingOf returns how an aggregate without DISTINCT, which name says, folds; nil if it does not.
func foldingOf(a *plan.Aggregate, name string, kind types.Kind) *folding {
	if name == "count" && len(a.Args) == 0 {
		return &countAll
	}
	for i := range foldings {
		f := &foldings[i]
		if slices.Contains(strings.Fields(f.names), name) && f.of(kind) && (f.as != firstValue && f.as != lastValue || len(a.Order) == 0) {
			return f
		}
	}
	return nil
}

// named returns a cell with the name of the nth.
func named(a fold.Agg, n int) fold.Agg {
	a.Name = "a" + Itoa(n)
	return a
}

func (g *groups) spec(name, stream string) fold.Spec {
	s := fold.Spec{Name: name, Stream: stream, Aggs: g.cells}
	if len(g.Node.Keys) > 0 {
		s.Keys = []fold.Key{{Name: "k", Kind: fold.KeyText}}
	}
	return s
}

// Codes that Least keeps for values of a sum that are not finite.
var (
	hasNaN = []byte("n")
	hasPos = []byte("p")
	hasNeg = []byte("m")
)

// fold adds the rows in sel to their groups, for an aggregate without an accumulator. into[k] is the group of sel[k]. v has the
// values of the argument, by those of the order's expression.
func (x *aggregate) fold(t *fold.Table, v, by *eval.Vector, sel []int32, into []int, pos *position) {
	switch x.kind {
	case least, everyTrue, greatest, someTrue:
		for k, i := range sel {
			if v.IsNull(i) {
				continue
			}
			pos.scratch = appendValue(pos.scratch[:0], v, i, true)
			if x.kind == least || x.kind == everyTrue {
				t.PutMinText(into[k], x.cell, pos.scratch)
			} else {
				t.PutMaxText(into[k], x.cell, pos.scratch)
			}
		}
	case leastBy:
		for k, i := range sel {
			if v.IsNull(i) || by.IsNull(i) {
				continue
			}
			pos.order = appendOrdered(pos.order[:0], by, i, x.by)
			pos.scratch = appendValue(pos.append(fold.AppendText(pos.scratch[:0], pos.order), i), v, i, false)
			t.PutMinText(into[k], x.cell, pos.scratch)
		}
	case firstValue, lastValue:
		for k, i := range sel {
			if x.from.Func == "any_value" && v.IsNull(i) {
				continue
			}
			pos.scratch = appendValue(pos.append(pos.scratch[:0], i), v, i, false)
			if x.kind == firstValue {
				t.PutMinText(into[k], x.cell, pos.scratch)
			} else {
				t.PutMaxText(into[k], x.cell, pos.scratch)
			}
		}
	}
}

// value appends the result of a group, a row of the complete table, to v, which has n rows.
func (x *aggregate) value(t *fold.Table, row int, v *eval.Vector, n int) error {
	for len(v.Nulls) < n/64+1 {
		v.Nulls = append(v.Nulls, 0)
	}
	some, err := x.result(t, row, v, n)
	if err == nil && !some {
		v.Nulls[n>>6] |= 1 << (n & 63)
		v.Any = true
		appendZero(v)
	}
	return err
}

// result appends the result of a group, unless it is NULL: then some is false.
func (x *aggregate) result(t *fold.Table, row int, v *eval.Vector, n int) (some bool, err error) {
	switch x.kind {
	case countRows, countValues:
		v.Ints = append(v.Ints, t.Sum(row, x.cell))
		return true, nil
	case sumInts, meanInts:
		count := t.Sum(row, x.cell+2)
		if count == 0 {
			return false, nil
		}
		return true, x.intResult(t, row, count, v)
	case SumFloats, meanFloats:
		count := t.Sum(row, x.cell+1)
		if count != 0 {
			v.Floats = append(v.Floats, x.floatResult(t, row, count))
		}
		return count != 0, nil
	case deviation:
		f, some := x.deviation(t, row)
		if some {
			v.Floats = append(v.Floats, f)
		}
		return some, nil
	case hashes:
		v.Ints = append(v.Ints, tail.Distinct(t.Smallest(row, x.cell)))
		return true, nil
	case steps:
		shift, numbers := t.Histogram(row, x.cell)
		list, some := tail.Quartiles(x.arg.Type(), shift, numbers)
		if some {
			v.Lists = append(v.Lists, list)
		}
		return some, nil
	}
	text, some, err := x.text(t, row)
	if some && err == nil {
		_, err = CutValue(v, n, text)
	}
	return some, err
}

// text returns the value that a group keeps as a text; some is false for NULL.
func (x *aggregate) text(t *fold.Table, row int) (text []byte, some bool, err error) {
	switch x.kind {
	case least, everyTrue, firstValue, leastBy:
		text, some = t.MinText(row, x.cell)
	default:
		text, some = t.MaxText(row, x.cell)
	}
	if !some {
		return nil, false, nil
	}
	if x.kind == leastBy {
		if _, text, err = fold.CutText(text); err != nil {
			return nil, false, err
		}
	}
	if x.kind == firstValue || x.kind == lastValue || x.kind == leastBy {
		text, err = cutPosition(text, x.Before, x.After)
	}
	return text, true, err
}

// intResult appends the sum or the mean of integers. Intermediate results may need more than 64 bits.
func (x *aggregate) intResult(t *fold.Table, row int, count int64, v *eval.Vector) error {
	if short, ok := x.shortSum(t, row); ok && x.kind == sumInts && (x.from.T.Kind != types.Decimal || -1e18 < short && short < 1e18) {
		v.Ints = append(v.Ints, short)
		return nil
	}
	sum := x.longSum(t, row)
	arg := x.arg.Type()
	if x.kind == meanInts {
		down := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(arg.Scale)), nil)
		mean, _ := new(big.Rat).SetFrac(sum, down.Mul(down, big.NewInt(count))).Float64()
		v.Floats = append(v.Floats, mean)
		return nil
	}
	most := big.NewInt(math.MaxInt64)
	if x.from.T.Kind == types.Decimal {
		most = new(big.Int).Exp(big.NewInt(10), big.NewInt(types.MaxPrecision), nil)
		most.Sub(most, big.NewInt(1))
	}
	if !sum.IsInt64() || x.from.T.Kind == types.Decimal && sum.CmpAbs(most) > 0 {
		return &tail.Error{At: x.from.Pos(), Message: "the sum does not fit into a " + x.from.T.String() + "; convert what is added to DOUBLE"}
	}
	v.Ints = append(v.Ints, sum.Int64())
	return nil
}

// shortSum returns a sum of integers, and whether it is short enough to be added up in 64 bits.
func (x *aggregate) shortSum(t *fold.Table, row int) (sum int64, ok bool) {
	high, low := t.Sum(row, x.cell), t.Sum(row, x.cell+1)
	const most = 1 << 30
	return high<<32 + low, -most < high && high < most && low < most<<32
}

// longSum returns the same sum, of any length. The low half is not negative.
func (x *aggregate) longSum(t *fold.Table, row int) *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(t.Sum(row, x.cell)), 32)
	return sum.Add(sum, big.NewInt(t.Sum(row, x.cell+1)))
}

func (x *aggregate) floatResult(t *fold.Table, row int, count int64) float64 {
	nan, pos, neg := false, false, false
	for _, p := range t.Least(row, x.cell+2) {
		switch p[0] {
		case 'n':
			nan = true
		case 'p':
			pos = true
		case 'm':
			neg = true
		}
	}
	switch {
	case nan || pos && neg:
		return math.NaN()
	case pos:
		return math.Inf(1)
	case neg:
		return math.Inf(-1)
	}
	var sum *exact.Sum = t.Exact(row, x.cell)
	if x.kind == meanFloats {
		return sum.Mean(count)
	}
	return sum.Value()
}

// Positioned reports whether an aggregate keeps the place of a row.
func (g *groups) Positioned() bool {
	return slices.ContainsFunc(g.Aggs, func(x aggregate) bool { return x.kind == firstValue || x.kind == lastValue || x.kind == leastBy })
}

// Apart reports whether an aggregate is over DISTINCT values, which are in a table of their own.
func (g *groups) Apart() bool {
	return slices.ContainsFunc(g.Aggs, func(x aggregate) bool { return x.distinct })
}
