package operators

import (
	"errors"
	"math"
	"slices"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

// partnersOf builds the partners of rows with these keys, in batches. The rows in none have no key.
func partnersOf(t *testing.T, limit int64, keys []int64, none ...int32) (*join, error) {
	t.Helper()
	x := &Executor{limit: limit, pause: func() {}}
	j := &join{x: x, index: x.newIndex(), right: x.keep(nil, nil)}
	k := &intKeys{counted: counted{x: x}}
	defer k.release()
	for lo := 0; lo < len(keys); lo += 1000 {
		v := eval.NewVector(types.BigInt, min(1000, len(keys)-lo))
		copy(v.Ints, keys[lo:])
		for _, row := range none {
			if at := row - int32(lo); at >= 0 && int(at) < len(v.Ints) {
				v.SetNull(at)
			}
		}
		if err := k.add([]*eval.Vector{v}, x.all(len(v.Ints))); err != nil {
			return j, err
		}
	}
	return j, k.partners(j)
}

func TestPartnersOfIntegers(t *testing.T) {
	var apart, close []int64
	for i := range int64(20_000) {
		apart, close = append(apart, 7+i<<40), append(close, (i*7919)%20_000-100)
	}
	for name, c := range map[string]struct {
		keys  []int64
		none  []int32
		dense bool
	}{
		"no rows":               {},
		"only NULL":             {[]int64{5, 5}, []int32{0, 1}, false},
		"far apart":             {apart, []int32{0, 17, 19_999}, false},
		"close":                 {close, []int32{63, 64, 8_192}, true},
		"close, with equal":     {append(slices.Clone(close), close...), []int32{3, 20_005}, true},
		"far apart, with equal": {append(slices.Clone(apart), apart...), nil, false},
		"all equal":             {slices.Repeat([]int64{math.MaxInt64}, 3000), nil, true},
		"the ends":              {[]int64{math.MinInt64, 0, math.MaxInt64, math.MinInt64}, nil, false},
		"the least ones":        {[]int64{math.MinInt64, math.MinInt64 + 9}, nil, true},
	} {
		j, err := partnersOf(t, 1<<30, c.keys, c.none...)
		if err != nil {
			t.Fatal(name, err)
		}
		want := map[int64][]int32{}
		for row, key := range c.keys {
			if !slices.Contains(c.none, int32(row)) {
				want[key] = append(want[key], int32(row))
			}
		}
		if (j.ints.dense != nil) != c.dense {
			t.Errorf("%s: an array: %v", name, j.ints.dense != nil)
		}
		if unique := len(want) == len(c.keys)-len(c.none); unique != (j.next == nil) {
			t.Errorf("%s: keys differ: %v, chains: %v", name, unique, j.next != nil)
		}
		for _, near := range []int64{0, 1, -1} {
			probe := eval.NewVector(types.BigInt, len(c.keys))
			for i, key := range c.keys {
				probe.Ints[i] = key + near
			}
			j.findPartners([]*eval.Vector{probe}, j.x.all(len(c.keys)))
			for i, r := range j.partners {
				var got []int32
				for r >= 0 {
					got = append(got, r)
					if r = -1; j.next != nil {
						r = j.next[got[len(got)-1]]
					}
				}
				if !slices.Equal(got, want[probe.Ints[i]]) {
					t.Fatalf("%s: key %d has the rows %v, not %v", name, probe.Ints[i], got, want[probe.Ints[i]])
				}
			}
		}
		if j.release(); j.x.held != 0 {
			t.Errorf("%s: %d bytes are still counted", name, j.x.held)
		}
	}
	for _, keys := range [][]int64{apart, close, slices.Repeat([]int64{1}, 20_000)} {
		for limit := int64(1000); ; limit += 10_000 {
			_, err := partnersOf(t, limit, keys)
			if err == nil && limit > 100_000 {
				break
			}
			if !errors.Is(err, ErrMemory) {
				t.Fatalf("a limit of %d bytes: %v", limit, err)
			}
		}
	}
}
