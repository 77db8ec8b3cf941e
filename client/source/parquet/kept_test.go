package parquet

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzKept: the bits of rows that are kept are counted, found and applied as a list of booleans is.
func FuzzKept(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, often uint8) {
		r := rand.New(rand.NewPCG(seed, 8))
		var m mask
		plain := make([]bool, takeRows)
		for i, row := 0, 0; row < takeRows; i++ { // runs of rows that are kept, and of others
			n := min(1+r.IntN(1+int(often)), takeRows-row)
			if i%2 == 0 {
				m.set(row, row+n)
			}
			for k := range n {
				plain[row+k] = i%2 == 0
			}
			row += n
		}
		if from, to := r.IntN(takeRows), r.IntN(takeRows); from < to {
			m.clear(from, to)
			clear(plain[from:to])
		}
		n := 1 + r.IntN(takeRows)
		at := r.IntN(n)
		run := func(of bool) (k int) {
			for at+k < n && plain[at+k] == of {
				k++
			}
			return k
		}
		count := 0
		for _, is := range plain {
			if is {
				count++
			}
		}
		if m.count() != count || m.zeros(at, n) != run(false) || m.ones(at, n) != run(true) {
			t.Fatalf("%d rows, %d and %d from row %d on, and not %d, %d, %d", m.count(), m.zeros(at, n), m.ones(at, n), at, count,
				run(false), run(true))
		}

		// Some rows at once, of which some have a value.
		rows := min(n-at, 1+r.IntN(300))
		var valid []uint64
		var values, want []int
		wanted := make([]bool, rows)
		if r.IntN(3) > 0 {
			valid = make([]uint64, (rows+63)/64)
		}
		for row := range rows {
			if valid != nil {
				if r.IntN(4) == 0 {
					continue
				}
				valid[row/64] |= 1 << (row % 64)
			}
			values = append(values, row)
			if plain[at+row] {
				want, wanted[row] = append(want, row), true
			}
		}
		k := &kept{rows: &m, at: at}
		some, has := keptOf(k, values, valid, rows)
		if all := len(want) == len(values); !slices.Equal(some, want) || !all && len(has) != (rows+63)/64 {
			t.Fatalf("%v, and not %v", some, want)
		}
		for row, is := range wanted {
			if has != nil && has[row/64]>>(row%64)&1 == 1 != is || has == nil && !is {
				t.Fatalf("row %d has a value: %v", row, !is)
			}
		}
	})
}

// FuzzKeptRuns: the runs that are passed over or decoded end where rows do, and no row that is kept is passed over.
func FuzzKeptRuns(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 9))
		var m mask
		for range r.IntN(9) {
			from := r.IntN(takeRows)
			m.set(from, min(takeRows, from+1+r.IntN(100)))
		}
		k := &kept{rows: &m, at: r.IntN(takeRows)}
		for left := 1 + r.IntN(takeRows-k.at); left > 0; {
			dead, alive := k.run(left)
			if (dead == 0) == (alive == 0) || dead+alive > left || dead+alive < min(left, 64) {
				t.Fatalf("%d and %d of %d rows", dead, alive, left)
			}
			for range dead {
				if k.has() {
					t.Fatalf("row %d is passed over", k.at)
				}
				k.pass(1)
			}
			k.pass(alive)
			left -= dead + alive
		}
	})
}
