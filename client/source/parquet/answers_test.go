package parquet

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/catalog"

	pq "github.com/parquet-go/parquet-go"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

var (
	seed   = flag.Uint64("seed", 1, "the first table of TestC1_AnswersAreThoseOfCSV")
	tables = flag.Int("tables", 40, "how many tables it draws")
)

// behind is where a constant that has no value fails, which depends on which rows there are when it is computed.
var behind = regexp.MustCompile(`at or behind line \d+`)

// answered runs a statement over CSV or Parquet, and returns the answer with what was rejected, or the error. skipped counts the row groups
// that are not read.
func answered(text string, parquet bool, o local.Options, skipped *int, tables ...*drawn) (string, error) {
	p, files := &split.Plan{Text: text}, fstest.MapFS{}
	for _, d := range tables {
		p.Tables = append(p.Tables, d.table)
		if files[d.table.Files] = (&fstest.MapFile{Data: d.csv}); parquet {
			files[d.table.Files].Data = d.parquet
		}
	}
	a, err := split.Analysis(p)
	if err != nil {
		return "", err
	}
	if parquet {
		o.Cut = func(s *analyses.Stream, file io.Reader, chunkBytes, maxRecord int) (local.Cutter, error) {
			all, err := io.ReadAll(file)
			if err != nil {
				return nil, err
			}
			c, err := NewCutter(bytes.NewReader(all), int64(len(all)), s.Columns, s.Comma, chunkBytes, maxRecord)
			if err != nil {
				return c, err
			}
			if err := c.Test(s.Tests); err != nil || s.Skips == nil {
				return c, err
			}
			return c, c.Skip(func(r []csv.Range) bool {
				skips := s.Skips(r)
				if skips {
					*skipped++
				}
				return skips
			})
		}
	}
	answer, err := local.Run(a, files, o)
	if err != nil {
		return behind.ReplaceAllString(fmt.Sprint("fails: ", err), "at or behind a line"), nil
	}
	return fmt.Sprintf("%v, rejected %v", answer.Queries[0].Rows, answer.Rejected), nil
}

// drawnStatement draws a statement over the tables t and u.
func drawnStatement(r *rand.Rand, t *drawn) string {
	columns := t.table.Columns
	any := func() string { return columns[r.IntN(len(columns))].Name }
	condition := func() string {
		i := r.IntN(len(columns))
		name, of := columns[i].Name, columns[i].Type
		constant := func() string {
			if len(t.texts[i]) == 0 {
				return "NULL"
			}
			text := "'" + strings.ReplaceAll(one(r, t.texts[i]...), "'", "''") + "'"
			if of.Kind == types.Text {
				return text
			}
			return "CAST(" + text + " AS " + of.String() + ")"
		}
		switch r.IntN(12) {
		case 8:
			return "NOT (" + name + " <= " + constant() + ")"
		case 9:
			return name + " <> " + constant()
		case 10:
			return name + one(r, " IN (", " NOT IN (") + constant() + ", " + constant() + ")"
		case 11:
			if of.Kind == types.Text {
				return name + one(r, " LIKE ", " NOT LIKE ") + one(r, "'w5%'", "'w50000_'", "'%9%'", "'%'", "''", "'é%'")
			}
			return name + " IS NOT DISTINCT FROM " + constant()
		case 0:
			return name + one(r, " IS NULL", " IS NOT NULL")
		case 1:
			return "(" + name + " = " + constant() + " OR " + name + " > " + constant() + ")"
		case 2:
			return name + " BETWEEN " + constant() + " AND " + constant()
		}
		return name + one(r, " = ", " < ", " <= ", " > ", " >= ") + constant()
	}
	where := ""
	for i := range r.IntN(4) {
		where += []string{" WHERE ", " AND ", " AND "}[i] + condition()
	}
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("SELECT count(*), count(%s), min(%s), max(%s), sum(_line), min(_line), max(_line) FROM t%s", any(), any(), any(),
			where)
	case 1:
		by := any()
		return fmt.Sprintf("SELECT %s, count(*), count(%s), max(%s), min(_line) FROM t%s GROUP BY %[1]s ORDER BY count(*) DESC, min(_line)", by,
			any(), any(), where)
	case 2:
		return fmt.Sprintf("SELECT _line, %s, %s, %s FROM t%s ORDER BY 2 DESC, _line LIMIT 30", any(), any(), any(), where)
	}
	return fmt.Sprintf("SELECT u.c0000, count(*), max(t.%s), sum(u._line), sum(t._line) FROM t JOIN u ON t.%s = u.%[2]s%s GROUP BY u.c0000 "+
		"ORDER BY 2 DESC, 5, 4", any(), any(),
		strings.ReplaceAll(where, "c0", "t.c0"))
}

// declares makes the tables typed, as their files are, if all of their values are of the types. Rows cannot be rejected then.
func declares(tables ...*drawn) bool {
	for _, d := range tables {
		all := ""
		for _, c := range d.table.Columns {
			all += ", count(" + c.Name + ")"
		}
		if got, err := answered("SELECT count(*)"+all+" FROM "+d.table.Name, false, local.Options{}, new(int), d); err != nil ||
			!strings.Contains(got, "rejected [{"+d.table.Name+" {0 ") {
			return false
		}
	}
	for _, d := range tables {
		for i := range d.table.Columns {
			d.table.Columns[i].Typed = true
		}
	}
	return true
}

// TestC1_AnswersAreThoseOfCSV draws tables with all types, encodings, NULLs and extremes, and answers statements over them as CSV and as
// Parquet. The answers and the rejected rows are the same, whichever row groups are left out for their statistics.
func TestC1_AnswersAreThoseOfCSV(t *testing.T) {
	skipped, compared, refused, typed := 0, 0, 0, 0
	for number := *seed; number < *seed+uint64(*tables); number++ {
		r := rand.New(rand.NewPCG(number, 9))
		columns := drawnColumns(r, 2+r.IntN(8))
		d := drawTable(r, "t", columns, one(r, 0, 1, 2, 50, 400, 1200))
		u := drawTable(r, "u", columns, r.IntN(150)) // its values are among those of t
		if number%4 > 0 && declares(d, u) {
			typed++
		}
		for range 12 {
			text := drawnStatement(r, d)
			o := local.Options{Seed: 1 + r.Uint64N(100), Joiners: 1 + r.IntN(3), Aggregators: 1 + r.IntN(2), ChunkBytes: one(r, 60, 3000, 1<<18)}
			used := []*drawn{d}
			if strings.Contains(text, "JOIN") {
				used = append(used, u)
			}
			want, err := answered(text, false, o, &skipped, used...)
			if err != nil {
				refused++ // a constant that is not a value of its type
				continue
			}
			got, err := answered(text, true, o, &skipped, used...)
			if compared++; err != nil || got != want {
				t.Fatalf("seed %d: %s\n%.2000s, %v\nof CSV\n%.2000s\n%s", number, text, got, err, want, d.about)
			}
		}
	}
	t.Logf("%d answers compared, %d statements refused, %d row groups left out, %d tables typed", compared, refused, skipped, typed)
	if *tables >= 40 && (skipped < 250 || typed < 10 || 2*compared < 5*refused) {
		t.Errorf("%d answers compared, %d statements refused, %d row groups left out", compared, refused, skipped)
	}
}

// TestC1_RejectedRowsAreNotLeftOut: a row group has to be read whose rows are rejected by a column that comes before the one that excludes
// them.
func TestC1_RejectedRowsAreNotLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	of := func(i int, kind string, span int64, rising, odds int) drawnColumn {
		k := &drawnKinds[slices.IndexFunc(drawnKinds, func(k drawnKind) bool { return k.name == kind })]
		return drawnColumn{drawnKind: k, column: catalog.Column{Name: fmt.Sprintf("c%04d", i), Type: k.types[0]}, node: k.node, span: span,
			rising: rising, odds: odds, nulls: "none"}
	}
	for _, rejecting := range []string{"text of numbers", "text of dates", "uint64"} {
		columns := []drawnColumn{of(0, rejecting, 1000, 0, 3), of(1, "int64", 20, 7, 0)}
		d := drawTable(r, "t", columns, 280)
		_, middle := columns[0].value(0)
		text := "SELECT count(*), sum(_line) FROM t WHERE c0000 > CAST('" + middle + "' AS " + columns[0].column.Type.String() +
			") AND c0001 > 600"
		skipped := 0
		want, err := answered(text, false, local.Options{}, &skipped, d)
		if err != nil || strings.Contains(want, "rejected [{t {0 ") {
			t.Fatalf("%s of CSV: %s, %v", text, want, err)
		}
		if got, err := answered(text, true, local.Options{}, &skipped, d); err != nil || got != want {
			t.Errorf("%s: %s, %v\nof CSV %s\n%s", text, got, err, want, d.about)
		}
	}
}

// TestC1_WideAndLongRowsAreThoseOfCSV: a thousand columns in one statement, and values of 9 MiB.
func TestC1_WideAndLongRowsAreThoseOfCSV(t *testing.T) {
	same := func(name, text string, d *drawn) {
		t.Helper()
		want, err := answered(text, false, local.Options{}, new(int), d)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := answered(text, true, local.Options{}, new(int), d); err != nil || got != want {
			t.Errorf("%s: %.300s, %v\nof CSV %.300s\n%s", name, got, err, want, d.about)
		}
	}
	r := rand.New(rand.NewPCG(1, 9))
	wide := drawTable(r, "t", drawnColumns(r, 1100), 90)
	var items []string
	for i := range 1000 {
		items = append(items, fmt.Sprintf("count(c%04d)", i+50))
	}
	same("wide", "SELECT count(*), "+strings.Join(items, ", ")+" FROM t", wide)

	const long = 9 << 20
	texts := drawnKinds[slices.IndexFunc(drawnKinds, func(k drawnKind) bool { return k.name == "text" })]
	texts.odd = func(r *rand.Rand) (pq.Value, string) { return drawnText(strings.Repeat(one(r, "a", "b"), long)) }
	for i, e := range texts.encodings {
		c := drawnColumn{drawnKind: &texts, column: catalog.Column{Name: "c0000", Type: types.Of(types.Text)},
			node: pq.Optional(pq.Encoded(texts.node, e)), optional: true, span: 5, odds: 3, nulls: "some"}
		beside := drawnColumns(r, 2)[1] // without it a line of NULL would be empty, which is not a row
		beside.node, beside.optional = pq.Optional(beside.drawnKind.node), true
		// That writer does not shorten bounds, so the footer would be longer than any that is read.
		d := drawTable(rand.New(rand.NewPCG(uint64(i), 8)), "t", []drawnColumn{c, beside}, 8, pq.SkipPageBounds("c0000"))
		if len(d.csv) < long {
			t.Fatalf("with encoding %v there is no long value", e)
		}
		same(fmt.Sprint("long, ", e), "SELECT _line, length(c0000), substr(c0000, 1, 9) FROM t ORDER BY _line", d)
	}
}
