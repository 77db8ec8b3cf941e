package tail

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
)

// aggregate folds rows into a value for each group. grow and add return how many more bytes are kept.
type aggregate interface {
	grow(groups int) (bytes int64)
	add(args []*eval.Vector, rows, groups []int32) (bytes int64, err error) // groups[k] is the group of rows[k]
	result(groups int) (*eval.Vector, error)
}

// newAggregate makes the aggregate for arguments with the types of args.
func (x *Executor) newAggregate(a *plan.Aggregate, args []plan.Expr) (aggregate, error) {
	kind := types.Null
	if len(args) > 0 {
		kind = args[0].Type().Kind
	}
	switch a.Func {
	case "count", "approx_count_distinct":
		return &counts{}, nil
	case "sum":
		if kind == types.Double {
			return &floatSums{}, nil
		}
		return &intSums{at: a.At, typ: a.T}, nil
	case "avg":
		switch kind {
		case types.BigInt, types.Decimal, types.Double:
			return &floatSums{mean: true, scale: args[0].Type().Scale}, nil
		case types.Timestamp:
			return &intSums{at: a.At, typ: a.T, mean: true}, nil
		case types.Interval:
			return &intervalMeans{}, nil
		}
	case "min", "max":
		return &extremes{cells: newCells(kind), max: a.Func == "max"}, nil
	case "min_by", "max_by":
		return &extremesBy{cells: newCells(kind), keys: newCells(args[1].Type().Kind), max: a.Func == "max_by"}, nil
	case "any_value", "first", "last":
		return &picks{cells: newCells(kind), nulls: a.Func != "any_value", last: a.Func == "last"}, nil
	case "bool_and", "bool_or":
		return &bools{or: a.Func == "bool_or"}, nil
	case "string_agg":
		return &joined{}, nil
	case "list":
		return &lists{}, nil
	case "var_samp", "var_pop":
		return &variances{sample: a.Func == "var_samp"}, nil
	case "stddev_samp", "stddev_pop":
		return &variances{sample: a.Func == "stddev_samp", root: true}, nil
	case "corr":
		return &correlations{}, nil
	case "median", "quantile_cont", "quantile_disc":
		return newQuantiles(a, kind), nil
	case "quartiles":
		return &quartileLists{*newEstimates(&quartileTable, args[0].Type())}, nil
	case "approx_unique":
		return &distinctEstimates{*newEstimates(&distinctTable, args[0].Type())}, nil
	case "mode":
		return &modes{x: x, values: x.newIndex(), cells: newCells(kind)}, nil
	}
	return nil, &eval.Unsupported{At: a.At, What: fmt.Sprintf("%s of %s", a.Func, kind)}
}

// more makes room for n elements, and returns how many elements it added.
func more[T any](s *[]T, n int) int64 {
	d := n - len(*s)
	*s = append(*s, make([]T, d)...)
	return int64(d)
}

type counts struct{ n []int64 }

func (c *counts) grow(groups int) int64 { return 8 * more(&c.n, groups) }

func (c *counts) add(args []*eval.Vector, rows, groups []int32) (int64, error) {
	if len(args) == 0 || !args[0].Any {
		for _, g := range groups {
			c.n[g]++
		}
		return 0, nil
	}
	for k, i := range rows {
		if !args[0].IsNull(i) {
			c.n[groups[k]]++
		}
	}
	return 0, nil
}

func (c *counts) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(types.BigInt, groups)
	copy(v.Ints, c.n)
	return v, nil
}

// int128 is a sum of 64-bit integers. It cannot overflow with any possible number of them.
type int128 struct {
	lo uint64
	hi int64
}

func (s *int128) add(v int64) {
	lo, carry := bits.Add64(s.lo, uint64(v), 0)
	s.lo, s.hi = lo, s.hi+v>>63+int64(carry)
}

func (s *int128) sub(v int64) {
	lo, borrow := bits.Sub64(s.lo, uint64(v), 0)
	s.lo, s.hi = lo, s.hi-v>>63-int64(borrow)
}

// int64 returns the sum, and whether it fits.
func (s *int128) int64() (int64, bool) { return int64(s.lo), s.hi == int64(s.lo)>>63 }

func (s *int128) big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(s.hi), 64)
	return b.Add(b, new(big.Int).SetUint64(s.lo))
}

// sumOf returns the sum as a value of type t. A DECIMAL has at most 18 digits.
func (s *int128) sumOf(t types.Type, at syntax.Pos) (int64, error) {
	v, ok := s.int64()
	if t.Kind == types.Decimal {
		ok = ok && v < 1e18 && v > -1e18
	}
	if !ok {
		return 0, &Error{At: at, Message: fmt.Sprintf("the sum does not fit into a %s; convert what is added to DOUBLE", t)}
	}
	return v, nil
}

// meanOf returns the mean of n timestamps, rounded as in DuckDB: to the nearest microsecond, a half down, or before 1970 up.
func (s *int128) meanOf(n int64) int64 {
	q, rest := new(big.Int).QuoRem(s.big(), big.NewInt(n), new(big.Int))
	if rest.Int64() > n/2 {
		return q.Int64() + 1
	}
	return q.Int64()
}

// intSums is sum of BIGINT and DECIMAL, and avg of TIMESTAMP.
type intSums struct {
	at   syntax.Pos
	typ  types.Type
	mean bool
	sums []int128
	n    []int64
}

func (s *intSums) grow(groups int) int64 { return 16*more(&s.sums, groups) + 8*more(&s.n, groups) }

func (s *intSums) add(args []*eval.Vector, rows, groups []int32) (int64, error) {
	v := args[0]
	for k, i := range rows {
		if !v.IsNull(i) {
			s.sums[groups[k]].add(v.Ints[i])
			s.n[groups[k]]++
		}
	}
	return 0, nil
}

func (s *intSums) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(s.typ.Kind, groups)
	for g := range s.sums {
		var err error
		switch {
		case s.n[g] == 0:
			setNull(v, int32(g))
		case s.mean:
			v.Ints[g] = s.sums[g].meanOf(s.n[g])
		default:
			if v.Ints[g], err = s.sums[g].sumOf(s.typ, s.at); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// intervalMeans is avg of INTERVAL. The remainder of the months is carried to the days, 30 per month. The remainder of the
// days is carried to the microseconds.
type intervalMeans struct {
	months, days, micros []int128
	n                    []int64
}

func (m *intervalMeans) grow(groups int) int64 {
	return 16*(more(&m.months, groups)+more(&m.days, groups)+more(&m.micros, groups)) + 8*more(&m.n, groups)
}

func (m *intervalMeans) add(args []*eval.Vector, rows, groups []int32) (int64, error) {
	for k, i := range rows {
		if args[0].IsNull(i) {
			continue
		}
		g, v := groups[k], args[0].Intervals[i]
		m.months[g].add(int64(v.Months))
		m.days[g].add(int64(v.Days))
		m.micros[g].add(v.Micros)
		m.n[g]++
	}
	return 0, nil
}

func (m *intervalMeans) result(groups int) (*eval.Vector, error) {
	out := eval.NewVector(types.Interval, groups)
	for g, n := range m.n {
		if n == 0 {
			setNull(out, int32(g))
			continue
		}
		by := big.NewInt(n)
		months, rest := new(big.Int).QuoRem(m.months[g].big(), by, new(big.Int))
		days := m.days[g].big()
		days.Add(days, rest.Mul(rest, big.NewInt(30)))
		days, rest = new(big.Int).QuoRem(days, by, new(big.Int))
		micros := m.micros[g].big()
		micros.Add(micros, rest.Mul(rest, big.NewInt(microsPerDay)))
		micros, rest = new(big.Int).QuoRem(micros, by, new(big.Int))
		if rest.Lsh(rest, 1).CmpAbs(by) >= 0 {
			micros.Add(micros, big.NewInt(int64(rest.Sign())))
		}
		out.Intervals[g] = plan.Interval{Months: int32(months.Int64()), Days: int32(days.Int64()), Micros: micros.Int64()}
	}
	return out, nil
}

// floatSum is an exact sum that counts infinities and NaN separately, so that they can be subtracted again.
type floatSum struct {
	sum           exact.Sum
	n             int64
	nan, pos, neg int64
}

const floatSumBytes = 64

func (s *floatSum) add(v float64, by int64) {
	s.n += by
	switch {
	case v != v:
		s.nan += by
	case math.IsInf(v, 1):
		s.pos += by
	case math.IsInf(v, -1):
		s.neg += by
	case by < 0:
		s.sum.Add(-v)
	default:
		s.sum.Add(v)
	}
}

func (s *floatSum) addInt(v, by int64) {
	s.n += by
	if by > 0 {
		s.sum.AddInt(v)
		return
	}
	if v == math.MinInt64 {
		s.sum.AddInt(math.MaxInt64)
		v = -1
	}
	s.sum.AddInt(-v)
}

// special returns the sum if it is not finite: infinities and NaN are added as in IEEE 754.
func (s *floatSum) special() (float64, bool) {
	switch {
	case s.nan > 0 || s.pos > 0 && s.neg > 0:
		return math.NaN(), true
	case s.pos > 0:
		return math.Inf(1), true
	case s.neg > 0:
		return math.Inf(-1), true
	}
	return 0, false
}

// value returns the sum, or the mean, rounded once. If the digits of a DECIMAL were added, scale is the DECIMAL's.
func (s *floatSum) value(mean bool, scale uint8) float64 {
	f, special := s.special()
	switch {
	case special:
		return f
	case !mean:
		return s.sum.Value()
	case scale == 0:
		return s.sum.Mean(s.n)
	}
	r, _ := s.sum.Rat()
	by := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	f, _ = r.Quo(r, new(big.Rat).SetInt(by.Mul(by, big.NewInt(s.n)))).Float64()
	return f
}

// floatSums is sum of DOUBLE, and avg of all numbers.
type floatSums struct {
	mean  bool
	scale uint8
	sums  []floatSum
	wide  []bool
}

func (s *floatSums) grow(groups int) int64 {
	return floatSumBytes*more(&s.sums, groups) + more(&s.wide, groups)
}

// wideBytes is how many additional bytes an exact sum takes for numbers beyond 64 bits before the point or 128 bits after it.
const wideBytes = 300

func (s *floatSums) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v := args[0]
	for k, i := range rows {
		if v.IsNull(i) {
			continue
		}
		g := groups[k]
		if v.Kind != types.Double {
			s.sums[g].addInt(v.Ints[i], 1)
			continue
		}
		f := v.Floats[i]
		if a := math.Abs(f); !s.wide[g] && (a >= 0x1p60 || a < 0x1p-70 && a > 0) {
			s.wide[g] = true
			bytes += wideBytes
		}
		s.sums[g].add(f, 1)
	}
	return bytes, nil
}

func (s *floatSums) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(types.Double, groups)
	for g := range s.sums {
		if s.sums[g].n == 0 {
			setNull(v, int32(g))
			continue
		}
		v.Floats[g] = s.sums[g].value(s.mean, s.scale)
	}
	return v, nil
}

// cells holds a value for each group, NULL at first.
type cells struct{ v *eval.Vector }

func newCells(k types.Kind) cells { return cells{&eval.Vector{Kind: k}} }

func (c cells) grow(groups int) int64 {
	v := c.v
	before := 0
	switch v.Kind {
	case types.Double:
		before = len(v.Floats)
		more(&v.Floats, groups)
	case types.Bool:
		before = len(v.Bools)
		more(&v.Bools, groups)
	case types.Text:
		before = len(v.Texts)
		more(&v.Texts, groups)
	case types.Interval:
		before = len(v.Intervals)
		more(&v.Intervals, groups)
	case types.TextList:
		before = len(v.Lists)
		more(&v.Lists, groups)
	default:
		before = len(v.Ints)
		more(&v.Ints, groups)
	}
	more(&v.Nulls, (groups+63)/64)
	for g := before; g < groups; g++ {
		setNull(v, int32(g))
	}
	return int64(groups-before) * width(v.Kind)
}

// set gives a group a value, and returns how many more bytes this takes.
func (c cells) set(g int32, from *eval.Vector, row int32) (bytes int64) {
	if from.IsNull(row) {
		setNull(c.v, g)
		return 0
	}
	c.v.Nulls[g>>6] &^= 1 << (g & 63)
	switch c.v.Kind {
	case types.Text:
		bytes = int64(len(from.Texts[row]) - len(c.v.Texts[g]))
		c.v.Texts[g] = strings.Clone(from.Texts[row])
		return bytes
	case types.TextList:
		bytes = listBytes(from.Lists[row]) - listBytes(c.v.Lists[g])
	}
	setValue(c.v, g, from, row)
	return bytes
}

// positive replaces -0 by 0, and every NaN by the same one, so it does not matter which of several equal values was kept.
func (c cells) positive() {
	for g, f := range c.v.Floats {
		c.v.Floats[g] = positive(f)
	}
}

func (c cells) result(groups int) (*eval.Vector, error) { return c.v, nil }

// extremes is min and max.
type extremes struct {
	cells
	max bool
}

func (e *extremes) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v := args[0]
	for k, i := range rows {
		if v.IsNull(i) {
			continue
		}
		g := groups[k]
		if !e.v.IsNull(g) {
			if c := compareValues(v, i, e.v, g); c == 0 || c > 0 != e.max {
				continue
			}
		}
		bytes += e.set(g, v, i)
	}
	return bytes, nil
}

func (e *extremes) result(int) (*eval.Vector, error) {
	e.positive()
	return e.v, nil
}

// extremesBy is min_by and max_by. Of equal keys the first wins.
type extremesBy struct {
	cells
	keys cells
	max  bool
}

func (e *extremesBy) grow(groups int) int64 { return e.cells.grow(groups) + e.keys.grow(groups) }

func (e *extremesBy) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v, by := args[0], args[1]
	for k, i := range rows {
		if v.IsNull(i) || by.IsNull(i) {
			continue
		}
		g := groups[k]
		if !e.keys.v.IsNull(g) {
			if c := compareValues(by, i, e.keys.v, g); c == 0 || c > 0 != e.max {
				continue
			}
		}
		bytes += e.set(g, v, i) + e.keys.set(g, by, i)
	}
	return bytes, nil
}

// picks is any_value, first and last.
type picks struct {
	cells
	nulls, last bool
	found       []bool
}

func (p *picks) grow(groups int) int64 { return p.cells.grow(groups) + more(&p.found, groups) }

func (p *picks) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v := args[0]
	for k, i := range rows {
		g := groups[k]
		if p.found[g] && !p.last || !p.nulls && v.IsNull(i) {
			continue
		}
		p.found[g] = true
		bytes += p.set(g, v, i)
	}
	return bytes, nil
}

// bools is bool_and and bool_or.
type bools struct {
	or          bool
	value, some []bool
}

func (b *bools) grow(groups int) int64 { return more(&b.value, groups) + more(&b.some, groups) }

func (b *bools) add(args []*eval.Vector, rows, groups []int32) (int64, error) {
	v := args[0]
	for k, i := range rows {
		if v.IsNull(i) {
			continue
		}
		g := groups[k]
		if !b.some[g] || v.Bools[i] == b.or {
			b.value[g] = v.Bools[i]
		}
		b.some[g] = true
	}
	return 0, nil
}

func (b *bools) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(types.Bool, groups)
	copy(v.Bools, b.value)
	for g, some := range b.some {
		if !some {
			setNull(v, int32(g))
		}
	}
	return v, nil
}

// joined is string_agg.
type joined struct {
	texts []([]byte)
	some  []bool
}

func (j *joined) grow(groups int) int64 { return 24*more(&j.texts, groups) + more(&j.some, groups) }

func (j *joined) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v := args[0]
	for k, i := range rows {
		if v.IsNull(i) || len(args) > 1 && args[1].IsNull(i) {
			continue
		}
		g := groups[k]
		before := len(j.texts[g])
		if j.some[g] {
			separator := ","
			if len(args) > 1 {
				separator = args[1].Texts[i]
			}
			j.texts[g] = append(j.texts[g], separator...)
		}
		j.some[g] = true
		j.texts[g] = append(j.texts[g], v.Texts[i]...)
		bytes += int64(len(j.texts[g]) - before)
	}
	return bytes, nil
}

func (j *joined) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(types.Text, groups)
	for g, some := range j.some {
		if !some {
			setNull(v, int32(g))
			continue
		}
		v.Texts[g] = string(j.texts[g])
	}
	return v, nil
}

// lists is list.
type lists struct {
	lists []eval.List
	some  []bool
}

func (l *lists) grow(groups int) int64 { return 48*more(&l.lists, groups) + more(&l.some, groups) }

func (l *lists) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	v := args[0]
	for k, i := range rows {
		to := &l.lists[groups[k]]
		l.some[groups[k]] = true
		if v.IsNull(i) && to.Nulls == nil {
			to.Nulls = make([]bool, len(to.Items))
		}
		item := ""
		if !v.IsNull(i) {
			item = strings.Clone(v.Texts[i])
		}
		to.Items = append(to.Items, item)
		if to.Nulls != nil {
			to.Nulls = append(to.Nulls, v.IsNull(i))
		}
		bytes += 17 + int64(len(item))
	}
	return bytes, nil
}

func (l *lists) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(types.TextList, groups)
	copy(v.Lists, l.lists)
	for g, some := range l.some {
		if !some {
			setNull(v, int32(g))
		}
	}
	return v, nil
}
