package eval

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/types"
)

// TestQ5_NumbersAsTextAreReadExactly: a text with any digits and an exponent becomes the BIGINT or DECIMAL that is nearest to the number,
// half away from zero, as math/big computes it.
func TestQ5_NumbersAsTextAreReadExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 28))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0123456789559900"[r.IntN(16)]
		}
		return string(b)
	}
	tens := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	for range 200_000 {
		whole, fraction, exponent := digits(1+r.IntN(22)), digits(r.IntN(22)), 0
		text := []string{"", "-", "+"}[r.IntN(3)] + whole
		if fraction != "" {
			text += "." + fraction
		}
		if r.IntN(3) > 0 {
			exponent = r.IntN(61) - 30
			text += fmt.Sprintf([]string{"e%d", "E%d", "e%+d", "e%03d"}[r.IntN(4)], exponent)
		}
		k := &cast{to: types.Of(types.BigInt), min: -1}
		if scale := r.IntN(19); r.IntN(2) == 0 {
			k.to = types.DecimalOf(types.MaxPrecision, scale)
		}
		// The number times ten to the power of the scale, plus a half, cut off.
		n, _ := new(big.Int).SetString(whole+fraction, 10)
		d := big.NewInt(1)
		if up := exponent - len(fraction) + int(k.to.Scale); up >= 0 {
			n.Mul(n, tens(up))
		} else {
			d = tens(-up)
		}
		n.Add(n.Lsh(n, 1), d)
		n.Quo(n, new(big.Int).Lsh(d, 1))
		if strings.HasPrefix(text, "-") {
			n.Neg(n)
		}
		got, ok := k.written([]byte(text))
		if ok != n.IsInt64() || ok && got != n.Int64() {
			t.Fatalf("%s as %v: %d %v, want %d", text, k.to, got, ok, n)
		}
	}
	for _, text := range []string{"", "e5", "1e", "1e5x", "0x1e5", "nan", "inf", "-Infinity", "1e1.5", "1_0e1", "--1e1", ".e1"} {
		if v, ok := (&cast{to: types.Of(types.BigInt)}).written([]byte(text)); ok {
			t.Errorf("%q is read as %d", text, v)
		}
	}
	for text, want := range map[string]bool{"1e99999999999999999999": false, "-1e99999999999999999999": false, "0e99999999999999999999": true,
		"1e-99999999999999999999": true} {
		if v, ok := (&cast{to: types.Of(types.BigInt), min: -1}).written([]byte(text)); ok != want || v != 0 {
			t.Errorf("%q: %d %v", text, v, ok)
		}
	}
}
