package cmd

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
)

// TestQ3_StatementsThatShareAScanDoNotTouchEachOther: one statement overflows and another one rejects rows. All others get their answers.
func TestQ3_StatementsThatShareAScanDoNotTouchEachOther(t *testing.T) {
	dir := table(t, "t.csv", "i,x,c\n1,0.5,a\n2,bad,b\n9223372036854775807,1.5,c\n")
	// The samples show that x is not a number, so the statement has to cast it.
	declared := "CREATE TABLE d FROM 't.csv' (i BIGINT, x DOUBLE, c TEXT);\n"
	file := filepath.Join(t.TempDir(), "q.sql")
	if err := os.WriteFile(file, []byte(declared+"-- name: rows\nSELECT count(*) FROM d;\n-- name: over\nSELECT max(i + 1) FROM d;\n-- "+
		"name: fine\nSELECT c FROM d ORDER BY i DESC LIMIT 1;\n-- name: xs\nSELECT sum(x) FROM d"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report.html")
	r := posta(t, "sql", "--data", dir, "--json", "-f", file, "--html", report)
	if _, err := os.Stat(report); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a report, which lacks an answer: %v", err)
	}
	var got struct {
		Queries map[string]struct{ Rows [][]any }
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	answers := fmt.Sprint(got.Queries["rows"].Rows, got.Queries["fine"].Rows, got.Queries["xs"].Rows, len(got.Queries))
	if r.code != exit.Session || answers != "[[3]] [[c]] [[2]] 3" || !strings.Contains(r.err, "answered one by one") ||
		!strings.Contains(r.err, "over: ") {
		t.Errorf("exit code %d, answers %s\n%s", r.code, answers, r.err)
	}
}

// TestLimitStopsReading: rows after the first ones of a large file are not read.
func TestLimitStopsReading(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("id,n,pad\n")
	for i := range 220_000 {
		fmt.Fprintf(&b, "%d,%d,%050d\n", i, i%10, i)
	}
	b.WriteString("300000,bad,\n")
	dir := table(t, "t.csv", b.String())
	from := " FROM d LIMIT 2"
	declared := "CREATE TABLE d FROM 't.csv' (id BIGINT, n BIGINT, pad TEXT); SELECT id, n"
	if r := must(t, "sql", "--data", dir, "--csv", declared+from); r.out != "id,n\n0,0\n1,1\n" || strings.Contains(r.err, "rejected") {
		t.Errorf("%s%s", r.out, r.err)
	}
	if r := must(t, "sql", "--data", dir, "--csv", declared+" FROM d WHERE id >= 219999 LIMIT 2"); r.out != "id,n\n219999,9\n" ||
		!strings.Contains(r.err, "rejected") {
		t.Errorf("rows at the end of the file: %s%s", r.out, r.err)
	}
	if r := must(t, "sql", "--data", dir, "--csv", declared+" FROM d WHERE id % 200000 = 7 LIMIT 1 OFFSET 1"); r.out != "id,n\n200007,7\n" {
		t.Errorf("a row behind the first megabytes: %s%s", r.out, r.err)
	}
}

// TestQ7_PassesAreSessions: a query over a large table is answered first, and its answer travels with the next session. A pipe can be read
// once.
func TestQ7_PassesAreSessions(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // a packed file counts as larger than it is
	r := rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(z, "s")
	for range 130_000 {
		fmt.Fprintf(z, "%016x%016x%016x%016x%016x%016x%016x%016x%016x\n", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(),
			r.Uint64(), r.Uint64(), r.Uint64())
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := table(t, "t.csv.gz", b.String())
	got := must(t, "sql", "--data", dir, "--csv", "SELECT count(*) AS n, count(DISTINCT s) AS d FROM t WHERE s > (SELECT min(s) FROM t)")
	if got.out != "n,d\n129999,129999\n" || !strings.Contains(got.err, "pass 1: ") || !strings.Contains(got.err, "pass 2, the last one") {
		t.Errorf("%s%s", got.out, got.err)
	}
	got = must(t, "sql", "--data", dir, "--csv", "SELECT count(*) AS n FROM t WHERE s IN (SELECT s FROM t)")
	if got.out != "n\n130000\n" || !strings.Contains(got.err, "more rows than a plan takes") {
		t.Errorf("many rows: %s%s", got.out, got.err)
	}
	pipe := filepath.Join(dir, "p.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(pipe, []byte("n\n1\n2\n"), 0) }()
	got = must(t, "sql", "--data", dir, "--csv",
		"CREATE TABLE p FROM 'p.csv' (n BIGINT); SELECT n FROM p WHERE n > (SELECT min(n) FROM p) LIMIT 1")
	if got.out != "n\n2\n" {
		t.Errorf("a pipe: %s%s", got.out, got.err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
