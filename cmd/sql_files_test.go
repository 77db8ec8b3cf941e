package cmd

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
)

// sqlFrom runs posta sql with a text as standard input.
func sqlFrom(t *testing.T, in string, args ...string) result {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"sql", "-q", "--csv"}, args...)...)
	var out, said strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &said
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{code: cmd.ProcessState.ExitCode(), out: out.String(), err: said.String()}
}

// numbers writes a CSV file that is longer than a sample: n, counted from 0, and a text.
func numbers(rows int, last string) string {
	var b strings.Builder
	b.WriteString("n,s\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,some text that makes it long %d\n", i, i)
	}
	return b.String() + last
}

// TestSQLReadsStandardInput: the command takes samples from standard input before a session reads it. This works for one session, several
// sessions, and passes.
func TestSQLReadsStandardInput(t *testing.T) {
	dir := table(t, "t.csv", "k,v\n1,x\n2,y\n")
	long := numbers(40_000, "")
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{"a,b\n1,2\n3,4\n", []string{"SELECT *, _file FROM '-'"}, "a,b,_file\n1,2,stdin\n3,4,stdin\n"},
		{"a;b\n1;2\n2;4\n", []string{"--data", dir, "--file", "s=-", "SELECT b, v FROM S JOIN t ON a = k"}, "b,v\n2,x\n4,y\n"},
		{long, []string{"SELECT count(*), sum(n) FROM '-'"}, "count(*),sum(n)\n40000,799980000\n"},
		{long, []string{"--data", "",
			"CREATE TABLE t FROM '-' (n BIGINT); SELECT count(*) AS c FROM t WHERE n > (SELECT avg(n) FROM t WHERE s = ''); "},
			"there is no column s"},
		{long, []string{"CREATE TABLE t FROM '-' (n BIGINT); SELECT count(*) AS c FROM t WHERE n > (SELECT avg(n) FROM t)"}, "c\n20000\n"},
		{numbers(40_000, "0.5,x\n"), []string{"SELECT sum(n) FROM '-'"},
			"declare the columns, since this can be read once: CREATE TABLE t FROM '-' (n DOUBLE, s TEXT); and FROM t"},
		{"a\n1\n", []string{"--file", "s=-", "SELECT 1 FROM s, '-'"}, "tables s and - are both standard input"},
		{"SELECT 1 FROM '-'", []string{"--questions", "-"}, "standard input holds the statements"},
		{"", []string{"SELECT * FROM '-'"}, "standard input: bad CSV header: the file is empty"},
	} {
		r := sqlFrom(t, c.in, c.args...)
		if r.out != c.want && !(r.out == "" && r.code != exit.OK && strings.Contains(r.err, c.want)) {
			t.Errorf("%v: exit code %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
}

// TestSQLReadsWhatIsNamed: --file makes a table of files in any place, under any name.
func TestSQLReadsWhatIsNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"x.data": "a\n1\n", "y.data": "a\n2\n", "rides.jsonl": `{"a": 3}` + "\n", "trips.csv": "a\n9\n",
		"b.csv": "a,b\n8,8\n", "odd.csv": "Order ID\n1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--file", "t=" + in("*.data"), "SELECT a, _file FROM T ORDER BY 1"}, "a,_file\n1,t/x.data\n2,t/y.data\n"},
		{[]string{"--file", "t=" + in("x.data"), "--file", "t=" + in("rides.jsonl"), "SELECT sum(a) AS s FROM t"}, "s\n4\n"},
		{[]string{"--data", in("rides.jsonl"), "SELECT a FROM rides"}, "a\n3\n"},
		{[]string{"--data", dir, "--file", "trips=" + in("x.data"), "SELECT a FROM trips"}, "a\n1\n"},
		{[]string{"--data", dir, "--file", "trips/2016.csv=" + in("y.data"), "SELECT a, _file FROM 'trips/*.csv'"},
			"a,_file\n2,trips/2016.csv\n"},
		{[]string{"--data", dir, "--file", "t=-", "CREATE TABLE t FROM '{city}/trips.csv' (a BIGINT); SELECT * FROM t"},
			"does not show what the star stands for"},
		{[]string{"--data", "", "--file", "montreal/trips.csv=" + in("x.data"),
			"CREATE TABLE t FROM '{city}/trips.csv' (a BIGINT); SELECT * FROM t"}, "a,city\n1,montreal\n"},
		{[]string{"--data", "", "--file", "t=" + in("x.data"), "SHOW TABLES"}, "name\nt\n"},
		{[]string{"--file", "t=" + in("none*"), "SELECT * FROM t"}, "nothing matches"},
		{[]string{"--file", "*=" + in("x.data"), "SELECT * FROM t"}, "a table's name has no wildcards"},
		{[]string{"--data", "-", "SELECT * FROM t"}, "standard input is a table of its own, FROM '-'"},
		{[]string{"SELECT * FROM '" + in("x.data") + "'"}, "name the file by --file t=" + in("x.data")},
		{[]string{"--file", "t=" + in("odd.csv"), `SELECT order_id FROM t`}, `Did you mean "Order ID"?`},
		{[]string{"--data", dir, `SELECT * FROM "trips.csv"`}, "stands in single quotes: 'trips.csv'."},
		{[]string{"--file", "t=" + in("trips.csv"), "--file", "t=" + in("b.csv"), "SELECT b FROM t"},
			"to take NULL for a column that a file lacks, declare the table"},
		{[]string{"--data", "", "SELECT * FROM t"}, "Name the directory of the files by --data DIR, or a file by --file NAME=PATH"},
	} {
		r := posta(t, append([]string{"sql", "-q", "--csv"}, c.args...)...)
		if r.out != c.want && !(r.out == "" && r.code == exit.Usage && strings.Contains(r.err, c.want)) {
			t.Errorf("%v: exit code %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
	if r := must(t, "sql", "-q", "--file", "rides="+in("x.data"), "SELECT 1"); !strings.Contains(r.err,
		"warning: no statement reads a table rides") {
		t.Errorf("standard error: %s", r.err)
	}
}

// TestN7_SQLListsAllRejectedRows: each rejected row is listed once, even if a session that failed had already rejected some of them.
func TestN7_SQLListsAllRejectedRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("n,m,pad\n")
	for i := range 40_000 {
		n := fmt.Sprint(i)
		switch {
		case i >= 30_000 && i < 30_020:
			n = "rubbish"
		case i == 35_000: // this row makes the session run again
			n = "0.5"
		}
		fmt.Fprintf(&b, "%s,%d,%030d\n", n, i, i)
	}
	dir := table(t, "t.csv", b.String())
	file := filepath.Join(t.TempDir(), "rejects.csv")
	r := must(t, "sql", "-q", "--csv", "--data", dir, "--rejects", file, "SELECT count(n) AS c FROM t")
	if r.out != "c\n39980\n" {
		t.Errorf("%s%s", r.out, r.err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(rows) != 21 || strings.Join(rows[0], ",") != "stream,file,line,reason,row" {
		t.Fatalf("%v: %d rows\n%.300s", err, len(rows), text)
	}
	for i, row := range rows[1:] {
		if row[0] != "t" || row[1] != "t.csv" || row[2] != fmt.Sprint(30_002+i) || !strings.Contains(row[3], "BIGINT") &&
			!strings.Contains(row[3], "DOUBLE") || !strings.HasPrefix(row[4], "rubbish,3") {
			t.Errorf("%q", row)
		}
	}
	for _, data := range [][]string{{"--data", dir}, {"--file", "t=" + filepath.Join(dir, "t.csv")}, {"--data", filepath.Join(dir, "t.csv")},
		{"--file", "t=" + filepath.Join(dir, "*")}} {
		r := posta(t, append([]string{"sql", "--rejects", filepath.Join(dir, "t.csv"), "SELECT count(n) AS c FROM t"}, data...)...)
		if r.code != exit.Usage || !strings.Contains(r.err, "would be lost") {
			t.Errorf("%v: exit code %d, %s", data, r.code, r.err)
		}
	}
	if now, err := os.ReadFile(filepath.Join(dir, "t.csv")); err != nil || string(now) != b.String() {
		t.Errorf("the data is lost: %v", err)
	}
}

// TestSQLEndsWhileItWaitsForInput: a signal and --timeout end the command while it waits for samples, while it waits in the middle of a
// session, and in a session that several statements share. Those statements are then not asked one by one. Nothing is left behind.
func TestSQLEndsWhileItWaitsForInput(t *testing.T) {
	tmp := temp.Sockets(t)
	t.Setenv("TMPDIR", tmp)
	long, shared := numbers(20_000, ""), "CREATE TABLE t FROM '-' (n BIGINT); SELECT sum(n) FROM t; SELECT max(n) FROM t"
	for _, c := range []struct {
		first   string
		args    []string
		code    int
		said    string
		signals bool
	}{
		{"", []string{"SELECT sum(n) FROM '-'"}, exit.Interrupted, "posta: interrupted\n", true},
		{long, []string{"SELECT sum(n) FROM '-'"}, exit.Interrupted, "posta: interrupted\n", true},
		{long, []string{shared}, exit.Interrupted, "posta: interrupted\n", true},
		{"", []string{"--timeout", "100ms", "SELECT sum(n) FROM '-'"}, exit.Failed,
			"--timeout 100ms is over and the session cancelled; give it more time\n", false},
		{long, []string{"--timeout", "2s", shared}, exit.Failed, "--timeout 2s is over and the session cancelled; give it more time\n", false},
	} {
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer w.Close()
		go func() { _, _ = w.WriteString(c.first) }() // as much as the command reads
		graceful, interrupt := context.WithCancelCause(context.Background())
		defer interrupt(nil)
		done := make(chan result, 1)
		go func() {
			var out, said await.Log
			code := runWithin(graceful, context.Background(), program(), append([]string{"posta", "sql", "-q"}, c.args...),
				Console{In: in, Out: &out, Err: &said})
			done <- result{code: code, out: out.String(), err: said.String()}
		}()
		if c.signals {
			time.Sleep(500 * time.Millisecond) // it may be at any point by then
			interrupt(exit.ErrInterrupted)
		}
		select {
		case r := <-done:
			if r.code != c.code || !strings.HasSuffix(r.err, c.said) || strings.Contains(r.err, "one by one") ||
				strings.Contains(r.err, "deadline") {
				t.Errorf("%q: exit code %d, %s", c.args, r.code, r.err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("it does not end")
		}
		left, err := os.ReadDir(tmp)
		if err != nil || c.signals && len(left) > 0 {
			t.Errorf("%q leaves %v behind, %v", c.args, left, err)
		}
	}
}

// TestSQLReadsAThousandColumns: a statement can read them one by one or all at once. More columns are an error that says what to do.
func TestSQLReadsAThousandColumns(t *testing.T) {
	wide := func(columns int) string {
		var b strings.Builder
		for i := range columns {
			fmt.Fprintf(&b, "c%d,", i)
		}
		b.WriteString("last\n")
		for row := range 3 {
			for i := range columns {
				fmt.Fprintf(&b, "%d,", i*row)
			}
			fmt.Fprintf(&b, "%d\n", row)
		}
		return b.String()
	}
	dir := table(t, "wide.csv", wide(999))
	r := must(t, "sql", "-q", "--csv", "--data", dir, "SELECT * FROM wide ORDER BY last DESC")
	if rows := strings.Split(strings.TrimSpace(r.out), "\n"); len(rows) != 4 || strings.Count(rows[1], ",") != 999 ||
		!strings.HasSuffix(rows[1], ",1996,2") {
		t.Errorf("%.300s", r.out)
	}
	if err := os.WriteFile(filepath.Join(dir, "wider.csv"), []byte(wide(1100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := posta(t, "sql", "--data", dir, "SELECT * FROM wider"); r.code == exit.OK ||
		!strings.Contains(r.err, "1101 columns of table wider, and at most 1018 travel at once: name those that are needed") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}
