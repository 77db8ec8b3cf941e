package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client/source/format"
	plain "posta.dev/posta/client/source/text"
	"posta.dev/posta/rows/csv"
)

// located is a file in memory.
type located struct{ *bytes.Reader }

func (located) Unchanged() error { return nil }

// fromFooter answers a statement from the footer of the file of a table, whose types the file is taken to declare; ok is false if that does
// not have the answer.
func fromFooter(t *testing.T, statement string, d *drawn) (answer string, ok bool) {
	t.Helper()
	table := d.table
	table.Columns = slices.Clone(table.Columns)
	for i := range table.Columns {
		table.Columns[i].Typed, table.Columns[i].Inferred = true, false
	}
	p := &split.Plan{Text: statement, Tables: []catalog.Table{table}}
	root := p.FromFooters(func(_ int, columns []csv.Column) *split.Known {
		in := &format.File{File: &plain.File{}, At: located{bytes.NewReader(d.parquet)}}
		rows, known, ok, err := Format{}.Known(in, columns)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return nil
		}
		return &split.Known{Rows: rows, Columns: known}
	})
	if root == nil {
		return "", false
	}
	rows, err := exec.Local(statement, root)
	if err != nil {
		t.Fatal(statement, err)
	}
	return fmt.Sprintf("%v, rejected [{t {0 [] []}}]", rows), true
}

// TestC1_FootersSayWhatReadingFinds draws tables with all types, encodings, NULLs and extremes. What the footer answers is what the rows
// do.
func TestC1_FootersSayWhatReadingFinds(t *testing.T) {
	known := map[string]int{}
	for number := range uint64(40) {
		r := rand.New(rand.NewPCG(number, 12))
		columns := drawnColumns(r, 2+r.IntN(8))
		d := drawTable(r, "t", columns, one(r, 0, 1, 2, 50, 400))
		for i, c := range d.table.Columns {
			for _, of := range []string{"count(*)", "count(c)", "min(c)", "max(c)", "count(*), max(c), count(c) + 1, min(c)"} {
				statement := "SELECT " + strings.ReplaceAll(of, "(c)", "("+c.Name+")") + " FROM t"
				got, ok := fromFooter(t, statement, d)
				if !ok {
					continue
				}
				want, err := answered(statement, true, local.Options{}, new(int), d)
				if err != nil || !strings.HasSuffix(want, "rejected [{t {0 [] []}}]") {
					continue // the session fails, or rejects rows of a column that declares no type
				}
				if known[of+" "+columns[i].name]++; got != want {
					t.Errorf("seed %d: %s of %s\n%s\nof the rows\n%s\n%s", number, statement, columns[i].name, got, want, d.about)
				}
			}
		}
	}
	t.Log(known)
	for _, of := range []string{"count(c) int64", "min(c) int64", "max(c) int32", "min(c) date", "count(c) text", "count(c) double"} {
		if known[of] == 0 {
			t.Errorf("no footer has %s", of)
		}
	}
	for of := range known {
		exact := !strings.HasSuffix(of, " text") && !strings.HasSuffix(of, " double")
		if (strings.HasPrefix(of, "min") || strings.HasPrefix(of, "max")) && !exact {
			t.Errorf("a footer is believed about %s", of)
		}
	}
}

// TestC1_FootersDoNotAnswerTheRest: what a footer does not say, or says of other rows than the statement is about.
func TestC1_FootersDoNotAnswerTheRest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 13))
	k := &drawnKinds[slices.IndexFunc(drawnKinds, func(k drawnKind) bool { return k.name == "int64" })]
	column := catalog.Column{Name: "c0000", Type: k.types[0]}
	d := drawTable(r, "t", []drawnColumn{{drawnKind: k, column: column, node: k.node, span: 50, nulls: "none"}}, 90)
	for statement, want := range map[string]bool{
		"SELECT min(c0000) FROM t":                                             true,
		"SELECT min(DISTINCT c0000) FROM t":                                    true,
		"SELECT (SELECT max(c0000) FROM t) - min(c0000) FROM t":                true,
		"SELECT n FROM (SELECT count(*) AS n FROM t) AS q WHERE n > 3":         true,
		"SELECT max(x) FROM (SELECT c0000 AS x FROM t) AS q":                   true,
		"SELECT count(*) FROM t UNION ALL SELECT max(c0000) FROM t ORDER BY 1": true,
		"SELECT min(c0000) FROM t WHERE c0000 > 3":                             false,
		"SELECT min(c0000 + 1) FROM t":                                         false,
		"SELECT min(c0000) FILTER (WHERE c0000 > 3) FROM t":                    false,
		"SELECT count(DISTINCT c0000) FROM t":                                  false,
		"SELECT sum(c0000) FROM t":                                             false,
		"SELECT c0000, count(*) FROM t GROUP BY 1":                             false,
		"SELECT count(*) FROM t GROUP BY GROUPING SETS ((), ())":               false,
		"SELECT count(*) FROM t AS a JOIN t AS b ON a.c0000 = b.c0000":         false,
		"SELECT max(_line) FROM t":                                             false,
		"SELECT count(*) FROM (SELECT * FROM t LIMIT 3) AS q":                  false,
		"SELECT count(*) FROM (SELECT DISTINCT c0000 FROM t) AS q":             false,
		"SELECT count(*), sum(c0000) FROM t":                                   false,
		"SELECT count(*) OVER () FROM t":                                       false,
	} {
		got, ok := fromFooter(t, statement, d)
		if ok != want {
			t.Errorf("%s: %t", statement, ok)
		}
		if !ok {
			continue
		}
		if rows, err := answered(statement, true, local.Options{}, new(int), d); err != nil || rows != got {
			t.Errorf("%s: %s, and of the rows %s, %v", statement, got, rows, err)
		}
	}
}
