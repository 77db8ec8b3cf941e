package exec

import (
	"math"
	"math/bits"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

// Accumulator holds what an aggregate has added to each group since the last Flush, as plain numbers, by row of the table. The
// table's cells hold the same as bytes. With an accumulator, a cell is written once per group and Flush instead of once per
// row of the data.
type Accumulator struct {
	n      []int64       // how many values; for best, 1 if there is one
	hi, lo []int64       // of a sum of integers: the high and low halves are added up separately, so neither overflows
	Sums   []exact.Sum   // of finite DOUBLEs, without those in small
	small  []exact.Small // of DOUBLEs of usual amounts
	since  int           // how many numbers may be in small
	square []exact.Sum   // of their squares
	best   []uint64      // the greatest number, or for the least all its bits inverted: see sortable. 0 if there is none

	tally    *tally    // of steps
	repeated *repeated // of hashes

	rows   []int32 // rows that have a value, in the batch being added
	groups []int   // the groups of these rows
	part   []int64 // sums of the batch being added, by group; else zero
}

// groupsRepeat reports whether a batch of rows has several rows for most groups of a table. Then it pays to add up each group's rows first.
func groupsRepeat(groups, rows int) bool { return groups <= rows/4 }

// groupCounts counts the rows of each group, for all aggregates that count the same rows.
type groupCounts struct{ counts []int64 }

// of returns nil if there are too many groups. The counts are valid until the next call.
func (c *groupCounts) of(into []int, groups int) []int64 {
	if !groupsRepeat(groups, len(into)) {
		return nil
	}
	c.counts = longer(c.counts[:0], groups)
	for _, row := range into {
		c.counts[row]++
	}
	return c.counts
}

// Grow makes room for the groups of a table.
func (a *Accumulator) Grow(kind aggregateKind, groups int) {
	a.n = longer(a.n, groups)
	switch kind {
	case sumInts, meanInts:
		a.hi, a.lo = longer(a.hi, groups), longer(a.lo, groups)
	case SumFloats, meanFloats:
		a.Sums, a.small = longer(a.Sums, groups), longer(a.small, groups)
	case deviation:
		a.Sums, a.square = longer(a.Sums, groups), longer(a.square, groups)
	case least, greatest, everyTrue, someTrue:
		a.best = longer(a.best, groups)
	}
}

// longer returns s with n items, the new ones zero.
func longer[T any](s []T, n int) []T {
	for len(s) < n {
		if cap(s) > len(s) {
			at := len(s)
			s = s[:min(cap(s), n)]
			clear(s[at:])
			continue
		}
		s = append(s, make([]T, n-len(s))...)
	}
	return s
}

// numeric reports whether values of a type are compared as numbers, which fit a word.
func numeric(k types.Kind) bool {
	return k == types.BigInt || k == types.Decimal || k == types.Date || k == types.Timestamp || k == types.Double || k == types.Bool
}

// turned returns the mask that reverses the order of numbers if the aggregate wants the least one; else 0.
func (x *aggregate) turned() uint64 {
	if x.kind == least || x.kind == everyTrue {
		return math.MaxUint64
	}
	return 0
}

// appendSortable appends, in the form of appendValue, the value that sortable has mapped to x.
func appendSortable(b []byte, k types.Kind, x uint64) []byte {
	v := eval.Vector{Kind: k}
	switch {
	case k == types.Bool:
		v.Bools = []bool{x == 1}
	case k != types.Double:
		v.Ints = []int64{int64(x ^ 1<<63)}
	case x>>63 == 1:
		v.Floats = []float64{math.Float64frombits(x &^ (1 << 63))}
	default:
		v.Floats = []float64{math.Float64frombits(^x)}
	}
	return appendValue(b, &v, 0, true)
}

// accumulates reports whether fold uses an accumulator for an aggregate.
func (x *aggregate) accumulates() bool {
	switch x.kind {
	case countRows, countValues, sumInts, meanInts, SumFloats, meanFloats, deviation, steps, hashes:
		return true
	case least, greatest, everyTrue, someTrue:
		return numeric(x.arg.Type().Kind)
	}
	return false
}

// add adds the rows in sel to their groups. into[k] is the group of sel[k]; v has the values of the argument. counts has the number of
// these rows by group; it may be nil.
func (a *Accumulator) add(x *aggregate, t *fold.Table, v *eval.Vector, sel []int32, into []int, counts []int64) {
	a.Grow(x.kind, t.Len())
	if x.kind == countRows {
		a.count(into, counts)
		return
	}
	if v.Any {
		sel, into = a.present(v, sel, into)
		counts = nil
	}
	switch x.kind {
	case sumInts, meanInts:
		a.addInts(v.Ints, sel, into)
	case SumFloats, meanFloats:
		a.AddFloats(x, t, v.Floats, sel, into)
	case deviation:
		for k, i := range sel {
			if f := v.Floats[i]; f-f != 0 {
				x.addOdd(t, into[k], f)
			} else {
				a.Sums[into[k]].Add(f)
				x.addSquare(t, &a.square[into[k]], into[k], f)
			}
		}
	case least, everyTrue, greatest, someTrue:
		a.addBest(x.turned(), v, sel, into)
		return
	case steps:
		a.addNumbers(x, t, v, sel, into)
	case hashes:
		a.addHashes(x, t, v, sel, into)
	}
	a.count(into, counts)
}

func (a *Accumulator) count(into []int, counts []int64) {
	if counts == nil {
		for _, row := range into {
			a.n[row]++
		}
	}
	for row, n := range counts {
		a.n[row] += n
	}
}

// addInts adds integers. The halves of a batch's sum count as much as the sum of the halves.
func (a *Accumulator) addInts(x []int64, sel []int32, into []int) {
	if groupsRepeat(len(a.hi), len(sel)) && a.addSmall(x, sel, into) {
		return
	}
	for k, i := range sel {
		n := x[i]
		a.hi[into[k]] += n >> 32
		a.lo[into[k]] += n & math.MaxUint32
	}
}

// addSmall is addInts for integers so small that their sums fit 64 bits. It returns false, and adds nothing, if one is larger.
func (a *Accumulator) addSmall(x []int64, sel []int32, into []int) bool {
	a.part = longer(a.part, len(a.hi))
	part, all := a.part[:len(a.hi)], int64(0)
	if len(part) == 1 { // in a register
		sum := int64(0)
		for _, i := range sel {
			sum += x[i]
			all |= x[i] ^ x[i]>>63
		}
		part[0] = sum
	} else {
		into = into[:len(sel)]
		for k, i := range sel {
			part[into[k]] += x[i]
			all |= x[i] ^ x[i]>>63
		}
	}
	small := bits.Len64(uint64(all))+bits.Len(uint(len(sel))) < 64
	for row, sum := range part {
		if small {
			a.hi[row] += sum >> 32
			a.lo[row] += sum & math.MaxUint32
		}
		part[row] = 0
	}
	return small
}

// AddFloats adds DOUBLEs.
func (a *Accumulator) AddFloats(x *aggregate, t *fold.Table, values []float64, sel []int32, into []int) {
	if a.since += len(sel); a.since > exact.MostSmall {
		a.TakeSmall()
		a.since = len(sel)
	}
	// how many are added in the other way behind one that is not of a usual amount, as its neighbours may not be either
	for other := 1; ; other *= 2 {
		n := exact.AddSmall(a.small, into, values, sel)
		sel, into = sel[n:], into[n:]
		if len(sel) == 0 {
			return
		}
		other = min(other, len(sel))
		for k, i := range sel[:other] {
			if f := values[i]; f-f != 0 {
				x.addOdd(t, into[k], f)
			} else {
				a.Sums[into[k]].Add(f)
			}
		}
		sel, into = sel[other:], into[other:]
	}
}

// TakeSmall moves small to sums.
func (a *Accumulator) TakeSmall() {
	for row := range a.small {
		a.Sums[row].AddSmall(&a.small[row])
	}
	clear(a.small)
	a.since = 0
}

// addBest keeps the best number of each group; turned reverses the order. It has no branch on what is better, because in a chunk of many
// groups new best numbers are frequent.
func (a *Accumulator) addBest(turned uint64, v *eval.Vector, sel []int32, into []int) {
	best, n, into := a.best, a.n, into[:len(sel)]
	switch v.Kind {
	case types.Double:
		for k, i := range sel {
			row := into[k]
			n[row] = 1
			best[row] = max(best[row], eval.SortableDouble(v.Floats[i])^turned)
		}
	case types.Bool:
		for k, i := range sel {
			row := into[k]
			n[row] = 1
			best[row] = max(best[row], eval.Sortable(v, i)^turned)
		}
	default:
		for k, i := range sel {
			row := into[k]
			n[row] = 1
			best[row] = max(best[row], uint64(v.Ints[i])^1<<63^turned)
		}
	}
}

// present returns the rows that have a value, and their groups.
func (a *Accumulator) present(v *eval.Vector, sel []int32, into []int) ([]int32, []int) {
	a.rows, a.groups = a.rows[:0], a.groups[:0]
	for k, i := range sel {
		if !v.IsNull(i) {
			a.rows, a.groups = append(a.rows, i), append(a.groups, into[k])
		}
	}
	return a.rows, a.groups
}

// addOdd notes an infinity or a NaN in a sum.
func (x *aggregate) addOdd(t *fold.Table, row int, f float64) {
	switch {
	case f != f:
		t.PutLeast(row, x.cell+2, hasNaN)
	case f > 0:
		t.PutLeast(row, x.cell+2, hasPos)
	default:
		t.PutLeast(row, x.cell+2, hasNeg)
	}
}

// settle writes everything to the table, and clears the accumulator.
func (a *Accumulator) settle(x *aggregate, t *fold.Table, scratch []byte) []byte {
	a.TakeSmall()
	for row, n := range a.n {
		if n == 0 {
			continue
		}
		switch x.kind {
		case countRows, countValues:
			t.AddSum(row, x.cell, n)
		case sumInts, meanInts:
			t.AddSum(row, x.cell, a.hi[row])
			t.AddSum(row, x.cell+1, a.lo[row])
			t.AddSum(row, x.cell+2, n)
		case SumFloats, meanFloats:
			t.AddExact(row, x.cell, &a.Sums[row])
			t.AddSum(row, x.cell+1, n)
		case deviation:
			t.AddExact(row, x.cell, &a.Sums[row])
			t.AddSum(row, x.cell+1, n)
			t.AddExact(row, x.cell+squares, &a.square[row])
		case least, everyTrue:
			scratch = appendSortable(scratch[:0], x.arg.Type().Kind, a.best[row]^x.turned())
			t.PutMinText(row, x.cell, scratch)
		case greatest, someTrue:
			scratch = appendSortable(scratch[:0], x.arg.Type().Kind, a.best[row]^x.turned())
			t.PutMaxText(row, x.cell, scratch)
		case steps:
			a.tally.settle(x, t, row)
		case hashes:
			clear(a.repeated.seen[:])
		}
	}
	a.n, a.hi, a.lo, a.best = a.n[:0], a.hi[:0], a.lo[:0], a.best[:0]
	clear(a.Sums) // releases the memory that a sum of very large or very small numbers holds
	clear(a.square)
	a.Sums, a.small, a.square = a.Sums[:0], a.small[:0], a.square[:0]
	return scratch
}
