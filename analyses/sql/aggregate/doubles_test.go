package aggregate

import (
	"math"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
)

// TestManyLargeDoubles: more numbers than an exact.Small has room for.
func TestManyLargeDoubles(t *testing.T) {
	const rows, rounds = 2048, 3 * exact.MostSmall / 2048
	v := math.Nextafter(1<<42, 0)
	s := &floatSums{}
	s.Grow(1)
	r := &Rows{Args: []*eval.Vector{{Kind: types.Double, Floats: []float64{v}}}, Sel: make([]int32, rows), Groups: make([]int32, rows)}
	for range rounds {
		if _, err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	out, err := Values(s, types.Double, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out.Floats[0], v*rows*rounds; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
