package exact

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"testing/quick"
)

// bigSum is the same sum by math/big, which rounds only when it is read.
type bigSum struct{ r big.Rat }

func (b *bigSum) add(v float64) { b.r.Add(&b.r, new(big.Rat).SetFloat64(v)) }
func (b *bigSum) addInt(v int64) {
	b.r.Add(&b.r, new(big.Rat).SetInt64(v))
}
func (b *bigSum) value() float64 { f, _ := b.r.Float64(); return f }
func (b *bigSum) mean(n int64) float64 {
	f, _ := new(big.Rat).Quo(&b.r, new(big.Rat).SetInt64(n)).Float64()
	return f
}

// values draws numbers of one of several kinds: those that analyses add, all exponents, cancelling ones, and ones near the
// limits.
func values(r *rand.Rand, n int) []float64 {
	kind := r.IntN(6)
	vs := make([]float64, n)
	for i := range vs {
		switch kind {
		case 0:
			vs[i] = r.Float64() * 20
		case 1:
			vs[i] = float64(r.Int64N(100000)) / 10
		case 2:
			for {
				vs[i] = math.Float64frombits(r.Uint64())
				if !math.IsNaN(vs[i]) && !math.IsInf(vs[i], 0) {
					break
				}
			}
		case 3:
			vs[i] = math.Ldexp(r.Float64()-0.5, r.IntN(140)-135)
		case 4:
			vs[i] = math.Ldexp(r.Float64()-0.5, r.IntN(10)+56)
		case 5:
			vs[i] = math.Ldexp(r.Float64()-0.5, -1060-r.IntN(15))
		}
		if i > 0 && r.IntN(3) == 0 {
			vs[i] = -vs[r.IntN(i)]
		}
	}
	return vs
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// FuzzD1_Sums: the value and the mean of a sum are those of big rationals.
func FuzzD1_Sums(f *testing.F) {
	for seed := range uint64(3000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s Sum
		var b bigSum
		for _, v := range values(r, 1+r.IntN(40)) {
			s.Add(v)
			b.add(v)
			if r.IntN(4) == 0 {
				i := int64(r.Uint64()) >> r.IntN(64)
				s.AddInt(i)
				b.addInt(i)
			}
		}
		if got, want := s.Value(), b.value(); got != want {
			t.Fatalf("sum %v (%x), want %v (%x)", got, got, want, want)
		}
		n := 1 + r.Int64N(1000)
		if got, want := s.Mean(n), b.mean(n); got != want {
			t.Fatalf("mean %v, want %v", got, want)
		}
		if isZero(&s) != (b.r.Sign() == 0) {
			t.Fatalf("isZero %v", isZero(&s))
		}
	})
}

func TestD1_OrderAndGroupingDoNotMatter(t *testing.T) {
	for seed := uint64(0); seed < 1000; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		vs := values(r, 2+r.IntN(60))
		var whole Sum
		for _, v := range vs {
			whole.Add(v)
		}
		r.Shuffle(len(vs), func(i, j int) { vs[i], vs[j] = vs[j], vs[i] })
		parts := make([]Sum, 1+r.IntN(8))
		for _, v := range vs {
			parts[r.IntN(len(parts))].Add(v)
		}
		for len(parts) > 1 { // merge any two, some of them through the wire form
			i := r.IntN(len(parts) - 1)
			mergeSomehow(t, r, &parts[i], &parts[len(parts)-1])
			parts = parts[:len(parts)-1]
		}
		if got, want := parts[0].Append(nil), whole.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: % x, want % x", seed, got, want)
		}
		if !sameBits(parts[0].Value(), whole.Value()) {
			t.Fatalf("seed %d: %v, want %v", seed, parts[0].Value(), whole.Value())
		}
	}
}

func TestIntegersBeyond64BitsStayExact(t *testing.T) {
	var s Sum
	var b bigSum
	for range 5 {
		s.AddInt(math.MaxInt64)
		b.addInt(math.MaxInt64)
	}
	if s.Value() != b.value() {
		t.Fatalf("%v, want %v", s.Value(), b.value())
	}
	for range 10 {
		s.AddInt(math.MinInt64)
		b.addInt(math.MinInt64)
	}
	if s.Value() != b.value() || s.Mean(3) != b.mean(3) {
		t.Fatalf("%v, want %v", s.Value(), b.value())
	}
}

func TestTiesGoToEven(t *testing.T) {
	for _, c := range []struct {
		add  []float64
		want float64
	}{
		{[]float64{1 << 53, 1}, 1 << 53},
		{[]float64{1<<53 + 2, 1}, 1<<53 + 4},
		{[]float64{1 << 53, 1, math.SmallestNonzeroFloat64}, 1<<53 + 2},
		{[]float64{1 << 53, 1, -math.SmallestNonzeroFloat64}, 1 << 53},
		{[]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 1},
		{[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.Inf(1)},
		{[]float64{-math.MaxFloat64, -math.MaxFloat64}, math.Inf(-1)},
		{[]float64{math.SmallestNonzeroFloat64, 0}, math.SmallestNonzeroFloat64},
		{[]float64{math.Copysign(0, -1)}, 0},
		{nil, 0},
	} {
		var s Sum
		for _, v := range c.add {
			s.Add(v)
		}
		if got := s.Value(); !sameBits(got, c.want) {
			t.Errorf("%v: %v, want %v", c.add, got, c.want)
		}
	}
}

func TestNaNAndInfinitiesStickWhateverTheOrder(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var s, o Sum
		s.Add(1)
		s.Add(bad)
		s.Add(-bad)
		s.Add(2)
		o.AddInt(5)
		o.AddSum(&s)
		if !math.IsNaN(s.Value()) || !math.IsNaN(o.Value()) || !math.IsNaN(o.Mean(2)) || isZero(&o) {
			t.Errorf("%v: %v %v", bad, s.Value(), o.Value())
		}
	}
	var s Sum
	if !math.IsNaN(s.Mean(0)) {
		t.Error("the mean of nothing is a number")
	}
}

func TestAddingASumToItselfDoublesIt(t *testing.T) {
	double := func(a float64, n int64) bool {
		var s, want Sum
		s.Add(a)
		s.AddInt(n)
		for range 2 {
			want.Add(a)
			want.AddInt(n)
		}
		s.AddSum(&s)
		return bytes.Equal(s.Append(nil), want.Append(nil))
	}
	if err := quick.Check(double, nil); err != nil {
		t.Fatal(err)
	}
}

func TestResetForgets(t *testing.T) {
	var s Sum
	s.Add(math.NaN())
	s.Add(1e300)
	s.Reset()
	if !isZero(&s) || s.isNaN() {
		t.Fatal("something is left")
	}
}

// isZero reports whether the sum is exactly 0. Equal sums have equal bytes, so it compares the wire form with that of 0.
func isZero(s *Sum) bool { return bytes.Equal(s.Append(nil), new(Sum).Append(nil)) }
