package e2e

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"posta.dev/posta/analyses/sql/catalog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/sql/split"
	sqltypes "posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/topology"
)

// manyGroups is a statement whose groups take some times the memory that spilling allows. What is right is computed with a map.
func manyGroups(t *testing.T, rows int) *dataset {
	t.Helper()
	d := &dataset{analysis: split.Name, dir: t.TempDir()}
	f, err := os.Create(filepath.Join(d.dir, "visits.csv"))
	if err != nil {
		t.Fatal(err)
	}
	type sums struct{ n, spent int64 }
	groups := map[string]sums{}
	r := rand.New(rand.NewPCG(uint64(rows), 3))
	w := bufio.NewWriter(f)
	_, _ = w.WriteString("page,spent\n") // Flush returns the first error
	for range rows {
		page, spent := fmt.Sprintf("https://example.org/archive/of/pages/%08d", r.IntN(rows/2)*7919), r.Int64N(1000)
		_, _ = fmt.Fprintf(w, "%s,%d\n", page, spent)
		groups[page] = sums{groups[page].n + 1, groups[page].spent + spent}
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	right := &answer.Answer{Queries: []answer.Query{{Name: "query_1", Columns: []string{"page", "n", "spent"}}},
		Rejected: []answer.Rejected{{Stream: "visits"}}}
	for _, page := range slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[b].spent, groups[a].spent), cmp.Compare(a, b))
	}) {
		right.Queries[0].Rows = append(right.Queries[0].Rows, []any{page, groups[page].n, groups[page].spent})
	}
	d.want = truth.Queries(t, right)
	plan := &split.Plan{Text: "SELECT page, count(*) AS n, sum(spent) AS spent FROM visits GROUP BY page ORDER BY spent DESC, page",
		Tables: []catalog.Table{{
			Name: "visits", Files: "visits.csv", Columns: []catalog.Column{{Name: "page", Type: sqltypes.Of(sqltypes.Text)},
				{Name: "spent", Type: sqltypes.Of(sqltypes.BigInt)}},
		}}}
	d.plan = clustertest.Encoded(t, plan)
	return d
}

// spilling is a cluster whose aggregators keep 1 MiB of groups in memory, the least that can be set.
func spilling() topology.Variant {
	return topology.Variant{Replicas: map[string]int{"input": 2, "joiner": 2, "aggregator": 2, "output": 2},
		Settings: map[string]string{"limits.tables": "1MiB", "limits.client_timeout": "10m", "limits.segment": "1MiB", "limits.snapshot": "1MiB"}}
}

// besideLog returns the files that a node keeps beside its log.
func (c *cluster) besideLog(id topology.NodeID) []string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.data(id), "files", "*"))
	if err != nil {
		c.t.Fatal(err)
	}
	return files
}

// moved waits until both aggregators have moved groups to files.
func (c *cluster) moved() {
	c.t.Helper()
	until(c.t, "both aggregators have moved groups to files", func() bool {
		return len(c.besideLog("aggregator-1")) > 0 && len(c.besideLog("aggregator-2")) > 0
	})
}

// nothingBeside waits until no node has a file beside its log.
func (c *cluster) nothingBeside(after string) {
	c.t.Helper()
	var left []string
	if !await.Within(patience, func() bool {
		left = nil
		for _, id := range c.ids() {
			left = append(left, c.besideLog(id)...)
		}
		return len(left) == 0
	}) {
		c.t.Errorf("after %s there are still %s", after, strings.Join(left, ", "))
	}
}

// TestR17_ResumedWithGroupsInFiles: a client is killed while the groups of its session are in files of the aggregators, and then the
// aggregators. They come back with these files. Another client resumes the session and dies as well. A third one gets the oracle's answer,
// although aggregators are killed while the groups leave. Then no node has a file any more.
func TestR17_ResumedWithGroupsInFiles(t *testing.T) {
	rows, times := 60_000, 3
	if *long {
		rows, times = 150_000, 8
	}
	d := manyGroups(t, rows)
	c := start(t, spilling())
	b := c.listen()
	ctx := deadline(t)
	m := mortal{Entries: c.topo.EntryPoints(), Plan: d.plan, Dir: d.dir, Session: session.New().String(), Chunk: 16 << 10, Lanes: 4}
	chunks := int64(rows * 50 >> 14)
	aggregators := []topology.NodeID{"aggregator-1", "aggregator-2"}
	for life, dies := range []int64{chunks / 2, chunks * 3 / 4} {
		m.DiesAt = dies
		if err := m.live(ctx); err != nil {
			t.Fatal(err)
		}
		m.Resume = true
		c.moved()
		for _, id := range aggregators {
			before := c.besideLog(id)
			c.kill(id)
			c.supervise(id)
			b.awaitOf([]topology.NodeID{id}, "up again", func(h beat) bool {
				return h.State == heartbeat.Running &&
					int(h.ID.Incarnation) == life+2
			})
			now := c.besideLog(id)
			if len(before) == 0 || slices.ContainsFunc(before, func(name string) bool {
				return !strings.HasSuffix(name, ".tmp") &&
					!slices.Contains(now, name)
			}) {
				t.Errorf("%s had %q before it was killed, and has %q now", id, before, now)
			}
		}
	}
	cfg, err := m.config()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var got []byte
	go func() {
		defer close(done)
		a, err := client.Run(ctx, cfg)
		if err != nil {
			t.Errorf("resumed for the last time: %v", err)
			return
		}
		got = truth.Queries(t, a)
	}()
	for range times {
		select {
		case <-done:
		case <-time.After(250 * time.Millisecond):
			c.signal(aggregators[rand.IntN(2)], syscall.SIGKILL)
		}
	}
	if <-done; got != nil {
		d.check(t, got)
	}
	c.nothingBeside("the answer")
	c.shrinks(b)
	c.noUnexpectedExits()
}

// TestR13_CancelledWithGroupsInFiles: a session is cancelled while its groups are in files of the aggregators, and one of them is down. No
// node keeps a file, and the same statement is answered afterwards.
func TestR13_CancelledWithGroupsInFiles(t *testing.T) {
	d := manyGroups(t, 60_000)
	c := start(t, spilling())
	b := c.listen()
	ctx := deadline(t)
	g := newGate(2_500_000) // of some 3 MB
	r := c.begin(ctx, client.Config{Analysis: d.analysis, Plan: d.plan, Find: g.through(d.dir), Chunk: 16 << 10})
	c.moved()
	c.kill("aggregator-1")
	c.cancels(ctx, r)
	c.supervise("aggregator-1")
	c.nothingBeside("the session was cancelled")
	c.shrinks(b)
	d.check(t, c.analyse(ctx, d.dir, d.config))
	c.nothingBeside("the answer")
	c.noUnexpectedExits()
}
