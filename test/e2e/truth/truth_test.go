package truth

import (
	"bytes"
	"encoding/json"
	"testing"

	"posta.dev/posta/internal/gen"
)

// TestElsewhereIsHere: both ways to ask give the same bytes.
func TestElsewhereIsHere(t *testing.T) {
	for name, generate := range map[string]func(gen.Dir, int, uint64) error{
		"bikes": gen.Bikes, "flights": gen.Flights, "movies": gen.Movies, "memes": gen.Memes,
	} {
		dir := t.TempDir()
		if err := generate(gen.OnDisk(dir), 1000, 1); err != nil {
			t.Fatal(err)
		}
		a, err := Here(name, dir)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := elsewhere(name, dir)
		if err != nil || !bytes.Equal(bytes.TrimSpace(got), want) {
			t.Errorf("%s: the process says %.200s, want %.200s (%v)", name, got, want, err)
		}
	}
	if _, err := elsewhere("trams", t.TempDir()); err == nil {
		t.Error("an analysis that is not there is answered")
	}
}
