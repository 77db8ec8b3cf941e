package eval

import (
	"math/rand/v2"
	"testing"
)

// TestLikeBySearching: a pattern without _ is searched for part by part, and matches the same texts as the general algorithm.
func TestLikeBySearching(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some := func(letters []string, n int) (s string) {
		for range r.IntN(n + 1) {
			s += letters[r.IntN(len(letters))]
		}
		return s
	}
	matched := 0
	for range 50_000 {
		text, pattern := some([]string{"a", "b", "é", "\xe9", "\xa9"}, 7), some([]string{"a", "b", "é", "%", "%"}, 5)
		k := like{}
		if !k.plain(pattern) {
			t.Fatalf("%q", pattern)
		}
		got := matchesParts(text, k.parts)
		if want, _ := matches(text, pattern, 0); got != want {
			t.Fatalf("%q LIKE %q is %v", text, pattern, got)
		}
		if got {
			matched++
		}
	}
	if matched < 5000 {
		t.Errorf("%d matches", matched)
	}
	for _, pattern := range []string{"a_", "\xe9"} {
		if k := (&like{}); k.plain(pattern) {
			t.Errorf("%q is not plain", pattern)
		}
	}
}
