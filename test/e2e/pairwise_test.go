package e2e

// pairwise returns rows in which every pair of values of any two factors occurs. The rows that cover most pairs come first. It is greedy
// and uses no random numbers, so every run of the tests has the same rows.
func pairwise(factors [][]int) (rows [][]int) {
	type pair struct{ f, v, g, w int }
	open := map[pair]bool{}
	for f := range factors {
		for g := f + 1; g < len(factors); g++ {
			for v := range factors[f] {
				for w := range factors[g] {
					open[pair{f, v, g, w}] = true
				}
			}
		}
	}
	covers := func(at []int, f, v int) (n int) {
		for g, w := range at {
			if w >= 0 && g != f && (g < f && open[pair{g, w, f, v}] || f < g && open[pair{f, v, g, w}]) {
				n++
			}
		}
		return n
	}
	for turn := 0; len(open) > 0; turn++ {
		at := make([]int, len(factors))
		for i := range at {
			at[i] = -1
		}
		for i := range factors { // begin with another factor in every row, so that no factor is always the last choice
			f := (i + turn) % len(factors)
			best := turn % len(factors[f])
			for j := range factors[f] {
				v := (j + turn) % len(factors[f])
				if covers(at, f, v) > covers(at, f, best) {
					best = v
				}
			}
			at[f] = best
		}
		row := make([]int, len(factors))
		for f, v := range at {
			row[f] = factors[f][v]
			for g := range f {
				delete(open, pair{g, at[g], f, v})
			}
		}
		rows = append(rows, row)
		if turn > 1000 {
			panic("pairwise: no progress") // the first pair of each turn is still open, so each turn makes progress
		}
	}
	return rows
}
