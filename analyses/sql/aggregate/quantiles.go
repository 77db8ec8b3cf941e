package aggregate

import (
	"math"
	"math/big"
	"strconv"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/progress"
)

var median = Aggregate{
	Function: types.Function{Name: "median",
		Forms: []string{"BIGINT -> DOUBLE", "DECIMAL -> DECIMAL", "DOUBLE -> DOUBLE", "TIMESTAMP -> TIMESTAMP"}, Nulls: types.Skips,
		Unordered: true, About: "The middle value, or the mean of the two."},
	New: func(c Call) State { return newQuantiles(c, 0.5, false) },
}

var quantileCont = Aggregate{
	Function: types.Function{Name: "quantile_cont", Share: true, Forms: []string{"BIGINT, DOUBLE -> DOUBLE", "DECIMAL, DOUBLE -> DECIMAL",
		"DOUBLE, DOUBLE -> DOUBLE", "TIMESTAMP, DOUBLE -> TIMESTAMP"}, Nulls: types.Skips, Unordered: true,
		About: "The value below which a share of the values lies, interpolated."},
	New: func(c Call) State { return newQuantiles(c, share(c), false) },
}

var quantileDisc = Aggregate{
	Function: types.Function{Name: "quantile_disc", Share: true, Aliases: []string{"quantile"}, Forms: []string{"T, DOUBLE -> T"},
		Nulls:     types.Skips,
		Unordered: true, About: "The least value with at least a share of the values at or below it."},
	New: func(c Call) State { return newQuantiles(c, share(c), true) },
}

// share returns the second argument, a constant, as binding makes sure.
func share(c Call) float64 { return c.Args[1].(*plan.Const).Value.(float64) }

// quantiles keeps all values.
type quantiles struct {
	alone
	values   *eval.Vector
	of       []int32   // the group of each value
	sorted   [][]int32 // by group, its values in their order; nil until the first is asked for
	groups   int
	share    *big.Rat // from 0 to 1
	double   float64  // share as a DOUBLE
	discrete bool
}

func newQuantiles(c Call, share float64, discrete bool) State {
	// The share as it is written: 0.1 is a tenth, not the DOUBLE next to it.
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(share, 'g', -1, 64))
	return &quantiles{values: &eval.Vector{Kind: c.kind(0)}, share: exact, double: share, discrete: discrete}
}

func (q *quantiles) Grow(groups int) int64 {
	q.groups = groups
	return 0
}

func (q *quantiles) Add(r *Rows) (bytes int64, _ error) {
	v, sel := r.Args[0], make([]int32, 0, len(r.Sel))
	for k, i := range r.Sel {
		if !v.IsNull(i) {
			sel, q.of = append(sel, i), append(q.of, r.Groups[k])
		}
	}
	return values.AppendRows(q.values, len(q.of)-len(sel), v, sel) + 8*int64(len(sel)), nil // 4 of these for the order that sort makes
}

// sort finds the values of each group, in their order.
func (q *quantiles) sort() {
	ends := make([]int, q.groups+1)
	for _, g := range q.of {
		ends[g+1]++
	}
	for g := range q.groups {
		ends[g+1] += ends[g]
	}
	rows, at := make([]int32, len(q.of)), append([]int{}, ends...)
	for i, g := range q.of {
		rows[at[g]] = int32(i)
		at[g]++
	}
	q.sorted = make([][]int32, q.groups)
	for g := range q.groups {
		q.sorted[g] = rows[ends[g]:ends[g+1]]
		values.Sort(q.sorted[g], []values.Key{{V: q.values}}, progress.Mark)
	}
}

func (q *quantiles) Value(g int32, out *eval.Vector, row int32) error {
	if q.sorted == nil {
		q.sort()
	}
	switch rows := q.sorted[g]; {
	case len(rows) == 0:
		out.SetNull(row)
	case q.discrete:
		values.Set(out, row, q.values, rows[q.place(len(rows))])
	default:
		q.between(out, row, rows)
	}
	if out.Kind == types.Double {
		out.Floats[row] = values.Positive(out.Floats[row])
	}
	return nil
}

// place returns the first place such that at least share of n values are at or before it.
func (q *quantiles) place(n int) int {
	r := new(big.Rat).Mul(q.share, big.NewRat(int64(n), 1))
	up, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	p := int(up.Int64())
	if rest.Sign() > 0 {
		p++
	}
	return max(p, 1) - 1
}

// between sets a value that lies between two neighbours.
func (q *quantiles) between(out *eval.Vector, g int32, rows []int32) {
	at := float64(len(rows)-1) * q.double
	lo := int(math.Floor(at))
	part := at - float64(lo)
	a, b := rows[lo], rows[min(lo+1, len(rows)-1)]
	if part == 0 {
		b = a
	}
	v := q.values
	switch {
	case v.Kind == types.Double:
		out.Floats[g] = mix(v.Floats[a], v.Floats[b], part)
	case out.Kind == types.Double:
		out.Floats[g] = mix(float64(v.Ints[a]), float64(v.Ints[b]), part)
	default:
		out.Ints[g] = v.Ints[a]
		if a != b {
			out.Ints[g] = mixInts(v.Ints[a], v.Ints[b], part)
		}
	}
}

func mix(a, b, part float64) float64 {
	if part == 0 || a == b {
		return a
	}
	return float64(a*(1-part)) + float64(b*part)
}

func mixInts(a, b int64, part float64) int64 {
	return a + int64(float64(float64(b-a)*part))
}
