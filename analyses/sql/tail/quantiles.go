package tail

import (
	"math"
	"math/big"
	"strconv"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/progress"
)

// kept holds the values of all groups, for aggregates that need all of them.
type kept struct {
	kind   types.Kind
	values *eval.Vector
	of     []int32
}

func newKept(k types.Kind) kept { return kept{kind: k, values: &eval.Vector{Kind: k}} }

func (k *kept) grow(groups int) int64 { return 0 }

func (k *kept) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v := args[0]
	sel := rows
	if v.Any {
		sel = nil
		for _, i := range rows {
			if !v.IsNull(i) {
				sel = append(sel, i)
			}
		}
	}
	bytes = appendRows(k.values, len(k.of), v, sel) + 8*int64(len(sel)) // 4 of these for the order that result makes
	for n, i := range rows {
		if !v.IsNull(i) {
			k.of = append(k.of, groups[n])
		}
	}
	return bytes, nil
}

// sorted returns the rows of each group, ordered by their values.
func (k *kept) sorted(groups int) [][]int32 {
	ends := make([]int, groups+1)
	for _, g := range k.of {
		ends[g+1]++
	}
	for g := range groups {
		ends[g+1] += ends[g]
	}
	rows, at := make([]int32, len(k.of)), append([]int{}, ends...)
	for i, g := range k.of {
		rows[at[g]] = int32(i)
		at[g]++
	}
	out := make([][]int32, groups)
	for g := range groups {
		out[g] = rows[ends[g]:ends[g+1]]
		sortRows(out[g], []sortKey{{v: k.values}}, progress.Mark)
	}
	return out
}

// quantiles is quantile_cont, quantile_disc and median.
type quantiles struct {
	kept
	share    *big.Rat // from 0 to 1
	double   float64  // share as a DOUBLE
	discrete bool
	typ      types.Type
}

func newQuantiles(a *plan.Aggregate, kind types.Kind) *quantiles {
	share := 0.5
	if a.Func != "median" {
		share = a.Args[1].(*plan.Const).Value.(float64) // as binding makes sure
	}
	// The share as it is written: 0.1 is a tenth, not the DOUBLE next to it.
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(share, 'g', -1, 64))
	return &quantiles{newKept(kind), exact, share, a.Func == "quantile_disc", a.T}
}

func (q *quantiles) result(groups int) (*eval.Vector, error) {
	out := eval.NewVector(q.typ.Kind, groups)
	for g, rows := range q.sorted(groups) {
		switch {
		case len(rows) == 0:
			setNull(out, int32(g))
		case q.discrete:
			setValue(out, int32(g), q.values, rows[q.place(len(rows))])
		default:
			q.between(out, int32(g), rows)
		}
	}
	cells{out}.positive()
	return out, nil
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

// modes is mode: the most frequent value. Of several, it is the one that came first.
type modes struct {
	x      *Executor
	values *index
	cells  cells // the value of each number in index
	of     []int32
	n      []int64
}

func (m *modes) grow(groups int) int64 { return 0 }

func (m *modes) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v := args[0]
	for k, i := range rows {
		if v.IsNull(i) {
			continue
		}
		g := groups[k]
		m.values.key = append(m.values.key[:0], byte(g), byte(g>>8), byte(g>>16), byte(g>>24))
		m.values.key = appendKey(m.values.key, v, i)
		id, fresh, err := m.values.id()
		if err != nil {
			return bytes, err
		}
		if fresh {
			bytes += 12 + m.cells.grow(int(id)+1) + m.cells.set(id, v, i)
			m.of, m.n = append(m.of, g), append(m.n, 0)
		}
		m.n[id]++
	}
	return bytes, nil
}

func (m *modes) result(groups int) (*eval.Vector, error) {
	m.cells.positive()
	best := make([]int32, groups)
	for g := range best {
		best[g] = -1
	}
	for id, g := range m.of {
		if best[g] < 0 || m.n[id] > m.n[best[g]] {
			best[g] = int32(id)
		}
	}
	m.values.release()
	return gather(m.cells.v, best), nil
}
