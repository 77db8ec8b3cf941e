package analysistest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
)

// Samples compares the answers on real rows with those of an independent engine if the rows are available (POSTA_SHARED names
// their folder). In any case it compares the answers on generated rows with the oracle's.
func (s *Subject) Samples(t *testing.T, rows int) {
	t.Helper()
	shared := os.Getenv("POSTA_SHARED")
	if shared == "" {
		dir := s.Generated(t, rows, 4)
		Same(t, "generated", s.Run(t, dir, local.Options{Joiners: 2}), s.Want(t, dir, nil))
		return
	}
	name := s.New().Name
	dir := filepath.Join(shared, "samples", name)
	got := s.Run(t, dir, local.Options{Seed: 1, Joiners: 2, Aggregators: 2, ChunkBytes: 1 << 14})
	Same(t, "samples", got, s.Want(t, dir, nil))
	p, err := os.ReadFile(filepath.Join(shared, "expected", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct{ Rows [][]any }
	if err := json.Unmarshal(p, &want); err != nil {
		t.Fatal(err)
	}
	for _, q := range got.Queries {
		sameRows(t, q, want[q.Name].Rows)
	}
}

func sameRows(t *testing.T, q answer.Query, want [][]any) {
	t.Helper()
	if len(q.Rows) != len(want) {
		t.Fatalf("%s has %d rows, want %d", q.Name, len(q.Rows), len(want))
	}
	for i, row := range q.Rows {
		if len(row) != len(want[i]) {
			t.Fatalf("%s row %d: %v, want %v", q.Name, i, row, want[i])
		}
		for j, v := range row {
			if w := want[i][j]; !alike(v, w) {
				t.Errorf("%s row %d: %v, want %v", q.Name, i, v, w)
			}
		}
	}
}

// alike compares two values, and tolerates the other engine's rounding of sums.
func alike(got, want any) bool {
	w, ok := want.(float64)
	switch v := got.(type) {
	case int64:
		return ok && float64(v) == w
	case float64:
		return ok && math.Abs(v-w) <= 1e-9*math.Abs(w)
	}
	return got == want
}
