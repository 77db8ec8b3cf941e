package reducer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

var id = roletest.ID("s")

func opened(t *testing.T, r analyses.Replica, params map[string]string) *Reducer {
	t.Helper()
	x := New()
	if err := x.Open(roletest.Session(t, "s", r, params)); err != nil {
		t.Fatal(err)
	}
	return x
}

func give(t *testing.T, r *Reducer, table int, key string, n int64) {
	t.Helper()
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	tables[table].AddSum(tables[table].Row(tables[table].Key().String(key)), 0, n)
	m := role.Message{Payload: new(role.PartialEncoder).Encode(table, tables[table], tables[table].Rows())}
	if durable, err := r.Take(id, m, nil); err != nil || !durable {
		t.Fatal(durable, err)
	}
}

// leave ends a stream, and lets everything leave that the end completes.
func leave(r *Reducer, stream int, out role.Emitter) (calls int, err error) {
	more, err := r.End(id, stream, out)
	for ; more && err == nil; calls++ {
		more, err = r.More(id, out)
	}
	return calls, err
}

// parts ends a stream and returns the parts that leave.
func parts(t *testing.T, r *Reducer, stream int) (all []protocol.Part) {
	t.Helper()
	out := &roletest.Kept{}
	if _, err := leave(r, stream, out); err != nil {
		t.Fatal(err)
	}
	for _, m := range out.All {
		reply, err := protocol.DecodeReply(m.Payload)
		if err != nil || m.Stream != stream {
			t.Fatal(m.Stream, err)
		}
		all = append(all, reply.Parts...)
	}
	return all
}

func names(all []protocol.Part) string {
	text := ""
	for _, p := range all {
		text += p.Query + ";"
	}
	return text
}

func TestReducer_AQueryIsAnsweredWhenItsStreamsHaveEnded(t *testing.T) {
	r := opened(t, analyses.Replica{Of: 1}, nil)
	give(t, r, 0, "red", 2)
	give(t, r, 1, "red", 5)
	give(t, r, 1, "blue", 6)
	if got := names(parts(t, r, 0)); got != "known;" {
		t.Fatal(got)
	}
	all := parts(t, r, 1)
	if got := names(all); got != "amounts;;" { // the last part has the rejected rows
		t.Fatal(got)
	}
	var rows []string
	for row := range all[0].Rows.All() {
		rows = append(rows, row[0].Text+" "+row[1].String())
	}
	if !slices.Equal(rows, []string{"blue 6", "red 5"}) {
		t.Fatal(rows)
	}
	if !all[0].Last {
		t.Fatal("the end of a query is not told")
	}
}

// TestR4_AKeyThatComesTwiceFailsTheSession: a key is in one aggregator and leaves it once. A fault that breaks this must not become an
// answer.
func TestR4_AKeyThatComesTwiceFailsTheSession(t *testing.T) {
	r := opened(t, analyses.Replica{Of: 1}, nil)
	give(t, r, 1, "red", 5)
	give(t, r, 1, "blue", 5)
	give(t, r, 1, "red", 6)
	if _, err := leave(r, 0, &roletest.Kept{}); err != nil {
		t.Fatal(err)
	}
	if _, err := leave(r, 1, &roletest.Kept{}); !errors.Is(err, fold.ErrDuplicateKey) || !strings.Contains(err.Error(), "query amounts") {
		t.Fatal(err)
	}
}

func TestReducer_OnlyTheSessionsReducerAnswers(t *testing.T) {
	answered := 0
	for i := range 3 {
		r := opened(t, analyses.Replica{Index: i, Of: 3}, nil)
		if len(parts(t, r, 0)) > 0 {
			answered++
		}
	}
	if answered != 1 {
		t.Fatalf("%d of three reducers answer", answered)
	}
}

func TestN3_ASnapshotBetweenTwoParts(t *testing.T) {
	r := opened(t, analyses.Replica{Of: 1}, nil)
	give(t, r, 0, "red", 2)
	parts(t, r, 0)
	give(t, r, 1, "red", 5)
	out := &roletest.Kept{}
	if more, err := r.End(id, 1, out); !more || err != nil {
		t.Fatal(more, err)
	}
	if more, err := r.More(id, out); !more || err != nil {
		t.Fatal(more, err)
	}
	snapshot := r.Snapshot(id, nil)
	again := opened(t, analyses.Replica{Of: 1}, nil)
	if err := again.Restore(id, snapshot); err != nil {
		t.Fatal(err)
	}
	if more, err := again.More(id, out); more || err != nil || len(out.All) != 2 {
		t.Fatal(more, err, len(out.All))
	}
	for n := range snapshot {
		if opened(t, analyses.Replica{Of: 1}, nil).Restore(id, snapshot[:n]) == nil {
			t.Errorf("the first %d bytes are taken for a snapshot", n)
		}
	}
}

func TestN6_AFailureNamesTheQuery(t *testing.T) {
	r := opened(t, analyses.Replica{Of: 1}, map[string]string{"fail": "yes"})
	_, err := leave(r, 0, &roletest.Kept{})
	if err == nil || !strings.Contains(err.Error(), "query known: told to fail") {
		t.Fatal(err)
	}
}

// TestR16_TablesAreBounded: a session whose tables exceed limits.memory fails, in words, and recovery repeats calls under no limit. However
// low the limit is, some rows fit.
func TestR16_TablesAreBounded(t *testing.T) {
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	message := func(i int) role.Message {
		tables := role.NewTables(s.Analysis, fold.NewTable)
		tables[1].AddSum(tables[1].Row(tables[1].Key().String(fmt.Sprint(i, strings.Repeat("x", 1<<20)))), 0, 1)
		return role.Message{Stream: 1, Payload: new(role.PartialEncoder).Encode(1, tables[1], tables[1].Rows())}
	}
	for _, out := range []*roletest.Kept{{Memory: 1}, {}} {
		r := New()
		if err := r.Open(s); err != nil {
			t.Fatal(err)
		}
		var err error
		took := 0
		for ; took < 90 && err == nil; took++ {
			_, err = r.Take(id, message(took), out)
		}
		switch {
		case out.Memory == 0 && err != nil:
			t.Error("without a limit:", err)
		case out.Memory > 0 && (took < 20 || took == 90 || err == nil || !strings.Contains(err.Error(), "the answer needs ") ||
			!strings.Contains(err.Error(), "table amounts, and limits.memory is 64 MiB")):
			t.Errorf("after %d MiB: %v", took, err)
		}
	}
}
