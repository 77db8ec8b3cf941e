package chain

import (
	"testing"
	"time"

	"posta.dev/posta/nodes/output"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
	"posta.dev/posta/topology"
)

// TestRemoves_OnlyWhatTheOutputRecords: records of another gateway of the chain may look the same.
func TestRemoves_OnlyWhatTheOutputRecords(t *testing.T) {
	o := output.New(roletest.About())
	h, id := roletest.NewHost(o), roletest.ID("s")
	o.Drop(id, role.Outcome{Failed: true, Reason: "because"})
	h.Ask(t, time.Unix(1_700_000_000, 0), 1, protocol.Request{Type: protocol.Close, Session: id, Token: session.Token{1}})
	if len(h.Recorded) != 1 {
		t.Fatalf("%d records", len(h.Recorded))
	}
	removes := Removes([]topology.Role{topology.Input, topology.Output})
	for i, want := range []bool{false, true, false} {
		if got, ok := removes(i, h.Recorded[0]); ok != want || ok && got != id {
			t.Errorf("role %d: %v, %v, want %v", i, got, ok, want)
		}
	}
}
