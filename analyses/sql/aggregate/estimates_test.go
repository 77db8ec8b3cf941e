package aggregate

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

// TestAStepStandsForItsValues: what stands for a step is in it, and as near to each of its values as SUMMARIZE promises.
func TestAStepStandsForItsValues(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200_000 {
		f := math.Float64frombits(r.Uint64())
		if a := math.Abs(f); !(a > 0x1p-1022) || math.IsInf(f, 0) {
			continue
		}
		shift := r.IntN(19)
		low := doubleNumber(f) >> shift << shift
		got := doubleOf(low, shift)
		width := math.Ldexp(1, shift-20)
		if off := math.Abs(got-f) / math.Abs(f); off > width*0.625+1e-15 && (shift > 0 || off > width) {
			t.Fatalf("%v stands for %v without %d bits", got, f, shift)
		}
		if doubleNumber(got)>>shift<<shift != low {
			t.Fatalf("%v is not in the step of %v without %d bits", got, f, shift)
		}
	}
	for range 200_000 {
		x := int64(r.Uint64()) >> r.IntN(64)
		shift := r.IntN(14)
		low := doubleNumber(float64(x)) >> shift << shift
		got := wholeOf(low, shift)
		if math.Abs(float64(got)-float64(x)) > 0.005*math.Abs(float64(x)) || doubleNumber(float64(got))>>shift<<shift != low {
			t.Fatalf("%d stands for %d without %d bits", got, x, shift)
		}
		if exact := -1<<21 < x && x < 1<<21; got != x && exact && shift == 0 || got != x && -256 <= x && x <= 256 {
			t.Fatalf("%d stands for %d without %d bits", got, x, shift)
		}
	}
}

// TestNumbersOfSixDigitsStandForThemselves: a step without shift has at most one of them.
func TestNumbersOfSixDigitsStandForThemselves(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 100_000 {
		f, err := strconv.ParseFloat(strconv.Itoa(r.IntN(1_999_999)-999_999)+"e"+strconv.Itoa(r.IntN(40)-20), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := doubleOf(doubleNumber(f), 0); got != f {
			t.Fatalf("%v stands for %v", got, f)
		}
	}
}

func TestTheNumberOfAMoment(t *testing.T) {
	for micros, want := range map[int64]int64{0: 0, 1: 0, 999_999: 0, 1_000_000: 1, -1: -1, -1_000_000: -1, -1_000_001: -2,
		math.MaxInt64: math.MaxInt64 / 1_000_000, math.MinInt64: math.MinInt64/1_000_000 - 1} {
		v := &eval.Vector{Kind: types.Timestamp, Ints: []int64{micros}}
		if got := quartileNumber(v, 0); got != want {
			t.Errorf("%d: %d, want %d", micros, got, want)
		}
	}
	for _, c := range []struct {
		low, shift int64
		want       string
	}{{0, 0, "1970-01-01 00:00:00"}, {61, 0, "1970-01-01 00:01:01"}, {-3600, 0, "1969-12-31 23:00:00"}, {0, 16, "1970-01-01 09:00:00"},
		{-1 << 17, 17, "1969-12-31 06:00:00"}} {
		if got := stepText(types.Of(types.Timestamp), c.low, int(c.shift)); got != c.want {
			t.Errorf("step %d of shift %d: %s, want %s", c.low, c.shift, got, c.want)
		}
	}
}

// TestDistinctValuesAreEstimated: exactly while all hashes are kept, then with the stated error.
func TestDistinctValuesAreEstimated(t *testing.T) {
	squares, tries := 0.0, 0
	for _, n := range []int64{0, 1, 1024, 1025, 5000, 40_000} {
		for try := range int64(20) {
			e := approxUnique.New(Call{})
			e.Grow(1)
			for i := range n {
				v := &eval.Vector{Kind: types.BigInt, Ints: []int64{i*7919 + try<<40}}
				if _, err := e.Add(&Rows{Args: []*eval.Vector{v}, Sel: []int32{0}, Groups: []int32{0}}); err != nil {
					t.Fatal(err)
				}
			}
			v, err := Values(e, types.BigInt, 1)
			if err != nil {
				t.Fatal(err)
			}
			off := float64(v.Ints[0]-n) / float64(max(n, 1))
			if n <= 1024 && off != 0 || math.Abs(off) > 0.13 {
				t.Errorf("%d distinct values are estimated as %d", n, v.Ints[0])
			}
			if n > 1025 {
				squares, tries = squares+off*off, tries+1
			}
		}
	}
	if deviation := math.Sqrt(squares / float64(tries)); deviation > 0.045 || deviation < 0.02 {
		t.Errorf("the standard error is %.3f, not 0.031", deviation)
	}
}

// TestForgedHashesAreCounted: hashOf makes none of these numbers, but a forged frame may have them.
func TestForgedHashesAreCounted(t *testing.T) {
	for _, greatest := range []int64{0, -1, math.MinInt64 + uniqueKept, math.MaxInt64} {
		var hashes []int64
		for i := range int64(uniqueKept) {
			hashes = append(hashes, greatest-(uniqueKept-1)+i)
		}
		if n := uniqueOf(hashes); n < 0 {
			t.Errorf("up to %d: %d values", greatest, n)
		}
	}
}
