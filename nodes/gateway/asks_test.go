package gateway

import (
	"testing"

	"posta.dev/posta/security"
)

// TestS5_WhoReadsAStatement: the values in a statement are shown to clients that may read its answer. A client with the role watch only
// sees that the statement runs.
func TestS5_WhoReadsAStatement(t *testing.T) {
	h := Holder{Owner: "alice"}
	for who, want := range map[security.Identity]string{
		{Role: security.Submit, Name: "alice"}:  "a = 'x'",
		{Role: security.Watch, Name: "alice"}:   "a = 'x'",
		{Role: security.Operate, Name: "olga"}:  "a = 'x'",
		{Role: security.Watch, Name: "wanda"}:   "a = ?",
		{Role: security.Node, Name: "input-1"}:  "a = ?",
		{Role: security.Submit, Name: "malory"}: "a = ?",
		{}:                                      "a = ?",
	} {
		if got := h.Asks(who, "a = 'x'", "a = ?"); got != want {
			t.Errorf("%+v reads %s, want %s", who, got, want)
		}
	}
}
