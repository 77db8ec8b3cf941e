package cmd

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
)

// packer returns a writer of a packed file, which is taken for larger than it is. It only counts bits: to search random text for
// repetitions takes half a minute with the race detector, and finds none.
func packer(w io.Writer) *gzip.Writer {
	z, err := gzip.NewWriterLevel(w, gzip.HuffmanOnly)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}

// twoPasses returns a directory with a table t of two columns that joiners do not have whole, so that a query about it in WHERE is a pass
// of its own. The column n has a value that is not a BIGINT in line 3, and the column s a NULL in line 4.
func twoPasses(t *testing.T) (dir, statement string) {
	t.Helper()
	var b bytes.Buffer
	z := packer(&b)
	r := rand.New(rand.NewPCG(1, 2))
	fmt.Fprint(z, "s,n\na,1\nb,x\n,3\n")
	for range 130_000 {
		fmt.Fprintf(z, "%016x%016x%016x%016x%016x%016x%016x%016x%016x,5\n", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(),
			r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const declared = "CREATE TABLE t FROM 't.csv' (s TEXT, n BIGINT); "
	return table(t, "t.csv.gz", b.String()), declared + "SELECT count(DISTINCT s) AS d FROM t WHERE n >= (SELECT min(n) FROM t WHERE s >= '0')"
}

// A row that each of two passes rejects is listed once.
func TestARowIsRejectedOnceByAllPasses(t *testing.T) {
	dir, statement := twoPasses(t)
	file := filepath.Join(t.TempDir(), "rejects.csv")
	r := must(t, "sql", "--data", dir, "--csv", "--rejects", file, statement)
	if !strings.Contains(r.err, "pass 2, the last one") || r.out != "d\n130001\n" {
		t.Fatalf("%s%s", r.out, r.err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b); strings.Count(got, "\n") != 2 || !strings.Contains(got, "\nt,t.csv,3,") {
		t.Errorf("the file of rejected rows has\n%s", got)
	}
}

// TestQ3_PassesShareTheScanOfOthers: the first passes of two statements share the session of a third one, and what follows shares another
// session. Each statement rejects rows for itself, each row once, even one that only a pass rejects.
func TestQ3_PassesShareTheScanOfOthers(t *testing.T) {
	dir, first := twoPasses(t)
	text := strings.Replace(first, "SELECT", "-- name: first\nSELECT", 1) + ";\n-- name: rest\nSELECT count(*) AS c FROM t WHERE s >= " +
		"(SELECT min(s) FROM t WHERE n >= 5);\n-- name: texts\nSELECT count(s) AS c FROM t"
	file := filepath.Join(t.TempDir(), "rejects.csv")
	r := must(t, "sql", "--data", dir, "--json", "--rejects", file, "--max-rejected", "1", text)
	got := parse(t, r.out)
	if answers := fmt.Sprint(got.Queries["first"].Rows, got.Queries["rest"].Rows,
		got.Queries["texts"].Rows); answers != "[[130001]] [[130002]] [[130002]]" {
		t.Errorf("%s\n%s", answers, r.err)
	}
	var all struct {
		Rejected map[string]struct{ Rows int }
	}
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(all.Rejected); told != "map[t for first:{1} t for rest:{1} t for texts:{0}]" ||
		strings.Count(r.err, "1 row rejected") != 2 {
		t.Errorf("rejected: %s", told)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	slices.Sort(lines[1:])
	if listed := strings.Join(lines[1:], "; "); listed !=
		`t for first,t.csv,3,"n ""x"" is not a BIGINT","b,x"; t for rest,t.csv,3,"n ""x"" is not a BIGINT","b,x"` {
		t.Errorf("listed: %s", listed)
	}
	for _, says := range []string{"first, pass 1: ", "rest, pass 1: ", "first, pass 2, the last one", "rest, pass 2, the last one"} {
		if strings.Count(r.err, says) != 1 {
			t.Errorf("%q is not said once:\n%s", says, r.err)
		}
	}
	if n := strings.Count(r.err, "t: sent"); n != 2 || strings.Contains(r.err, "one by one") {
		t.Errorf("the table is read %d times:\n%s", n, r.err)
	}
	told := must(t, "sql", "--data", dir, "--explain", text).out
	for _, says := range []string{"  pass 1 shares its scan with rest and texts\n", "  shares its scan with first and rest\n"} {
		if !strings.Contains(told, says) {
			t.Errorf("--explain does not say %q:\n%s", says, told)
		}
	}
}

// TestQ3_WhatFailsAfterSharedPassesTouchesNoOther: a statement that overflows behind its pass, and a column that turns out to be wider
// behind a pass, change no other answer.
func TestQ3_WhatFailsAfterSharedPassesTouchesNoOther(t *testing.T) {
	dir, _ := twoPasses(t)
	const where = "FROM d WHERE n >= (SELECT min(n) FROM d WHERE s >= '0')"
	r := posta(t, "sql", "--data", dir, "--json",
		"CREATE TABLE d FROM 't.csv' (s TEXT, n BIGINT);\n-- name: over\nSELECT max(n + 9223372036854775806) "+where+";\n-- name: "+
			"fine\nSELECT count(DISTINCT s) AS d "+where+";\n-- name: all\nSELECT count(*) FROM d")
	got := parse(t, r.out)
	if answers := fmt.Sprint(got.Queries["fine"].Rows, got.Queries["all"].Rows, len(got.Queries)); r.code != exit.Session ||
		answers != "[[130001]] [[130003]] 2" || !strings.Contains(r.err, "over: ") || strings.Count(r.err, "one by one") != 1 {
		t.Errorf("exit code %d, answers %s\n%s", r.code, answers, r.err)
	}

	var b bytes.Buffer
	z := packer(&b)
	fmt.Fprintln(z, "s,m")
	g := rand.New(rand.NewPCG(1, 2))
	for i := range 130_000 {
		m := "1"
		if i == 30_000 {
			m = "0.5"
		}
		for range 20 {
			fmt.Fprintf(z, "%016x", g.Uint64())
		}
		fmt.Fprintf(z, ",%s\n", m)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir = table(t, "w.csv.gz", b.String())
	r = must(t, "sql", "--data", dir, "--json", "SELECT 1 AS one;\n-- name: wide\nSELECT sum(m) AS m FROM w WHERE s >= (SELECT min(s) FROM "+
		"w);\n-- name: thin\nSELECT count(DISTINCT s) AS d FROM w WHERE s > (SELECT min(s) FROM w)")
	got = parse(t, r.out)
	if answers := fmt.Sprint(got.Queries["wide"].Rows, got.Queries["thin"].Rows); answers != "[[129999.5]] [[129999]]" ||
		!strings.Contains(r.err, "column m of w is DOUBLE") || !strings.Contains(r.err, "wide, pass 2") {
		t.Errorf("answers %s\n%s", answers, r.err)
	}
}

// calling calls do once, when a text is written.
type calling struct {
	io.Writer
	at string
	do func()
}

func (c *calling) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.at) {
		c.do()
	}
	return c.Writer.Write(b)
}

// Ctrl-C at the first pass, and between two of them, ends the statement.
func TestCtrlCBetweenPasses(t *testing.T) {
	dir, statement := twoPasses(t)
	for _, at := range []string{"pass 1: ", "pass 2, the last one"} {
		ctx, cancel := context.WithCancel(context.Background())
		var out, said await.Log
		var began time.Time
		in := &calling{Writer: &said, at: at, do: func() { began = time.Now(); cancel() }}
		code := runWithin(ctx, context.Background(), program(), []string{"posta", "sql", "--data", dir, "--csv", statement},
			Console{In: strings.NewReader(""), Out: &out, Err: in})
		cancel()
		if code != exit.Interrupted || out.String() != "" || !strings.HasSuffix(said.String(), "posta: interrupted\n") {
			t.Errorf("%s: exit code %d after %s: %s%s", at, code, time.Since(began), out.String(), said.String())
		}
		t.Logf("%s: ended after %s", at, time.Since(began))
	}
}
