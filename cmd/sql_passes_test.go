package cmd

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// twoPasses returns a directory with a table t of two columns that joiners do not have whole, so that a query about it in WHERE is a pass of its own. The
// column n has a value that is not a BIGINT in line 3, and the column s a NULL in line 4.
func twoPasses(t *testing.T) (dir, statement string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // packed files are taken for larger than they are
	r := rand.New(rand.NewPCG(1, 2))
	fmt.Fprint(z, "s,n\na,1\nb,x\n,3\n")
	for range 130_000 {
		fmt.Fprintf(z, "%016x%016x%016x%016x%016x%016x%016x%016x%016x,5\n", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
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
		var out, said safeBuffer
		var began time.Time
		in := &calling{Writer: &said, at: at, do: func() { began = time.Now(); cancel() }}
		code := run(ctx, context.Background(), program(), []string{"posta", "sql", "--data", dir, "--csv", statement}, Console{In: strings.NewReader(""), Out: &out, Err: in})
		cancel()
		if code != exitInterrupted || out.String() != "" || !strings.HasSuffix(said.String(), "posta: interrupted\n") {
			t.Errorf("%s: exit code %d after %s: %s%s", at, code, time.Since(began), out.String(), said.String())
		}
		t.Logf("%s: ended after %s", at, time.Since(began))
	}
}
