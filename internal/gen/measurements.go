package gen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// Measurements makes measurements.csv of the one billion row challenge, with a header: station;temperature. It has 413 stations in random
// order, and temperatures with one digit after the point, normally distributed around the mean of their station: about 14 bytes per row. It
// has no quirks, because it is for measuring.
func Measurements(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate measurements: %w", errRows)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	const stations = 413
	var names [stations][]byte
	var means [stations]int // tenths of a degree
	for i := range names {
		names[i] = measuringStation(r, i)
		means[i] = r.IntN(550) - 200
	}
	// All draw from one normal distribution. A table of its values is ten times as fast as drawing each value.
	var spread [1 << 12]int
	for i := range spread {
		spread[i] = int(math.Round(100 * r.NormFloat64()))
	}
	return writeFiles(dir, file{"measurements.csv", func(flush flusher) []byte {
		b := []byte("station;temperature\n")
		for range rows {
			x := r.Uint64()
			s := int(x >> 32 * stations >> 32)
			b = append(append(b, names[s]...), ';')
			t := means[s] + spread[x%uint64(len(spread))]
			if t < 0 {
				b, t = append(b, '-'), -t
			}
			b = strconv.AppendInt(b, int64(t/10), 10)
			b = flush(append(b, '.', byte('0'+t%10), '\n'))
		}
		return b
	}})
}

// measuringStation returns a name of 3 to 20 letters, different for every n.
func measuringStation(r *rand.Rand, n int) []byte {
	syllables := [...]string{"ba", "cór", "da", "el", "fi", "gu", "há", "il", "jo", "ka", "lu", "mon", "na", "os", "pe", "qui", "ro",
		"são", "tu", "va", "we"}
	b := []byte(syllables[n%21] + syllables[n/21])
	b[0] -= 'a' - 'A'
	for range r.IntN(5) {
		b = append(b, syllables[r.IntN(len(syllables))]...)
	}
	return b
}
