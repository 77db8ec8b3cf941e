package sqldiff

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/corpus"
)

var writeCorpus = flag.Bool("write-corpus", false, "write the files of analyses/sql/testdata/corpus again")

const (
	corpusFolder = "../../../analyses/sql/testdata/corpus"
	corpusWorlds = 8
	perWorld     = 4000 // random statements that are tried over each world
	perSubject   = 160  // statements of one subject that are kept
)

// subject is the name of a file, and what its random statements have.
type subject struct {
	name string
	has  *regexp.Regexp
}

// subjects sort random statements into files: the first pattern that matches says which.
var subjects = []subject{
	{"windows", regexp.MustCompile(` OVER \(`)},
	{"grouping_sets", regexp.MustCompile(`ROLLUP|CUBE|GROUPING SETS`)},
	{"set_operations", regexp.MustCompile(`UNION|EXCEPT|INTERSECT`)},
	{"with", regexp.MustCompile(`^WITH `)},
	{"unnest", regexp.MustCompile(`(?i)unnest\(`)},
	{"exists", regexp.MustCompile(`EXISTS \(`)},
	{"in_subqueries", regexp.MustCompile(`IN \(\(*SELECT`)},
	{"scalar_subqueries", regexp.MustCompile(`\(SELECT`)},
	{"outer_joins", regexp.MustCompile(`LEFT|RIGHT|FULL`)},
	{"joins", regexp.MustCompile(`JOIN`)},
	{"distinct_on", regexp.MustCompile(`DISTINCT ON`)},
	{"aggregates_of_some", regexp.MustCompile(`FILTER|\(DISTINCT`)},
	{"groups", regexp.MustCompile(`GROUP BY|HAVING`)},
	{"aggregates", regexp.MustCompile(
		`\b(count|sum|avg|min|max|bool_and|bool_or|string_agg|list|first|last|any_value|median|quantile\w+|(var|stddev|min|max)_\w+)\(`)},
	{"order_and_limit", regexp.MustCompile(`ORDER BY|LIMIT`)},
	{"select", regexp.MustCompile(``)},
}

// alike are the parts in which two statements of the same shape may differ: the number of a column, a literal, and which comparison.
var alike = regexp.MustCompile(`\d+|'[^']*'|<>|<=|>=|[=<>]| (IS NOT DISTINCT FROM|IS DISTINCT FROM) `)

// writer collects the files of the corpus.
type writer struct {
	t      *testing.T
	o      *Oracle
	files  map[string][]byte // by path below the corpus
	tables map[string]string // the folder of the tables of the last record, by file
	shapes map[string]bool
	kept   map[string]int
}

// TestQ5_DuckDBAgreesAboutTheCorpus makes the corpus again, and finds the files that are there. Each kept answer is DuckDB's; a
// DOUBLE that may be rounded
// differently is close to DuckDB's, and has Posta's last digits.
func TestQ5_DuckDBAgreesAboutTheCorpus(t *testing.T) {
	w := &writer{
		t: t, o: newOracle(t), files: map[string][]byte{}, tables: map[string]string{}, shapes: map[string]bool{}, kept: map[string]int{},
	}
	w.random()
	w.edges()
	w.functions()
	w.wrong()
	w.tpch()
	w.casts()
	total := 0
	for name, n := range w.kept {
		t.Logf("%s: %d", name, n)
		total += n
	}
	t.Logf("%d statements", total)
	if *writeCorpus {
		if err := os.RemoveAll(corpusFolder); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range w.files {
		path := filepath.Join(corpusFolder, name)
		if *writeCorpus {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
				t.Fatal(err)
			}
		} else if there, err := os.ReadFile(path); err != nil || !bytes.Equal(there, b) {
			t.Errorf("%s is not what DuckDB gives (%v): run go test -mod=mod ./sqldiff -run Corpus -write-corpus", name, err)
		}
	}
}

// keep adds a record to a subject, unless there are enough.
func (w *writer) keep(subject string, r corpus.Record) {
	name := subject + ".txt"
	if w.tables[name] != r.Tables {
		w.files[name] = fmt.Appendf(w.files[name], "tables %s\n\n", r.Tables)
		w.tables[name] = r.Tables
	}
	w.files[name] = r.Append(w.files[name])
	w.kept[subject]++
}

// fits reports whether an answer can be read in review.
func fits(r corpus.Record) bool {
	return len(r.Rows) <= 25 && len(r.Append(nil)) <= 2500 && !slices.Contains(r.Rows, "") && !strings.Contains(r.Text, "\n----\n")
}

// answer compares one statement with DuckDB, and returns Posta's answer, as nodes give it.
func (w *writer) answer(world *World, folder string, plan *split.Plan, s Statement) (r corpus.Record, ok bool, err error) {
	if _, _, failed := run(world, s.Text); failed != nil {
		return r, false, nil
	}
	if compared, err := check(world, w.o, s); err != nil || !compared {
		return r, false, err
	}
	rows, fields, err := corpus.Answer(plan, world.Files, local.Options{})
	if err != nil {
		return r, false, fmt.Errorf("nodes: %w", err)
	}
	r = corpus.Record{Tables: folder, Text: s.Text, Types: corpus.Types(fields), Rows: corpus.Rows(rows, fields)}
	alone, fields, err := run(world, s.Text)
	if err != nil || !slices.Equal(r.Rows, corpus.Rows(corpus.Emitted(alone, fields), fields)) {
		return r, false, fmt.Errorf("nodes give another answer than one process, %v: %q", err, r.Rows)
	}
	return r, true, nil
}

// random keeps statements of the generator, one of each shape.
func (w *writer) random() {
	for i := range uint64(corpusWorlds) {
		r := rand.New(rand.NewPCG(i, 40))
		world := NewWorld(r)
		folder := fmt.Sprintf("w%d", i+1)
		if err := w.o.Load(world); err != nil {
			w.t.Fatal(err)
		}
		var declare strings.Builder
		for _, t := range world.Tables {
			var columns []string
			for _, f := range t.Fields {
				columns = append(columns, f.Name+" "+f.Type.String())
			}
			fmt.Fprintf(&declare, "CREATE TABLE %s FROM '%s.csv' (%s);\n", t.Name, t.Name, strings.Join(columns, ", "))
			w.files[folder+"/"+t.Name+".csv"] = world.Files[t.Name+".csv"].Data
		}
		w.files[folder+"/tables.sql"] = []byte(declare.String())
		here := map[string]int{}
		for range perWorld {
			s := NewStatement(r, world)
			at := slices.IndexFunc(subjects, func(k subject) bool { return k.has.MatchString(s.Text) })
			name, shape := subjects[at].name, alike.ReplaceAllString(s.Text, "?")
			if len(s.Text) > 400 || here[name] == perSubject/corpusWorlds || w.shapes[shape] {
				continue
			}
			record, ok, err := w.answer(world, folder, planned(world, s.Text), s)
			if err != nil {
				w.t.Errorf("%s: %s\n%v", folder, s.Text, err)
			}
			if ok && fits(record) && (len(record.Rows) > 0 || here[name] < 3) {
				w.shapes[shape] = true
				here[name]++
				w.keep(name, record)
			}
		}
	}
}

// edges keeps the statements that the generator seldom writes.
func (w *writer) edges() {
	world := &World{Source: &operators.Tables{Rows: map[string]*operators.Batch{}}, Files: fstest.MapFS{}}
	for _, text := range edges {
		record, ok, err := w.answer(world, "-", &split.Plan{Text: text}, Statement{Text: text, Near: make([]bool, 10)})
		if err != nil {
			w.t.Errorf("%s\n%v", text, err)
		}
		if ok && fits(record) {
			w.keep("edges", record)
		}
	}
}

// functions keeps each line of the table of functions as a statement. Their values as TEXT are compared, as the table has them.
func (w *writer) functions() {
	table, err := os.ReadFile("../../../analyses/sql/eval/testdata/functions.txt")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, line := range strings.Split(string(table), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, duck, differs := strings.Cut(line, " # DuckDB: ")
		at := strings.LastIndex(line, " = ")
		text := "SELECT " + line[:at]
		theirs, err := w.o.Query("SELECT coalesce((" + line[:at] + ")::VARCHAR, 'NULL')")
		if want := line[at+3:]; err != nil || !differs && fmt.Sprint(theirs[0][0]) != want || differs && fmt.Sprint(theirs[0][0]) != duck {
			w.t.Errorf("%s: DuckDB answers %v, %v", line, theirs, err)
			continue
		}
		rows, fields, err := corpus.Answer(&split.Plan{Text: text}, fstest.MapFS{}, local.Options{})
		if errors.Is(err, eval.ErrUnsupported) {
			continue
		}
		if err != nil {
			w.t.Errorf("%s: %v", text, err)
			continue
		}
		record := corpus.Record{Tables: "-", Text: text, Types: corpus.Types(fields), Rows: corpus.Rows(rows, fields)}
		if differs {
			record.Differs = "DuckDB answers " + duck + "; docs/sql.md says why"
		}
		w.keep("functions", record)
	}
}

// tpch keeps the queries of TPC-H over little data. A few of them find no rows there.
func (w *writer) tpch() {
	dir := w.t.TempDir()
	if err := gen.TPCH(gen.OnDisk(dir), 2500, *tpchSeed); err != nil {
		w.t.Fatal(err)
	}
	text, err := os.ReadFile("../../../examples/sql/tpch.sql")
	if err != nil {
		w.t.Fatal(err)
	}
	script, err := syntax.Parse(string(text))
	if err != nil {
		w.t.Fatal(err)
	}
	tables := declared(w.t, script)
	if err := w.o.readCSV(dir, tables); err != nil {
		w.t.Fatal(err)
	}
	var declare syntax.Script
	for _, s := range script.Statements {
		if _, ok := s.Node.(*syntax.CreateTable); ok {
			declare.Statements = append(declare.Statements, syntax.Statement{Node: s.Node})
			continue
		}
		if _, ok := s.Node.(*syntax.Query); !ok {
			continue
		}
		query := syntax.Print(&syntax.Script{Statements: []syntax.Statement{{Node: s.Node}}})
		rows, fields, err := corpus.Answer(&split.Plan{Text: query, Tables: tables}, os.DirFS(dir), local.Options{})
		if err != nil {
			w.t.Errorf("%s\n%v", query, err)
			continue
		}
		theirRows, err := w.o.Query(query)
		if err != nil {
			w.t.Errorf("%s\n%v", query, err)
			continue
		}
		near := make([]bool, len(fields))
		for c, f := range fields {
			near[c] = f.Type.Kind == types.Double
		}
		if why := same(cells(w.t, rows, fields), theirs(theirRows, fields), true, near); why != "" {
			w.t.Errorf("%s\n%s", query, why)
			continue
		}
		query = strings.TrimSpace(query)
		w.keep("tpch", corpus.Record{Tables: "tpch", Text: query, Types: corpus.Types(fields), Rows: corpus.Rows(rows, fields)})
	}
	w.files["tpch/tables.sql"] = []byte(syntax.Print(&declare))
	for _, t := range tables {
		data, err := os.ReadFile(filepath.Join(dir, t.Files))
		if err != nil {
			w.t.Fatal(err)
		}
		w.files["tpch/"+t.Files] = data
	}
}

// casts keeps casts of odd texts to every type. TestQ5_EveryCast has those that differ on purpose; they are left out.
func (w *writer) casts() {
	world := &World{Source: &operators.Tables{Rows: map[string]*operators.Batch{}}, Files: fstest.MapFS{}}
	answer := func(typ string, texts []string) (corpus.Record, bool) {
		text := "SELECT x, TRY_CAST(x AS " + typ + ") FROM (VALUES (" + strings.Join(texts, "), (") + ")) AS t (x)"
		r, ok, err := w.answer(world, "-", &split.Plan{Text: text}, Statement{Text: text, Ordered: true, Near: make([]bool, 2)})
		return r, ok && err == nil
	}
	for _, typ := range []string{"BOOLEAN", "BIGINT", "INTEGER", "DECIMAL(18, 3)", "DECIMAL(3, 1)", "DOUBLE", "DATE", "TIMESTAMP", "TIME",
		"INTERVAL"} {
		var agreed []string
		for _, x := range oddValues[types.Text] {
			quoted := "'" + strings.ReplaceAll(x.(string), "'", "''") + "'"
			if _, ok := answer(typ, []string{quoted}); ok {
				agreed = append(agreed, quoted)
			}
		}
		for texts := range slices.Chunk(agreed, 20) {
			if r, ok := answer(typ, texts); ok {
				w.keep("casts", r)
			} else {
				w.t.Errorf("casts to %s agree alone, but not together: %s", typ, texts)
			}
		}
	}
}

// wrong keeps statements that both refuse.
func (w *writer) wrong() {
	for _, text := range []string{
		"SELECT x", "SELECT * FROM nowhere", "SELECT a.x FROM (SELECT 1 AS x) AS b", "SELECT 1 +", "SELEC 1", "SELECT (1",
		"SELECT 'a", "SELECT 1 FROM (SELECT 1 AS a) AS t, (SELECT 2 AS a) AS t",
		"SELECT a FROM (SELECT 1 AS a) AS t, (SELECT 2 AS a) AS u", "SELECT nofunction(1)", "SELECT lower(1, 2)",
		"SELECT sum('a')", "SELECT DATE 'a'", "SELECT DATE '2024-02-30'",
		"SELECT a, count(*) FROM (SELECT 1 AS a) AS t", "SELECT count(count(*))", "SELECT 1 WHERE count(*) > 0",
		"SELECT sum(row_number() OVER ())", "SELECT 1 WHERE row_number() OVER () = 1",
		"SELECT 1 UNION SELECT 1, 2", "SELECT 1 ORDER BY 2", "SELECT 1 LIMIT -1", "SELECT a FROM (SELECT 1 AS a) AS t GROUP BY 2",
		"SELECT (SELECT 1, 2)", "SELECT 1 IN (SELECT 1, 2)",
		"SELECT CASE WHEN 1 THEN", "SELECT CAST(1 AS NOTYPE)", "SELECT 1 AS a HAVING a > 0",
		"SELECT * FROM (SELECT 1) AS t (a, b)", "SELECT DISTINCT ON (x) 1", "SELECT max(1) FILTER (WHERE sum(1) > 0)",
		"WITH a AS (SELECT 1), a AS (SELECT 2) SELECT 1", "SELECT * EXCLUDE (b) FROM (SELECT 1 AS a) AS t",
		"SELECT 1 FROM (SELECT 1 AS a) AS t JOIN (SELECT 1 AS b) AS u USING (a)",
		"SELECT ntile() OVER ()", "SELECT lag() OVER ()", "SELECT row_number()", "SELECT unnest(1)", "SELECT interval",
		"SELECT DATE '2024-01-01' + DATE '2024-01-02'", "SELECT NOT 'a'",
		"SELECT 1 FROM (VALUES (1), (1, 2)) AS t", "SELECT grouping(a) FROM (SELECT 1 AS a) AS t", "SELECT quantile_cont(1, 2)",
		"SELECT date_part('nothing', DATE '2024-01-01')",
	} {
		_, _, err := corpus.Answer(&split.Plan{Text: text}, fstest.MapFS{}, local.Options{})
		refusal := (*syntax.Error)(nil)
		if !errors.As(err, &refusal) {
			w.t.Logf("not kept, as Posta does not refuse it (%v): %s", err, text)
			continue
		}
		if _, err := w.o.Query(text); err == nil {
			w.t.Logf("not kept, as DuckDB answers it: %s", text)
			continue
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		w.keep("errors", corpus.Record{Tables: "-", Refused: true, Text: text, Rows: []string{first}})
	}
}
