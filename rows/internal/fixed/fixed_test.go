package fixed

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNumbersComeBack: whatever is appended in its width is read again, all of it or some, and takes width bytes a number, as the plain
// form of it has them.
func TestNumbersComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, low := range []int64{0, 1, -5, math.MinInt64, math.MaxInt64 - 300} {
		for _, most := range []uint64{0, 1, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
			values := []int64{low, int64(uint64(low) + most)}
			for range r.IntN(40) {
				values = append(values, int64(uint64(low)+r.Uint64N(most/2+1)))
			}
			width, before := Width(most), []byte("before")
			p := Append(before, values, low, width)
			plain := slices.Clone(before)
			for _, v := range values {
				plain = append(plain, binary.LittleEndian.AppendUint64(nil, uint64(v)-uint64(low))[:width]...)
			}
			if !bytes.Equal(p, plain) {
				t.Fatalf("%d from %d: %x, and not %x", most, low, p, plain)
			}
			got := make([]int64, len(values))
			if Read(got, p[len(before):], low, width); !slices.Equal(got, values) {
				t.Fatalf("%d from %d: %v, and not %v", most, low, got, values)
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
				t.Fatalf("%d from %d: %v at %v, and not %v", most, low, some, at, want)
			}
		}
	}
}
