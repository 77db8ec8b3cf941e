package aggregate

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// longSums are sums of integers, of any length. The high and the low halves of the integers are added up separately, so that neither
// overflows.
type longSums struct{ hi, lo []int64 }

func (s *longSums) grow(groups int) int64 { return 8*longer(&s.hi, groups) + 8*longer(&s.lo, groups) }

func (s *longSums) add(g int32, v int64) {
	s.hi[g] += v >> 32
	s.lo[g] += v & math.MaxUint32
}

func (s *longSums) remove(g int32, v int64) {
	s.hi[g] -= v >> 32
	s.lo[g] -= v & math.MaxUint32
}

// short returns a sum, and whether it is short enough to be added up in 64 bits.
func (s *longSums) short(g int32) (sum int64, ok bool) {
	high, low := s.hi[g], s.lo[g]
	const most = 1 << 30
	return high<<32 + low, -most < high && high < most && -most<<32 < low && low < most<<32
}

// long returns the same sum, of any length.
func (s *longSums) long(g int32) *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(s.hi[g]), 32)
	return sum.Add(sum, big.NewInt(s.lo[g]))
}

// intSums is sum of BIGINT and DECIMAL, and avg of these and of TIMESTAMP.
type intSums struct {
	longSums
	tallied
	present
	call Call
	mean bool
	part []int64 // sums of the rows being added, by group; else zero
}

// Its cells are the high half of the sum, the low half, and the count.
var intSumCells = []fold.Agg{{Kind: fold.Sum}, {Kind: fold.Sum}, {Kind: fold.Sum}}

func (s *intSums) Grow(groups int) int64 { return s.grow(groups) + 8*longer(&s.n, groups) }

func (s *intSums) Add(r *Rows) (int64, error) {
	v := r.Args[0]
	sel, groups, counts := s.of(r, v)
	s.count(groups, counts, 1)
	if Repeat(len(s.hi), len(sel)) && s.addSmall(v.Ints, sel, groups) {
		return 0, nil
	}
	for k, i := range sel {
		s.add(groups[k], v.Ints[i])
	}
	return 0, nil
}

// AddSums implements Summed. A sum with its constants has to fit into 64 bits.
func (s *intSums) AddSums(sums, counts []int64, by int64) {
	for g, n := range counts {
		s.add(int32(g), sums[g]+n*by)
		s.n[g] += n
	}
}

func (s *intSums) Remove(r *Rows) {
	v := r.Args[0]
	sel, groups, counts := s.of(r, v)
	s.count(groups, counts, -1)
	for k, i := range sel {
		s.remove(groups[k], v.Ints[i])
	}
}

// Repeat reports whether some rows have several rows for most groups. Then it pays to add up each group's rows first.
func Repeat(groups, rows int) bool { return groups <= rows/4 }

// addSmall adds integers so small that their sums fit 64 bits. It returns false, and adds nothing, if one is larger. The halves of the sum
// count as much as the sum of the halves.
func (s *intSums) addSmall(x []int64, sel, groups []int32) bool {
	longer(&s.part, len(s.hi))
	part, all := s.part[:len(s.hi)], int64(0)
	if len(part) == 1 { // in a register
		sum := int64(0)
		for _, i := range sel {
			sum += x[i]
			all |= x[i] ^ x[i]>>63
		}
		part[0] = sum
	} else {
		groups = groups[:len(sel)]
		for k, i := range sel {
			part[groups[k]] += x[i]
			all |= x[i] ^ x[i]>>63
		}
	}
	small := bits.Len64(uint64(all))+bits.Len(uint(len(sel))) < 64
	for g, sum := range part {
		if small {
			s.add(int32(g), sum)
		}
		part[g] = 0
	}
	return small
}

func (s *intSums) Value(g int32, out *eval.Vector, row int32) error {
	n := s.n[g]
	switch {
	case n == 0:
		out.SetNull(row)
	case s.mean && out.Kind == types.Double:
		out.Floats[row] = s.double(g, n)
	case s.mean:
		out.Ints[row] = s.moment(g, n)
	default:
		v, exceeds := s.Saturate(g)
		if exceeds || s.call.Type.Kind == types.Decimal && (v <= -1e18 || v >= 1e18) { // it has at most 18 digits
			return &values.Error{At: s.call.At,
				Message: fmt.Sprintf("the sum does not fit into a %s; convert what is added to DOUBLE", s.call.Type)}
		}
		out.Ints[row] = v
	}
	return nil
}

// Saturate implements Saturated.
func (s *intSums) Saturate(g int32) (value int64, exceeds bool) {
	if sum, ok := s.short(g); ok {
		return sum, false
	}
	long := s.long(g)
	if long.IsInt64() {
		return long.Int64(), false
	}
	return math.MaxInt64 * int64(long.Sign()), true
}

// double returns the mean of n numbers, rounded once.
func (s *intSums) double(g int32, n int64) float64 {
	by, sum := big.NewInt(n), s.long(g)
	by.Mul(by, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s.call.Args[0].Type().Scale)), nil))
	const exactly = 53 // a DOUBLE holds every integer of so many bits
	if sum.BitLen() <= exactly && by.BitLen() <= exactly {
		return float64(sum.Int64()) / float64(by.Int64())
	}
	mean, _ := new(big.Rat).SetFrac(sum, by).Float64()
	return mean
}

// moment returns the mean of n timestamps, rounded as in DuckDB: to the nearest microsecond, a half down, or before 1970 up.
func (s *intSums) moment(g int32, n int64) int64 {
	q, rest := new(big.Int).QuoRem(s.long(g), big.NewInt(n), new(big.Int))
	if rest.Int64() > n/2 {
		return q.Int64() + 1
	}
	return q.Int64()
}

func (s *intSums) Cells() []fold.Agg { return intSumCells }

func (s *intSums) Encode(t *fold.Table, cell int) {
	t.AddSums(cell, s.hi)
	t.AddSums(cell+1, s.lo)
	t.AddSums(cell+2, s.n)
	s.n, s.hi, s.lo = s.n[:0], s.hi[:0], s.lo[:0]
}

func (s *intSums) Decode(t *fold.Table, cell, row int, g int32) error {
	s.hi[g], s.lo[g], s.n[g] = t.Sum(row, cell), t.Sum(row, cell+1), t.Sum(row, cell+2)
	return nil
}

// intervalMeans is avg of INTERVAL. The remainder of the months is carried to the days, 30 per month. The remainder of the
// days is carried to the microseconds.
type intervalMeans struct {
	alone
	months, days, micros longSums
	n                    []int64
}

func (m *intervalMeans) Grow(groups int) int64 {
	return m.months.grow(groups) + m.days.grow(groups) + m.micros.grow(groups) + 8*longer(&m.n, groups)
}

func (m *intervalMeans) Add(r *Rows) (int64, error) {
	for k, i := range r.Sel {
		if r.Args[0].IsNull(i) {
			continue
		}
		g, v := r.Groups[k], r.Args[0].Intervals[i]
		m.months.add(g, int64(v.Months))
		m.days.add(g, int64(v.Days))
		m.micros.add(g, v.Micros)
		m.n[g]++
	}
	return 0, nil
}

func (m *intervalMeans) Value(g int32, out *eval.Vector, row int32) error {
	if m.n[g] == 0 {
		out.SetNull(row)
		return nil
	}
	by := big.NewInt(m.n[g])
	months, rest := new(big.Int).QuoRem(m.months.long(g), by, new(big.Int))
	days := m.days.long(g)
	days.Add(days, rest.Mul(rest, big.NewInt(30)))
	days, rest = new(big.Int).QuoRem(days, by, new(big.Int))
	micros := m.micros.long(g)
	micros.Add(micros, rest.Mul(rest, big.NewInt(values.MicrosPerDay)))
	micros, rest = new(big.Int).QuoRem(micros, by, new(big.Int))
	if rest.Lsh(rest, 1).CmpAbs(by) >= 0 {
		micros.Add(micros, big.NewInt(int64(rest.Sign())))
	}
	out.Intervals[row] = plan.Interval{Months: int32(months.Int64()), Days: int32(days.Int64()), Micros: micros.Int64()}
	return nil
}
