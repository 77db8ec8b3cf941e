package csv

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBothIndexersAgree: if one machine accepted what another one does not, answers would differ.
func TestBothIndexersAgree(t *testing.T) {
	if !hasAVX2 {
		t.Log("this machine has no AVX2: indexBlocks is indexPortable, compared with itself")
	}
	rng := rand.New(rand.NewPCG(15, 16))
	fast, portable := new(index), new(index)
	for range 800 {
		p := make([]byte, 64*rng.IntN(window/64+1))
		odds, some := 1+rng.IntN(80), []string{",\n", ",,\n\"", ",\"\r\n", "\"\"", "\r\n"}[rng.IntN(5)]
		for i := range p {
			p[i] = byte(rng.Uint32())
			if rng.IntN(odds) == 0 {
				p[i] = some[rng.IntN(len(some))]
			}
		}
		comma, offset := []byte{',', 0, 0xff, ';'}[rng.IntN(4)], 64*rng.IntN(4)
		q := quotes{inside: -uint64(rng.IntN(2)), before: uint64(rng.IntN(2)), closed: uint64(rng.IntN(2)), returned: uint64(rng.IntN(2))}
		r, s, v := q, q, q
		fast.n = indexBlocks(fast.pos[:], fast.lines[:], p, offset, comma, &q)
		portable.n = indexPortable(portable.pos[:], portable.lines[:], p, offset, comma, &r)
		if !slices.Equal(fast.pos[:fast.n], portable.pos[:portable.n]) || !slices.Equal(fast.lines[:len(p)/64], portable.lines[:len(p)/64]) {
			t.Fatalf("the indexers differ for separator %q in %q", comma, p)
		}
		mask, at, lines := endsOfBlocks(p, comma, &s)
		wantMask, wantAt, wantLines := endsPortable(p, comma, &v)
		if mask != wantMask || at != wantAt || lines != wantLines {
			t.Fatalf("the last ends are %x, %d, %d, not %x, %d, %d for separator %q in %q", mask, at, lines, wantMask, wantAt, wantLines, comma, p)
		}
		if s.lone != v.lone {
			t.Fatalf("carriage returns without line feeds are %x, not %x in %q", s.lone, v.lone, p)
		}
		for _, got := range []quotes{q, s, v} {
			if same(got) != same(r) {
				t.Fatalf("quotes are %+v, not %+v for separator %q in %q", got, r, comma, p)
			}
		}
	}
}

// same returns the part of q on which all ways must agree: after a misplaced quote, only that it is misplaced.
func same(q quotes) quotes {
	q.aside, q.broken, q.seen, q.lone = 0, min(q.broken, 1), min(q.seen, 1), 0
	return q
}
