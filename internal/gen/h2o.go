package gen

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// H2O makes x.csv, the table of the group-by questions of db-benchmark, with K = 100 and without NULLs: id1 and id2 have 100 different
// texts, id4 and id5 100 different integers, id3 and id6 one for every 100 rows; v1 is from 1 to 5, v2 from 1 to 15, and v3 below 100 with
// up to six digits after the point. All are uniformly distributed. A row has about 50 bytes.
func H2O(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate h2o: %w", errRows)
	}
	const groups = 100
	r, small := rand.New(rand.NewPCG(seed, 0)), max(1, rows/groups)
	return writeFiles(dir, file{"x.csv", func(flush flusher) []byte {
		b := firstLine("h2o", "x")
		for range rows {
			b = padded(append(b, "id"...), 1+r.IntN(groups), 3)
			b = padded(append(b, ",id"...), 1+r.IntN(groups), 3)
			b = padded(append(b, ",id"...), 1+r.IntN(small), 10)
			for _, n := range [...]int{groups, groups, small, 5, 15} {
				b = strconv.AppendInt(append(b, ','), int64(1+r.IntN(n)), 10)
			}
			b = strconv.AppendFloat(append(b, ','), float64(r.IntN(100_000_000))/1e6, 'f', -1, 64)
			b = flush(append(b, '\n'))
		}
		return b
	}})
}

// padded appends a number with at least this many digits.
func padded(b []byte, n, digits int) []byte {
	text := strconv.Itoa(n)
	return append(append(b, "0000000000"[:max(0, digits-len(text))]...), text...)
}
