package reducer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// passing returns a reducer of an analysis. The answer of its query amounts can have any length, and the reducer knows only a few rows at a
// time.
func passing(t *testing.T) (*Reducer, *analyses.Analysis) {
	t.Helper()
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	a := *s.Analysis
	a.Queries = append([]analyses.Query(nil), a.Queries...)
	for i := range a.Queries {
		if q := &a.Queries[i]; q.Name == "amounts" {
			q.Rows = func(_ analyses.Args, t *fold.Table, emit func(...any)) error {
				for row := range t.Len() {
					if string(t.KeyText(row, 0)) == "bad" {
						return fmt.Errorf("a bad row")
					}
					emit(string(t.KeyText(row, 0)), t.Sum(row, 0))
				}
				return nil
			}
		}
	}
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	s.Analysis = &a
	r := New()
	if err := r.Open(s); err != nil {
		t.Fatal(err)
	}
	return r, &a
}

func rowsOf(t *testing.T, a *analyses.Analysis, keys ...string) role.Message {
	t.Helper()
	tables := role.NewTables(a, fold.NewTable)
	for i, k := range keys {
		tables[1].AddSum(tables[1].Row(tables[1].Key().String(k)), 0, int64(i))
	}
	return role.Message{Stream: 1, Payload: new(role.PartialEncoder).Encode(1, tables[1], tables[1].Rows())}
}

// TestR16_LongAnswersPassTheReducer: the reducer keeps nothing of such answers, neither now nor for a snapshot. It keeps to the limit of
// frames, and reports when all rows have passed. What it has emitted does not change when the payload's memory is reused.
func TestR16_LongAnswersPassTheReducer(t *testing.T) {
	r, a := passing(t)
	out := &roletest.Kept{Frame: passRoom + 400}
	empty := r.Snapshot(id, nil)
	var want []string
	for i := range 50 {
		var keys []string
		for k := range 20 {
			keys = append(keys, fmt.Sprintf("%d-%d-%s", i, k, strings.Repeat("x", k)))
		}
		want = append(want, keys...)
		m := rowsOf(t, a, keys...)
		if durable, err := r.Take(id, m, out); durable || err != nil {
			t.Fatal(durable, err)
		}
		clear(m.Payload)
	}
	if got := r.Snapshot(id, nil); !bytes.Equal(got, empty) {
		t.Fatalf("a snapshot grows from %d to %d bytes", len(empty), len(got))
	}
	before := len(out.All)
	more, err := r.End(id, 0, out)
	for stream := 1; err == nil && (more || stream < 2); stream++ {
		for more && err == nil {
			more, err = r.More(id, out)
		}
		if stream < 2 && err == nil {
			more, err = r.End(id, stream, out)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	ended := false
	for i, e := range out.All {
		if !role.IsPassed(e.Payload) {
			continue
		}
		p, err := role.ReadPassed(e.Payload)
		if err != nil || len(e.Payload) > out.Frame || p.Query != "amounts" || ended || p.Last != (i >= before) {
			t.Fatalf("message %d of %d bytes: %+v, %v", i, len(e.Payload), p, err)
		}
		ended = p.Last
		for rest := p.Rows; len(rest) > 0; {
			var row []byte
			if row, rest, err = role.CutRow(rest); err != nil {
				t.Fatal(err)
			}
			cells := make([]protocol.Value, 2)
			if err := protocol.ReadOrdered(row, cells); err != nil {
				t.Fatal(err)
			}
			got = append(got, cells[0].Text)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") || !ended {
		t.Fatalf("%d of %d rows have passed, all: %v", len(got), len(want), ended)
	}
}

// TestR15_ARowThatIsTooLongToPass: such a row, and one that the analysis refuses, fail the session with the query's name.
func TestR15_ARowThatIsTooLongToPass(t *testing.T) {
	for key, words := range map[string]string{strings.Repeat("x", 500): "limits.frame", "bad": "a bad row"} {
		r, a := passing(t)
		if _, err := r.Take(id, rowsOf(t, a, "good", key), &roletest.Kept{Frame: passRoom + 300}); err == nil ||
			!strings.Contains(err.Error(), words) ||
			!strings.Contains(err.Error(), "query amounts") {
			t.Errorf("%.10s: %v", key, err)
		}
	}
}
