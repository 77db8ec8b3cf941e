package csv

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestIndexOfAnyWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	x := new(index)
	for range 150 {
		data, comma := rubbish(rng, rng.IntN(2*window)), []byte{',', 0}[rng.IntN(2)]
		from := rng.IntN(len(data) + 1)
		x.cover(data, from, comma)
		want, end := 0, min(from+window, len(data))
		for i := from; i < end; i++ {
			if data[i] == comma {
				if want >= x.n || from+int(x.pos[want]) != i {
					t.Fatalf("separator %d is not at %d", want, i)
				}
				want++
			}
			if nl := bytes.IndexByte(data[i:end], '\n'); nl < 0 && x.lineFeed(i) != -1 || nl >= 0 && x.lineFeed(i) != i+nl {
				t.Fatalf("line feed after %d is at %d, want %d", i, x.lineFeed(i), i+nl)
			}
		}
		if x.n != want || x.pos[x.n] != beyond || x.end != end || x.lineFeed(end) != -1 {
			t.Fatalf("%d separators, want %d", x.n, want)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	p := bytes.Repeat([]byte("2015-05-05 08:30:00,6217,2015-05-05 08:41:00,6204,660.0,1,2015\n"), window/63)[:window/64*64-64]
	x := new(index)
	for name, fill := range map[string]func([]byte, byte){"this machine": x.fillBlocks, "portable": x.fillPortable} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				fill(p, ',')
			}
		})
	}
	b.Run("a search per field", func(b *testing.B) {
		b.SetBytes(int64(len(p)))
		for b.Loop() {
			for at := 0; at < len(p); x.n++ {
				i := bytes.IndexByte(p[at:], ',')
				if i < 0 {
					break
				}
				x.pos[x.n%window] = uint16(at + i)
				at += i + 1
			}
			x.n = 0
		}
	})
}
