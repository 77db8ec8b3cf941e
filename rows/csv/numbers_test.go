package csv

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	plainDecimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$`)
	anyDecimal   = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

func checkNumber(t *testing.T, text []byte) {
	t.Helper()
	checkInt(t, text)
	checkDecimal(t, text)
	checkFloat(t, text)
}

func checkInt(t *testing.T, text []byte) {
	t.Helper()
	got, ok := ParseInt(text)
	want, err := strconv.ParseInt(string(text), 10, 64)
	if ok != (err == nil) || ok && got != want {
		t.Fatalf("ParseInt(%q) = %d, %v; strconv says %d, %v", text, got, ok, want, err)
	}
}

func checkDecimal(t *testing.T, text []byte) {
	t.Helper()
	got, ok := ParseDecimal(text)
	digits := len(text) - bytes.Count(text, []byte(".")) - bytes.Count(text, []byte("+")) - bytes.Count(text, []byte("-"))
	if want := plainDecimal.Match(text) && digits <= 18; ok != want {
		t.Fatalf("ParseDecimal(%q) = %v, %v; want %v", text, got, ok, want)
	}
	if !ok {
		return
	}
	want, _ := new(big.Rat).SetString(string(text))
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(got.Scale)), nil)
	if exact := new(big.Rat).SetFrac(big.NewInt(got.Value), scale); exact.Cmp(want) != 0 {
		t.Fatalf("ParseDecimal(%q) = %v, which is %v", text, got, exact)
	}
	checkUnits(t, got, want)
}

func checkUnits(t *testing.T, d Decimal, exact *big.Rat) {
	t.Helper()
	for scale := range 4 {
		want := new(big.Rat).Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
		fits := want.IsInt() && want.Num().IsInt64()
		got, ok := d.Units(scale)
		if ok != fits || ok && got != want.Num().Int64() {
			t.Fatalf("%v.Units(%d) = %d, %v; want %v", d, scale, got, ok, want)
		}
	}
}

func checkFloat(t *testing.T, text []byte) {
	t.Helper()
	got, ok := ParseFloat(text)
	want, err := strconv.ParseFloat(string(text), 64)
	valid := err == nil && anyDecimal.Match(text)
	if ok != valid || ok && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("ParseFloat(%q) = %v, %v; strconv says %v, %v", text, got, ok, want, err)
	}
}

func TestNumbersAgreeWithStrconvOnEdges(t *testing.T) {
	for _, text := range []string{
		"", "0", "-0", "+0", "-0.0", "-.0", "+", "-", ".", "-.", "..", "1.", ".1", "1..2", "1.2.3", "1-2", "--1", "+-1", "1_000",
		"0x10", "0x1p3", "inf", "Inf", "-Infinity", "nan", "NaN", " 1", "1 ", "1e5", "1E-5", "1e", "e5", "1e+", "1e400", "-1e400",
		"1e-400", "12345678", "123456789", "1234567.8", ".1234567", ".12345678", "12345678.", "1234567.", "00000000", "000000000000000000001",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
		"18446744073709551616", "99999999999999999999", "999999999999999999", "9007199254740993", "9007199254740993.0",
		"0.000000000000000001", "123456789012345678.9", "8.5", "660.0", "1028.61", "-17.25", "\xb1", "1\xb0", "1\x00", "\x001", "1:", "/1",
		"2.2250738585072011e-308", "4.9e-324", "2e-324", "1.7976931348623157e308", "1.7976931348623159e308",
	} {
		checkNumber(t, []byte(text))
	}
}

func TestNumbersAgreeWithStrconvOnEveryShortText(t *testing.T) {
	const alphabet = "019.-+e/:\xb0"
	var walk func(text []byte)
	walk = func(text []byte) {
		checkNumber(t, text)
		if len(text) == 4 {
			return
		}
		for _, c := range []byte(alphabet) {
			walk(append(text[:len(text):len(text)], c))
		}
	}
	walk(nil)
}

func TestNumbersAgreeWithStrconvOnMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 15_000 {
		text := strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10)
		if at := rng.IntN(2*len(text) + 1); at <= len(text) {
			text = text[:at] + "." + text[at:]
		}
		text = strings.Repeat("-", rng.IntN(2)) + text
		checkNumber(t, []byte(text))
		checkNumber(t, mutate(rng, []byte(text)))
		checkFloat(t, strconv.AppendFloat(nil, math.Float64frombits(rng.Uint64()), 'g', -1, 64))
	}
}

func TestDecimalFloatOfAnyScaleIsRoundedOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 30_000 {
		d := Decimal{Value: int64(rng.Uint64()) >> rng.IntN(64), Scale: rng.IntN(30)}
		want, _ := new(big.Rat).SetFrac(big.NewInt(d.Value), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil)).Float64()
		if got := d.Float(); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%v.Float() = %v, want %v", d, got, want)
		}
	}
}

func FuzzNumbers(f *testing.F) {
	f.Add([]byte("-1234.5678e9"))
	f.Add([]byte("660.0"))
	f.Fuzz(func(t *testing.T, text []byte) { checkNumber(t, text) })
}
