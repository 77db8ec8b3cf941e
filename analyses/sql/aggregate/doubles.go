package aggregate

import (
	"math"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

// floatSums is sum and avg of DOUBLE.
type floatSums struct {
	finiteSums
	present
	mean  bool
	small []exact.Small // of numbers of usual amounts, which sums does not have
	since int           // how many numbers may be in small
}

// finiteSums are exact sums of DOUBLEs. NaN and the infinities are counted apart, so that they can be removed again.
type finiteSums struct {
	tallied
	sums []exact.Sum
	odd  []odd // nil if there are none
	wide []bool
}

// odd counts the numbers that are not finite.
type odd struct{ nan, pos, neg int64 }

// The cells of finiteSums are the sum of finite values, the count, and which of NaN and the infinities there were.
var finiteCells = []fold.Agg{{Kind: fold.Exact}, {Kind: fold.Sum}, {Kind: fold.Least, N: 3}}

// Codes that Least keeps for values of a sum that are not finite.
var hasNaN, hasPos, hasNeg = []byte("n"), []byte("p"), []byte("m")

const (
	finiteBytes = 41  // of a group of finiteSums
	oddBytes    = 24  // of an odd
	smallBytes  = 16  // of an exact.Small
	wideBytes   = 300 // in addition, if there are numbers beyond 64 bits before the point or 128 bits after it
)

func (s *finiteSums) grow(groups int) (bytes int64) {
	longer(&s.n, groups)
	longer(&s.wide, groups)
	if s.odd != nil {
		bytes = oddBytes * longer(&s.odd, groups)
	}
	return bytes + finiteBytes*longer(&s.sums, groups)
}

// add adds a number, or removes it if by is -1.
func (s *finiteSums) add(g int32, f float64, by int64) (bytes int64) {
	if f-f != 0 {
		bytes = oddBytes * longer(&s.odd, len(s.sums))
		switch o := &s.odd[g]; {
		case f != f:
			o.nan += by
		case f > 0:
			o.pos += by
		default:
			o.neg += by
		}
		return bytes
	}
	if a := math.Abs(f); !s.wide[g] && (a >= 0x1p60 || a < 0x1p-70 && a > 0) {
		s.wide[g] = true
		bytes = wideBytes
	}
	s.sums[g].Add(f * float64(by))
	return bytes
}

// special returns the sum of a group if it is not finite: infinities and NaN are added as in IEEE 754.
func (s *finiteSums) special(g int32) (float64, bool) {
	if s.odd == nil {
		return 0, false
	}
	switch o := &s.odd[g]; {
	case o.nan > 0 || o.pos > 0 && o.neg > 0:
		return math.NaN(), true
	case o.pos > 0:
		return math.Inf(1), true
	case o.neg > 0:
		return math.Inf(-1), true
	}
	return 0, false
}

func (s *finiteSums) encode(t *fold.Table, cell int) {
	for row, n := range s.n {
		if n != 0 {
			t.AddExact(row, cell, &s.sums[row])
			t.AddSum(row, cell+1, n)
		}
	}
	for row, o := range s.odd {
		if o.nan > 0 {
			t.PutLeast(row, cell+2, hasNaN)
		}
		if o.pos > 0 {
			t.PutLeast(row, cell+2, hasPos)
		}
		if o.neg > 0 {
			t.PutLeast(row, cell+2, hasNeg)
		}
	}
	clear(s.sums) // releases the memory that a sum of very large or very small numbers holds
	s.n, s.sums, s.odd, s.wide = s.n[:0], s.sums[:0], nil, s.wide[:0]
}

func (s *finiteSums) decode(t *fold.Table, cell, row int, g int32) {
	s.sums[g].AddSum(t.Exact(row, cell))
	s.n[g] = t.Sum(row, cell+1)
	for _, p := range t.Least(row, cell+2) {
		switch string(p) {
		case "n":
			s.add(g, math.NaN(), 1)
		case "p":
			s.add(g, math.Inf(1), 1)
		case "m":
			s.add(g, math.Inf(-1), 1)
		}
	}
}

func (s *floatSums) Grow(groups int) int64 {
	return s.grow(groups) + smallBytes*longer(&s.small, groups)
}

func (s *floatSums) Add(r *Rows) (bytes int64, _ error) {
	sel, groups, counts := s.of(r, r.Args[0])
	s.count(groups, counts, 1)
	if s.since += len(sel); s.since > exact.MostSmall {
		s.takeSmall()
		s.since = len(sel)
	}
	v := r.Args[0].Floats
	// how many are added in the other way behind one that is not of a usual amount, as its neighbours may not be either
	for other := 1; ; other *= 2 {
		n := exact.AddSmall(s.small, groups, v, sel)
		if sel, groups = sel[n:], groups[n:]; len(sel) == 0 {
			return bytes, nil
		}
		other = min(other, len(sel))
		for k, i := range sel[:other] {
			bytes += s.add(groups[k], v[i], 1)
		}
		sel, groups = sel[other:], groups[other:]
	}
}

// takeSmall moves small to sums.
func (s *floatSums) takeSmall() {
	for g := range s.small {
		s.sums[g].AddSmall(&s.small[g])
	}
	clear(s.small)
	s.since = 0
}

func (s *floatSums) Remove(r *Rows) {
	sel, groups, counts := s.of(r, r.Args[0])
	s.count(groups, counts, -1)
	for k, i := range sel {
		s.add(groups[k], r.Args[0].Floats[i], -1)
	}
}

func (s *floatSums) Value(g int32, out *eval.Vector, row int32) error {
	n := s.n[g]
	if n == 0 {
		out.SetNull(row)
		return nil
	}
	if f, special := s.special(g); special {
		out.Floats[row] = f
		return nil
	}
	s.sums[g].AddSmall(&s.small[g])
	s.small[g] = exact.Small{}
	if s.mean {
		out.Floats[row] = s.sums[g].Mean(n)
	} else {
		out.Floats[row] = s.sums[g].Value()
	}
	return nil
}

func (s *floatSums) Cells() []fold.Agg { return finiteCells }

func (s *floatSums) Encode(t *fold.Table, cell int) {
	s.takeSmall()
	s.small = s.small[:0]
	s.encode(t, cell)
}

func (s *floatSums) Decode(t *fold.Table, cell, row int, g int32) error {
	s.decode(t, cell, row, g)
	return nil
}
