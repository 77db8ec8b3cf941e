package sqldiff

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestQ5_DuckDBAgreesAboutFunctions: the table with which the kernels are tested has DuckDB's values. Where Posta differs on purpose, the
// line ends in # and DuckDB's value.
func TestQ5_DuckDBAgreesAboutFunctions(t *testing.T) {
	o := newOracle(t)
	table, err := os.ReadFile("../../../analyses/sql/eval/testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, line := range strings.Split(string(table), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, duck, differs := strings.Cut(line, " # DuckDB: ")
		at := strings.LastIndex(line, " = ")
		want := line[at+3:]
		if differs {
			want = duck
		}
		rows, err := o.Query("SELECT coalesce((" + line[:at] + ")::VARCHAR, 'NULL')")
		if err != nil {
			t.Errorf("%s: %v", line[:at], err)
			continue
		}
		if got := fmt.Sprint(rows[0][0]); got != want {
			t.Errorf("%s: DuckDB answers %s; the table has %s", line[:at], got, want)
		}
		asked++
	}
	if asked < 100 {
		t.Errorf("only %d lines", asked)
	}
}
