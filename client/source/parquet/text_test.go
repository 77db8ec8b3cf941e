package parquet

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"posta.dev/posta/rows/columnar"
)

// TestFloatsAreTheirShortestDigits: short ones take a way of their own, to the same digits.
func TestFloatsAreTheirShortestDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(v float64) {
		t.Helper()
		if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
			return
		}
		if got, want := string(columnar.AppendFloat(nil, v, 64)), strconv.FormatFloat(v, 'f', -1, 64); got != want {
			t.Fatalf("%x is %s, not %s", math.Float64bits(v), got, want)
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 0.1, 0.001, 0.0005, 0.0001, 0.9999, 0.9995,
		1e11, 99999999999.999, 99999999999.9999, 1 << 53, 1e15 + 0.3, 1e20} {
		check(v)
		check(-v)
		check(math.Nextafter(v, math.Inf(1)))
		check(math.Nextafter(v, math.Inf(-1)))
	}
	for range 300_000 {
		scale := []float64{1, 10, 100, 1000, 1e4, 1e6}[r.IntN(6)]
		v := float64(r.Int64N(1<<(1+r.IntN(52)))) / scale
		check(v)
		check(-v)
		check(math.Nextafter(v, math.Inf(1)))
		check(math.Nextafter(-v, math.Inf(1)))
		check(math.Float64frombits(r.Uint64()))
		check(r.NormFloat64())
	}
}

func BenchmarkFloat(b *testing.B) {
	for name, of := range map[string]func(int) float64{
		"price":  func(i int) float64 { return float64(i%100_000) / 100 },
		"random": func(i int) float64 { return float64(i) * math.Pi },
	} {
		b.Run(name, func(b *testing.B) {
			values, dst := make([]float64, 1024), make([]byte, 0, 64)
			for i := range values {
				values[i] = of(i * 97)
			}
			b.Run("strconv", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					dst = strconv.AppendFloat(dst[:0], values[i%1024], 'f', -1, 64)
				}
			})
			b.Run("ours", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					dst = columnar.AppendFloat(dst[:0], values[i%1024], 64)
				}
			})
		})
	}
}
