package movies

import (
	"testing"

	"posta.dev/posta/rows/fold"
)

// TestN9_CountingActorsGivesOthersATurn: the more rows there are, the more often other sessions get a turn.
func TestN9_CountingActorsGivesOthersATurn(t *testing.T) {
	spec := tables()[actors]
	casts := fold.NewTable(&spec)
	const rows = 50_000
	for i := range int64(rows) {
		casts.PutMinText(casts.Row(casts.Key().Int(i/2).Int(i)), 0, []byte("A"))
	}
	pauses, shown := 0, 0
	casts.SetPause(func() { pauses++ })
	reduceActors(casts, 7, func(...any) { shown++ })
	if pauses < 10 || shown != 7 {
		t.Errorf("%d pauses, %d actors", pauses, shown)
	}
}
