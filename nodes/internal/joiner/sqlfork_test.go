package joiner

import (
	"fmt"
	"posta.dev/posta/analyses/sql/catalog"
	"slices"
	"strings"
	"sync"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/nodes/internal/parser"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// statement is what TestForks_OfSQLAtTheSameTime asks: it looks rows up by a text and by an integer, joins with rows of the
// statement, and compares with queries that are used as values.
const statement = `SELECT place, i, count(*), sum(amount), last(colour) FROM sales
JOIN shops ON shops.shop = sales.shop JOIN years ON years.year = sales.year CROSS JOIN (VALUES (1), (2), (3)) AS x(i)
WHERE i <= length(colour) AND colour IN (SELECT colour FROM colours) AND amount > (SELECT min(year) - 1900 FROM years)
GROUP BY place, i`

// TestForks_OfSQLAtTheSameTime: forks of a joiner of SQL that share the rows of small tables and the answers of queries fold side by
// side what the joiner folds alone. Under -race it shows that they share nothing that changes.
func TestForks_OfSQLAtTheSameTime(t *testing.T) {
	text, number := types.Of(types.Text), types.Of(types.BigInt)
	files := map[string]string{"colours": "colour\nred\nblue\n", "shops": "shop,place\na,Rome\nb,Oslo\nb,Bonn\n",
		"years": "year\n1901\n1903\n", "sales": "shop,year,colour,amount\n"}
	table := func(name string, columns ...catalog.Column) catalog.Table {
		about := catalog.Table{Name: name, Files: name + ".csv", Comma: ',', Bytes: int64(len(files[name])), Columns: columns}
		if name == "sales" {
			about.Bytes = 1 << 30
		}
		return about
	}
	a, err := split.Analysis(&split.Plan{Text: statement, Tables: []catalog.Table{
		table("colours", catalog.Column{Name: "colour", Type: text}),
		table("shops", catalog.Column{Name: "shop", Type: text}, catalog.Column{Name: "place", Type: text}),
		table("years", catalog.Column{Name: "year", Type: number}),
		table("sales", catalog.Column{Name: "shop", Type: text}, catalog.Column{Name: "year", Type: number},
			catalog.Column{Name: "colour", Type: text}, catalog.Column{Name: "amount", Type: number}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	session := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	session.Analysis, session.Args = a, nil
	facts := len(a.Streams) - 1
	if a.Streams[facts].Files != "sales.csv" || a.Streams[facts].Reference {
		t.Fatal("sales is to be the only table that is not small")
	}
	chunk := func(stream, n int) role.Message {
		name := strings.TrimSuffix(a.Streams[stream].Files, ".csv")
		header, rows, _ := strings.Cut(files[name], "\n")
		if stream == facts {
			var b strings.Builder
			for i := range 3000 {
				fmt.Fprintf(&b, "%c,%d,%s,%d\n", "abc"[i%3], 1900+i%5, []string{"red", "blue", "green", ""}[(i+n)%4], n*i%90)
			}
			rows = b.String()
		}
		return role.Message{Stream: stream, Chunk: &role.Chunk{File: a.Streams[stream].Files, Header: []byte(header), Line: uint64(2 + 3000*n),
			Data: []byte(rows)}}
	}
	const chunks = 8
	fold := func(beside bool) (out []string) {
		c := &chained{t: t, p: parser.New(), j: New(), out: &roletest.Kept{}}
		if beside {
			c.p.Before(c.j)
		}
		if err := c.j.Open(session); err != nil {
			t.Fatal(err)
		}
		if err := c.p.Open(session); err != nil {
			t.Fatal(err)
		}
		for i := range facts {
			c.feed(chunk(i, 0))
			if _, err := c.j.End(id, i, c); err != nil {
				t.Fatal(err)
			}
		}
		var all []role.Message
		var working sync.WaitGroup
		for n := range chunks {
			m := chunk(facts, n)
			all = append(all, m)
			if beside {
				work := c.p.Prepare(id, facts, m.Chunk, role.NoLimits)
				working.Add(1)
				go func() { defer working.Done(); work() }()
			}
		}
		working.Wait()
		for n, m := range all {
			if c.feed(m) != beside {
				t.Errorf("chunk %d: folded in a fork is %t", n, !beside)
			}
		}
		to := &roletest.Kept{}
		if err := c.j.Flush(id, to); err != nil {
			t.Fatal(err)
		}
		return rowsOf(t, a, to)
	}
	got, want := fold(true), fold(false)
	if len(want) < 6 || !slices.Equal(got, want) {
		t.Errorf("forks fold %q, the joiner %q", got, want)
	}
}

// rowsOf returns the merged tables of partials, as bytes.
func rowsOf(t *testing.T, a *analyses.Analysis, of *roletest.Kept) (out []string) {
	t.Helper()
	tables := role.NewTables(a, fold.NewTable)
	for _, m := range of.All {
		if err := role.Merge(tables, m.Payload); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range tables {
		for _, row := range table.Sorted(nil) {
			out = append(out, string(table.AppendRows(nil, []int{row})))
		}
	}
	return out
}
