package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/topology"
)

// An error of a statement for a row begins with what is wrong and the place in the statement, then says where the row is; who says so comes
// last.
func TestQ4_ARowsErrorSaysWhatAndWhere(t *testing.T) {
	dir := table(t, "t.csv", "a,b\n1,x\n-4,y\n")
	for statement, want := range map[string]string{
		"SELECT sqrt(a) FROM t": `posta: line 1, column 8: the square root of a negative number does not exist
    SELECT sqrt(a) FROM t
           ^
    The row is in t.csv, at or behind line 2; a condition in WHERE or CASE can leave it out.
    (WHERE)
`,
		"SELECT sum(a * 9223372036854775807) FROM t": `posta: line 1, column 14: the result of * does not fit into a BIGINT
    SELECT sum(a * 9223372036854775807) FROM t
                 ^
    The row is in t.csv, at or behind line 2; a condition in WHERE or CASE can leave it out.
    (WHERE)
`,
		"SELECT ln(sum(a)) FROM t": `posta: line 1, column 8: the logarithm of a number that is not above 0 does not exist
    SELECT ln(sum(a)) FROM t
           ^
    (WHERE)
`,
	} {
		r := posta(t, "sql", "-q", "--data", dir, statement)
		got := regexp.MustCompile(`(?s)^.*?posta: `).ReplaceAllString(r.err, "posta: ")
		// an upload may hear of it before the session's end does
		got = regexp.MustCompile(`\((session [0-9a-f-]{36}, )?(joiner|input|reducer)-1\)`).ReplaceAllString(got, "(WHERE)")
		if r.code != exit.Session || got != want {
			t.Errorf("exit code %d:\n%swant\n%s", r.code, r.err, want)
		}
	}
	r := posta(t, "sql", "-q", "--data", dir, "SELECT b::BIGINT FROM t; SELECT sqrt(a) FROM t WHERE b = 'y'")
	for _, want := range []string{"query_1: line 1, column 9: TEXT \"x\" cannot be converted", "query_2: line 1, column 33: the square root",
		"TRY_CAST gives NULL"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("two statements: %q is missing in\n%s", want, r.err)
		}
	}
}

// TestR13_AFailureSurvivesItsNodes: after kill -9 of all nodes, their logs make the same message and exit code of a failed session.
func TestR13_AFailureSurvivesItsNodes(t *testing.T) {
	dir := table(t, "t.csv", "a,b\n1,x\n-4,y\n")
	statement := filepath.Join(dir, "ask.sql")
	if err := os.WriteFile(statement, []byte("SELECT ln(sum(a)) FROM t"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newTestCluster(t)
	k.must("up")
	r := k.call("submit", statement, "--data", dir)
	m := regexp.MustCompile(`(?s)posta: line 1, column 8: the logarithm of .*\^\n    \(session ([0-9a-f-]{36}), reducer-1\)\n$`).FindStringSubmatch(r.err)
	if r.code != exit.Session || m == nil {
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}
	k.killMedics()
	topo, err := topology.Load(k.file)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range topo.Nodes() {
		k.kill(string(n.ID), syscall.SIGKILL)
	}
	k.must("up")
	if r := k.call("results", m[1]); r.code != exit.Session || r.err != m[0] {
		t.Errorf("exit code %d:\n%s", r.code, r.err)
	}
}

// TestAStrayQuoteIsBadInput: file and line come first and once, no node is named, and the exit code says that the input is bad, in whatever
// way the file is read.
func TestAStrayQuoteIsBadInput(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Repeat("4,5,6\n", 20)
	for name, text := range map[string]string{"open": "7,\"8,9\n" + lines, "closed": "\"7\n7\",\"8,9\n" + lines + "4,5\",3\n",
		"texts": "1,\"2,3\n" + lines + "4,5\",3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte("a,b,c\n1,2,3\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const sum = "SELECT count(b) AS n, max(length(b::TEXT)) AS most FROM "
	for _, how := range []string{"--quiet", "--send", "--strict"} {
		for file, want := range map[string]string{
			"open": "posta: open.csv, line 3: the quote that opens field 2 is never closed, or there is text after its closing quote, and most " +
				"likely the field's 21 lines are rows: " +
				"remove the quote, or put the field in quotes and write the quote twice\n",
			"closed": "posta: closed.csv, line 4: the quote that opens field 2 is closed much later, and most likely the field's 22 lines are " +
				"rows: " +
				"remove the quote, or put the field in quotes and write the quote twice; if the field is one text, read the file with " +
				"read_csv('closed.csv', multiline = true)\n",
		} {
			if r := posta(t, "sql", how, "--data", dir, sum+"'"+file+".csv'"); r.code != exit.Usage || !strings.HasSuffix("\n"+r.err, "\n"+want) ||
				strings.Count(r.err, file+".csv, line") != 1 {
				t.Errorf("%s: exit code %d\n%swant\n%s", how, r.code, r.err, want)
			}
		}
	}
	for _, from := range []string{"read_csv('texts.csv', multiline = true)", "read_csv('texts.csv', multiline = true, comment = '#')"} {
		if r := must(t, "sql", "-q", "--csv", "--strict", "--data", dir, sum+from); r.out != "n,most\n2,127\n" {
			t.Errorf("%s: %s%s", from, r.out, r.err)
		}
	}
	if r := must(t, "sql", "-q", "--csv", "--data", dir,
		"CREATE TABLE t FROM 'texts.csv' (b TEXT) WITH (multiline true); "+sum+"t"); r.out != "n,most\n2,127\n" {
		t.Errorf("a declared table: %s%s", r.out, r.err)
	}
	if r := posta(t, "sql", "-q", "--data", dir, sum+"read_csv('open.csv', multiline = true)"); r.code != exit.Usage ||
		strings.Contains(r.err, "multiline") {
		t.Errorf("a quote that is never closed: exit code %d\n%s%s", r.code, r.out, r.err)
	}
}
