package memes

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestAPermalinkIsReadTheSameBehindAnyOther: what is remembered of earlier permalinks does not change the result.
func TestAPermalinkIsReadTheSameBehindAnyOther(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	parts := []string{"/comments/", "/comments", "comments/", "/", "/r/a", "/r/b", "id", "", "?q", "#f", "https://x"}
	var links permalinks
	found := 0
	for range 20_000 {
		var link []byte
		for range r.IntN(6) {
			link = append(link, parts[r.IntN(len(parts))]...)
		}
		id, ok := links.postOf(link)
		var fresh permalinks
		want, wantOK := fresh.postOf(link)
		if !bytes.Equal(id, want) || ok != wantOK {
			t.Fatalf("%q: %q, %v; read first: %q, %v", link, id, ok, want, wantOK)
		}
		if ok {
			found++
		}
	}
	if found < 1000 {
		t.Fatalf("only %d of the links have an id", found)
	}
}
