package aggregator

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

var id = roletest.ID("s")

func opened(t *testing.T) *Aggregator {
	t.Helper()
	a := New()
	if err := a.Open(roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)); err != nil {
		t.Fatal(err)
	}
	return a
}

func partial(table int, sums map[string]int64) role.Message {
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	for k, n := range sums {
		tables[table].AddSum(tables[table].Row(tables[table].Key().String(k)), 0, n)
	}
	return role.Message{Stream: table, Payload: new(role.PartialEncoder).Encode(table, tables[table], tables[table].Rows())}
}

func take(t *testing.T, a *Aggregator, m role.Message) {
	t.Helper()
	if durable, err := a.Take(id, m, nil); err != nil || !durable {
		t.Fatal(durable, err)
	}
}

// leave ends a stream and returns what leaves.
func leave(t *testing.T, a *Aggregator, stream int) (pages int, sums map[string]int64) {
	t.Helper()
	out := &roletest.Kept{}
	more, err := a.End(id, stream, out)
	for more && err == nil {
		pages++
		more, err = a.More(id, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pages, merged(t, out)
}

func merged(t *testing.T, out *roletest.Kept) map[string]int64 {
	t.Helper()
	sums, tables := map[string]int64{}, role.NewTables(roletest.Analysis(), fold.NewTable)
	for _, m := range out.All {
		if err := role.Merge(tables, m.Payload); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		for _, row := range tables[i].Rows() {
			sums[fmt.Sprint(i, " ", string(tables[i].KeyText(row, 0)))] += tables[i].Sum(row, 0)
		}
	}
	return sums
}

func TestAggregator_ATableLeavesWhenItsStreamHasEnded(t *testing.T) {
	a := opened(t)
	take(t, a, partial(0, map[string]int64{"red": 1}))
	take(t, a, partial(1, map[string]int64{"red": 10, "blue": 20}))
	take(t, a, partial(1, map[string]int64{"red": 5}))
	if pages, sums := leave(t, a, 0); pages != 1 || len(sums) != 1 || sums["0 red"] != 1 {
		t.Fatal(pages, sums)
	}
	if pages, sums := leave(t, a, 1); pages != 1 || sums["1 red"] != 15 || sums["1 blue"] != 20 {
		t.Fatal(pages, sums)
	}
	if pages, sums := leave(t, a, 1); pages != 0 || len(sums) != 0 {
		t.Fatal("a table leaves twice")
	}
}

// TestN3_ASnapshotBetweenTwoPages: pages that have left do not leave again, and the rest does.
func TestN3_ASnapshotBetweenTwoPages(t *testing.T) {
	a := opened(t)
	many := map[string]int64{}
	for i := range 2*pageRows + 7 {
		many[fmt.Sprintf("colour %d", i)] = int64(i)
	}
	take(t, a, partial(1, many))
	out := &roletest.Kept{}
	if more, err := a.End(id, 1, out); !more || err != nil {
		t.Fatal(more, err)
	}
	if more, err := a.More(id, out); !more || err != nil {
		t.Fatal(more, err)
	}
	again := opened(t)
	if err := again.Restore(id, a.Snapshot(id, nil)); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		var err error
		if more, err = again.More(id, out); err != nil {
			t.Fatal(err)
		}
	}
	sums := merged(t, out)
	if len(sums) != len(many) {
		t.Fatalf("%d groups of %d", len(sums), len(many))
	}
	for k, n := range many {
		if sums["1 "+k] != n {
			t.Fatalf("%s: %d, want %d", k, sums["1 "+k], n)
		}
	}
	if more, err := again.More(id, out); more || err != nil {
		t.Fatal("there is no more")
	}
}

func TestAggregator_RubbishIsAnError(t *testing.T) {
	a := opened(t)
	if _, err := a.Take(id, role.Message{Payload: []byte("?")}, nil); err == nil {
		t.Fatal("rubbish is merged")
	}
	good := opened(t).Snapshot(id, nil)
	for n := range good {
		if opened(t).Restore(id, good[:n]) == nil {
			t.Errorf("the first %d bytes are taken for a snapshot", n)
		}
	}
	if New().Restore(id, good) == nil {
		t.Error("the session is not open")
	}
	a.Drop(id, role.Outcome{})
	if len(a.sessions) != 0 {
		t.Fatal("a session stays")
	}
}

// pruned returns an aggregator of an analysis with a Prune.
func pruned(t *testing.T, prune func(args analyses.Args, stream int, tables []*fold.Table) error) *Aggregator {
	t.Helper()
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	s.Analysis.Prune = prune
	a := New()
	if err := a.Open(s); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAggregator_PrunesBeforeATableLeaves(t *testing.T) {
	var asked []int
	a := pruned(t, func(_ analyses.Args, stream int, tables []*fold.Table) error {
		asked = append(asked, stream)
		if len(tables) != 2 {
			t.Errorf("%d tables, want those of the analysis", len(tables))
		}
		amounts := tables[1]
		if stream == 1 {
			amounts.Retain(func(row int) bool { return amounts.Sum(row, 0) > 15 })
		}
		return nil
	})
	take(t, a, partial(0, map[string]int64{"red": 1}))
	take(t, a, partial(1, map[string]int64{"red": 10, "blue": 20, "green": 3}))
	if _, sums := leave(t, a, 0); sums["0 red"] != 1 {
		t.Fatal(sums)
	}
	if pages, sums := leave(t, a, 1); pages != 1 || len(sums) != 1 || sums["1 blue"] != 20 {
		t.Fatal(pages, sums)
	}
	if !slices.Equal(asked, []int{0, 1}) {
		t.Fatal(asked)
	}
}

// TestN6_WhatGoesWrongInPruneFailsTheSession: the error says where it happened.
func TestN6_WhatGoesWrongInPruneFailsTheSession(t *testing.T) {
	told := errors.New("told to fail")
	for name, prune := range map[string]func(analyses.Args, int, []*fold.Table) error{
		"told to fail":   func(analyses.Args, int, []*fold.Table) error { return told },
		"panic: no idea": func(analyses.Args, int, []*fold.Table) error { panic("no idea") },
		"it added 1 rows to table known, which stream colours completes": func(_ analyses.Args, _ int, tables []*fold.Table) error {
			tables[0].Row(tables[0].Key().String("blue"))
			return nil
		},
	} {
		a := pruned(t, prune)
		take(t, a, partial(0, map[string]int64{"red": 1}))
		take(t, a, partial(1, map[string]int64{"red": 1}))
		more, err := a.End(id, 1, &roletest.Kept{})
		if err == nil && more {
			_, err = a.More(id, &roletest.Kept{})
		}
		if err == nil || err.Error() != "prune at the end of stream pots: "+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAggregator_RowsOfABagLeaveAsTheyCome: the aggregator does not keep them, so it records nothing of them, and the payload may be
// reused.
func TestAggregator_RowsOfABagLeaveAsTheyCome(t *testing.T) {
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	s.Analysis.Tables[1].Merge, s.Analysis.Tables[1].Aggs = fold.Never, nil
	a := New()
	if err := a.Open(s); err != nil {
		t.Fatal(err)
	}
	tables := role.NewTables(s.Analysis, fold.NewOutgoing)
	for _, colour := range []string{"red", "blue", "red"} {
		tables[1].Row(tables[1].Key().String(colour))
	}
	sent := new(role.PartialEncoder).Encode(1, tables[1], tables[1].Rows())
	m := role.Message{Stream: 1, Payload: slices.Clone(sent)}
	out := &roletest.Kept{}
	if durable, err := a.Take(id, m, out); durable || err != nil {
		t.Fatal(durable, err)
	}
	clear(m.Payload)
	if len(out.All) != 1 || !slices.Equal(out.All[0].Payload, sent) || out.All[0].Stream != 1 {
		t.Fatalf("%+v", out.All)
	}
	if more, err := a.End(id, 1, out); more || err != nil {
		t.Fatal("a bag leaves twice", more, err)
	}
	union := role.NewTables(s.Analysis, fold.NewUnion)
	if err := role.Merge(union, out.All[0].Payload); err != nil || union[1].Len() != 3 {
		t.Fatal(union[1].Len(), err)
	}
}

// TestAggregator_PrunesInSlices: meanwhile rows of another stream come, and a snapshot is the same at any point.
func TestAggregator_PrunesInSlices(t *testing.T) {
	prune := func(_ analyses.Args, stream int, tables []*fold.Table) error {
		if tables[1-stream].Len() > 0 {
			return errors.New("it sees a table that is not complete")
		}
		for range 20 {
			tables[stream].Pause()
		}
		tables[stream].Retain(func(row int) bool { return string(tables[stream].KeyText(row, 0)) != "blue" })
		return nil
	}
	a := pruned(t, prune)
	take(t, a, partial(0, map[string]int64{"red": 1, "blue": 2}))
	take(t, a, partial(1, map[string]int64{"red": 1}))
	if more, err := a.End(id, 0, nil); !more || err != nil {
		t.Fatal(more, err)
	}
	recovered := pruned(t, prune) // repeating the recorded calls does no slice
	take(t, recovered, partial(0, map[string]int64{"red": 1, "blue": 2}))
	take(t, recovered, partial(1, map[string]int64{"red": 1}))
	if _, err := recovered.End(id, 0, nil); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for working := true; working; calls++ {
		var err error
		if working, err = a.Work(id); err != nil {
			t.Fatal(err)
		}
		more := partial(1, map[string]int64{"red": 1})
		take(t, a, more)
		take(t, recovered, more)
	}
	if calls < 3 {
		t.Fatalf("%d slices for 20 pauses", calls)
	}
	if _, err := a.Take(id, partial(0, map[string]int64{"red": 1}), nil); err == nil {
		t.Fatal("rows come behind the end of their stream")
	}
	if !slices.Equal(a.Snapshot(id, nil), recovered.Snapshot(id, nil)) {
		t.Fatal("what recovers from the log has another state")
	}
	again := pruned(t, prune)
	if err := again.Restore(id, recovered.Snapshot(id, nil)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Aggregator{a, again} {
		out := &roletest.Kept{}
		if more, err := x.More(id, out); more || err != nil {
			t.Fatal(more, err)
		}
		if sums := merged(t, out); len(sums) != 1 || sums["0 red"] != 1 {
			t.Fatal(sums)
		}
	}
	if _, sums := leave(t, a, 1); sums["1 red"] != int64(1+calls) {
		t.Fatal(sums)
	}
}
