package vader

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestRoundingIsCorrect: even next to halves, where the product of round4 cannot decide.
func TestRoundingIsCorrect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		v := 2*r.Float64() - 1
		if r.IntN(2) == 0 {
			v = math.Nextafter((float64(r.IntN(20000)-10000)+0.5)/1e4, float64(r.IntN(3)-1))
		}
		want, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
		if got := round4(v); err != nil || got != want {
			t.Fatalf("%v: %v, want %v", v, got, want)
		}
	}
	for _, v := range []float64{0, 1, -1, 0.00005, 0.03125, 0.09375} { // the last two are exactly halves
		want, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
		if got := round4(v); err != nil || got != want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}
