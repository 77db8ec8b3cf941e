package exact

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"posta.dev/posta/internal/wire"
)

func read(t *testing.T, p []byte) *Sum {
	t.Helper()
	var s Sum
	r := wire.NewReader(p)
	if err := s.Read(&r); err != nil {
		t.Fatalf("% x: %v", p, err)
	}
	if err := r.Done(); err != nil {
		t.Fatalf("% x: %v", p, err)
	}
	return &s
}

func TestD1_EqualValuesHaveEqualBytes(t *testing.T) {
	var direct, roundabout Sum
	direct.AddInt(3)
	roundabout.Add(1e300)
	roundabout.AddInt(math.MaxInt64)
	roundabout.AddInt(math.MaxInt64)
	roundabout.Add(3)
	roundabout.Add(-1e300)
	roundabout.AddInt(-math.MaxInt64)
	roundabout.AddInt(-math.MaxInt64)
	if a, b := direct.Append(nil), roundabout.Append(nil); !bytes.Equal(a, b) || len(a) != 1 {
		t.Fatalf("% x and % x", a, b)
	}
}

func TestReadGivesBackWhatAppendWrote(t *testing.T) {
	for seed := uint64(0); seed < 2000; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		var s Sum
		for _, v := range values(r, 1+r.IntN(10)) {
			s.Add(v)
		}
		p := s.Append(nil)
		if got := read(t, p).Append(nil); !bytes.Equal(got, p) {
			t.Fatalf("seed %d: % x became % x", seed, p, got)
		}
	}
	for _, v := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		var s Sum
		s.AddInt(v)
		if got := read(t, s.Append(nil)); got.Value() != float64(v) {
			t.Errorf("%d became %v", v, got.Value())
		}
	}
	var nan Sum
	nan.Add(math.NaN())
	if !read(t, nan.Append(nil)).isNaN() {
		t.Error("NaN became a number")
	}
}

func form(e int64, negative bool, m ...byte) []byte {
	return wire.AppendBin(wire.AppendBool(wire.AppendInt(wire.AppendArray(nil, 3), e), negative), m)
}

func TestReadRefusesOtherForms(t *testing.T) {
	for name, p := range map[string][]byte{
		"empty":             {},
		"text":              wire.AppendString(nil, "1"),
		"no magnitude":      form(-1, false),
		"leading zero":      form(-1, false, 0, 1),
		"even":              form(-1, false, 2),
		"integer":           form(0, false, 1),
		"shifted integer":   form(5, true, 1),
		"too small":         form(-1075, false, 1),
		"too large":         form(1101, false, 1),
		"exponent overflow": form(math.MaxInt64, false, 1),
		"long and overflow": form(math.MaxInt64, false, 1, 1, 1, 1, 1, 1, 1, 1, 1),
		"exponent minimum":  form(math.MinInt64, false, 1),
		"too long":          form(-1074, false, bytes.Repeat([]byte{1}, 273)...),
		"cut":               form(-1, false, 1)[:4],
		"uint64":            wire.AppendUint(nil, math.MaxUint64),
	} {
		var s Sum
		s.AddInt(7)
		r := wire.NewReader(p)
		if err := s.Read(&r); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		if s.Value() != 7 {
			t.Errorf("%s: the sum changed to %v", name, s.Value())
		}
	}
}

func TestForgedSumsOverflowToNaN(t *testing.T) {
	p := form(maxTop-1, false, 1)
	var s Sum
	for range 8 {
		r := wire.NewReader(p)
		if err := s.Read(&r); err != nil {
			t.Fatal(err)
		}
	}
	if !s.isNaN() {
		t.Fatal("overflow of the widest form went unnoticed")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{7})
	f.Add(form(-3, true, 5))
	f.Add(form(1000, false, 5))
	f.Add(form(-1074, true, 255, 255, 1))
	f.Fuzz(func(t *testing.T, p []byte) {
		var s Sum
		r := wire.NewReader(p)
		if s.Read(&r) != nil {
			return
		}
		q := s.Append(nil)
		if again := read(t, q); !bytes.Equal(again.Append(nil), q) || again.Value() != s.Value() && !s.isNaN() {
			t.Fatalf("% x is not stable", q)
		}
	})
}

// TestParts compares with package big: numbers of one word to all, with zero bits at both ends.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 100_000 {
		words := make([]uint64, 1+r.IntN(wideWords))
		want := new(big.Int)
		for i := range slices.Backward(words) {
			if r.IntN(3) > 0 {
				words[i] = r.Uint64() >> r.IntN(64) << r.IntN(64)
			}
			want.Or(want.Lsh(want, 64), new(big.Int).SetUint64(words[i]))
		}
		m, zeros := odd(nil, words)
		if got := new(big.Int).SetBytes(m); want.Sign() == 0 && (len(m) > 0 || zeros != 0) ||
			want.Sign() != 0 && (m[0] == 0 || got.Bit(0) == 0 || got.Lsh(got, uint(zeros)).Cmp(want) != 0) {
			t.Fatalf("%x is %x with %d zero bits", words, m, zeros)
		}
		if len(words) > 2 || want.Sign() == 0 {
			continue
		}
		shift := uint(r.IntN(192 - want.BitLen()))
		back := new(big.Int)
		shifted := near(want.Bytes(), shift)
		for _, w := range slices.Backward(shifted[:]) {
			back.Or(back.Lsh(back, 64), new(big.Int).SetUint64(w))
		}
		if back.Cmp(new(big.Int).Lsh(want, shift)) != 0 {
			t.Fatalf("%x shifted by %d is %x", want, shift, back)
		}
	}
}
