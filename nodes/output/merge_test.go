package output

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

// passed returns a message of rows in any order, each a number and a text.
func passed(query string, last bool, numbers ...int64) role.Message {
	p := role.Passed{Query: query, Last: last}
	if last {
		p.Columns = []string{"n", "text"}
	}
	for _, n := range numbers {
		row := protocol.AppendOrdered(nil, protocol.Value{Kind: protocol.Int, Int: n}, protocol.Value{Text: fmt.Sprint(n)})
		p.Rows = role.AppendRow(p.Rows, row)
	}
	return role.Message{Payload: p.Append(nil)}
}

// long gives an output the parts and rows of a query, each number up to n three times. It returns the expected order.
func long(t *testing.T, o *Output, h *roletest.Host, n int) (want []int64) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		for range 3 {
			want = append(want, int64(i-n/2))
		}
	}
	mixed := slices.Clone(want)
	random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	give(t, o, part("before", 3))
	for i := 0; i < len(mixed); i += 7 {
		give(t, o, passed("long", false, mixed[i:min(i+7, len(mixed))]...))
		if i%49 == 0 {
			give(t, o, part(fmt.Sprint("between ", i), 2))
			h.Save()
		}
	}
	give(t, o, passed("long", true))
	give(t, o, part("behind", 1))
	endAll(t, o)
	h.Save()
	return want
}

// fetch requests all parts from one on, as a client does, and keeps them by their number.
func fetch(t *testing.T, o *Output, h *roletest.Host, after uint64, noted map[uint64]protocol.Part) (last uint64) {
	t.Helper()
	for range 100_000 {
		r, ok := h.Ask(t, noon, 1, results(after, 0))
		if !ok || r.State != session.Done {
			t.Fatalf("after %d it hears %+v", after, r)
		}
		for _, p := range r.Parts {
			if after++; p.N != after {
				t.Fatalf("part %d comes after %d", p.N, after-1)
			}
			if was, ok := noted[p.N]; ok && (was.Query != p.Query || was.Offset != p.Offset || was.Last != p.Last ||
				!bytes.Equal(was.Rows.Encoded(), p.Rows.Encoded())) {
				t.Fatalf("part %d was %+v and is %+v", p.N, was, p)
			}
			noted[p.N] = p
		}
		if r.Complete {
			return after
		}
	}
	t.Fatal("it never ends")
	return 0
}

func numbersOf(t *testing.T, noted map[uint64]protocol.Part, query string) (all []int64) {
	t.Helper()
	for n := uint64(1); n <= uint64(len(noted)); n++ {
		p := noted[n]
		if p.Query != query {
			continue
		}
		if p.Offset != uint64(len(all)) {
			t.Fatalf("part %d of %s begins at row %d, and %d are there", n, query, p.Offset, len(all))
		}
		for row := range p.Rows.All() {
			all = append(all, row[0].Int)
		}
	}
	return all
}

func small(t *testing.T) (*Output, *roletest.Host) {
	t.Helper()
	o, h := newOutput(t)
	o.FileBytes = 300
	return o, h
}

// TestD1_RowsAreSortedWhateverTheirOrder: equal rows are all there. A part that a client requests a second time is the same, at any place
// of the answer, also after a restart from a snapshot.
func TestD1_RowsAreSortedWhateverTheirOrder(t *testing.T) {
	o, h := small(t)
	o.About.Limits.Frame = 800
	want := long(t, o, h, 300)
	noted := map[uint64]protocol.Part{}
	last := fetch(t, o, h, 0, noted)
	if got := numbersOf(t, noted, "long"); !slices.Equal(got, want) {
		t.Fatalf("%d rows, want %d: %v", len(got), len(want), got)
	}
	if uint64(len(noted)) != last || noted[last].Query != "behind" || noted[1].Query != "before" {
		t.Fatalf("the parts are not in the order in which they were finished: %d, %+v", last, noted[last])
	}
	if n := o.results[id].sorted[0]; len(n.runs) < 20 || n.parts < 12 {
		t.Fatalf("%d runs, %d parts: that is not a merge", len(n.runs), n.parts)
	}
	again := New(roletest.About())
	again.About.Limits.Frame, again.FileBytes = 800, 300
	h2 := roletest.NewHost(again)
	h2.Files = h.Files
	if err := again.RestoreAll(o.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	again.Tick(noon)
	random := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		at := random.Uint64N(last + 1)
		if got := fetch(t, o, h, at, noted); got != last {
			t.Fatalf("from %d on there are %d parts, not %d", at, got, last)
		}
		again.results[id].sorted[0].reading, again.results[id].sorted[0].parts = nil, 0
		if got := fetch(t, again, h2, at, noted); got != last {
			t.Fatalf("after a restart there are %d parts from %d on, not %d", got, at, last)
		}
	}
}

// TestR16_ALongAnswerIsInFiles: memory and snapshot do not grow with the number of rows, and the files are removed with the answer.
func TestR16_ALongAnswerIsInFiles(t *testing.T) {
	o, h := small(t)
	long(t, o, h, 2000)
	r := o.results[id]
	if n := len(o.SnapshotAll(nil)); r.inMemory() > 1000 || n > 40_000 || r.size < 50_000 || len(h.Files) < 100 {
		t.Fatalf("of %d bytes in %d files %d are in memory; a snapshot has %d", r.size, len(h.Files), r.inMemory(), n)
	}
	if got := o.Files(); len(got) != len(h.Files) {
		t.Fatalf("%d of %d files are named", len(got), len(h.Files))
	}
	o.Forget(id, role.Asker{Identity: role.LocalOperator})
	h.Save()
	if len(h.Files) != 0 || len(o.Files()) != 0 {
		t.Fatalf("%d files stay", len(h.Files))
	}
}

// TestR16_WhatIsNotSavedIsInMemory: until a file is saved its rows are read from memory, and a log that is retired leaves them to the next
// one.
func TestR16_WhatIsNotSavedIsInMemory(t *testing.T) {
	o, h := small(t)
	o.Tick(noon)
	for i := range int64(100) {
		give(t, o, passed("long", false, 100-i))
	}
	give(t, o, passed("long", true))
	endAll(t, o)
	if len(h.Files) != 0 || len(o.Unsaved()) < 3 {
		t.Fatal(len(h.Files), len(o.Unsaved()))
	}
	noted := map[uint64]protocol.Part{}
	fetch(t, o, h, 0, noted)
	if got := numbersOf(t, noted, "long"); len(got) != 100 || !slices.IsSorted(got) {
		t.Fatal(got)
	}
	next := New(roletest.About())
	next.FileBytes = 300
	h2 := roletest.NewHost(next)
	if err := next.Inherit(o.Bequeath()); err != nil {
		t.Fatal(err)
	}
	next.Tick(noon)
	h2.Save()
	if fetch(t, next, h2, 0, noted); len(h2.Files) < 3 {
		t.Fatal("the next log does not save what it was left")
	}
}

// TestR16_ADamagedFileIsReported: if the disk has changed an answer, a client gets an error, and never other rows.
func TestR16_ADamagedFileIsReported(t *testing.T) {
	damage := map[string]func([]byte) []byte{
		"a bit":    func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"the end":  func(b []byte) []byte { return b[:len(b)-1] },
		"the head": func(b []byte) []byte { b[0] ^= 1; return b },
		"gone":     func([]byte) []byte { return nil },
	}
	for name, change := range damage {
		for number := range 6 {
			o, h := small(t)
			long(t, o, h, 100)
			names := o.Files()
			h.Files[names[number*len(names)/6]] = change(h.Files[names[number*len(names)/6]])
			after := uint64(0)
			for {
				r, _ := h.Ask(t, noon, 1, results(after, 0))
				if r.State == session.Failed {
					if !strings.Contains(r.Reason, "me-1") || !strings.Contains(r.Reason, "run the analysis again") {
						t.Errorf("%s: %s", name, r.Reason)
					}
					break
				}
				if r.Complete {
					t.Fatalf("%s of %s is not found", name, names[number])
				}
				after += uint64(len(r.Parts))
			}
		}
	}
}

// TestR16_AnAnswerAboveTheLimitFails: the error names the setting. A call that recovery repeats is not refused, because the limit may have
// changed.
func TestR16_AnAnswerAboveTheLimitFails(t *testing.T) {
	o, _ := small(t)
	o.About.Limits.ResultsSize = 500
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		_, err = o.Take(id, passed("long", false, int64(n)), &roletest.Kept{Frame: 1000})
	}
	if err == nil || !strings.Contains(err.Error(), "limits.results_size") || !strings.Contains(err.Error(), "500B") || n < 10 {
		t.Fatal(n, err)
	}
	if _, err := o.Take(id, passed("long", false, 1), &roletest.Kept{}); err != nil {
		t.Fatal("recovery fails: ", err)
	}
}

// TestN9_ASeekIsCutIntoSlices: a client requests the end of a long answer from a process that has just started. The client waits, and the
// node continues with other work.
func TestN9_ASeekIsCutIntoSlices(t *testing.T) {
	o, h := newOutput(t)
	rows := 0
	text := strings.Repeat("x", 1000)
	for rows < 3*sliceBytes/1000 {
		p := role.Passed{Query: "long"}
		for range 200 {
			p.Rows = role.AppendRow(p.Rows, protocol.AppendOrdered(nil, protocol.Value{Kind: protocol.Int, Int: int64(rows)},
				protocol.Value{Text: text}))
			rows++
		}
		give(t, o, role.Message{Payload: p.Append(nil)})
		h.Save()
	}
	give(t, o, passed("long", true))
	endAll(t, o)
	r, _ := h.Ask(t, noon, 1, results(0, 0))
	most := uint64(rows) * 1010 / uint64(o.partLimit())
	o.results[id].sorted[0].reading = nil
	if _, ok := h.Ask(t, noon, 1, results(most*9/10, time.Minute)); ok {
		t.Fatal("all of it is read within one call")
	}
	for range 10 {
		o.Tick(noon)
		var ok bool
		if r, ok = h.Answer(1); ok {
			break
		}
	}
	if len(r.Parts) == 0 || r.Parts[0].N != most*9/10+1 {
		t.Fatalf("%d parts, want %d", len(r.Parts), most*9/10+1)
	}
}

// TestD1_RowsBehindTheirEndFail: the same for other messages that no reducer sends.
func TestD1_RowsBehindTheirEndFail(t *testing.T) {
	o, _ := small(t)
	give(t, o, passed("long", true, 1))
	for name, m := range map[string]role.Message{
		"behind the end": passed("long", false, 2),
		"a cut row":      {Payload: (&role.Passed{Query: "q", Rows: []byte{5, 1}}).Append(nil)},
		"rubbish":        {Payload: []byte{0x94, 0xc1}},
	} {
		if _, err := o.Take(id, m, nil); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestD1_RowsAreSortedByCellsThatAreNotShown: the order of a query survives a restart from a snapshot, before and after the rows are
// complete.
func TestD1_RowsAreSortedByCellsThatAreNotShown(t *testing.T) {
	order := role.Order{{Column: -1, Desc: true}, {Column: 1, NullsFirst: true}, {Column: 0}}
	for _, when := range []string{"never", "before the end", "behind the end"} {
		o, h := small(t)
		again := func(now string) {
			if now == when {
				h.Save()
				next := New(roletest.About())
				next.FileBytes = o.FileBytes
				host := roletest.NewHost(next)
				host.Files = h.Files
				if err := next.RestoreAll(o.SnapshotAll(nil)); err != nil {
					t.Fatal(err)
				}
				next.Tick(noon)
				o, h = next, host
			}
		}
		for i := range int64(200) {
			n := i * 7 % 200
			second := protocol.Value{Kind: protocol.Null}
			if n%2 == 1 {
				second = protocol.Value{Text: "odd"}
			}
			row := order.AppendRow(nil, []protocol.Value{{Kind: protocol.Int, Int: n / 2}, second, {Kind: protocol.Int, Int: n}})
			give(t, o, role.Message{Payload: (&role.Passed{Query: "long", Rows: role.AppendRow(nil, row)}).Append(nil)})
			h.Save()
		}
		again("before the end")
		give(t, o, role.Message{Payload: (&role.Passed{Query: "long", Last: true, Columns: []string{"n", "text"}, Order: order}).Append(nil)})
		endAll(t, o)
		h.Save()
		again("behind the end")
		noted := map[uint64]protocol.Part{}
		fetch(t, o, h, 0, noted)
		got := numbersOf(t, noted, "long")
		if len(got) != 200 {
			t.Fatalf("%s: %d rows", when, len(got))
		}
		for i, n := range got {
			if want := int64(199-i)/2*2 + int64(i%2); n != want {
				t.Fatalf("%s: row %d is %d, want %d", when, i, n, want)
			}
		}
	}
}
