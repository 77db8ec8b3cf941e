package csv

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBothIndexersAgree: what one machine accepts and another does not would be different answers.
func TestBothIndexersAgree(t *testing.T) {
	if !hasAVX2 {
		t.Log("this machine has no AVX2: fillBlocks is fillPortable, compared with itself")
	}
	rng := rand.New(rand.NewPCG(15, 16))
	fast, portable := new(index), new(index)
	for range 400 {
		p := make([]byte, 64*rng.IntN(window/64+1))
		odds := 1 + rng.IntN(80)
		for i := range p {
			p[i] = byte(rng.Uint32())
			if rng.IntN(odds) == 0 {
				p[i] = ",\n"[rng.IntN(2)]
			}
		}
		comma := []byte{',', 0, 0xff, ';'}[rng.IntN(4)]
		fast.fillBlocks(p, comma)
		portable.fillPortable(p, comma)
		if !slices.Equal(fast.pos[:fast.n], portable.pos[:portable.n]) || !slices.Equal(fast.lines[:len(p)/64], portable.lines[:len(p)/64]) {
			t.Fatalf("the indexers differ for separator %q in %q", comma, p)
		}
	}
}
