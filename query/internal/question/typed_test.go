package question

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/client"
)

// files writes files into a directory of their own.
func files(t *testing.T, contents map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// typedFile returns a Parquet file without rows.
func typedFile(t *testing.T, columns parquet.Group) string {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.NewWriter(&b, parquet.NewSchema("rows", columns)).Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// typesOf returns the columns of the first statement's answer, with their types, or the error.
func typesOf(t *testing.T, dir, text string) string {
	t.Helper()
	in := client.NewInput(dir, nil, nil, 0)
	defer func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}()
	q, err := Read(context.Background(), Config{Text: text, Input: in, Now: time.Now})
	if err != nil {
		return err.Error()
	}
	var columns []string
	for _, f := range q.Statements()[0].Plan.Fields() {
		columns = append(columns, f.Name+" "+f.Type.String())
	}
	if q.Statements()[0].Kind == bind.Description {
		answer, err := q.Local(0)
		if err != nil {
			return err.Error()
		}
		columns = nil
		for row := range answer.All() {
			columns = append(columns, row[0].Text+" "+row[1].Text)
		}
	}
	return strings.Join(columns, ", ")
}

// TestNamesOfTablesInAnyCase: a name in FROM means the file with that spelling, else the only one whose name differs in case.
func TestNamesOfTablesInAnyCase(t *testing.T) {
	dir := files(t, map[string]string{"integers.csv": "i\n1\n", "Two.csv": "a\n1\n", "two.csv": "b\n1\n"})
	for text, want := range map[string]string{
		"SELECT * FROM INTEGERS": "i BIGINT", "SELECT Integers.i FROM Integers": "i BIGINT",
		"SELECT x.i, y.i AS j FROM INTEGERS x JOIN integers y USING (i)": "i BIGINT, j BIGINT",
		"SELECT * FROM two": "b BIGINT", "SELECT * FROM Two": "a BIGINT", "SELECT * FROM TWO": "there is no table TWO",
	} {
		if got := typesOf(t, dir, text); got != want && !strings.Contains(got, want+"\n") {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestC1_TypesOfFilesAreTheTypesOfStatements: Parquet's types count and not its values, of which these files have none. A column that is
// not read is refused where it is used, and only there. Beside files of other types or without types, a column has the type that holds the
// values of all.
func TestC1_TypesOfFilesAreTheTypesOfStatements(t *testing.T) {
	number := parquet.Group{"a": parquet.Int(64), "p": parquet.Decimal(2, 9, parquet.Int32Type), "x": parquet.Leaf(parquet.DoubleType)}
	odd := parquet.Group{"n": parquet.Leaf(parquet.DoubleType), "tags": parquet.List(parquet.String()),
		"m": parquet.Map(parquet.String(), parquet.Int(64)), "big": parquet.Decimal(3, 38, parquet.FixedLenByteArrayType(16))}
	dir := files(t, map[string]string{
		"typed.parquet": typedFile(t, number), "one.parquet": typedFile(t, parquet.Group{"a": parquet.Date()}), "odd.parquet": typedFile(t, odd),
		"list.parquet": typedFile(t, parquet.Group{"tags": parquet.List(parquet.String())}), "PARE.parquet": "PARE and more",
		"one.jsonl": "{\"a\": 1}\n", "empty.csv": "a,b\n1,\n2,\n",
		"mix1.parquet": typedFile(t, number), "mix2.csv": "a,p,x\n1.5,2,oops\n",
		"mix3.parquet": typedFile(t, parquet.Group{"a": parquet.Date(), "p": parquet.Int(64), "q": parquet.String()}),
	})
	for _, c := range [][2]string{
		{"FROM 'typed.parquet'", "a BIGINT, p DECIMAL(9, 2), x DOUBLE"},
		{"FROM 'one.parquet'", "a DATE"},
		{"FROM 'one.jsonl'", "a BIGINT"},
		{"SELECT count(*) AS n FROM 'odd.parquet'", "n BIGINT"},
		{"SELECT * EXCLUDE (tags, m, big) FROM 'odd.parquet'", "n DOUBLE"},
		{"SELECT sum(n) AS s FROM 'odd.parquet' WHERE n > 1", "s DOUBLE"},
		{"SELECT count(*) AS n FROM 'list.parquet'", "n BIGINT"},
		{"DESCRIBE FROM 'odd.parquet'",
			"big not read: a DECIMAL(38, 3), of more than 18 digits, m not read: a map, n DOUBLE, tags not read: a list"},
		{"FROM 'mix*.parquet'", "a TEXT, p DECIMAL(18, 2), x DOUBLE, q TEXT"},
		{"FROM 'mix*'", "a TEXT, p DECIMAL(18, 2), x TEXT, q TEXT"},
		{"CREATE TABLE t FROM 'odd.parquet' (big TEXT, \"tags[0]\" TEXT); FROM t", "big TEXT, tags[0] TEXT"},
	} {
		if got := typesOf(t, dir, c[0]); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
	for _, c := range [][]string{
		{"FROM 'odd.parquet'", "the column big of odd.parquet is a DECIMAL(38, 3), of more than 18 digits, which is not read", "EXCLUDE (big)",
			"(big TEXT)"},
		{"SELECT n, len(tags) FROM 'odd.parquet'", "column 15: the column tags of odd.parquet is a list, which is not read"},
		{"SELECT n FROM 'odd.parquet' WHERE m IS NULL", "the column m of odd.parquet is a map, which is not read"},
		{"SELECT 1 FROM 'odd.parquet' AS a (x, y) JOIN 'odd.parquet' AS b ON y = b.m", "the column m of odd.parquet is a map"},
		{"SELECT * FROM 'odd.parquet' AS a NATURAL JOIN 'odd.parquet' AS b", "is not read"},
		{"SUMMARIZE 'odd.parquet'", "is not read"},
		{"FROM 'PARE.parquet'", "PARE.parquet: a Parquet file that is not read: it is encrypted; write it without encryption"},
		{"SELECT sum(b) FROM 'empty.csv'", "sum does not take TEXT: b is TEXT because no sample of the files has a value of it",
			"CREATE TABLE t FROM 'pattern' (b DOUBLE, …)"},
		{"SELECT unnest(b) FROM 'empty.csv'", "UNNEST needs a list, not TEXT: b is TEXT because no sample", "A list is what"},
	} {
		got := typesOf(t, dir, c[0])
		for _, says := range c[1:] {
			if !strings.Contains(got, says) {
				t.Errorf("%s: %s", c[0], got)
			}
		}
	}
}
