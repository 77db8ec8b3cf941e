package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestQuestionsOfANewUser: questions over files with blanks and dots in headers, 200 columns, dates in three forms, line ends in quotes, and a column of JSON.
// They were written before the grammar was read; a program in another language has computed the answers.
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

// sameNumberOrText compares numbers to 1e-9 of their size: the other program adds one after the other.
func sameNumberOrText(a, b any) bool {
	y, isNumber := b.(float64)
	if !isNumber {
		return a == b
	}
	x, err := strconv.ParseFloat(fmt.Sprint(a), 64)
	return err == nil && math.Abs(x-y) <= 1e-9*max(1, math.Abs(x), math.Abs(y))
}

// TestSQLRejectsNoMoreThanItMay: --strict and --max-rejected hold for statements.
func TestSQLRejectsNoMoreThanItMay(t *testing.T) {
	dir := table(t, "t.csv", "n\n1\nx\n2\ny\n")
	ask := func(flags ...string) result {
		return posta(t, append([]string{"sql", "-q", "--csv", "--data", dir, "CREATE TABLE u FROM 't.csv' (n BIGINT); SELECT sum(n) AS n FROM u"}, flags...)...)
	}
	if r := ask("--max-rejected", "2"); r.code != exitOK || r.out != "n\n3\n" {
		t.Errorf("--max-rejected 2: exit code %d, %s%s", r.code, r.out, r.err)
	}
	for _, flags := range [][]string{{"--strict"}, {"--max-rejected", "1"}} {
		if r := ask(flags...); r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit code %d, %s%s", flags, r.code, r.out, r.err)
		}
	}
}
