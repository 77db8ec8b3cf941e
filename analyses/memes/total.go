package memes

import (
	"math/big"

	"posta.dev/posta/rows/fold"
)

// A score may be any int64, and a few of the largest would overflow an int64 sum. So the two halves of scores are added up
// separately. Neither overflows before 2^31 rows.
//
//	score = high·2^32 + low, 0 <= low < 2^32
const lowBits = 32

type total struct{ high, low, n int64 }

func (t *total) add(score int64) {
	t.high += score >> lowBits
	t.low += score & (1<<lowBits - 1)
	t.n++
}

// flush adds the total to its table and forgets it.
func (t *total) flush(table *fold.Table) {
	if t.n == 0 {
		return
	}
	row := table.Row(table.Key())
	table.AddSum(row, 0, t.high)
	table.AddSum(row, 1, t.low)
	table.AddSum(row, 2, t.n)
	*t = total{}
}

// mean is a fraction that need not be reduced: the sum of all scores, and their number.
type mean struct {
	sum, n *big.Int
	scaled big.Int // memory for below
}

// meanOf returns the mean score, false if there is no post.
func meanOf(table *fold.Table) (m *mean, ok bool) {
	row, ok := table.Find(table.Key())
	if !ok || table.Sum(row, 2) <= 0 {
		return nil, false
	}
	sum := big.NewInt(table.Sum(row, 0))
	sum.Add(sum.Lsh(sum, lowBits), big.NewInt(table.Sum(row, 1)))
	return &mean{sum: sum, n: big.NewInt(table.Sum(row, 2))}, true
}

// below reports whether the mean is below a score, exactly.
func (m *mean) below(score int64) bool {
	m.scaled.SetInt64(score)
	return m.sum.Cmp(m.scaled.Mul(&m.scaled, m.n)) < 0
}

// value returns the mean rounded once.
func (m *mean) value() float64 {
	f, _ := new(big.Rat).SetFrac(m.sum, m.n).Float64()
	return f
}
