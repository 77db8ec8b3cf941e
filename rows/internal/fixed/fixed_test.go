package fixed

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzNumbers: whatever is appended in its width is read again, all of it or some, and takes width bytes a number, as the plain form of it
// has them.
func FuzzNumbers(f *testing.F) {
	for seed, low := range []int64{0, 1, -5, math.MinInt64, math.MaxInt64 - 300} {
		for _, most := range []uint64{0, 1, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
			f.Add(uint64(seed), low, most)
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, low int64, most uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		values := []int64{low, int64(uint64(low) + most)}
		for range r.IntN(200) {
			values = append(values, int64(uint64(low)+r.Uint64N(most/2+1)))
		}
		width, before := Width(most), []byte("before")
		p := Append(before, values, low, width)
		plain := slices.Clone(before)
		for _, v := range values {
			plain = append(plain, binary.LittleEndian.AppendUint64(nil, uint64(v)-uint64(low))[:width]...)
		}
		if !bytes.Equal(p, plain) {
			t.Fatalf("%x, and not %x", p, plain)
		}
		got := make([]int64, len(values))
		if Read(got, p[len(before):], low, width); !slices.Equal(got, values) {
			t.Fatalf("%v, and not %v", got, values)
		}
		var at []int32
		var want []int64
		for i, v := range values {
			if r.IntN(2) == 0 {
				at, want = append(at, int32(i)), append(want, v)
			}
		}
		some := make([]int64, len(at))
		if ReadSome(some, p[len(before):], low, width, at); !slices.Equal(some, want) {
			t.Fatalf("%v at %v, and not %v", some, at, want)
		}
	})
}
