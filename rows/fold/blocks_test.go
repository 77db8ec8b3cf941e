package fold

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestBlocksKeepEverythingInItsPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var b blocks
	for round := range 4 {
		var texts [][]byte
		var places []uint64
		add := func(n int) {
			p := bytes.Repeat([]byte{byte(r.Uint32())}, n)
			texts, places = append(texts, p), append(places, b.add(p))
		}
		for range 300 {
			add(r.IntN(5000))
			add([]int{0, 0, 1, blockBytes/2 + 1, blockBytes - 1, blockBytes, blockBytes + 1, 3 * blockBytes}[r.IntN(8)])
			add(0)
		}
		for i, p := range texts {
			if got := b.from(places[i])[:len(p)]; !bytes.Equal(got, p) {
				t.Fatalf("round %d: text %d of %d bytes at %#x is another one", round, i, len(p), places[i])
			}
		}
		b.reset()
	}
}

func TestBlocksTakeLittleForLittleAndNotMuchMoreThanTheirContent(t *testing.T) {
	var b blocks
	key := make([]byte, 50)
	for size := 0; size < 10*blockBytes; size += len(key) {
		b.add(key)
		if have, most := b.memory(), firstBlock+2*size; size < blockBytes/2 && have > most {
			t.Fatalf("%d bytes for %d", have, size)
		}
		if have, most := b.memory(), size+2*blockBytes; have > most {
			t.Fatalf("%d bytes for %d", have, size)
		}
	}
	before := b.memory()
	b.reset()
	b.add(key)
	b.reset()
	if b.memory() > before/5 {
		t.Fatalf("%d bytes are kept for 50", b.memory())
	}
}
