package joiner

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/internal/parser"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// chained is a parser and a joiner in one node, with the messages between them.
type chained struct {
	t      *testing.T
	p      *parser.Parser
	j      *Joiner
	passed []role.Message
	out    role.Emitter // of the joiner
}

func newChained(t *testing.T) *chained {
	c := &chained{t: t, p: parser.New(), j: opened(t, analyses.Replica{Of: 1})}
	c.out = c
	c.p.Before(c.j)
	if err := c.p.Open(roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)); err != nil {
		t.Fatal(err)
	}
	return c
}

// Partitions and Limits implement role.Emitter.
func (c *chained) Partitions() int     { return 1 }
func (c *chained) Limits() role.Limits { return role.NoLimits }

// Emit implements role.Emitter. Like the core, it delivers at once.
func (c *chained) Emit(_ int, m role.Message) {
	c.passed = append(c.passed, m)
	if _, err := c.j.Take(id, m, c.out); err != nil {
		c.t.Fatal(err)
	}
}

// feed takes a chunk through both, and reports whether the chunk was folded in a fork.
func (c *chained) feed(m role.Message) bool {
	c.t.Helper()
	c.passed = nil
	if _, err := c.p.Take(id, m, c); err != nil {
		c.t.Fatal(err)
	}
	return len(c.passed) == 1 && c.passed[0].Folded != nil
}

// endReference feeds the reference rows of the tests and ends their stream.
func (c *chained) endReference() {
	c.t.Helper()
	if c.feed(roletest.Chunk(0, 2, "red\nblue\n")) {
		c.t.Fatal("reference rows were folded in a fork")
	}
	if _, err := c.j.End(id, 0, c); err != nil {
		c.t.Fatal(err)
	}
}

// TestR11_ForksComeWithTheEndOfTheReferenceStreams: chunks before it go to the joiner as rows, and those behind it count the same, their
// rejected rows, too. What was prepared and not taken counts nowhere.
func TestR11_ForksComeWithTheEndOfTheReferenceStreams(t *testing.T) {
	c := newChained(t)
	early := roletest.Chunk(1, 2, "red,1\n")
	c.p.Prepare(id, 1, early.Chunk, role.NoLimits)() // taken later
	c.endReference()
	if c.feed(early) {
		t.Error("R11: a chunk that was parsed before the end of the reference stream was folded in a fork")
	}
	for i := range 4 { // in parallel
		var wg sync.WaitGroup
		var chunks []role.Message
		for k := range 5 {
			m := roletest.Chunk(1, uint64(100*i+k), fmt.Sprintf("red,%d\ngreen,7\nblue,1\nred,none\n", k))
			work := c.p.Prepare(id, 1, m.Chunk, role.NoLimits)
			wg.Add(1)
			go func() { defer wg.Done(); work() }()
			chunks = append(chunks, m)
		}
		wg.Wait()
		for _, m := range chunks[1:] { // the first one is not taken
			if !c.feed(m) {
				t.Error("a chunk behind the end of the reference stream was not folded in a fork")
			}
		}
	}
	out, known, amounts := flushed(t, c.j, 2)
	if want := map[string]int64{"red": 1 + 4*(1+2+3+4), "blue": 16}; !maps.Equal(amounts, want) ||
		!maps.Equal(known, map[string]int64{"red": 1, "blue": 1}) {
		t.Errorf("amounts %v, want %v; known %v", amounts, want, known)
	}
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	for _, m := range out.All {
		if err := role.Merge(tables, m.Payload); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := analyses.RejectsOf(tables[2], "pots"); err != nil || got.Rows != 16 {
		t.Errorf("rejected rows %+v, %v, want 16", got, err)
	}
	if again, _, _ := flushed(t, c.j, 2); len(again.All) > 0 {
		t.Errorf("flushed once more: %d partials", len(again.All))
	}
}

// passing is a folder that takes no rows, and notes that it was called.
type passing struct{ asked *int }

func (p passing) Fold(*batch.Builder, analyses.Position) ([]*fold.Table, bool) {
	*p.asked++
	return nil, false
}

// TestForks_BeforeFolders: an analysis that has both folds in a folder until there are forks, and in forks from then on.
func TestForks_BeforeFolders(t *testing.T) {
	c, asked := newChained(t), 0
	session := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	a := *session.Analysis
	a.NewFolder = func(analyses.Args, int) (analyses.Folder, error) { return passing{&asked}, nil }
	session.Analysis = &a
	if err := c.p.Open(session); err != nil {
		t.Fatal(err)
	}
	if c.feed(roletest.Chunk(1, 2, "red,1\n")) || asked != 1 {
		t.Fatalf("before the end of the reference streams the folder was asked %d times", asked)
	}
	c.endReference()
	if !c.feed(roletest.Chunk(1, 3, "red,1\n")) || asked != 1 {
		t.Errorf("the folder was asked %d times, although there are forks", asked)
	}
}

// TestN6_AForkThatFails: its chunk is left to the joiner, which fails the session as it does without forks.
func TestN6_AForkThatFails(t *testing.T) {
	c := newChained(t)
	c.endReference()
	m := roletest.Chunk(1, 10, "red,5\nred,-1\n")
	work := c.p.Prepare(id, 1, m.Chunk, role.NoLimits)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); work() }()
	wg.Wait()
	out := &roletest.Kept{}
	if _, err := c.p.Take(id, m, out); err != nil || len(out.All) != 1 || out.All[0].Folded != nil {
		t.Fatalf("%v, %d messages", err, len(out.All))
	}
	err := func() (err error) {
		defer role.Explain(&err, nil)
		_, err = c.j.Take(id, out.All[0].Message, out)
		return err
	}()
	if err == nil || !strings.Contains(err.Error(), "minus one") {
		t.Errorf("%v", err)
	}
}

// TestForks_AfterRestore: a joiner that was restored hands out forks as the former one did.
func TestForks_AfterRestore(t *testing.T) {
	c := newChained(t)
	c.endReference()
	again := newChained(t)
	if err := again.j.Restore(id, c.j.Snapshot(id, nil)); err != nil {
		t.Fatal(err)
	}
	if !again.feed(roletest.Chunk(1, 2, "red,3\n")) {
		t.Error("no fork")
	}
	if _, _, amounts := flushed(t, again.j, 1); amounts["red"] != 3 {
		t.Errorf("amounts %v", amounts)
	}
}

// TestForks_OfNoSession: there are no forks for a session that has left, and none while a joiner defers its reference streams.
func TestForks_OfNoSession(t *testing.T) {
	j := opened(t, analyses.Replica{Index: 1, Of: 2})
	if j.Fork(roletest.ID("other"), 1) != nil {
		t.Error("a fork of a session that is not there")
	}
	if _, err := j.End(id, 0, &roletest.Kept{}); err != nil {
		t.Fatal(err)
	}
	if j.Fork(id, 1) != nil {
		t.Error("a fork of a joiner that has not been given its reference rows")
	}
}
