package flights

import (
	"math/big"
	"math/bits"
	"slices"

	"posta.dev/posta/rows/fold"
)

// amounts is the exact sum of n amounts of cents, in 128 bits, which 2^64 of the largest amounts do not overflow.
type amounts struct {
	high, low uint64
	n         uint64
	most      int64
}

// add adds an amount above 0 that occurs n times.
func (a *amounts) add(cents, n int64) {
	high, low := bits.Mul64(uint64(cents), uint64(n))
	var carry uint64
	a.low, carry = bits.Add64(a.low, low, 0)
	a.high += high + carry
	a.n += uint64(n)
	a.most = max(a.most, cents)
}

// below reports whether the mean is below an amount, exactly: sum < n × cents.
func (a *amounts) below(cents int64) bool {
	high, low := bits.Mul64(uint64(cents), a.n)
	return a.high < high || a.high == high && a.low < low
}

// average returns the mean in dollars, rounded once.
func (a *amounts) average() float64 {
	sum := new(big.Int).SetUint64(a.high)
	sum.Or(sum.Lsh(sum, 64), new(big.Int).SetUint64(a.low))
	count := new(big.Int).SetUint64(a.n)
	f, _ := new(big.Rat).SetFrac(sum, count.Mul(count, big.NewInt(100))).Float64()
	return f
}

// reduceFares reads the histogram twice: first for the mean of all fares, then for the fares above it.
func reduceFares(t *fold.Table, emit func(row ...any)) {
	var all amounts
	for row := range t.Len() {
		for cents, n := range t.Counts(row, 0) {
			all.add(cents, n)
		}
	}
	above := map[string]*amounts{}
	for row := range t.Len() {
		a := above[string(t.KeyText(row, 0))]
		for cents, n := range t.Counts(row, 0) {
			if !all.below(cents) {
				continue
			}
			if a == nil {
				a = new(amounts)
				above[string(t.KeyText(row, 0))] = a
			}
			a.add(cents, n)
		}
	}
	names := make([]string, 0, len(above))
	for name := range above {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		a := above[name]
		emit(name, a.average(), dollars(a.most), int64(a.n))
	}
}
