package aggregator

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/internal/runs"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// node is an aggregator whose files are saved now and then, and which starts again from its snapshot.
type node struct {
	*Aggregator
	t       *testing.T
	disk    roletest.Saved
	prune   func(analyses.Args, int, []*fold.Table) error
	moved   int // calls of Spill
	restart func() bool
}

func newNode(t *testing.T, prune func(analyses.Args, int, []*fold.Table) error) *node {
	n := &node{t: t, disk: roletest.Saved{}, prune: prune, restart: func() bool { return false }}
	n.begin()
	return n
}

func (n *node) begin() {
	n.Aggregator = New()
	n.PageRows = 50
	n.AttachFiles(n.disk)
	s := roletest.Session(n.t, "s", analyses.Replica{Of: 1}, nil)
	if n.prune != nil {
		a := *s.Analysis
		a.Prune = n.prune
		s.Analysis = &a
	}
	if err := n.Open(s); err != nil {
		n.t.Fatal(err)
	}
}

// again lets the node start again, if it is time to.
func (n *node) again() {
	if !n.restart() {
		return
	}
	n.disk.Save(n) // files are saved before the snapshot that names them
	before := n.Snapshot(id, nil)
	n.Close()
	n.begin()
	if err := n.Restore(id, before); err != nil {
		n.t.Fatal(err)
	}
	if after := n.Snapshot(id, nil); string(after) != string(before) {
		n.t.Fatal("a node that has started again has another state")
	}
}

func (n *node) spill(limit int) {
	for range 10 {
		x, found := n.Excess(limit)
		if !found {
			return
		}
		if _, err := n.Spill(x, nil); err != nil {
			n.t.Fatal(err)
		}
		n.moved++
	}
	n.t.Fatal("tables move to files again and again")
}

// leave ends a stream and returns the sums of what leaves. between is called before each page.
func (n *node) leave(stream int, between func()) map[string]int64 {
	n.t.Helper()
	out := &roletest.Kept{}
	more, err := n.End(id, stream, out)
	for more && err == nil {
		n.again()
		between()
		for more = true; more && err == nil; { // as the core does before a page
			more, err = n.Work(id)
		}
		if err == nil {
			more, err = n.More(id, out)
		}
	}
	if err != nil {
		n.t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, m := range out.All {
		for k := range merged(n.t, &roletest.Kept{All: []roletest.Emitted{m}}) {
			if keys[k] {
				n.t.Fatalf("group %s leaves twice", k)
			}
			keys[k] = true
		}
	}
	return merged(n.t, out)
}

// TestR16_GroupsMoveToFiles: whatever moves to files, and when, and wherever the node starts again, the sums are those of one table in
// memory.
func TestR16_GroupsMoveToFiles(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := newNode(t, nil)
		n.restart = func() bool { return r.IntN(5) == 0 }
		limit := []int{1, 20 << 10, 60 << 10}[seed%3]
		want := [2]map[string]int64{{}, {}}
		for range 20 {
			table, part := r.IntN(2), map[string]int64{}
			for range r.IntN(400) {
				k := fmt.Sprintf("colour %d", r.IntN(1500))
				part[k] = r.Int64N(1000)
			}
			for k, v := range part {
				want[table][fmt.Sprint(table, " ", k)] += v
			}
			if len(part) > 0 {
				take(t, n.Aggregator, partial(table, part))
			}
			if r.IntN(2) == 0 {
				n.spill(limit)
			}
			if r.IntN(3) == 0 {
				n.disk.Save(n)
			}
			n.again()
		}
		for stream := range 2 {
			late := r.IntN(2) == 0 // tables that leave from memory move to files halfway
			got := n.leave(stream, func() {
				if late && r.IntN(4) == 0 {
					n.spill(1)
				}
			})
			if !maps.Equal(got, want[stream]) {
				t.Fatalf("seed %d: stream %d has %d groups, want %d", seed, stream, len(got), len(want[stream]))
			}
		}
		if n.moved == 0 {
			t.Errorf("seed %d: nothing moved to files", seed)
		}
		n.Drop(id, role.Outcome{})
		if n.disk.Save(n); len(n.disk) > 0 {
			t.Fatalf("seed %d: %d files are left of the session", seed, len(n.disk))
		}
	}
}

// TestR16_PartsArePruned: each part is pruned once, and what an analysis drops from a whole table it drops from the parts.
func TestR16_PartsArePruned(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 2))
		calls := 0
		n := newNode(t, func(_ analyses.Args, _ int, tables []*fold.Table) error {
			calls++
			tables[1].Retain(func(row int) bool { return tables[1].Sum(row, 0)%3 == 0 })
			return nil
		})
		n.restart = func() bool { return r.IntN(6) == 0 }
		all, want := map[string]int64{}, map[string]int64{}
		for i := range 1000 {
			all[fmt.Sprint("colour ", i)] = int64(i)
			if i%3 == 0 {
				want[fmt.Sprint("1 colour ", i)] = int64(i)
			}
		}
		take(t, n.Aggregator, partial(1, all))
		early := seed%2 == 0
		if early {
			n.spill(1)
		}
		got := n.leave(1, func() {
			if !early && r.IntN(3) == 0 {
				n.spill(1) // what is pruned already is not pruned again
			}
		})
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d: %d groups, want %d", seed, len(got), len(want))
		}
		if early == (calls == 1) {
			t.Errorf("seed %d: pruned in %d calls", seed, calls)
		}
	}
}

// TestN3_MovingIsRepeated: the repeated call makes the same files. If it makes others, the session fails, and not the node.
func TestN3_MovingIsRepeated(t *testing.T) {
	fill := func(v int64) *node {
		n := newNode(t, nil)
		take(t, n.Aggregator, partial(1, map[string]int64{"red": v}))
		return n
	}
	record, err := fill(1).Spill(id, nil)
	if err != nil || !strings.Contains(string(record), fmt.Sprintf("aggregator-%x-1-", id[:])) {
		t.Fatalf("%q %v", record, err)
	}
	same, other := fill(1), fill(2)
	if again, err := same.Spill(id, record); err != nil || string(again) != string(record) {
		t.Fatalf("%q %v", again, err)
	}
	if _, err := same.Work(id); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Spill(id, record); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Work(id); err == nil || !strings.Contains(err.Error(), "makes other files") {
		t.Fatal("other rows than before were taken for those of the file:", err)
	}
}

// TestR16_ADamagedFileFailsItsSession: in words, and without an error of the call that recovery may repeat.
func TestR16_ADamagedFileFailsItsSession(t *testing.T) {
	for name, harm := range map[string]func(roletest.Saved, string){
		"gone":    func(d roletest.Saved, f string) { delete(d, f) },
		"cut":     func(d roletest.Saved, f string) { d[f] = d[f][:len(d[f])-1] },
		"changed": func(d roletest.Saved, f string) { d[f][len(d[f])-1] ^= 1 },
	} {
		n := newNode(t, nil)
		take(t, n.Aggregator, partial(1, map[string]int64{"red": 1}))
		n.spill(1)
		n.disk.Save(n)
		file := n.Files()[0]
		harm(n.disk, file)
		out := &roletest.Kept{}
		if more, err := n.End(id, 1, out); !more || err != nil {
			t.Fatal(more, err)
		}
		if more, err := n.More(id, out); !more || err != nil {
			t.Fatalf("%s: %v %v", name, more, err)
		}
		_, err := n.Work(id)
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "table amounts") {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "changed" && !errors.Is(err, runs.ErrDamaged) || len(out.All) > 0 {
			t.Fatal(name, err, len(out.All))
		}
	}
}

// TestR16_TheLargestSessionMoves: and only while all of them take too much.
func TestR16_TheLargestSessionMoves(t *testing.T) {
	a := New()
	var ids []session.ID
	for i, groups := range []int{10, 5000, 100} {
		s := roletest.Session(t, fmt.Sprint("s", i), analyses.Replica{Of: 1}, nil)
		if err := a.Open(s); err != nil {
			t.Fatal(err)
		}
		many := map[string]int64{}
		for k := range groups {
			many[fmt.Sprint(k)] = 1
		}
		if _, err := a.Take(s.ID, partial(1, many), nil); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	if _, found := a.Excess(1 << 30); found {
		t.Fatal("tables that fit are moved")
	}
	if x, found := a.Excess(1 << 10); !found || x != ids[1] {
		t.Fatal(x, found)
	}
	if _, err := a.Spill(ids[1], nil); err != nil {
		t.Fatal(err)
	}
	if x, found := a.Excess(1 << 10); !found || x != ids[2] {
		t.Fatal(x, found)
	}
	if x := a.UnsavedSessions(); len(x) != 1 || x[0] != ids[1] {
		t.Fatal(x)
	}
}

// TestR16_KeysThatHardlyRepeatAreNotLookedUp: once a table has moved to files in which hardly any row was merged, rows are merged only when
// they are read back. The groups that leave are the same, wherever the node starts again, and files are made again as they were.
func TestR16_KeysThatHardlyRepeatAreNotLookedUp(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := newNode(t, nil)
		n.restart = func() bool { return r.IntN(4) == 0 }
		want, unmerged := map[string]int64{}, 0
		for round := range 3 * mergedAgain {
			repeat := seed%2 == 1 && round > mergedAgain // from then on, the same keys come again and again
			for range 4 {
				part := map[string]int64{}
				for range 100 {
					k := fmt.Sprint("colour ", len(want))
					if repeat {
						k = fmt.Sprint("colour ", r.IntN(50))
					}
					part[k]++
					want["1 "+k]++
				}
				take(t, n.Aggregator, partial(1, part))
				n.again()
			}
			if n.sessions[id].repeats[1].unmerged {
				unmerged++
			}
			n.disk.Save(n)
			n.spill(1)
			n.again()
		}
		if most := 2 * mergedAgain; unmerged < mergedAgain/2 || (unmerged <= most) != (seed%2 == 1) {
			t.Errorf("seed %d: rows were not merged in %d rounds", seed, unmerged)
		}
		if got := n.leave(1, func() {}); !maps.Equal(got, want) {
			t.Fatalf("seed %d: %d groups, want %d", seed, len(got), len(want))
		}
	}
}
