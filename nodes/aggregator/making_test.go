package aggregator

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/internal/runs"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// joining is an analysis whose aggregators join known colours with pots: a row for each pot of a known colour. The pots are a bag.
func joining(copies int) *analyses.Analysis {
	a := roletest.Analysis()
	colour := fold.Key{Name: "colour", Kind: fold.KeyText}
	a.Tables[1] = fold.Spec{Name: "pots", Stream: "pots", Merge: fold.Never, PartitionBy: 1,
		Keys: []fold.Key{colour, {Name: "amount", Kind: fold.KeyInt}}}
	a.Tables = append(a.Tables, fold.Spec{Name: "joined", Stream: "colours", From: []string{"known", "pots"}, Merge: fold.Never,
		Keys: []fold.Key{colour, {Name: "amount", Kind: fold.KeyInt}, {Name: "copy", Kind: fold.KeyInt}}})
	a.Queries = []analyses.Query{{Name: "joined", Columns: []string{"colour", "amount"}, Tables: []string{"joined"}}}
	a.Finish = func(_ analyses.Args, table int, tables []*fold.Table, full func()) error {
		known, pots, joined := tables[0], tables[1], tables[table]
		for _, row := range pots.Rows() {
			if string(pots.KeyText(row, 0)) == "fail" {
				return fmt.Errorf("told to fail")
			}
			if _, ok := known.Find(known.Key().Text(pots.KeyText(row, 0))); !ok {
				continue
			}
			for i := range copies {
				joined.Row(joined.Key().Text(pots.KeyText(row, 0)).Int(pots.KeyInt(row, 1)).Int(int64(i)))
				if i%1000 == 0 {
					joined.Pause()
					full()
				}
			}
		}
		return nil
	}
	return a
}

func joiningRole(t *testing.T, a *analyses.Analysis) *Aggregator {
	t.Helper()
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	s.Analysis = a
	x := New()
	x.PageRows = 100
	if err := x.Open(s); err != nil {
		t.Fatal(err)
	}
	return x
}

// rowsFor is the message with rows of a table; each is a colour and an amount.
func rowsFor(a *analyses.Analysis, table int, rows ...any) role.Message {
	t := fold.NewOutgoing(&a.Tables[table])
	for i := 0; i < len(rows); i += 2 {
		key := t.Key().String(rows[i].(string))
		if table == 1 {
			key = key.Int(int64(rows[i+1].(int)))
		}
		t.Row(key)
	}
	return role.Message{Stream: table, Payload: new(role.PartialEncoder).Encode(table, t, t.Rows())}
}

// filled is an aggregator that has taken colours and pots; stream last has not ended yet.
func filled(t *testing.T, a *analyses.Analysis, last int) *Aggregator {
	t.Helper()
	x := joiningRole(t, a)
	out := &roletest.Kept{}
	take(t, x, rowsFor(a, 0, "red", 0, "blue", 0, "unused", 0))
	if last == 1 {
		if more, err := x.End(id, 0, out); more || err != nil {
			t.Fatal("a table leaves before the other one is complete", more, err)
		}
	}
	for i := range 40 {
		take(t, x, rowsFor(a, 1, "red", i, "green", i, "blue", -i, "red", i))
	}
	if last == 0 {
		if more, err := x.End(id, 1, out); more || err != nil {
			t.Fatal("a table leaves before the other one is complete", more, err)
		}
	}
	if len(out.All) > 0 {
		t.Fatal("rows that stay have left")
	}
	return x
}

// joinedRows are the rows of table joined that have left, in their order.
func joinedRows(t *testing.T, a *analyses.Analysis, out *roletest.Kept) (rows []string) {
	t.Helper()
	for _, m := range out.All {
		tables := role.NewTables(a, fold.NewTable)
		if err := role.Merge(tables, m.Payload); err != nil {
			t.Fatal(err)
		}
		if tables[0].Len()+tables[1].Len() > 0 {
			t.Fatal("rows that stay have left")
		}
		for _, row := range tables[2].Rows() {
			rows = append(rows, fmt.Sprint(string(tables[2].KeyText(row, 0)), tables[2].KeyInt(row, 1), tables[2].KeyInt(row, 2)))
		}
	}
	return rows
}

func endAll(t *testing.T, x *Aggregator, stream int, out *roletest.Kept, between func(*Aggregator) *Aggregator) {
	t.Helper()
	more, err := x.End(id, stream, out)
	if !more {
		t.Fatal("the table that is complete now does not leave")
	}
	for more && err == nil {
		x = between(x)
		if more, err = x.More(id, out); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAggregator_MakesATableWhenItsTablesAreComplete, whichever stream ends last, and each row once.
func TestAggregator_MakesATableWhenItsTablesAreComplete(t *testing.T) {
	for last := range 2 {
		a := joining(1)
		x, out := filled(t, a, last), &roletest.Kept{}
		endAll(t, x, last, out, func(x *Aggregator) *Aggregator { return x })
		rows := joinedRows(t, a, out)
		slices.Sort(rows)
		var want []string
		for i := range 40 {
			want = append(want, fmt.Sprint("red", i, 0), fmt.Sprint("red", i, 0), fmt.Sprint("blue", -i, 0))
		}
		if slices.Sort(want); !slices.Equal(rows, want) {
			t.Fatalf("stream %d ends last: %d rows, want %d", last, len(rows), len(want))
		}
		if st := x.sessions[id]; st.waiting[1].Len()+st.tables[0].Len() > 0 {
			t.Error("what the table was made of is still kept")
		}
		if _, err := x.Take(id, rowsFor(a, 1, "red", 1), &roletest.Kept{}); err == nil ||
			!strings.Contains(err.Error(), "behind the end of stream") {
			t.Errorf("rows behind the end: %v", err)
		}
	}
}

// TestN3_ATableIsMadeAgain: a node that starts from a snapshot anywhere between two pages, or between two slices of work, goes on
// with the row that is next. Rows leave while the rest is still to be made (R9).
func TestN3_ATableIsMadeAgain(t *testing.T) {
	const copies = 5000 // 120 rows times this leave in several pieces
	a := joining(copies)
	want := &roletest.Kept{}
	endAll(t, filled(t, a, 1), 1, want, func(x *Aggregator) *Aggregator { return x })
	if len(want.All) < 120*copies/100 {
		t.Fatalf("%d pages", len(want.All))
	}
	got, calls, before := &roletest.Kept{}, 0, false
	endAll(t, filled(t, a, 1), 1, got, func(x *Aggregator) *Aggregator {
		calls++
		if calls%701 != 1 {
			return x
		}
		for range calls % 5 {
			if _, err := x.Work(id); err != nil {
				t.Fatal(err)
			}
		}
		st := x.sessions[id]
		before = before || st.left > 0 && st.next > 0
		snapshot := x.Snapshot(id, nil)
		x.Close()
		again := joiningRole(t, a)
		if err := again.Restore(id, snapshot); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Snapshot(id, nil), snapshot) {
			t.Fatal("a snapshot is restored as something else")
		}
		return again
	})
	if !before {
		t.Error("no snapshot was taken in the middle of a later piece")
	}
	same := func(a, b roletest.Emitted) bool { return a.Stream == b.Stream && bytes.Equal(a.Payload, b.Payload) }
	if !slices.EqualFunc(got.All, want.All, same) {
		t.Fatalf("%d pages, want %d, or others", len(got.All), len(want.All))
	}
}

// TestN6_AFailedFinishNamesTheQuery.
func TestN6_AFailedFinishNamesTheQuery(t *testing.T) {
	a := joining(1)
	x := filled(t, a, 1)
	take(t, x, rowsFor(a, 1, "fail", 0))
	out := &roletest.Kept{}
	if _, err := x.End(id, 1, out); err != nil {
		t.Fatal(err)
	}
	if _, err := x.More(id, out); err == nil || !strings.Contains(err.Error(), "query joined: told to fail") {
		t.Fatal(err)
	}
	if _, err := x.Work(id); err == nil {
		t.Fatal("the failure is forgotten")
	}
	x.Drop(id, role.Outcome{Failed: true})
}

// waiting is an aggregator with a join whose rows move to files, and which starts again now and then.
type waiting struct {
	*Aggregator
	t    *testing.T
	a    *analyses.Analysis
	disk roletest.Saved
	r    *rand.Rand
}

func newWaiting(t *testing.T, a *analyses.Analysis, seed uint64) *waiting {
	w := &waiting{t: t, a: a, disk: roletest.Saved{}, r: rand.New(rand.NewPCG(seed, 3))}
	w.Aggregator = joiningRole(t, a)
	w.AttachFiles(w.disk)
	return w
}

// between moves rows to files, saves these, and starts again, each sometimes.
func (w *waiting) between() {
	if w.r.IntN(4) == 0 {
		if _, err := w.Spill(id, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	if w.r.IntN(4) == 0 {
		w.disk.Save(w)
	}
	if w.r.IntN(6) > 0 {
		return
	}
	w.disk.Save(w)
	before := w.Snapshot(id, nil)
	w.Close()
	w.Aggregator = joiningRole(w.t, w.a)
	w.AttachFiles(w.disk)
	if err := w.Restore(id, before); err != nil {
		w.t.Fatal(err)
	}
	if after := w.Snapshot(id, nil); !bytes.Equal(after, before) {
		w.t.Fatal("a node that has started again has another state")
	}
}

// TestR16_WhatWaitsForAJoinMovesToFiles: whatever moves, and when, and wherever the node starts again, the joined rows are the same, and
// each leaves once. Groups of one key that are in several files are one group.
func TestR16_WhatWaitsForAJoinMovesToFiles(t *testing.T) {
	for seed := range uint64(40) {
		a := joining(1 + int(seed%2)*150)
		w, out := newWaiting(t, a, seed), &roletest.Kept{}
		want, known := []string{}, map[string]bool{}
		last := int(seed/2) % 2
		type pot struct {
			colour string
			amount int
		}
		var pots []pot
		for range 30 {
			colour := fmt.Sprint("colour ", w.r.IntN(40))
			if w.r.IntN(3) == 0 {
				known[colour] = true
				take(t, w.Aggregator, rowsFor(a, 0, colour, 0))
			} else {
				pots = append(pots, pot{colour, w.r.IntN(9)})
				take(t, w.Aggregator, rowsFor(a, 1, colour, pots[len(pots)-1].amount))
			}
			w.between()
		}
		for _, p := range pots {
			for i := range 1 + int(seed%2)*150 {
				if known[p.colour] {
					want = append(want, fmt.Sprint(p.colour, p.amount, i))
				}
			}
		}
		if more, err := w.End(id, 1-last, out); more || err != nil {
			t.Fatal(more, err)
		}
		if seed%4 == 0 {
			if _, err := w.Spill(id, nil); err != nil { // so that some seeds have all of it in files
				t.Fatal(err)
			}
		}
		endAll(t, w.Aggregator, last, out, func(*Aggregator) *Aggregator {
			w.between()
			return w.Aggregator
		})
		rows := joinedRows(t, a, out)
		slices.Sort(rows)
		if slices.Sort(want); !slices.Equal(rows, want) {
			t.Fatalf("seed %d: %d rows, want %d", seed, len(rows), len(want))
		}
		if groups, waits := w.sessions[id].bytes(); groups+waits > 0 {
			t.Fatalf("seed %d: %d bytes are kept of what was joined", seed, groups+waits)
		}
		w.Drop(id, role.Outcome{})
		if w.disk.Save(w); len(w.disk) > 0 {
			t.Fatalf("seed %d: %d files are left of the session", seed, len(w.disk))
		}
	}
}

// TestR16_WhatIsBeingJoinedStays in memory: the task reads it.
func TestR16_WhatIsBeingJoinedStays(t *testing.T) {
	a := joining(1000)
	w, out := newWaiting(t, a, 1), &roletest.Kept{}
	take(t, w.Aggregator, rowsFor(a, 0, "red", 0))
	take(t, w.Aggregator, rowsFor(a, 1, "red", 1))
	if _, err := w.End(id, 0, out); err != nil {
		t.Fatal(err)
	}
	if _, found := w.Excess(0); found {
		t.Error("without limits.memory rows that wait have no bound, but move")
	}
	w.sessions[id].Replica.Memory = 1
	if _, found := w.Excess(0); !found {
		t.Error("rows that wait do not move")
	}
	if _, err := w.End(id, 1, out); err != nil {
		t.Fatal(err)
	}
	if _, found := w.Excess(0); found {
		t.Error("rows move that are being joined")
	}
	if record, err := w.Spill(id, nil); err != nil || len(record) != 1 || len(w.Unsaved()) > 0 {
		t.Error("rows move that are being joined", record, err)
	}
}

// TestR16_ADamagedFileFailsItsJoin: in words, and without an error of the call that recovery may repeat.
func TestR16_ADamagedFileFailsItsJoin(t *testing.T) {
	a := joining(1)
	w, out := newWaiting(t, a, 1), &roletest.Kept{}
	take(t, w.Aggregator, rowsFor(a, 0, "red", 0))
	take(t, w.Aggregator, rowsFor(a, 1, "red", 1))
	if _, err := w.Spill(id, nil); err != nil {
		t.Fatal(err)
	}
	w.disk.Save(w)
	file := w.Files()[1]
	w.disk[file][len(w.disk[file])-1] ^= 1
	for stream := range 2 {
		if _, err := w.End(id, stream, out); err != nil {
			t.Fatal(err)
		}
	}
	if more, err := w.More(id, out); !more || err != nil {
		t.Fatal(more, err)
	}
	if _, err := w.Work(id); !errors.Is(err, runs.ErrDamaged) || !strings.Contains(err.Error(), file) || len(out.All) > 0 {
		t.Fatal(err, len(out.All))
	}
}
