package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
)

// TestQuestionsOfANewUser: questions over files with blanks and dots in headers, 200 columns, dates in three forms, line ends in quotes,
// and a column of JSON. Their author had not read the grammar, and a program in another language has computed the answers.
func TestQuestionsOfANewUser(t *testing.T) {
	dir := filepath.Join("testdata", "questions")
	b, err := os.ReadFile(filepath.Join(dir, "answers.json"))
	var want map[string][][]any
	if err = errors.Join(err, json.Unmarshal(b, &want)); err != nil || len(want) < 46 {
		t.Fatalf("%d answers, %v", len(want), err)
	}
	got := parse(t, must(t, "sql", "--quiet", "--json", "--data", dir, "-f", filepath.Join(dir, "questions.sql")).out).Queries
	for name, rows := range want {
		same := len(got[name].Rows) == len(rows)
		for i := 0; same && i < len(rows); i++ {
			same = len(got[name].Rows[i]) == len(rows[i])
			for j := 0; same && j < len(rows[i]); j++ {
				same = sameNumberOrText(got[name].Rows[i][j], rows[i][j])
			}
		}
		if !same {
			t.Errorf("%s is %.300v, want %.300v", name, got[name].Rows, rows)
		}
	}
}

// sameNumberOrText compares numbers with a relative tolerance of 1e-9, because the other program adds one number after the other.
func sameNumberOrText(a, b any) bool {
	y, isNumber := b.(float64)
	if !isNumber {
		return a == b
	}
	x, err := strconv.ParseFloat(fmt.Sprint(a), 64)
	return err == nil && math.Abs(x-y) <= 1e-9*max(1, math.Abs(x), math.Abs(y))
}

// TestSQLRejectsNoMoreThanItMay: --strict and --max-rejected work for statements.
func TestSQLRejectsNoMoreThanItMay(t *testing.T) {
	dir := table(t, "t.csv", "n\n1\nx\n2\ny\n")
	ask := func(flags ...string) result {
		return posta(t, append([]string{"sql", "-q", "--csv", "--data", dir,
			"CREATE TABLE u FROM 't.csv' (n BIGINT); SELECT sum(n) AS n FROM u"}, flags...)...)
	}
	if r := ask("--max-rejected", "2"); r.code != exit.OK || r.out != "n\n3\n" {
		t.Errorf("--max-rejected 2: exit code %d, %s%s", r.code, r.out, r.err)
	}
	for _, flags := range [][]string{{"--strict"}, {"--max-rejected", "1"}} {
		if r := ask(flags...); r.code != exit.Usage || r.out != "" {
			t.Errorf("%v: exit code %d, %s%s", flags, r.code, r.out, r.err)
		}
	}
}

// TestQ3_EachStatementRejectsRowsForItself: statements that share a scan count, list and limit their rejected rows separately, and so does
// a statement with a session of its own beside them.
func TestQ3_EachStatementRejectsRowsForItself(t *testing.T) {
	dir := table(t, "t.csv", "n,x\n1,0.5\nbad,1.5\n3,bad\n4,worse\n5\nworst,worst\n")
	if err := os.WriteFile(filepath.Join(dir, "u.csv"), []byte("k\n1\nodd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = `CREATE TABLE d FROM 't.csv' (n BIGINT, x DOUBLE); CREATE TABLE e FROM 'u.csv' (k BIGINT);
-- name: ns
SELECT sum(n) AS n FROM d;
-- name: xs
SELECT sum(x) AS x FROM d;
-- name: ks
SELECT sum(k) AS k FROM e`
	file := filepath.Join(t.TempDir(), "rejects.csv")
	r := must(t, "sql", "--data", dir, "--json", "--rejects", file, "--max-rejected", "4", text)
	var got struct {
		Queries  map[string]struct{ Rows [][]any }
		Rejected map[string]struct{ Rows int }
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err)
	}
	answers := fmt.Sprint(got.Queries["ns"].Rows, got.Queries["xs"].Rows, got.Queries["ks"].Rows, got.Rejected)
	if answers != "[[8]] [[2]] [[1]] map[d for ns:{3} d for xs:{4} e for ks:{1}]" || strings.Contains(r.err, "one by one") {
		t.Errorf("%s\n%s", answers, r.err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	slices.Sort(lines[1:])
	want := []string{
		"stream,file,line,reason,row",
		`d for ns,t.csv,3,"n ""bad"" is not a BIGINT","bad,1.5"`, `d for ns,t.csv,6,"row has 1 field, and the header has 2",5`,
		`d for ns,t.csv,7,"n ""worst"" is not a BIGINT","worst,worst"`,
		`d for xs,t.csv,4,"x ""bad"" is not a DOUBLE","3,bad"`, `d for xs,t.csv,5,"x ""worse"" is not a DOUBLE","4,worse"`,
		`d for xs,t.csv,6,"row has 1 field, and the header has 2",5`, `d for xs,t.csv,7,"x ""worst"" is not a DOUBLE","worst,worst"`,
		`e for ks,u.csv,3,"k ""odd"" is not a BIGINT",odd`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s:\n%s", file, strings.Join(lines, "\n"))
	}
	if r := posta(t, "sql", "--data", dir, "--max-rejected", "3", text); r.code != exit.Usage ||
		!strings.Contains(r.err, "stream d for xs, file t.csv, line 7: x") {
		t.Errorf("--max-rejected 3: exit code %d, %s", r.code, r.err)
	}
}
