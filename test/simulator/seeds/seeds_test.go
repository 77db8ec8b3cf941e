package seeds

import (
	"sync"
	"testing"
)

func TestEachRunsEverySeedOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		var mu sync.Mutex
		seen := map[uint64]int{}
		Each(t, 7, n, func(seed uint64) {
			mu.Lock()
			defer mu.Unlock()
			seen[seed]++
		})
		if len(seen) != n {
			t.Errorf("%d seeds were asked for, %d were run", n, len(seen))
		}
		for seed, times := range seen {
			if seed < 7 || seed >= 7+uint64(n) || times != 1 {
				t.Errorf("of %d seeds from 7 on, seed %d was run %d times", n, seed, times)
			}
		}
	}
}
