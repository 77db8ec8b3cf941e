package fold

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"testing"
	"testing/quick"
)

func encode(a string, n int64, b string) []byte {
	return AppendText(AppendInt(AppendText(nil, a), n), b)
}

func TestOrderedEncodingComparesAsTheValuesDo(t *testing.T) {
	numbers := []int64{math.MinInt64, -1, 0, 1, 255, 256, math.MaxInt64}
	for _, a := range words {
		for _, b := range words {
			for _, m := range numbers {
				for _, n := range numbers {
					want := cmp.Or(cmp.Compare(a, b), cmp.Compare(m, n), cmp.Compare(b, a))
					if got := bytes.Compare(encode(a, m, b), encode(b, n, a)); got != want {
						t.Fatalf("%q %d and %q %d compare as %d, want %d", a, m, b, n, got, want)
					}
				}
			}
		}
	}
}

func TestOrderedEncodingRoundTrips(t *testing.T) {
	same := func(a string, n int64, b []byte) bool {
		p := AppendText(AppendInt(AppendText(nil, a), n), b)
		x, p, err1 := CutText(p)
		m, p, err2 := CutInt(p)
		y, p, err3 := CutText(p)
		return errors.Join(err1, err2, err3) == nil && string(x) == a && m == n && bytes.Equal(y, b) && len(p) == 0
	}
	if err := quick.Check(same, nil); err != nil {
		t.Fatal(err)
	}
}

func TestCutRefusesWhatWasNotEncoded(t *testing.T) {
	for _, p := range [][]byte{nil, {1}, {0}, {0, 2}, {'a', 0, 0xff}, {'a', 0}} {
		if _, _, err := CutText(p); !errors.Is(err, ErrEncoding) {
			t.Errorf("% x: %v", p, err)
		}
	}
	if _, _, err := CutInt(make([]byte, 7)); !errors.Is(err, ErrEncoding) {
		t.Error(err)
	}
}
