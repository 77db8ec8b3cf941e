package joiner

import (
	"errors"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/internal/parser"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

var id = roletest.ID("s")

func opened(t *testing.T, r analyses.Replica) *Joiner {
	t.Helper()
	j := New()
	if err := j.Open(roletest.Session(t, "s", r, nil)); err != nil {
		t.Fatal(err)
	}
	return j
}

// parsed returns what a parser makes of rows.
func parsed(t *testing.T, stream int, line uint64, rows string) role.Message {
	t.Helper()
	p, out := parser.New(), &roletest.Kept{}
	if err := p.Open(roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Take(id, roletest.Chunk(stream, line, rows), out); err != nil || len(out.All) != 1 {
		t.Fatal(err)
	}
	return out.All[0].Message
}

func take(t *testing.T, j *Joiner, m role.Message) (durable bool) {
	t.Helper()
	durable, err := j.Take(id, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return durable
}

// flushed returns what the tables hold after a flush.
func flushed(t *testing.T, j *Joiner, partitions int) (out *roletest.Kept, known, amounts map[string]int64) {
	t.Helper()
	return flushedTo(t, j, &roletest.Kept{N: partitions})
}

// flushedTo flushes, and merges what was emitted now and before.
func flushedTo(t *testing.T, j *Joiner, out *roletest.Kept) (_ *roletest.Kept, known, amounts map[string]int64) {
	t.Helper()
	if err := j.Flush(id, out); err != nil {
		t.Fatal(err)
	}
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	for _, m := range out.All {
		if err := role.Merge(tables, m.Payload); err != nil {
			t.Fatal(err)
		}
	}
	sums := []map[string]int64{{}, {}}
	for i := range sums {
		for _, row := range tables[i].Rows() {
			sums[i][string(tables[i].KeyText(row, 0))] = tables[i].Sum(row, 0)
		}
	}
	return out, sums[0], sums[1]
}

func TestJoiner_ReferenceIsStateFactsAreNot(t *testing.T) {
	j := opened(t, analyses.Replica{Of: 2})
	if !take(t, j, parsed(t, 0, 2, "red\nred\nblue\n")) {
		t.Fatal("reference rows have to survive a crash")
	}
	if take(t, j, parsed(t, 1, 2, "red,3\ngreen,4\nred,2\n")) {
		t.Fatal("facts are folded and flushed in one commit")
	}
	_, known, amounts := flushed(t, j, 1)
	if known["red"] != 2 || known["blue"] != 1 || amounts["red"] != 5 || len(amounts) != 1 {
		t.Fatal(known, amounts)
	}
	if out, _, _ := flushed(t, j, 1); len(out.All) != 0 {
		t.Fatal("flushed twice")
	}
}

func TestN3_SnapshotGivesTheTablesBackAndEmitsNothingAgain(t *testing.T) {
	j := opened(t, analyses.Replica{Of: 1})
	take(t, j, parsed(t, 0, 2, "red\n"))
	take(t, j, parsed(t, 0, 3, "blue\n"))
	flushed(t, j, 1)
	again := opened(t, analyses.Replica{Of: 1})
	if err := again.Restore(id, j.Snapshot(id, nil)); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := flushed(t, again, 1); len(out.All) != 0 {
		t.Fatal("what was flushed before the crash is emitted again")
	}
	take(t, again, parsed(t, 1, 2, "blue,7\n"))
	if _, _, amounts := flushed(t, again, 1); amounts["blue"] != 7 {
		t.Fatal(amounts)
	}
	if string(again.Snapshot(id, nil)) != string(j.Snapshot(id, nil)) {
		t.Fatal("a second snapshot is another one")
	}
}

func TestN3_ASnapshotThatDoesNotFitIsAnError(t *testing.T) {
	j := opened(t, analyses.Replica{Of: 1})
	take(t, j, parsed(t, 0, 2, "red\n"))
	good := j.Snapshot(id, nil)
	for n := range good {
		if opened(t, analyses.Replica{Of: 1}).Restore(id, good[:n]) == nil {
			t.Errorf("the first %d bytes are taken for a snapshot", n)
		}
	}
	if New().Restore(id, good) == nil {
		t.Error("the session is not open")
	}
}

func TestD1_OneJoinerCountsRejectedReferenceRows(t *testing.T) {
	rejected := func(r analyses.Replica, stream int, rows string) uint64 {
		j := opened(t, r)
		take(t, j, parsed(t, stream, 2, rows))
		out, _, _ := flushed(t, j, 1)
		tables := role.NewTables(roletest.Analysis(), fold.NewTable)
		for _, m := range out.All {
			if err := role.Merge(tables, m.Payload); err != nil {
				t.Fatal(err)
			}
		}
		all, err := analyses.RejectedRows(tables[2])
		if err != nil {
			t.Fatal(err)
		}
		return all["colours"].Rows + all["pots"].Rows
	}
	if n := rejected(analyses.Replica{Index: 0, Of: 2}, 0, "red\n\"\"\n"); n != 1 {
		t.Errorf("the first joiner counts %d", n)
	}
	if n := rejected(analyses.Replica{Index: 1, Of: 2}, 0, "red\n\"\"\n"); n != 0 {
		t.Errorf("the second joiner counts %d, it has the same rows", n)
	}
	if n := rejected(analyses.Replica{Index: 1, Of: 2}, 1, "red,x\nred,1\n"); n != 1 {
		t.Errorf("facts come to one joiner: it counts %d", n)
	}
}

// TestJoiner_SparedUntilFactsCome: joiners other than the first defer reference rows, across a crash and a snapshot. When facts come they
// have all rows and ends.
func TestJoiner_SparedUntilFactsCome(t *testing.T) {
	second := analyses.Replica{Index: 1, Of: 2}
	end := func(j *Joiner) {
		t.Helper()
		if more, err := j.End(id, 0, nil); more || err != nil {
			t.Fatal(more, err)
		}
	}
	j := opened(t, second)
	for _, rows := range []string{"red\n", "blue\n"} {
		if !take(t, j, parsed(t, 0, 2, rows)) {
			t.Fatal("reference rows have to survive a crash, whoever looks at them")
		}
	}
	end(j)
	if out, _, _ := flushed(t, j, 1); len(out.All) != 0 || !j.sessions[id].deferred {
		t.Fatal("nobody has asked for the rows")
	}
	again := opened(t, second)
	if err := again.Restore(id, j.Snapshot(id, nil)); err != nil {
		t.Fatal(err)
	}
	for _, j := range []*Joiner{j, again} {
		take(t, j, parsed(t, 1, 2, "blue,7\ngreen,1\n"))
		take(t, j, parsed(t, 1, 4, "red,2\nblue,1\n"))
		if _, known, amounts := flushed(t, j, 1); len(known) != 0 || amounts["blue"] != 8 || amounts["red"] != 2 || len(amounts) != 2 {
			t.Fatal(known, amounts)
		}
	}
	third := opened(t, second)
	if err := third.Restore(id, again.Snapshot(id, nil)); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := flushed(t, third, 1); len(out.All) != 0 {
		t.Fatal("what was flushed before the crash is emitted again")
	}
	bare := opened(t, second)
	bare.sessions[id].joiner = strict{t: t, ended: map[int]bool{}}
	take(t, bare, parsed(t, 0, 2, "red\n"))
	end(bare)
	take(t, bare, parsed(t, 1, 2, "red,2\n"))
}

// strict is an analysis' joiner that demands the end of the reference stream before facts.
type strict struct {
	t     *testing.T
	ended map[int]bool
}

func (s strict) Reference(int, *batch.Batch, analyses.Position) error { return nil }
func (s strict) Flush([]*fold.Table) error                            { return nil }
func (s strict) End(stream int) error                                 { s.ended[stream] = true; return nil }
func (s strict) Facts(int, *batch.Batch, analyses.Position) error {
	if !s.ended[0] {
		s.t.Error("facts before the end of the reference stream")
	}
	return nil
}

// TestJoiner_WithoutThePromiseNoJoinerIsSpared: an analysis may emit reference rows in any joiner, unless it declares that it does not.
func TestJoiner_WithoutThePromiseNoJoinerIsSpared(t *testing.T) {
	j := New()
	s := roletest.Session(t, "s", analyses.Replica{Index: 1, Of: 2}, nil)
	plain := *s.Analysis
	plain.ReferenceLater = false
	plain.NewJoiner = func(analyses.Args, analyses.Replica) (analyses.Joiner, error) {
		return roletest.Analysis().NewJoiner(nil, analyses.Replica{Of: 1})
	}
	s.Analysis = &plain
	if err := j.Open(s); err != nil {
		t.Fatal(err)
	}
	take(t, j, parsed(t, 0, 2, "red\n"))
	if _, known, _ := flushed(t, j, 1); known["red"] != 1 {
		t.Fatal(known)
	}
}

func TestN6_APanicSaysWhere(t *testing.T) {
	j := opened(t, analyses.Replica{Of: 1})
	_, err := j.Take(id, parsed(t, 1, 40, "red,-1\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "stream pots, shop/pots.csv from line 40: panic: an amount of minus one") {
		t.Fatal(err)
	}
	if _, err := j.Take(id, role.Message{Stream: 1, Payload: []byte("?")}, nil); err == nil {
		t.Fatal("rubbish is taken")
	}
	late := opened(t, analyses.Replica{Index: 1, Of: 2})
	late.sessions[id].reference = []reference{{0, parsed(t, 0, 7, "red\n").Payload}}
	late.sessions[id].joiner = poisoned{}
	_, err = late.Take(id, parsed(t, 1, 40, "red,1\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "stream colours, shop/colours.csv from line 7: panic: this colour") {
		t.Fatal(err)
	}
}

// poisoned is an analysis' joiner that panics at reference rows.
type poisoned struct{ analyses.Joiner }

func (poisoned) Reference(int, *batch.Batch, analyses.Position) error { panic("this colour") }

func TestJoiner_PartitionsKeepAGroupTogether(t *testing.T) {
	where := map[string]int{}
	for range 3 {
		j := opened(t, analyses.Replica{Of: 1})
		take(t, j, parsed(t, 0, 2, "red\nblue\ngreen\nblack\nwhite\n"))
		out, known, _ := flushed(t, j, 3)
		if len(known) != 5 {
			t.Fatal(known)
		}
		for _, m := range out.All {
			tables := role.NewTables(roletest.Analysis(), fold.NewTable)
			if err := role.Merge(tables, m.Payload); err != nil {
				t.Fatal(err)
			}
			for _, row := range tables[0].Rows() {
				colour := string(tables[0].KeyText(row, 0))
				if at, seen := where[colour]; seen && at != m.Partition {
					t.Fatalf("%s goes to %d and to %d", colour, at, m.Partition)
				}
				where[colour] = m.Partition
			}
		}
	}
}

// TestJoiner_TakesWhatParsersHaveFolded: folded tables that arrive are merged with each other and with the joiner's own. They count once,
// and leave with the same flush. A frame of another analysis fails its session.
func TestJoiner_TakesWhatParsersHaveFolded(t *testing.T) {
	j := opened(t, analyses.Replica{Of: 1})
	take(t, j, parsed(t, 0, 2, "red\n"))
	flushed(t, j, 1)
	folded := func(table int, colour string, amount int64) role.Message {
		tables := role.NewTables(roletest.Analysis(), fold.NewTable)
		tables[1].AddSum(tables[1].Row(tables[1].Key().String(colour)), 0, amount)
		rejects := analyses.Rejects{}
		rejects.Add("shop/pots.csv", 7, errors.New("odd"))
		rejects.AddTo(tables[2], "pots")
		e := role.PartialEncoder{}
		rejected := tables[2].AppendRows(nil, tables[2].Rows())
		return role.Message{Stream: 1, Payload: role.AppendFolded(nil, analyses.File{Name: "shop/pots.csv"}, 2, rejected,
			[][]byte{e.Encode(table, tables[1], tables[1].Rows())})}
	}
	for range 2 {
		for _, m := range []role.Message{folded(1, "red", 3), parsed(t, 1, 2, "red,10\nblue,1\n"), folded(1, "red", 4), folded(1, "green", 5)} {
			if take(t, j, m) {
				t.Fatal("facts are folded and flushed in one commit")
			}
		}
		for _, partitions := range []int{3, 1} { // the second time there is nothing to emit
			out, _, amounts := flushed(t, j, partitions)
			if partitions == 1 && len(out.All) > 0 {
				t.Fatal("flushed twice")
			}
			if partitions == 3 && (amounts["red"] != 17 || amounts["green"] != 5 || len(amounts) != 2) {
				t.Fatal(amounts)
			}
		}
	}
	if _, err := j.Take(id, folded(9, "red", 3), nil); err == nil || !strings.Contains(err.Error(), "partial of table 9") {
		t.Error(err)
	}
}
