package input

import (
	"testing"
	"time"

	"posta.dev/posta/nodes/role/roletest"
	"posta.dev/posta/protocol"
)

// TestR7_APingBeforeTheFirstTickEndsNothing: after a restart a client may be quicker than the clock.
func TestR7_APingBeforeTheFirstTickEndsNothing(t *testing.T) {
	before, h := newInput()
	open(t, h, id)
	in := New(roletest.About())
	h = roletest.NewHost(in)
	if err := in.RestoreAll(before.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	at := noon.Add(time.Minute)
	h.Ask(t, at, 1, protocol.Request{Type: protocol.Ping, Session: id})
	in.Tick(at.Add(time.Second))
	if len(h.Aborted) != 0 {
		t.Fatal(h.Aborted)
	}
}
