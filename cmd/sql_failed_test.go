package cmd

import (
	"regexp"
	"strings"
	"testing"
)

// An error of a statement for a row begins with what is wrong and the place in the statement, then says where the row is; who says so comes last.
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
		got = regexp.MustCompile(`\((session [0-9a-f-]{36}, )?(joiner|input|reducer)-1\)`).ReplaceAllString(got, "(WHERE)") // an upload may hear of it before the session's end does
		if r.code != exitSession || got != want {
			t.Errorf("exit code %d:\n%swant\n%s", r.code, r.err, want)
		}
	}
	r := posta(t, "sql", "-q", "--data", dir, "SELECT b::BIGINT FROM t; SELECT sqrt(a) FROM t WHERE b = 'y'")
	for _, want := range []string{"query_1: line 1, column 9: TEXT \"x\" cannot be converted", "query_2: line 1, column 33: the square root", "TRY_CAST gives NULL"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("two statements: %q is missing in\n%s", want, r.err)
		}
	}
}

// What is not a failure of a statement stays as it is.
func TestOtherFailuresStayAsTheyAre(t *testing.T) {
	for _, text := range []string{
		"", "session 09978c92-46ae-472e-80cb-b4b7908f1b85 of bikes: analysis bikes failed in stage joiner (node joiner-1): panic: x (failed)",
		"line 1, column 8: COLUMNS is not supported\n    SELECT 1\n    ^\n    Name them.",
	} {
		if got := failedStatement(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// An upload may hear of a failure first; then nothing names the session.
func TestAFailureThatAnUploadHearsOf(t *testing.T) {
	const text = "query_1: sql: upload t: have ipc:///x/input-1.client read /x/t.csv where it lies: analysis sql failed in stage joiner (node input-1): stream t, t.csv from line 2: " +
		"a: b.csv, at or behind line 2: line 1, column 8: wrong\n    SELECT a\n           ^ (failed)"
	const want = "query_1: line 1, column 8: wrong\n    SELECT a\n           ^\n    The row is in b.csv, at or behind line 2; a condition in WHERE or CASE can leave it out.\n    (input-1)"
	if got := failedStatement(text); got != want {
		t.Errorf("%s", got)
	}
}
