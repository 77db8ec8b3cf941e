package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
)

// TestSQLReadsOtherCSV: options say what a file is that is not CSV with a header. The answers are DuckDB's, with
// allow_quoted_nulls = false.
func TestSQLReadsOtherCSV(t *testing.T) {
	dir := table(t, "n.csv", "a,b,c\n1,NA,x\nNA,,\"NA\"\n3,4.5,\n4,-,\"\"\n")
	for name, text := range map[string]string{
		"c.csv":     "# made \"today,\n# by hand\na;b\n1;2\n\n#3;4\n5;6 # last\n\"#\";\"7\"\n",
		"h.csv":     "Oslo;1.5\nRome;20\n",
		"part1.csv": "a,b\n1,2\n", "part2.csv": "a\n3\n", "title.csv": "Report\n\nid,name\n1,x\n2,y\n",
		"lines.jsonl": "{\"a\": 1}\n",
		"blanks.csv":  "a,b,t,c\n1, 2,2024-01-02, x\n2, 3.5 , 2024-02-29,y\n", "one.csv": "x\n1\n\n2\n\n", "onec.csv": "#\nx\n1 # one\n#\n2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ ask, want string }{
		{"SELECT * FROM read_csv('n.csv', nullstr = ['NA', '', '-'])", "a,b,c\n1,,x\n,,NA\n3,4.5,\n4,,\"\"\n"},
		{"SELECT a + 1 AS a, b IS NULL AS n, c = '' AS e FROM read_csv('n.csv', nullstr = 'NA') WHERE b IS NOT NULL",
			"a,n,e\n,false,false\n4,false,true\n5,false,true\n"},
		{"CREATE TABLE t FROM 'n.csv' (a BIGINT, b DOUBLE) WITH (nullstr ['NA', '-', '']); SELECT count(*), count(a), sum(b) FROM t",
			"count(*),count(a),sum(b)\n4,3,4.5\n"},
		{"SELECT sum(a) AS a FROM read_csv('n.csv', nullstr = 'NA') WHERE a > 1", "a\n7\n"},
		{"SELECT count(*) AS n FROM read_csv('n.csv', nullstr = 'NA') AS x JOIN read_csv('n.csv', nullstr = '-') AS y ON x.c = y.c", "n\n6\n"},
		{"SELECT _line, a, b FROM read_csv('c.csv', comment = '#')", "_line,a,b\n4,1,2\n7,5,6\n8,#,7\n"},
		{"SELECT _line, a::BIGINT + b::BIGINT AS s FROM read_csv('c.csv', comment = '#') WHERE a <> '#'", "_line,s\n4,3\n7,11\n"},
		{"SELECT _line, * FROM read_csv('h.csv', header = false)", "_line,column0,column1\n1,Oslo,1.5\n2,Rome,20.0\n"},
		{"SELECT _line, city, t FROM read_csv('h.csv', delim = ';', header = false, skip = 1, columns = {'city': 'TEXT', 't': 'DOUBLE'})",
			"_line,city,t\n2,Rome,20.0\n"},
		{"CREATE TABLE h FROM 'h.csv' (city TEXT, t DECIMAL(4, 1)) WITH (header false); SELECT max(t) AS t FROM h", "t\n20.0\n"},
		{"CREATE TABLE h FROM 'h.csv' (city TEXT) WITH (header false); SELECT city FROM h", "city\nOslo\nRome\n"},
		{
			"CREATE TABLE h FROM 'h.csv' (city TEXT, t DOUBLE, u TEXT) WITH (header false, missing 'null'); SELECT sum(t) AS t, count(u) AS u " +
				"FROM h", "t,u\n21.5,0\n"},
		{"SELECT a, b FROM read_csv('part*.csv', missing = 'null') ORDER BY a", "a,b\n1,2\n3,\n"},
		{"SELECT a, b FROM read_csv('part*.csv', union_by_name = true) ORDER BY a", "a,b\n1,2\n3,\n"},
		{"SELECT a, b FROM read_csv('part*.csv', union_by_name = true, columns = {'a': 'BIGINT', 'b': 'TEXT'}) ORDER BY a", "a,b\n1,2\n3,\n"},
		{"SELECT * FROM read_csv('title.csv', skip = 2)", "id,name\n1,x\n2,y\n"},
		{"SELECT sum(b) AS b, max(t) AS t, max(length(c)) AS n FROM 'blanks.csv'", "b,t,n\n5.5,2024-02-29,2\n"},
		{"SELECT count(*) AS n, count(x) AS x FROM 'one.csv'", "n,x\n4,2\n"},
		{"SELECT _line, x FROM read_csv('onec.csv', comment = '#')", "_line,x\n3,1\n5,2\n"},
		{"SELECT _line, x FROM read_csv('one.csv', skip = 1, header = false, columns = {'x': 'BIGINT'})", "_line,x\n2,1\n4,2\n"},
	} {
		if r := posta(t, "sql", "-q", "--csv", "--strict", "--data", dir, c.ask); r.out != c.want || r.code != exit.OK {
			t.Errorf("%s: exit code %d\n%s%s", c.ask, r.code, r.out, r.err)
		}
	}
	for call, want := range map[string]string{
		"read_csv('title.csv')": dir + "/title.csv: its first line has 1 field, and most lines below have 2\n",
		"'title.csv'": "If the lines above line 3 are a title, leave them out: read_csv('title.csv', " +
			"skip = 2).\n",
		"read_csv('part*.csv')":                              "there is no column \"b\"",
		"read_csv('part*.csv', missing = 'error')":           "there is no column \"b\"",
		"read_csv('part*.csv', missing = 'perhaps')":         "the option missing is not supported with this value\n",
		"read_csv('part*.csv', union_by_name = false)":       "the option union_by_name is not supported with this value\n",
		"read_json('lines.jsonl', delim = ';')":              "lines.jsonl is not CSV, and the option delim is about CSV\n",
		"read_csv('title.csv', auto_detect = false)":         "the option auto_detect is not supported with this value\n",
		"read_csv('title.csv', ignore_errors = false)":       "the option ignore_errors is not supported with this value\n",
		"read_csv('title.csv', escape = '/')":                "the option escape is not supported with this value\n",
		"read_csv('title.csv', format = 'array')":            "the option format is not supported with this value\n",
		"read_csv('title.csv', hive_partitioning = true)":    "the option hive_partitioning is not supported with this value\n",
		"read_csv('title.csv', sample_size = -1)":            "the option sample_size is not supported with this value\n",
		"read_csv('title.csv', null_padding = true)":         "the option null_padding is not supported with this value\n",
		"read_csv('title.csv', encoding = 'latin-1')":        "the option encoding is not supported with this value\n",
		"read_csv('title.csv', decimal_separator = ',')":     "the option decimal_separator is not supported with this value\n",
		"read_csv('title.csv', skip = 2, dateformat = '%d')": "the option dateformat is not supported with this value\n",
	} {
		if r := posta(t, "sql", "-q", "--data", dir, "SELECT * FROM "+call); r.code != exit.Usage || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit code %d\n%s%s", call, r.code, r.out, r.err)
		}
	}
	// longer than the name of a stream
	long := "read_csv('h.csv', header = false, columns = {'city': 'TEXT', '" + strings.Repeat("x", 300) + "': 'DOUBLE'})"
	if r := posta(t, "sql", "-q", "--csv", "--data", dir,
		"SELECT city FROM "+long+" AS a JOIN "+long+" AS b USING (city) ORDER BY 1"); r.out != "city\nOslo\nRome\n" {
		t.Errorf("a long call: %s%s", r.out, r.err)
	}
	if r := sqlFrom(t, "# x\n1|2\n",
		"CREATE TABLE t FROM '-' (a BIGINT, b BIGINT) WITH (comment '#', header false); SELECT a, b FROM t"); r.out != "a,b\n1,2\n" {
		t.Errorf("standard input: %s%s", r.out, r.err)
	}
}

// TestNotesAboutSamples: bytes that are not UTF-8 stay in the answer and are named in a note, and so are blanks that are not read.
func TestNotesAboutSamples(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"latin.csv":   "name,n\nabc,1\nM\xfcller,2\n",
		"windows.csv": "name,n\n\"\x93a\x94\",1\n",
		"head.csv":    "gr\xf6\xdfe,n\n1,1\n",
		"utf.csv":     "name,n\nM\u00fcller,2\n",
		"blanks.csv":  "a,b\n1,x \n 2,y\n",
		"quotes.csv":  "a,b\n \"x\",1\ny,2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, flag, out, note string }{
		{"latin", "--csv", "name,n\nabc,1\nM\xfcller,2\n", "latin.csv: line 3 has bytes that are not UTF-8. They stay as they are, and become " +
			"U+FFFD in JSON, Parquet and PostgreSQL. The file may be ISO-8859-1: convert it with iconv -f ISO-8859-1 -t UTF-8\n"},
		{"latin", "--json", "M\ufffdller", "latin.csv: line 3 has bytes"},
		{"windows", "--csv", "name,n\n\x93a\x94,1\n", "windows.csv: line 2 has bytes that are not UTF-8. They stay as they are, and become " +
			"U+FFFD in JSON, Parquet and PostgreSQL. The file may be WINDOWS-1252: "},
		{"head", "--csv", "\n1,1\n", "head.csv: its header has bytes that are not UTF-8. They become U+FFFD in the names of columns. "},
		{"utf", "--csv", "name,n\nM\u00fcller,2\n", ""},
		{"quotes", "--csv", "a,b\n\" \"\"x\"\"\",1\ny,2\n", "note: column a of quotes has values like \" \\\"x\\\"\" in "},
		{"blanks", "--csv", "a,b\n1,\"x \"\n2,y\n",
			"note: column a of blanks is BIGINT, read without blanks around its values, such as \" 2\" in "},
	} {
		r := posta(t, "sql", "-q", c.flag, "--data", dir, "SELECT * FROM "+c.file+" ORDER BY 2")
		if r.code != exit.OK || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.note) || c.note == "" && r.err != "" {
			t.Errorf("%s, %s: exit code %d\n%q\n%s", c.file, c.flag, r.code, r.out, r.err)
		}
	}
}
