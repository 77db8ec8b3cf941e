package field

import (
	"math"
	"testing"

	"posta.dev/posta/analyses/sql/types"
)

func TestTimestamps(t *testing.T) {
	const day = microsPerDay
	for text, want := range map[string]int64{
		"1970-01-02": day, "1970-01-01 00:00": 0, "1970-01-01T01:02:03": 3723e6, "1970-01-01 00:00:00.5": 500_000,
		"1970-01-01 00:00:00.1234567": 123456,
		"1970-01-01 02:00:00+02":      0, "1970-01-01 24:00": day, "1970-01-01 24:00:00.0Z": day, "1970-01-01 00:30:00-0130": 7200e6,
		"1970-01-01 10:00Z": 36000e6, "1969-12-31 23:59:59.999999": -1,
	} {
		if got, ok := Timestamp([]byte(text)); !ok || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1970-01-01 ", "1970-01-01 1:00", "1970-01-01 24:00:01", "1970-01-01 24:00:00.5", "1970-01-01 25:00",
		"1970-01-01 10:60", "1970-01-01 10:00:00.", "1970-01-01 10:00+", "1970-01-01 10:00+2", "1970-01-01x10:00", "1970-01-01 10:00 UTC",
		"1970-13-01 10:00"} {
		if got, ok := Timestamp([]byte(text)); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
	for micros, want := range map[int64]string{0: "1970-01-01 00:00:00", -1: "1969-12-31 23:59:59.999999", 1_500_000: "1970-01-01 00:00:01.5",
		253402300800_000_000: "10000-01-01 00:00:00", -62167219200_000_001: "0002-12-31 (BC) 23:59:59.999999"} {
		if got := string(AppendTimestamp(nil, micros)); got != want {
			t.Errorf("%d: %q, want %q", micros, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]float64{"1.5": 1.5, " 7 ": 7, "-inf": math.Inf(-1), "Infinity": math.Inf(1), "+1e3": 1000} {
		if got, ok := Double([]byte(text)); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	if v, ok := Double([]byte("NaN")); !ok || v == v {
		t.Errorf("NaN is %v, %v", v, ok)
	}
	typ := types.DecimalOf(4, 2)
	for text, want := range map[string]int64{"1.005": 101, "1.004": 100, "-1.005": -101, "99.99": 9999, "7": 700, "0.00500": 1} {
		if got, ok := Decimal([]byte(text), typ); !ok || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", "100", "99.995", "1e2", "9999999999999999999"} {
		if got, ok := Decimal([]byte(text), typ); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
	for _, text := range []string{"", "1.5", "1e3", "9223372036854775808", "0x1"} {
		if got, ok := BigInt([]byte(text)); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}
