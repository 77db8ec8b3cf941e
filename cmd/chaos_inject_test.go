package cmd

import (
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
)

// TestGen_OfAProgramWithoutGenerators: the error does not end in an empty list.
func TestGen_OfAProgramWithoutGenerators(t *testing.T) {
	var out, err await.Log
	code := runWithin(t.Context(), t.Context(), Program{Version: "test"}, []string{"posta", "gen", "bikes", "--out", t.TempDir()},
		Console{In: strings.NewReader(""), Out: &out, Err: &err})
	if code != exit.Usage || err.String() != "posta: gen: this program makes no data for any analysis\n" {
		t.Errorf("exit code %d, %q", code, err.String())
	}
}
