package cmd

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/await"
)

// table writes a table's file and returns its directory.
func table(t *testing.T, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestQ4_WrongStatementsAreShown(t *testing.T) {
	dir := table(t, "trips.csv", "id,city\n1,Montreal\n")
	for statement, want := range map[string]string{
		"SELECT cty FROM trips": "posta: line 1, column 8: there is no column cty\n    SELECT cty FROM trips\n           ^\n    Did you mean " +
			"city?\n",
		"SELECT 1 FROM trps": "posta: line 1, column 15: there is no table trps\n    SELECT 1 FROM trps\n                  ^\n    Did you " +
			"mean trips?\n",
		"SELECT\n1 +":          "posta: line 2, column 4: ",
		"SELECT 1 FROM 'no/*'": "posta: line 1, column 15: no file below ",
		"SELECT 1 FROM '../x'": "posta: line 1, column 15: '../x' is not a path below the data directory\n",
		"DROP TABLE trips":     "posta: line 1, column 1: ",
		"SELECT INTERVAL 1 DAY = INTERVAL 2 DAY FROM trips": "posta: line 1, column 23: = of INTERVAL is not computed yet\n    SELECT " +
			"INTERVAL 1 DAY = ",
	} {
		r := posta(t, "sql", "--data", dir, statement)
		if r.code != exit.Usage || r.out != "" || !strings.HasPrefix(r.err, want) {
			t.Errorf("%s: exit code %d\n%s%s", statement, r.code, r.out, r.err)
		}
	}
}

// TestSQLFixesCurrentDate: the day is part of the plan. A flag sets it, so that an answer can be computed again.
func TestSQLFixesCurrentDate(t *testing.T) {
	if r := must(t, "sql", "--csv", "--param", "current_date=2024-02-29",
		"SELECT current_date AS d, today() + 1 AS next"); r.out != "d,next\n2024-02-29,2024-03-01\n" {
		t.Errorf("%q", r.out)
	}
	if r := must(t, "sql", "--csv", "SELECT current_date > DATE '2024-01-01' AS later"); r.out != "later\ntrue\n" {
		t.Errorf("%q", r.out)
	}
}

func TestSQLNeedsNoClusterForWhatReadsNothing(t *testing.T) {
	dir := table(t, "trips.csv", "id,city\n1,Montreal\n")
	for statement, want := range map[string]string{
		"SELECT 1 + 1 AS two, DATE '2024-02-29' AS d, NULL AS n": "two,d,n\n2,2024-02-29,\n",
		"DESCRIBE trips": "column_name,column_type\nid,BIGINT\ncity,TEXT\n",
		"SHOW TABLES":    "name\ntrips\n",
	} {
		if r := must(t, "sql", "--data", dir, "--csv", statement); r.out != want {
			t.Errorf("%s: %q", statement, r.out)
		}
	}
}

// TestSQLFindsTablesWithTabs: FROM finds a .tsv file by its name, and a .csv file of that name takes precedence.
func TestSQLFindsTablesWithTabs(t *testing.T) {
	dir := table(t, "led.ger.tsv", "a\tb\n1\tx\n")
	if r := must(t, "sql", "--data", dir, "--csv", "SHOW TABLES"); r.out != "name\nled.ger\n" {
		t.Errorf("%q", r.out)
	}
	const asks = `DESCRIBE "led.ger"`
	if r := must(t, "sql", "--data", dir, "--csv", asks); r.out != "column_name,column_type\na,BIGINT\nb,TEXT\n" {
		t.Errorf("%q", r.out)
	}
	if err := os.WriteFile(filepath.Join(dir, "led.ger.csv"), []byte("c\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := must(t, "sql", "--data", dir, "--csv", asks); r.out != "column_name,column_type\nc,BIGINT\n" {
		t.Errorf("%q", r.out)
	}
	if r := must(t, "sql", "--data", dir, "--csv", "SHOW TABLES"); r.out != "name\nled.ger\n" {
		t.Errorf("%q", r.out)
	}
}

// TestSQLNamesTheRowThatMadeAColumnTEXT: often one row is wrong, and not the statement. If two tables have the column, the error says that
// the name is ambiguous.
func TestSQLNamesTheRowThatMadeAColumnTEXT(t *testing.T) {
	dir := table(t, "trips.csv", "id,km\n1,1.5\n2,oops\n")
	for statement, want := range map[string]string{
		"SELECT avg(km) FROM trips": `avg does not take TEXT: km is TEXT because of "oops" in ` + dir +
			"/trips.csv:3\n",
		"SELECT id FROM trips t WHERE t.km>2": `TEXT cannot be compared with BIGINT: km is TEXT because of "oops" in ` + dir +
			"/trips.csv:3\n",
		"SELECT 1 FROM trips a, 'trips.csv' b WHERE a.km > 2": "TEXT cannot be compared with BIGINT\n",
		"SELECT nothing(km) FROM trips":                       "there is no function nothing\n",
	} {
		if r := posta(t, "sql", "--data", dir, statement); r.code != exit.Usage || !strings.Contains(r.err, want) ||
			strings.Contains(want, ":3") != strings.Contains(r.err, "TRY_CAST(km AS DOUBLE) makes NULL of such values") {
			t.Errorf("%s: exit code %d\n%s", statement, r.code, r.err)
		}
	}
}

// TestSQLTakesFunctionsThatReadFiles: read_csv and similar functions name files and options, instead of CREATE TABLE.
func TestSQLTakesFunctionsThatReadFiles(t *testing.T) {
	dir := table(t, "s.csv", "a;b\n1;007\n2;\"x\"\n")
	if r := must(t, "sql", "--data", dir, "--csv", "SELECT x.a + y.a AS n, read_json.b, y.b FROM read_csv('s.csv', delim = ';') AS x "+
		"JOIN read_csv('s.csv', delim=';', header=true, columns={'a': 'DECIMAL(9, 2)', 'b': 'VARCHAR'}) AS y ON x.b = y.b, read_json('*.csv', "+
		"sep = ';') WHERE read_json.a = x.a ORDER BY 1"); r.out != "n,b,b\n2.00,007,007\n4.00,x,x\n" {
		t.Errorf("%q", r.out)
	}
	for call, want := range map[string]string{
		"read_csv('s.csv', delim = ';')": "column_name,column_type\na,BIGINT\nb,TEXT\n",
		"read_csv_auto('s.csv', sep = ';', union_by_name = true, columns = {b: 'TEXT', " +
			"'a': 'double precision'})": "column_name,column_type\nb,TEXT\na,DOUBLE\n",
	} {
		if r := must(t, "sql", "--data", dir, "--csv", "DESCRIBE FROM "+call); r.out != want {
			t.Errorf("%s: %q", call, r.out)
		}
	}
	for call, want := range map[string]string{
		"read_csv()":                         "posta: line 1, column 15: read_csv needs a pattern of files in quotes\n",
		"read_csv(['s.csv', 't.csv'])":       "posta: line 1, column 24: read_csv needs a pattern of files in quotes\n",
		"read_csv('-')":                      "posta: line 1, column 24: standard input is read without options here\n",
		"read_csv('s.csv', ';')":             "posta: line 1, column 33: an option of read_csv has a name\n",
		"read_csv('s.csv', filename = true)": "posta: line 1, column 33: the option filename is not supported\n",
		"read_csv('s.csv', quote = '/')": "posta: line 1, column 33: the option quote is not supported with " +
			"this value\n",
		"read_csv('s.csv', comment = '//')": "posta: line 1, column 33: the option comment is not supported with " +
			"this value\n",
		"read_csv('s.csv', nullstr = 1)": "posta: line 1, column 33: the option nullstr is not supported with " +
			"this value\n",
		"read_csv('s.csv', skip = -1)": "posta: line 1, column 33: the option skip is not supported with " +
			"this value\n",
		"read_csv('s.csv', types = {'a': 'TEXT'})": "posta: line 1, column 33: the option types is not supported with " +
			"this value\n",
		"read_csv('s.csv', columns = {'a': 'FOO'})":                     "posta: line 1, column 49: there is no type FOO\n",
		"read_csv('s.csv', columns = {'a': 'TEXT) WITH (delim \";\"'})": "posta: line 1, column 49: 'TEXT) WITH (delim \";\"' is not a type\n",
		"read_parquet('../s.csv')": "posta: line 1, column 15: '../s.csv' is not a path below the data " +
			"directory\n",
		"read_parquet('n.parquet')": "posta: line 1, column 15: no file below ",
		"range(5)":                  "posta: line 1, column 15: range in FROM is not supported\n",
	} {
		if r := posta(t, "sql", "--data", dir, "SELECT * FROM "+call); r.code != exit.Usage || r.out != "" || !strings.HasPrefix(r.err, want) {
			t.Errorf("%s: exit code %d\n%s%s", call, r.code, r.out, r.err)
		}
	}
}

// TestSQLAsksAgainWithWiderTypes: samples show integers and dates, but elsewhere the file has wider values.
func TestSQLAsksAgainWithWiderTypes(t *testing.T) {
	var b strings.Builder
	b.WriteString("n,d,pad\n")
	for i := range 40_000 {
		n, d := "1", "2024-01-01"
		if i == 13_000 {
			n = "0.5"
		}
		if i == 30_000 {
			d = "2024-01-01 12:00:00"
		}
		fmt.Fprintf(&b, "%s,%s,%030d\n", n, d, i)
	}
	dir := table(t, "t.csv", b.String())
	r := must(t, "sql", "--data", dir, "--csv", "SELECT sum(n) AS n, max(d) AS d FROM t")
	if r.out != "n,d\n39999.5,2024-01-01 12:00:00\n" {
		t.Errorf("the answer is %q", r.out)
	}
	for _, note := range []string{"column n of t is DOUBLE, not BIGINT as in the samples", "column d of t is TIMESTAMP, not DATE"} {
		if strings.Count(r.err, note) != 1 {
			t.Errorf("standard error does not say %q once: %s", note, r.err)
		}
	}
}

// TestD1_KilledNodesChangeNoAnswerOfSQL: nodes are killed in the middle of a session that has a plan.
func TestD1_KilledNodesChangeNoAnswerOfSQL(t *testing.T) {
	if alike(t, "TestD1_NodesThatAreKilledChangeNothing") {
		return
	}
	var b strings.Builder
	b.WriteString("id,city,km\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "%d,city %d,%d.25\n", i, i%7, i%100)
	}
	from := table(t, "trips.csv", b.String())
	cities := "name,country\n" // every joiner has the whole table
	for i := range 6 {
		cities += fmt.Sprintf("city %d,country %d\n", i, i%2)
	}
	if err := os.WriteFile(filepath.Join(from, "cities.csv"), []byte(cities), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := []string{"sql", "--data", from, "--csv", "SELECT city, country, count(*), sum(km), min(id), first(id) FROM trips LEFT JOIN " +
		"cities ON city = name WHERE km > 3 GROUP BY city, country ORDER BY city"}
	if told := must(t, append(ask[:3:3], "--explain", ask[4])...).out; !strings.Contains(told, "every joiner has cities whole") {
		t.Fatalf("the cities are not a reference stream: %s", told)
	}
	want := must(t, ask...).out
	if strings.Count(want, "\n") != 8 || !strings.Contains(want, "city 5,country 1,") || !strings.Contains(want, "city 6,,") {
		t.Fatalf("the answer is %s", want)
	}
	for _, x := range []struct {
		flags []string
		nodes []string
	}{
		{nil, []string{"input-1"}}, // which joins and folds, too
		{[]string{"--replicas", "joiner=2"}, []string{"joiner-1", "input-1", "aggregator-2", "reducer-1", "output-1"}},
	} {
		dir, done := t.TempDir(), make(chan result, 1)
		go func() { done <- posta(t, slices.Concat(ask, []string{"--dir", dir}, x.flags, slow)...) }()
		for _, node := range x.nodes {
			await.Until(t, node+" has its pid file", func() bool { return pidOf(dir, node) != 0 })
			pid := pidOf(dir, node)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			await.Until(t, node+" comes back", func() bool { now := pidOf(dir, node); return now != 0 && now != pid })
		}
		if r := <-done; r.code != exit.OK || r.out != want {
			t.Errorf("%v: exit code %d, the answer is\n%s\nwant\n%s\n%s", x.flags, r.code, r.out, want, r.err)
		}
	}
	for _, shape := range []string{"all=2", "joiner=4,aggregator=3"} {
		if r := must(t, append(ask, "--replicas", shape, "--chunk", "1000")...); r.out != want {
			t.Errorf("%s: %s", shape, r.out)
		}
	}
}

// TestSubmitAnswersStatementsOfAFile: a running cluster gives the same answers as a private one, each time.
func TestSubmitAnswersStatementsOfAFile(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := table(t, "trips.csv", "id,city\n1,Montreal\n2,Toronto\n3,Montreal\n")
	file := filepath.Join(dir, "questions.sql")
	if err := os.WriteFile(file, []byte("-- name: a\nSELECT city, count(*) FROM trips GROUP BY city;\n-- name: b\nSELECT max(id) FROM trips"),
		0o644); err != nil {
		t.Fatal(err)
	}
	want := must(t, "sql", "--data", dir, "-f", file).out
	if !strings.Contains(want, "Toronto") || !strings.Contains(want, "b: 1 row") {
		t.Fatalf("the answer is %s", want)
	}
	for range 2 {
		if r := k.must("submit", file, "--data", dir); r.out != want {
			t.Errorf("%s\nwant\n%s", r.out, want)
		}
	}
	if r := k.call("submit", file, "--data", dir, "--detach"); r.code != exit.Usage || !strings.Contains(r.err, "--detach is for analyses") {
		t.Errorf("--detach: exit code %d, %s", r.code, r.err)
	}
}

// TestSQLAnswersAsTheAnalysesDo: statements for the queries of the built-in analyses run over generated data with all its quirks, and over
// the real rows that POSTA_SHARED names. The analyses' own tests show that those are right.
func TestSQLAnswersAsTheAnalysesDo(t *testing.T) {
	made := map[string]string{"bikes": data(t, "20000")}
	for name, make := range map[string]func(gen.Dir, int, uint64) error{"memes": gen.Memes, "flights": gen.Flights, "movies": gen.Movies} {
		made[name] = t.TempDir()
		if err := make(gen.OnDisk(made[name]), 20000, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []*analyses.Analysis{bikes.New(), flights.New(), movies.New(), memes.New()} {
		file := a.Name + ".sql"
		dirs := []string{made[a.Name]}
		if shared := os.Getenv("POSTA_SHARED"); shared != "" {
			dirs = append(dirs, filepath.Join(shared, "samples", a.Name))
		}
		for _, dir := range dirs {
			found, err := local.Run(a, os.DirFS(dir), local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := found.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			answers := parse(t, must(t, "sql", "--quiet", "--json", "--data", dir, "-f", filepath.Join("..", "examples", "sql", file)).out).Queries
			wanted := parse(t, string(b)).Queries
			if len(wanted) != len(a.Queries) {
				t.Fatalf("%s answers %d queries of %d", a.Name, len(wanted), len(a.Queries))
			}
			for query, want := range wanted {
				got := answers[query]
				if len(want.Rows) == 0 || !slices.Equal(got.Columns, want.Columns) || len(got.Rows) != len(want.Rows) {
					t.Errorf("%s over %s: %s: %v with %d rows, the analysis has %v with %d", file, dir, query, got.Columns, len(got.Rows), want.Columns,
						len(want.Rows))
					continue
				}
				for i := range got.Rows {
					if !slices.EqualFunc(got.Rows[i], want.Rows[i], sameValue) {
						t.Errorf("%s over %s: %s, row %d: %v and %v", file, dir, query, i, got.Rows[i], want.Rows[i])
						break
					}
				}
			}
		}
	}
}

// sameValue compares numbers with a relative tolerance of 1e-9, as the definitions of the queries say. The analyses take means of decimals,
// SQL of DOUBLEs.
func sameValue(a, b any) bool {
	x, err := strconv.ParseFloat(fmt.Sprint(a), 64)
	y, bad := strconv.ParseFloat(fmt.Sprint(b), 64)
	if err != nil || bad != nil {
		return a == b
	}
	return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y))
}

// TestSQLFindsTheColumnsOfEveryForm: JSON Lines name their keys, and Parquet has a schema. A null there is NULL, even in the only column
// that a statement reads.
func TestSQLFindsTheColumnsOfEveryForm(t *testing.T) {
	dir := table(t, "log.jsonl", `{"at": "2024-01-01T10:00:00", "level": "warn", "ms": null, "n": 1}
{"at": "2024-01-01T11:00:00", "level": "", "ms": 2.5, "n": 2, "extra": {"a": [1, "x"]}}
{"level": null, "n": "3"}
`)
	b, err := os.ReadFile(filepath.Join("..", "client", "source", "parquet", "testdata", "duckdb.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "duck.parquet"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("a\n1\n2\n")); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "more.csv.gz"), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"DESCRIBE log", "column_name,column_type\nat,TIMESTAMP\nlevel,TEXT\nms,DOUBLE\nn,BIGINT\nextra,TEXT\n"},
		{"SHOW TABLES", "name\nduck\nlog\nmore\n"},
		{"SELECT count(*), count(at), count(level), count(ms), sum(n) AS n, min(extra ->> '$.a[1]') AS x FROM log",
			"count(*),count(at),count(level),count(ms),n,x\n3,2,2,1,6,x\n"},
		{"SELECT count(level) AS levels, count(*) AS n FROM 'log.jsonl'", "levels,n\n2,3\n"},
		{"SELECT count(*) AS n FROM 'more.csv.gz'", "n\n2\n"},
		{"SELECT count(ms) AS ms, count(*) AS n FROM '*.jsonl'", "ms,n\n1,3\n"},
		{"SELECT count(*) - count(small) AS nulls, count(*) AS n FROM 'duck.parquet'", "nulls,n\n15,100\n"},
		{"SELECT count(*) - count(words) AS nulls, count(*) FILTER (WHERE words = '') AS empty FROM duck", "nulls,empty\n10,0\n"},
	} {
		if r := posta(t, "sql", "--quiet", "--csv", "--data", dir, c[0]); r.code != 0 || r.out != c[1] {
			t.Errorf("%s: exit code %d, %q\n%s", c[0], r.code, r.out, r.err)
		}
	}
	if r := posta(t, "sql", "--data", dir, "SELECT count(*) FROM '*.csv.gz'"); r.code != exit.Usage ||
		!strings.Contains(r.err, "are not told apart") {
		t.Errorf("a pattern that fits other files without .gz: exit code %d, %s", r.code, r.err)
	}
}

// TestSQLReadsOddJSONLines: keys that differ in case or are empty, integers beyond BIGINT, seen by the samples or not, a long first line,
// and lines that end in carriage returns.
func TestSQLReadsOddJSONLines(t *testing.T) {
	dir := t.TempDir()
	late := strings.Repeat("{\"n\":1}\n", 60_000) + "{\"n\":18446744073709551615}\n" + strings.Repeat("{\"n\":1}\n", 60_000)
	for name, text := range map[string]string{
		"case": "{\"id\":1,\"ID\":2,\"\":7}\n{\"ID\":3}\n{\"Id\":4}\n", "large": "{\"n\":1}\n{\"n\":18446744073709551616}\n", "late": late,
		"long": "{\"s\":\"" + strings.Repeat("x", 700<<10) + "\",\"n\":1}\n{\"n\":2}\n", "cr": "{\"a\":1}\r{\"a\":2}\r", "upper": "{\"ID\":5}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][3]string{
		{"SELECT * FROM 'case.jsonl'", "id,ID_1,column2,Id_2\n1,2,7,\n,3,,\n,,,4\n", ""},
		{"SELECT sum(ID_1) AS s, sum(column2) AS e FROM 'case.jsonl'", "s,e\n5,7\n", ""},
		{"SELECT sum(ID) AS s FROM 'upper.jsonl'", "s\n5\n", ""},
		{"SELECT * FROM large", "n\n1\n18446744073709551616\n", "column n of large is TEXT, since"},
		{"SELECT max(n) AS n, count(*) AS c FROM late", "n,c\n18446744073709551615,120001\n",
			"column n of late is TEXT, not BIGINT as in the samples"},
		{"SELECT sum(n) AS n, max(length(s)) AS s FROM long", "n,s\n3,716800\n", ""},
		{"SELECT * FROM cr", "a\n1\n2\n", ""},
	} {
		r := posta(t, "sql", "--quiet", "--csv", "--data", dir, c[0])
		if r.code != 0 || r.out != c[1] || c[2] == "" && r.err != "" || !strings.Contains(r.err, c[2]) {
			t.Errorf("%s: exit code %d, %q\n%s", c[0], r.code, r.out, r.err)
		}
	}
	if r := posta(t, "sql", "--quiet", "--data", dir, "SELECT n + 1 FROM large"); r.code != exit.Usage ||
		!strings.Contains(r.err, "CAST(n AS DOUBLE) rounds such values") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}

// TestSQLKeepsLargeIntegersApart: integers of CSV beyond BIGINT that are one DOUBLE are two groups, whether samples show them or not, and a
// note says why.
func TestSQLKeepsLargeIntegersApart(t *testing.T) {
	dir := t.TempDir()
	const two = "18446744073709551616\n18446744073709551617\n"
	for name, text := range map[string]string{"early": two + "5\n",
		"late": strings.Repeat("1\n", 200_000) + two + strings.Repeat("1\n", 400_000), "mixed": two + "0.5\n"} {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte("id\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][3]string{
		{"early", "n\n3\n", "column id of early is TEXT, since"},
		{"late", "n\n3\n", "column id of late is TEXT, not BIGINT as in the samples"},
		{"mixed", "n\n2\n",
			"column id of mixed is DOUBLE, since it has fractions, and rounds integers beyond BIGINT, such as 18446744073709551616 in"},
	} {
		r := posta(t, "sql", "--quiet", "--csv", "--data", dir, "SELECT count(DISTINCT id) AS n FROM "+c[0])
		if r.code != 0 || r.out != c[1] || !strings.Contains(r.err, c[2]) {
			t.Errorf("%s: exit code %d, %q\n%s", c[0], r.code, r.out, r.err)
		}
	}
}

// TestSQLReadsItsOwnCSV: what --out writes as CSV or TSV, alone in its row or not, is read back as it was: each type, NULL, ”, blanks,
// quotes, line ends.
func TestSQLReadsItsOwnCSV(t *testing.T) {
	const rows = `FROM (VALUES (1, 0.5e0, 1.50, DATE '2024-02-29', TIMESTAMP '2024-02-29 12:00:00.25', true, 'a'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		(-9223372036854775808, -1e300, -0.01, DATE '0001-01-01', TIMESTAMP '9999-12-31 23:59:59.999999', false, ''), (0, 0e0, 0.00, DATE '1970-01-01', TIMESTAMP '1970-01-01', NULL, ' '),
		(NULL, NULL, NULL, NULL, NULL, NULL, '"'), (7, NULL, 7.00, NULL, NULL, true, 'x' || chr(10) || ',' || chr(9) || '"y"' || chr(13)), (NULL, NULL, NULL, NULL, NULL, NULL, 'NULL')
		) v(i, f, d, day, at, b, s)`
	dir := t.TempDir()
	rowsOf := func(args ...string) string {
		_, body, _ := strings.Cut(must(t, append([]string{"sql", "--quiet", "--json"}, args...)...).out, `"rows": `)
		body, _, _ = strings.Cut(body, `, "rejected"`)
		return body
	}
	for i, columns := range [][]string{{"i BIGINT", "f DOUBLE", "d DECIMAL(9,2)", "day DATE", "at TIMESTAMP", "b BOOLEAN", "s TEXT"},
		{"s TEXT"}, {"f DOUBLE"}} {
		var names []string
		for _, c := range columns {
			name, _, _ := strings.Cut(c, " ")
			names = append(names, name)
		}
		statement := "SELECT " + strings.Join(names, ", ") + " " + rows
		for _, ending := range []string{"csv", "tsv"} {
			file := fmt.Sprintf("answer%d.%s", i, ending)
			must(t, "sql", "--quiet", "--out", filepath.Join(dir, file), statement)
			back := rowsOf("--strict", "--data", dir, "CREATE TABLE t FROM '"+file+"' ("+strings.Join(columns, ", ")+"); SELECT * FROM t")
			if want := rowsOf(statement); back != want {
				t.Errorf("%s: read back as\n%s\nwant\n%s", file, back, want)
			}
		}
	}
}

// TestSQLTakesColumnsFromPaths: {city} in a path is a column, and a view takes precedence over a file of its name.
func TestSQLTakesColumnsFromPaths(t *testing.T) {
	dir := t.TempDir()
	for city, text := range map[string]string{"montreal": "id\n1\n2\n", "toronto": "id\n3\n"} {
		if err := os.Mkdir(filepath.Join(dir, city), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, city, "trips.csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	declare := "CREATE TABLE t FROM '{city}/trips.csv' (id BIGINT); CREATE VIEW montreal AS SELECT id FROM t WHERE city = 'montreal'; "
	for statement, want := range map[string]string{
		"SELECT city, count(*) AS n, max(id) AS id FROM t GROUP BY city ORDER BY city": "city,n,id\nmontreal,2,2\ntoronto,1,3\n",
		"SELECT count(*) AS n FROM montreal":                                           "n\n2\n",
		"SELECT city FROM t LIMIT 1":                                                   "city\nmontreal\n",
	} {
		if r := must(t, "sql", "--quiet", "--csv", "--data", dir, declare+statement); r.out != want {
			t.Errorf("%s: %q", statement, r.out)
		}
	}
	for pattern, say := range map[string]string{"{}/trips.csv": "do not name columns", "{a/b}.csv": "do not name columns",
		"{id}/trips.csv": "two columns id", "x/../{c}.csv": "not a path below"} {
		r := posta(t, "sql", "--data", dir, "CREATE TABLE t FROM '"+pattern+"' (id BIGINT); SELECT * FROM t")
		if r.code != exit.Usage || !strings.Contains(r.err, say) {
			t.Errorf("%s: exit code %d, %s", pattern, r.code, r.err)
		}
	}
}
