package input

import (
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/test/roletest"
)

// TestR7_APingBeforeTheFirstTickEndsNothing: after a restart a ping may arrive before the first tick.
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

// TestASessionsAgeCountsFromARestart: the time of the open is not durable, so a restarted input counts from its own start. It once reported
// ten years.
func TestASessionsAgeCountsFromARestart(t *testing.T) {
	before, h := newInput()
	open(t, h, id)
	in := New(roletest.About())
	h = roletest.NewHost(in)
	if err := in.RestoreAll(before.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, 3 * time.Second} { // the first request comes before the first tick
		r, _ := h.Ask(t, noon.Add(after), 1, protocol.Request{Type: protocol.Sessions})
		if len(r.Sessions) != 1 || r.Sessions[0].Age != after {
			t.Errorf("sessions %+v, want one of %v", r.Sessions, after)
		}
		in.Tick(noon.Add(after))
	}
}
