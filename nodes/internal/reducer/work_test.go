package reducer

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// long returns a reducer with a session whose second query has several parts. It pauses between its rows.
func long(t *testing.T) *Reducer {
	t.Helper()
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	s.Analysis.Reduce = func(_ analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
		text := strings.Repeat("red", protocol.PartBytes/30)
		for i := range 12 * query {
			tables[0].Pause()
			emit(text, int64(i))
		}
		return nil
	}
	r := New()
	if err := r.Open(s); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestN3_PartsAreTheSameInSlices: parts are the same with and without slices, and after a restart from a snapshot between any two slices.
func TestN3_PartsAreTheSameInSlices(t *testing.T) {
	end := func(r *Reducer, out role.Emitter) {
		for stream := range 2 {
			if _, err := r.End(id, stream, out); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := &roletest.Kept{}
	r := long(t)
	end(r, want)
	for more := true; more; {
		var err error
		if more, err = r.More(id, want); err != nil {
			t.Fatal(err)
		}
	}
	if len(want.All) < 5 {
		t.Fatalf("%d parts, too few for this test", len(want.All))
	}
	for lives := range 3 {
		got, calls := &roletest.Kept{}, 0
		r := long(t)
		end(r, got)
		again := func() {
			snapshot := r.Snapshot(id, nil)
			r.Close()
			r = long(t)
			if err := r.Restore(id, snapshot); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(snapshot, r.Snapshot(id, nil)) {
				t.Fatal("a snapshot depends on what was computed, and not on what has left alone")
			}
		}
		for more := true; more; {
			if lives == 1 {
				again()
			}
			for working := true; working; calls++ {
				var err error
				if working, err = r.Work(id); err != nil {
					t.Fatal(err)
				}
			}
			if lives == 2 {
				again() // with a part that was computed and has not left
			}
			var err error
			if more, err = r.More(id, got); err != nil {
				t.Fatal(err)
			}
		}
		same := func(a, b roletest.Emitted) bool { return a.Stream == b.Stream && bytes.Equal(a.Payload, b.Payload) }
		if !slices.EqualFunc(got.All, want.All, same) {
			t.Fatalf("lives %d: %d parts, want %d, or others", lives, len(got.All), len(want.All))
		}
		if calls < len(want.All)+2 {
			t.Fatalf("%d slices for %d parts: it never paused", calls, len(want.All))
		}
		r.Drop(id, role.Outcome{})
	}
}

// TestReducer_DropLeavesAComputation: Drop ends a computation that is under way.
func TestReducer_DropLeavesAComputation(t *testing.T) {
	r := long(t)
	for stream := range 2 {
		if _, err := r.End(id, stream, &roletest.Kept{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Work(id); err != nil {
		t.Fatal(err)
	}
	r.Drop(id, role.Outcome{Failed: true})
	if len(r.sessions) != 0 {
		t.Fatal("a session stays")
	}
}
