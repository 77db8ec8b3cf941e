package exit

import (
	"testing"
)

// What is not a failure of a statement stays as it is.
func TestOtherFailuresStayAsTheyAre(t *testing.T) {
	for _, text := range []string{
		"", "session 09978c92-46ae-472e-80cb-b4b7908f1b85 of bikes: analysis bikes failed in stage joiner (node joiner-1): panic: x (failed)",
		"line 1, column 8: COLUMNS is not supported\n    SELECT 1\n    ^\n    Name them.",
	} {
		if got := FailedStatement(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// An upload may hear of a failure first; then nothing names the session.
func TestAFailureThatAnUploadHearsOf(t *testing.T) {
	const text = "query_1: sql: upload t: have ipc:///x/input-1.client read /x/t.csv where it lies: analysis sql failed in stage joiner " +
		"(node input-1): stream t, t.csv from line 2: " +
		"a: b.csv, at or behind line 2: line 1, column 8: wrong\n    SELECT a\n           ^ (failed)"
	const want = "query_1: line 1, column 8: wrong\n    SELECT a\n           ^\n    The row is in b.csv, at or behind line 2; a condition " +
		"in WHERE or CASE can leave it out.\n    (input-1)"
	if got := FailedStatement(text); got != want {
		t.Errorf("%s", got)
	}
}
