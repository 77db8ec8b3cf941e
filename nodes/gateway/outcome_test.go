package gateway

import (
	"reflect"
	"testing"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// TestN6_NoTextBecomesACode: a reason may contain text of the client, for example a file name with a NUL.
func TestN6_NoTextBecomesACode(t *testing.T) {
	const reason = "stream trips, file a\x00cancelled/trips.csv, line 3: no number"
	if o := OutcomeOf(role.Outcome{Failed: true, Reason: reason}); o.Code != protocol.ErrFailed || o.Reason != reason {
		t.Errorf("%q is taken for %+v", reason, o)
	}
	why := Outcome{Code: protocol.ErrExpired, Reason: reason, Fields: protocol.Fields{"line": "3"}}
	if o := OutcomeOf(why.ForRole()); !reflect.DeepEqual(o, why) {
		t.Errorf("%+v comes back as %+v", why, o)
	}
	if o := OutcomeOf(role.Outcome{Reason: reason}); o.Failed() {
		t.Errorf("what did not fail is %+v", o)
	}
}
