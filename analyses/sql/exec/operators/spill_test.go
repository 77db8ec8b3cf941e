package operators

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/rows/scratch"
)

// moved is answer with all rows that can move in files as soon as more than limit bytes are kept. No file stays.
func (w *world) moved(t *testing.T, text string, batch int, limit int64) string {
	t.Helper()
	disk := &scratch.Memory{}
	var x *Executor
	got := w.answerWithin(text, batch, func(plan plan.Node) *Executor {
		x = New(w.source, limit, plan)
		x.fixed = 64 << 20
		x.SetScratch(disk)
		return x
	})
	if x != nil && (disk.Files != 0 || len(x.files) != 0 || x.soft != 0) {
		t.Errorf("%s: %d files are left, and %d bytes counted", text, disk.Files, x.soft)
	}
	w.files += disk.Made
	return got
}

// fails is 5, and has no value for one row in the midst of table n.
const fails = "CAST(CASE WHEN n.a = 1234 THEN 'x' ELSE '5' END AS BIGINT)"

// spilling has statements over the tables of manyRows that keep rows in all ways.
var spilling = []string{
	"SELECT n.a, m.a FROM n JOIN m ON n.a = m.a AND n.b < " + fails + " LIMIT 900",
	"SELECT n.a, m.a FROM n JOIN m ON n.a = m.a AND n.b < " + fails,
	"SELECT n.a, m.a FROM n LEFT JOIN m ON n.a + 5 = m.a + " + fails + " LIMIT 1100",
	"SELECT n.a, m.a FROM n FULL JOIN m ON n.a + 5 = m.a + " + fails,
	"SELECT a FROM n ANTI JOIN m ON n.a = m.a AND m.b > " + fails + " LIMIT 1100",
	"SELECT a FROM n SEMI JOIN m ON n.a = m.a AND m.b < " + fails,
	"SELECT DISTINCT a + " + fails + " FROM n LIMIT 900",
	"SELECT DISTINCT a + " + fails + " FROM n",
	"SELECT a + " + fails + " FROM n EXCEPT SELECT a FROM m WHERE a < 70 LIMIT 900",
	"SELECT a + " + fails + " FROM n INTERSECT ALL SELECT a FROM m",
	"SELECT a + " + fails + " FROM n UNION SELECT a FROM m LIMIT 900",
	"SELECT a, b, c, d FROM n ORDER BY b, c DESC, d",
	"SELECT a, b, c, d FROM n ORDER BY d DESC NULLS FIRST, b",
	"SELECT a FROM n ORDER BY b LIMIT 500 OFFSET 100",
	"SELECT a, c FROM n ORDER BY a LIMIT 250",
	"SELECT a FROM n ORDER BY b LIMIT 200000 OFFSET 7",
	"SELECT DISTINCT b, c FROM n",
	"SELECT DISTINCT a FROM n",
	"SELECT DISTINCT d FROM n",
	"SELECT DISTINCT ON (c) c, a, b FROM n",
	"SELECT DISTINCT ON (a % 977) a, c FROM n LIMIT 300",
	"SELECT b FROM n UNION SELECT b FROM m",
	"SELECT a, c FROM n UNION SELECT a, c FROM m",
	"SELECT a, c FROM n UNION ALL SELECT a, c FROM m ORDER BY 2, 1",
	"SELECT c FROM n EXCEPT SELECT c FROM m",
	"SELECT c FROM n EXCEPT ALL SELECT c FROM m",
	"SELECT d FROM n INTERSECT SELECT d FROM m",
	"SELECT b, c FROM n INTERSECT ALL SELECT b, c FROM m",
	"SELECT n.a, m.a, m.c FROM n JOIN m ON n.a = m.a",
	"SELECT n.a, m.a, m.c FROM n JOIN m ON n.c = m.c AND n.a < m.a",
	"SELECT n.a, m.a FROM n LEFT JOIN m ON n.a = m.a AND m.b < 3",
	"SELECT n.a, m.a FROM n LEFT JOIN m ON n.d = m.d",
	"SELECT n.a, m.a, m.d FROM n RIGHT JOIN m ON n.a = m.a AND n.b = m.b",
	"SELECT n.a, m.a, n.c, m.c FROM n FULL JOIN m ON n.a = m.a + 3000 AND n.b > 1",
	"SELECT a, c FROM n SEMI JOIN m ON n.d = m.d",
	"SELECT a, c FROM n ANTI JOIN m ON n.a = m.a",
	"SELECT a FROM n WHERE EXISTS (SELECT 1 FROM m WHERE m.b = n.b AND m.a > n.a + 1990)",
	"SELECT a FROM n WHERE NOT EXISTS (SELECT 1 FROM m WHERE m.b = n.b AND m.a < n.a)",
	"SELECT n.a, m.a FROM n JOIN m ON n.a > m.a + 4900",
	"SELECT n.a, m.a FROM n LEFT JOIN m ON n.a > m.a + 4900 LIMIT 5000",
	"SELECT x.a, m.a FROM (SELECT a FROM n WHERE a < 40) x FULL JOIN m ON x.a > m.a + 20",
	"SELECT x.a, m.a FROM (SELECT a, b FROM n WHERE a < 90) x JOIN m ON x.b = m.b",
	"SELECT x.a, m.a FROM (SELECT a, b FROM n WHERE a < 90) x FULL JOIN m ON x.b = m.b AND m.a % 50 = x.a",
	"SELECT n.a, m.a FROM n JOIN m ON n.a = m.a WHERE 1 / (n.a - 30) > -9 LIMIT 5",
	"SELECT n.a, m.a FROM n JOIN m ON n.a = m.a AND CAST(n.c AS BIGINT) > 3",
	"SELECT n.a, m.a FROM n JOIN m ON n.a = m.a AND CAST(left(n.c, 1) AS BIGINT) > 3 LIMIT 2",
	"SELECT a, row_number() OVER (ORDER BY c, a), rank() OVER (ORDER BY b) FROM n",
	"SELECT a, sum(a) OVER (PARTITION BY b ORDER BY c), count(d) OVER (PARTITION BY c), " +
		"lag(c, 2) OVER (PARTITION BY b ORDER BY a DESC) FROM n",
	"SELECT a, min(c) OVER (PARTITION BY a % 3000 ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), " +
		"ntile(7) OVER (ORDER BY d, a) FROM n",
	"SELECT a, avg(d) FILTER (WHERE b > 1) OVER (PARTITION BY b), max(d) OVER (PARTITION BY d) FROM n",
	"WITH w AS (SELECT a, b, c FROM n WHERE b < 3) SELECT x.a, y.c FROM w x JOIN w y ON x.a = y.a + 1 ORDER BY y.c, 1",
	"SELECT b, count(DISTINCT c), string_agg(c ORDER BY a DESC) FROM n GROUP BY b",
}

// manyRows returns tables n and m with keys that repeat, NULLs, NaN, -0, and some long texts.
func manyRows(rows int) *world {
	w := &world{source: &Tables{Rows: map[string]*Batch{}}}
	r := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{"n", "m"} {
		var b strings.Builder
		b.WriteString("TABLE " + name + " (a BIGINT, b BIGINT, c TEXT, d DOUBLE)")
		for i := range rows {
			c := fmt.Sprintf("'%d text'", r.IntN(rows/2))
			if r.IntN(500) == 0 {
				c = "'" + strings.Repeat("long ", 2000+r.IntN(3)) + "'"
			}
			d := []string{"NULL", "nan", "-0", "0", "inf", fmt.Sprint(r.IntN(rows)), fmt.Sprint(r.IntN(rows))}[r.IntN(7)]
			n := fmt.Sprint(i)
			if r.IntN(50) == 0 {
				n = "NULL"
			}
			fmt.Fprintf(&b, "\n%s|%d|%s|%s", n, r.IntN(5), c, d)
		}
		w.parseTable(b.String())
	}
	return w
}

// TestE15_AnswersAreTheSameInFiles: whatever has moved to files, and in pieces of whatever size, each statement has the same answer.
func TestE15_AnswersAreTheSameInFiles(t *testing.T) {
	w := manyRows(2000)
	for _, text := range spilling {
		want := w.answer(text, 500)
		if strings.HasPrefix(want, "error: ") && !strings.Contains(text, "CAST") {
			t.Fatal(text, want)
		}
		for _, limit := range []int64{1, 20_000, 200_000} {
			before := w.files
			if got := w.moved(t, text, 300, limit); got != want {
				t.Errorf("%s\n within %d bytes: %s", text, limit, difference(got, want))
			}
			if limit == 1 && w.files == before && !strings.Contains(text, "GROUP BY") {
				t.Errorf("%s: nothing has moved", text)
			}
		}
	}
}

// TestE15_SidesOfManyBlocksAreJoined: where all rows have one key, neither side of a join can be divided, and both are read block by block.
func TestE15_SidesOfManyBlocksAreJoined(t *testing.T) {
	w := &world{source: &Tables{Rows: map[string]*Batch{}}}
	for i, name := range []string{"n", "m"} {
		var b strings.Builder
		b.WriteString("TABLE " + name + " (k BIGINT, a BIGINT, c TEXT)")
		for row := range 150 {
			fmt.Fprintf(&b, "\n7|%d|'%s %d'", row+i*40, strings.Repeat("long ", 1000), row)
		}
		w.parseTable(b.String())
	}
	for _, kind := range []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"} {
		columns := "n.a, right(n.c, 3)"
		if kind != "SEMI JOIN" && kind != "ANTI JOIN" {
			columns += ", m.a, right(m.c, 3)"
		}
		text := "SELECT " + columns + " FROM n " + kind + " m ON n.k = m.k AND n.a <= m.a AND m.a <= n.a AND length(m.c) > 0"
		if got, want := w.moved(t, text, 100, 1), w.answer(text, 100); got != want {
			t.Errorf("%s: %s", text, difference(got, want))
		}
	}
}

// difference returns the first lines in which two answers differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("row %d of %d and %d: %.200s, not %.200s", i, len(g), len(w), g[i], w[i])
		}
	}
	return fmt.Sprintf("%d rows, not %d", len(g), len(w))
}

// TestE15_OnlyWhatCannotMoveIsBounded: the statements that had no room (TestN7_WhatIsKeptIsBounded) have it in files, unless one group or
// one window does not fit. Then the message says so.
func TestE15_OnlyWhatCannotMoveIsBounded(t *testing.T) {
	w := numbers(20_000)
	for text, fits := range map[string]bool{
		"SELECT a FROM n ORDER BY a":                                                  true,
		"SELECT DISTINCT a FROM n":                                                    true,
		"SELECT count(*) FROM (SELECT 1 AS a) AS x JOIN n USING (a)":                  true,
		"SELECT count(*) FROM (SELECT a FROM n INTERSECT SELECT a FROM n)":            true,
		"SELECT sum(s) FROM (SELECT sum(a) OVER (PARTITION BY a // 100) AS s FROM n)": true,
		"WITH m AS (SELECT a FROM n) SELECT count(*) FROM m JOIN m AS o USING (a)":    true,
		"SELECT sum(s) FROM (SELECT sum(a) OVER (ORDER BY a) AS s FROM n)":            false,
		"SELECT list(c) FROM n":                                                       false,
	} {
		p, err := w.plan(text)
		if err != nil {
			t.Fatal(text, err)
		}
		x, disk := New(w.source, 128<<10, p), &scratch.Memory{}
		x.SetScratch(disk)
		err = x.Each(p, func(*Batch) error { return nil })
		x.Close()
		if fits && err != nil || !fits && (!errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "cannot move to files")) {
			t.Errorf("%s: %v", text, err)
		}
		if fits && disk.Made == 0 || disk.Files > 0 {
			t.Errorf("%s: %d files were made, %d are left", text, disk.Made, disk.Files)
		}
	}
}

// TestE15_AFullOrDamagedDiskIsAnError, and all files are removed.
func TestE15_AFullOrDamagedDiskIsAnError(t *testing.T) {
	w := manyRows(600)
	for _, text := range spilling {
		p, err := w.plan(text)
		if err != nil {
			t.Fatal(text, err)
		}
		whole := &scratch.Memory{}
		run := func(disk *scratch.Memory) error {
			w.source.Batch = 500
			x := New(w.source, 1, p)
			x.fixed = 64 << 20
			x.SetScratch(disk)
			defer x.Close()
			return x.Each(p, func(*Batch) error { return nil })
		}
		if err := run(whole); err != nil || whole.Bytes == 0 {
			continue // a value fails, or nothing moves
		}
		// The seed that parts rows is another in each run, and with it how much is written: with few keys the larger disks may have room.
		for _, room := range []int64{1, max(1, whole.Bytes/6), max(1, whole.Bytes/2), max(1, whole.Bytes*5/6)} {
			full := &scratch.Memory{Room: room}
			err := run(full)
			refused := full.Bytes > room
			if refused != errors.Is(err, scratch.ErrFull) || !refused && (err != nil || room == 1) || full.Files > 0 {
				t.Errorf("%s: on a disk of %d bytes, after %d: %v; %d files are left", text, room, full.Bytes, err, full.Files)
			}
		}
		damaged := &scratch.Memory{Harm: func(p []byte) { p[len(p)/2] ^= 4 }}
		if err := run(damaged); !errors.Is(err, scratch.ErrDamaged) || damaged.Files > 0 {
			t.Errorf("%s: on a damaged disk: %v; %d files are left", text, err, damaged.Files)
		}
	}
}

// TestE15_FilesAreRemovedWhenTheSessionEnds, in the middle of its statement.
func TestE15_FilesAreRemovedWhenTheSessionEnds(t *testing.T) {
	w := manyRows(2000)
	for _, text := range spilling {
		p, err := w.plan(text)
		if err != nil {
			t.Fatal(text, err)
		}
		for _, after := range []int{3, 30, 100} {
			disk, pauses := &scratch.Memory{}, 0
			func() {
				defer func() { _ = recover() }()
				x := New(w.source, 1, p)
				defer x.Close()
				x.fixed = 64 << 20
				x.SetScratch(disk)
				x.SetPause(func() {
					if pauses++; pauses == after {
						panic("the session has ended")
					}
				})
				_ = x.Each(p, func(*Batch) error { return nil })
			}()
			if disk.Files > 0 {
				t.Errorf("%s: %d files are left after %d pauses", text, disk.Files, pauses)
			}
		}
	}
}
