package values

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzOrder: rows of all types are sorted as a stable sort by comparison alone sorts them, and no prefix contradicts that order.
func FuzzOrder(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, uint16(seed*5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, count uint16) {
		r := rand.New(rand.NewPCG(seed, 6))
		n := int(count) % 2000
		var keys []Key
		for range 1 + r.IntN(3) {
			few, rows := 1+r.IntN(max(1, n)), make([]int32, n)
			for i := range rows {
				rows[i] = int32(r.IntN(few))
			}
			v := Gather(randomVector(r, blockKinds[r.IntN(len(blockKinds))], few), rows)
			keys = append(keys, Key{v, r.IntN(2) == 0, r.IntN(2) == 0})
		}
		var want []int32
		for i := range int32(n) {
			want = append(want, i)
		}
		got := slices.Clone(want)
		r.Shuffle(n, func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortStableFunc(want, func(a, b int32) int { return CompareRows(keys, a, b) })
		if Sort(got, keys, func() {}); !slices.Equal(got, want) {
			t.Fatalf("%v, and not %v", got, want)
		}
		for i := 1; i < n; i++ {
			if keys[0].Prefix(want[i-1]) > keys[0].Prefix(want[i]) {
				t.Fatalf("%s has a larger prefix than %s", same(keys[0].V, want[i-1]), same(keys[0].V, want[i]))
			}
		}
	})
}
