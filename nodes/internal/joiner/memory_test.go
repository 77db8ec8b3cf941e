package joiner

import (
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/test/roletest"
)

// TestR16_ReferenceDataIsBounded: a session with more reference data than limits.memory fails with advice, even in a joiner that defers the
// work. A replay has no limits; otherwise a lower limit would keep a node from starting.
func TestR16_ReferenceDataIsBounded(t *testing.T) {
	for _, index := range []int{0, 1} {
		j, out := opened(t, analyses.Replica{Index: index, Of: 2}), &roletest.Kept{Memory: 500}
		m := parsed(t, 0, 2, "red\n")
		var err error
		taken := 0
		for ; err == nil && taken < 100; taken++ {
			_, err = j.Take(id, m, out)
		}
		if err == nil || !strings.Contains(err.Error(), "limits.memory") || !strings.Contains(err.Error(), "stream colours") ||
			taken != 1+500/len(m.Payload) {
			t.Fatalf("batch %d of %d bytes: %v", taken, len(m.Payload), err)
		}
		again := opened(t, analyses.Replica{Index: index, Of: 2})
		for range 100 {
			if _, err := again.Take(id, m, &roletest.Kept{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestR16_ReferenceDataCountsAfterAStart: what a snapshot gives back takes as much of limits.memory as before.
func TestR16_ReferenceDataCountsAfterAStart(t *testing.T) {
	for _, index := range []int{0, 1} {
		j := opened(t, analyses.Replica{Index: index, Of: 2})
		m := parsed(t, 0, 2, "red\n")
		out := &roletest.Kept{Memory: 3 * len(m.Payload)}
		for range 3 {
			if _, err := j.Take(id, m, out); err != nil {
				t.Fatal(err)
			}
		}
		again := opened(t, analyses.Replica{Index: index, Of: 2})
		if err := again.Restore(id, j.Snapshot(id, nil)); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Take(id, m, out); err == nil || !strings.Contains(err.Error(), "limits.memory") {
			t.Fatalf("joiner %d: after a start there is room for more reference data: %v", index, err)
		}
	}
}
