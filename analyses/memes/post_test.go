package memes

import (
	"bytes"
	"math"
	"testing"
)

func TestPostsAreInTheOrderOfTheirPlaces(t *testing.T) {
	places := []uint64{0, 1, 2, 255, 256, 257, 65535, 65536, 1 << 24, 1<<32 - 1, 1 << 40, 1<<56 - 1, math.MaxUint64}
	for i, place := range places {
		for k, other := range places {
			a, b := appendPost(nil, place, 5, []byte("z")), appendPost(nil, other, -7000, []byte("a"))
			if i != k && bytes.Compare(a, b) < 0 != (i < k) {
				t.Errorf("%d and %d are in the wrong order", place, other)
			}
		}
	}
}

func TestPostsAreReadBack(t *testing.T) {
	for _, score := range []int64{0, -1, 63, 64, 143559, math.MaxInt64, math.MinInt64} {
		for _, url := range []string{"", "u", "https://x/y?z=\x00\xff"} {
			p := appendPost(nil, 1<<20, score, []byte(url))
			if got, text, err := cutPost(p); err != nil || got != score || string(text) != url {
				t.Errorf("%d %q: %d %q %v", score, url, got, text, err)
			}
		}
	}
	for _, p := range []string{"", "\x00", "\x03ab", "\x08", "\xff", "\x01a\x80\x80", "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if score, url, err := cutPost([]byte(p)); err == nil {
			t.Errorf("%q is taken for %d %q", p, score, url)
		}
	}
}
