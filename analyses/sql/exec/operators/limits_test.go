package operators

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/rows/progress"
)

// numbers returns a world with a table n of many rows: a is distinct in each row, b is one of two numbers, c is a text.
func numbers(rows int) *world {
	w := &world{source: &Tables{Rows: map[string]*Batch{}, Batch: 1000}}
	var b strings.Builder
	b.WriteString("TABLE n (a BIGINT, b BIGINT, c TEXT)")
	for i := range rows {
		fmt.Fprintf(&b, "\n%d|%d|text %d", i, i%2, i)
	}
	w.parseTable(b.String())
	return w
}

// Everything that keeps rows stops at the limit, and releases what it kept when a plan is done.
func TestN7_WhatIsKeptIsBounded(t *testing.T) {
	w := numbers(20_000)
	for text, fits := range map[string]bool{
		"SELECT count(*) FROM n":                                                   true,
		"SELECT b, sum(a) FROM n GROUP BY b":                                       true,
		"SELECT a FROM n WHERE a > 9 LIMIT 10":                                     true,
		"SELECT b, count(*) FROM n GROUP BY b ORDER BY b":                          true,
		"SELECT count(*) FROM n JOIN (SELECT 1 AS a) AS x USING (a)":               true,
		"SELECT a FROM n ORDER BY a LIMIT 3":                                       true,
		"SELECT a FROM n ORDER BY a":                                               false,
		"SELECT a, count(*) FROM n GROUP BY a":                                     false,
		"SELECT DISTINCT a FROM n":                                                 false,
		"SELECT count(DISTINCT c) FROM n":                                          false,
		"SELECT list(c) FROM n":                                                    false,
		"SELECT string_agg(c ORDER BY a) FROM n":                                   false,
		"SELECT median(a) FROM n":                                                  false,
		"SELECT mode(a) FROM n":                                                    false,
		"SELECT count(*) FROM (SELECT 1 AS a) AS x JOIN n USING (a)":               false,
		"SELECT count(*) FROM n WHERE a IN (SELECT a FROM n)":                      false,
		"SELECT count(*) FROM (SELECT a FROM n INTERSECT SELECT a FROM n)":         false,
		"SELECT sum(s) FROM (SELECT sum(a) OVER (ORDER BY a) AS s FROM n)":         false,
		"WITH m AS (SELECT a FROM n) SELECT count(*) FROM m JOIN m AS o USING (a)": false,
	} {
		plan, err := w.plan(text)
		if err != nil {
			t.Fatal(text, err)
		}
		x := New(w.source, 128<<10, plan)
		_, err = x.Run(plan)
		if fits && err != nil || !fits && !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", text, err)
		}
		x = New(w.source, 64<<20, plan)
		if _, err := x.Run(plan); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if x.held != 0 && len(x.shared)+len(x.subqueries) == 0 {
			t.Errorf("%s: %d bytes are still counted", text, x.held)
		}
	}
}

// reads counts how many batches are read.
type reads struct {
	Tables
	batches, scans int
}

func (r *reads) Read(n plan.Node, yield func(*Batch) error) error {
	r.scans++
	return r.Tables.Read(n, func(rows *Batch) error { r.batches++; return yield(rows) })
}

// LIMIT without ORDER BY stops reading early, and a plan that is used twice is computed once.
func TestQ7_NothingIsReadThatIsNotNeeded(t *testing.T) {
	w := numbers(20_000)
	for _, c := range []struct {
		text           string
		scans, batches int
	}{
		{"SELECT a FROM n LIMIT 1500", 1, 2},
		{"SELECT a FROM n WHERE a >= 5000 LIMIT 1", 1, 6},
		{"SELECT 1 WHERE EXISTS (SELECT a FROM n)", 1, 1},
		{"SELECT a FROM n LIMIT 0", 0, 0},
		{"WITH m AS (SELECT count(*) AS c FROM n) SELECT x.c FROM m AS x JOIN m AS y USING (c) WHERE x.c = (SELECT c FROM m)", 1, 20},
	} {
		plan, err := w.plan(c.text)
		if err != nil {
			t.Fatal(err)
		}
		r := &reads{Tables: *w.source}
		if _, err := New(r, 1<<20, plan).Run(plan); err != nil {
			t.Error(err)
		}
		if r.scans != c.scans || r.batches != c.batches {
			t.Errorf("%s: %d scans, %d batches", c.text, r.scans, r.batches)
		}
	}
}

// given is a source that has computed an Aggregation itself.
type given struct{ Tables }

func (g *given) Has(n plan.Node) bool {
	_, ok := n.(*plan.Aggregation)
	return ok
}

func (g *given) Read(n plan.Node, yield func(*Batch) error) error {
	return yield(g.Rows["groups"])
}

// A source may give the rows of any node. Then nothing below this node is read.
func TestQ7_GroupsMayComeFromElsewhere(t *testing.T) {
	w := numbers(1)
	plan, err := w.plan("SELECT b, sum(a) * 2 AS s FROM n GROUP BY b HAVING sum(a) > 1 ORDER BY s DESC")
	if err != nil {
		t.Fatal(err)
	}
	groups := &Batch{Columns: []*eval.Vector{{Ints: []int64{7, 8, 9}, Kind: plan.Fields()[0].Type.Kind},
		{Ints: []int64{1, 2, 3}, Kind: plan.Fields()[1].Type.Kind}}, N: 3}
	for _, c := range groups.Columns {
		c.Nulls = make([]uint64, 1)
	}
	rows, err := New(&given{Tables{Rows: map[string]*Batch{"groups": groups}}}, 1<<20, plan).Run(plan)
	if err != nil || rows.N != 2 || rows.Columns[0].Ints[0] != 9 || rows.Columns[1].Ints[0] != 6 {
		t.Error(rows, err)
	}
}

// The first rows of an order are those of the whole order, even among equal rows, although most rows are dropped on the way.
func TestQ7_TheBestRowsAreThoseOfTheOrder(t *testing.T) {
	w := numbers(20_000)
	for _, order := range []string{"b, a DESC", "b", "b DESC", "a % 7, b DESC", "c", "a DESC"} {
		all := strings.Split(w.answer("SELECT a, b FROM n ORDER BY "+order, 1000), "\n")
		best := strings.Split(w.answer("SELECT a, b FROM n ORDER BY "+order+" LIMIT 5 OFFSET 2", 1000), "\n")
		if fmt.Sprint(best) != fmt.Sprint(all[2:7]) {
			t.Errorf("%s: %v, want %v", order, best, all[2:7])
		}
	}
}

// TestN9_LongWorkPauses: work on many rows, or pairs of rows, pauses in between, whether anything of them is kept or not. Each statement
// says how many rows and pairs its nodes have to handle.
func TestN9_LongWorkPauses(t *testing.T) {
	w := numbers(128)
	const triples = 128 * 128 * 128
	for text, work := range map[string]int{
		"SELECT count(*) FROM n a, n b, n c":                              triples,
		"SELECT count(*) FROM n a, n b, n c WHERE a.a + b.a + c.a < 0":    triples,
		"SELECT a.a FROM n a, n b, n c WHERE a.a + b.a + c.a < 0 LIMIT 1": triples,
		"SELECT count(*) FROM n a JOIN n b USING (b) JOIN n c USING " +
			"(b)": triples / 4,
		"SELECT count(*) FROM (SELECT a.a FROM n a, n b) x LEFT JOIN n c ON x.a + c.a < 0": triples,
		"SELECT count(*) FROM (SELECT a.a FROM n a, n b) x FULL JOIN n c ON x.a + c.a < 0": triples,
		"SELECT count(*) FROM (SELECT a.a, a.b FROM n a, n b) x WHERE NOT EXISTS " +
			"(SELECT 1 FROM n c WHERE c.b = x.b AND c.a < -x.a - 1)": triples / 2,
		"SELECT max(x.a) FROM (SELECT a.a FROM n a, n b, n c UNION ALL SELECT 1) x": triples,
		"SELECT x.b, count(*) FROM (SELECT a.b FROM n a, n b, n c) x GROUP BY 1":    triples,
		"SELECT DISTINCT a.b FROM n a, n b, n c":                                    triples,
		"SELECT a.b FROM n a, n b, n c INTERSECT SELECT b FROM n":                   triples,
		"SELECT a.b FROM n a, n b, n c ORDER BY a.a, b.a, c.a LIMIT 3":              triples,
		"SELECT a.b FROM n a, n b, n c LIMIT 3 OFFSET 2097100":                      triples,
		"SELECT count(*) FROM (SELECT unnest(string_split(repeat(',', 1999), ',')) FROM " +
			"n) x": 128 * 2000,
	} {
		plan, err := w.plan(text)
		if err != nil {
			t.Fatal(text, err)
		}
		x, pauses := New(w.source, 1<<30, plan), 0
		x.SetPause(func() { pauses++ })
		if _, err := x.Run(plan); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if least := work / (2 * progress.Every); pauses < least {
			t.Errorf("%s: %d pauses, not %d, in work on %d rows and pairs", text, pauses, least, work)
		}
	}
}
