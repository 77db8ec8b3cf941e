package reducer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/internal/runs"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// moving is an analysis whose second table may be read from files.
func moving() *analyses.Analysis {
	a := roletest.Analysis()
	a.Moves = func(table int) bool { return table == 1 }
	a.Reduce = func(_ analyses.Args, _ int, tables []*fold.Table, emit func(row ...any)) error {
		t := tables[0]
		if read := t.Moved(); read != nil {
			if t.Len() > 0 {
				return errors.New("some rows of a table in files are in memory")
			}
			t = fold.NewTable(t.Spec())
			for bucket := range fold.Buckets {
				if err := read(bucket, t.Merge); err != nil {
					return err
				}
			}
		}
		for _, row := range t.Sorted(nil) {
			emit(string(t.KeyText(row, 0)), t.Sum(row, 0))
		}
		return nil
	}
	return a
}

func movingRole(t *testing.T, disk roletest.Saved) *Reducer {
	t.Helper()
	x := New()
	x.AttachFiles(disk)
	s := roletest.Session(t, "s", analyses.Replica{Of: 1, Memory: 1}, nil)
	s.Analysis = moving()
	if err := x.Open(s); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestR16_TablesMoveToFiles: whatever moves, and when, and wherever the node starts again, the answer is the same.
func TestR16_TablesMoveToFiles(t *testing.T) {
	for seed := range uint64(40) {
		r, disk := rand.New(rand.NewPCG(seed, 4)), roletest.Saved{}
		x := movingRole(t, disk)
		var want []string
		between := func() {
			if r.IntN(4) == 0 {
				if _, err := x.Spill(id, nil); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(4) == 0 {
				disk.Save(x)
			}
			if r.IntN(5) > 0 {
				return
			}
			disk.Save(x)
			before := x.Snapshot(id, nil)
			x.Close()
			x = movingRole(t, disk)
			if err := x.Restore(id, before); err != nil {
				t.Fatal(err)
			}
			if string(x.Snapshot(id, nil)) != string(before) {
				t.Fatal("a node that has started again has another state")
			}
		}
		for i := range 40 {
			give(t, x, 1, fmt.Sprint("colour ", i), int64(i))
			want = append(want, fmt.Sprint("colour ", i, i))
			between()
		}
		if seed%4 == 0 {
			if _, err := x.Spill(id, nil); err != nil {
				t.Fatal(err)
			}
		}
		out := &roletest.Kept{}
		more, err := x.End(id, 1, out)
		for ; more && err == nil; more, err = x.More(id, out) {
			between()
		}
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, m := range out.All {
			reply, err := protocol.DecodeReply(m.Payload)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range reply.Parts {
				for row := range p.Rows.All() {
					rows = append(rows, fmt.Sprint(row[0], row[1]))
				}
			}
		}
		slices.Sort(rows)
		if slices.Sort(want); !slices.Equal(rows, want) {
			t.Fatalf("seed %d: %v, want %v", seed, rows, want)
		}
		x.Drop(id, role.Outcome{})
		if disk.Save(x); len(disk) > 0 {
			t.Fatalf("seed %d: %d files are left of the session", seed, len(disk))
		}
	}
}

// TestR16_OnlyTablesMoveThatMay, and not once they are complete.
func TestR16_OnlyTablesMoveThatMay(t *testing.T) {
	x := movingRole(t, roletest.Saved{})
	for table := range 2 {
		for i := range 20_000 {
			give(t, x, table, fmt.Sprint("colour ", i), 1)
		}
	}
	if _, found := x.Excess(1 << 30); found {
		t.Error("tables move that fit")
	}
	if _, found := x.Excess(1 << 10); !found {
		t.Error("nothing moves")
	}
	if _, err := x.Spill(id, nil); err != nil {
		t.Fatal(err)
	}
	if st := x.sessions[id]; st.tables[0].Len() != 20_000 || st.tables[1].Len() != 0 || len(x.Unsaved()) != 1 {
		t.Error("another table has moved")
	}
	give(t, x, 1, "one more", 1)
	if _, err := x.End(id, 1, &roletest.Kept{}); err != nil {
		t.Fatal(err)
	}
	if _, found := x.Excess(0); found || x.sessions[id].tables[1].Len() > 0 {
		t.Error("a complete table has rows in memory, or moves")
	}
}

// TestR16_ADamagedFileFailsItsAnswer: in words, and without an error of the call that recovery may repeat.
func TestR16_ADamagedFileFailsItsAnswer(t *testing.T) {
	disk := roletest.Saved{}
	x := movingRole(t, disk)
	give(t, x, 1, "red", 1)
	if _, err := x.Spill(id, nil); err != nil {
		t.Fatal(err)
	}
	disk.Save(x)
	file := x.Files()[0]
	disk[file][len(disk[file])-1] ^= 1
	out := &roletest.Kept{}
	if more, err := x.End(id, 1, out); !more || err != nil {
		t.Fatal(more, err)
	}
	if more, err := x.More(id, out); !more || err != nil {
		t.Fatal(more, err)
	}
	if _, err := x.Work(id); !errors.Is(err, runs.ErrDamaged) || !strings.Contains(err.Error(), file) || len(out.All) > 0 {
		t.Fatal(err)
	}
}
