package exact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSmallSumsAreSums: numbers added to Smalls up to the first that is too large or too fine, that one added to a Sum, and both together,
// are the Sum of all.
func TestSmallSumsAreSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	extremes := []float64{0, math.Copysign(0, -1), 1 << 42, -(1 << 42), math.Nextafter(1<<42, 0), -math.Nextafter(1<<42, 0), 0x1p-12,
		math.Nextafter(0x1p-12, 0), -0x1p-12,
		0x1p-64, 0x1p-65, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 1e15, 1e-15, 0.1, -0.1, 1, -1}
	small, other := 0, 0
	for round := range 400 {
		const groups = 5
		var sums [groups]Small
		var all, rest [groups]Sum
		values := make([]float64, 1+rng.IntN(300))
		rows, into := []int32{}, []int32{}
		for i := range values {
			switch round % 3 {
			case 0:
				values[i] = extremes[rng.IntN(len(extremes))]
			case 1:
				values[i] = float64(rng.IntN(2000)-1000) / 10
			default:
				values[i] = math.Ldexp(rng.Float64()-0.5, rng.IntN(120)-70)
			}
			if rng.IntN(4) > 0 {
				rows, into = append(rows, int32(i)), append(into, int32(rng.IntN(groups)))
				all[into[len(into)-1]].Add(values[i])
			}
		}
		for len(rows) > 0 {
			n := AddSmall(sums[:], into, values, rows)
			small += n
			if n < len(rows) {
				v := values[rows[n]]
				if a := math.Abs(v); a == 0 || a >= 0x1p-12 && a < 1<<42 {
					t.Fatalf("%v is not added", v)
				}
				rest[into[n]].Add(v)
				other++
				n++
			}
			rows, into = rows[n:], into[n:]
		}
		for g := range all {
			rest[g].AddSmall(&sums[g])
			got, _ := rest[g].Rat()
			want, _ := all[g].Rat()
			if got.Cmp(want) != 0 {
				t.Fatalf("the sum is %v, want %v", got, want)
			}
		}
	}
	if small < 10000 || other < 10000 {
		t.Errorf("%d and %d numbers", small, other)
	}
}

// TestMostSmallNumbersFit: the largest sums of as many numbers as a Small may have.
func TestMostSmallNumbersFit(t *testing.T) {
	for _, v := range []float64{math.Nextafter(1<<42, 0), -math.Nextafter(1<<42, 0), 0x1p-12} {
		var small [1]Small
		var got, want Sum
		into, rows := make([]int32, 1024), make([]int32, 1024)
		for n := 0; n < MostSmall; n += len(rows) {
			if AddSmall(small[:], into, []float64{v}, rows) != len(rows) {
				t.Fatal(v)
			}
			for range rows {
				want.Add(v)
			}
		}
		if got.AddSmall(&small[0]); got.Value() != want.Value() {
			t.Errorf("%v times %d is %v, want %v", v, MostSmall, got.Value(), want.Value())
		}
	}
}

// TestSmallRefusesOthers: a number for which a Small may have no room is not added.
func TestSmallRefusesOthers(t *testing.T) {
	for _, v := range []float64{1 << 42, -(1 << 42), 1 << 43, math.Nextafter(0x1p-12, 0), 0x1p-64, math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxFloat64, math.SmallestNonzeroFloat64} {
		if AddSmall(make([]Small, 1), []int32{0}, []float64{v}, []int32{0}) != 0 {
			t.Errorf("%v is added", v)
		}
	}
}
