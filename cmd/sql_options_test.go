package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSQLReadsOtherCSV: options say what a file is that is not CSV with a header. The answers are DuckDB's, with
// allow_quoted_nulls = false.
func TestSQLReadsOtherCSV(t *testing.T) {
	dir := table(t, "n.csv", "a,b,c\n1,NA,x\nNA,,\"NA\"\n3,4.5,\n4,-,\"\"\n")
	for name, text := range map[string]string{
		"c.csv": "# made \"today,\n# by hand\na;b\n1;2\n\n#3;4\n5;6 # last\n\"#\";\"7\"\n",
		"h.csv": "Oslo;1.5\nRome;20\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ ask, want string }{
		{"SELECT * FROM read_csv('n.csv', nullstr = ['NA', '', '-'])", "a,b,c\n1,,x\n,,NA\n3,4.5,\n4,,\n"},
		{"SELECT a + 1 AS a, b IS NULL AS n, c = '' AS e FROM read_csv('n.csv', nullstr = 'NA') WHERE b IS NOT NULL", "a,n,e\n,false,false\n4,false,true\n5,false,true\n"},
		{"CREATE TABLE t FROM 'n.csv' (a BIGINT, b DOUBLE) WITH (nullstr ['NA', '-', '']); SELECT count(*), count(a), sum(b) FROM t", "count(*),count(a),sum(b)\n4,3,4.5\n"},
		{"SELECT sum(a) AS a FROM read_csv('n.csv', nullstr = 'NA') WHERE a > 1", "a\n7\n"},
		{"SELECT count(*) AS n FROM read_csv('n.csv', nullstr = 'NA') AS x JOIN read_csv('n.csv', nullstr = '-') AS y ON x.c = y.c", "n\n6\n"},
		{"SELECT _line, a, b FROM read_csv('c.csv', comment = '#')", "_line,a,b\n4,1,2\n7,5,\"6 \"\n8,#,7\n"},
		{"SELECT _line, a::BIGINT + b::BIGINT AS s FROM read_csv('c.csv', comment = '#') WHERE a <> '#'", "_line,s\n4,3\n7,11\n"},
		{"SELECT _line, * FROM read_csv('h.csv', header = false)", "_line,column0,column1\n1,Oslo,1.5\n2,Rome,20.0\n"},
		{"SELECT _line, city, t FROM read_csv('h.csv', delim = ';', header = false, skip = 1, columns = {'city': 'TEXT', 't': 'DOUBLE'})", "_line,city,t\n2,Rome,20.0\n"},
		{"CREATE TABLE h FROM 'h.csv' (city TEXT, t DECIMAL(4, 1)) WITH (header false); SELECT max(t) AS t FROM h", "t\n20.0\n"},
	} {
		if r := posta(t, "sql", "-q", "--csv", "--strict", "--data", dir, c.ask); r.out != c.want || r.code != exitOK {
			t.Errorf("%s: exit code %d\n%s%s", c.ask, r.code, r.out, r.err)
		}
	}
	long := "read_csv('h.csv', header = false, columns = {'city': 'TEXT', '" + strings.Repeat("x", 300) + "': 'DOUBLE'})" // longer than the name of a stream
	if r := posta(t, "sql", "-q", "--csv", "--data", dir, "SELECT city FROM "+long+" AS a JOIN "+long+" AS b USING (city) ORDER BY 1"); r.out != "city\nOslo\nRome\n" {
		t.Errorf("a long call: %s%s", r.out, r.err)
	}
	if r := sqlFrom(t, "# x\n1|2\n", "CREATE TABLE t FROM '-' (a BIGINT, b BIGINT) WITH (comment '#', header false); SELECT a, b FROM t"); r.out != "a,b\n1,2\n" {
		t.Errorf("standard input: %s%s", r.out, r.err)
	}
}
