package exit

import (
	"errors"
	"fmt"
	"testing"

	"posta.dev/posta/protocol"
)

// What is not a failure of a statement for a row stays as it is.
func TestOtherFailuresStayAsTheyAre(t *testing.T) {
	statement := protocol.Fields{protocol.FieldCause: "statement", protocol.FieldText: "line 1: wrong"}
	for _, err := range []error{
		errors.New(""),
		fmt.Errorf("session 1 of sql: %w", &protocol.Error{Code: protocol.ErrFailed, Message: "failed in stage joiner: panic: x"}),
		fmt.Errorf("query_1: %w", protocol.With(errors.New("line 1, column 8: COLUMNS is not supported\n    SELECT 1\n    ^"), statement)),
	} {
		if got := Text(err); got != err.Error() {
			t.Errorf("%q becomes %q", err, got)
		}
	}
}

// An upload may hear of a failure first; then nothing names the session. What comes behind the failure stays.
func TestAFailureThatAnUploadHearsOf(t *testing.T) {
	const where = "line 1, column 8: wrong\n    SELECT a\n           ^"
	failed := func(f protocol.Fields) error {
		f[protocol.FieldCause], f[protocol.FieldText], f[protocol.FieldNode] = "statement", where, "input-1"
		return fmt.Errorf("sql: upload t: have input-1 read t.csv: %w", &protocol.Error{Code: protocol.ErrFailed, Message: where,
			Fields: f})
	}
	first := protocol.With(fmt.Errorf("query_1: %w", failed(protocol.Fields{protocol.FieldFile: "b.csv", protocol.FieldLine: "2",
		protocol.FieldNear: "yes"})), protocol.Fields{protocol.FieldStatement: "query_1"})
	second := protocol.With(fmt.Errorf("query_2: %w; do that", failed(protocol.Fields{})), protocol.Fields{
		protocol.FieldStatement: "query_2", protocol.FieldSession: "77"})
	const want = "query_1: " + where + "\n    The row is in b.csv, at or behind line 2; a condition in WHERE or CASE can leave it out.\n" +
		"    (input-1)\n" +
		"query_2: " + where + "\n    (session 77, input-1); do that"
	if got := Text(errors.Join(first, second)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
