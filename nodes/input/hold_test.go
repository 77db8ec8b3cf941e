package input

import (
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/roletest"
)

// TestHold_KeepsNewSessionsOutForAsLongAsItWasSaid: posta deploy holds new sessions back while it changes the cluster, and learns which
// ones run. Open sessions continue.
func TestHold_KeepsNewSessionsOutForAsLongAsItWasSaid(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	held, ok := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Hold, Lease: 10 * time.Second})
	if !ok || held.Type != protocol.Listed || len(held.Sessions) != 1 || held.Sessions[0].Session != id {
		t.Fatalf("a hold is answered with %+v", held)
	}
	other := protocol.Request{Type: protocol.Open, Session: roletest.ID("other"), Token: ours, Analysis: "paint"}
	r, _ := h.Ask(t, noon.Add(9*time.Second), 1, other)
	if r.Err.Code != protocol.ErrBusy || r.Err.RetryAfter <= 0 {
		t.Fatalf("while it is held an input answers %+v", r)
	}
	if c := code(t, h, chunk("colours", 0, 1)); c != "" {
		t.Fatalf("a session that is open hears %q", c)
	}
	if again := open(t, h, id); again.Type != protocol.Opened {
		t.Fatalf("to open a session again is answered with %+v", again)
	}
	in.Tick(noon.Add(10 * time.Second))
	if r, _ := h.Ask(t, noon.Add(10*time.Second), 1, other); r.Type != protocol.Opened {
		t.Fatalf("when the lease is over an input answers %+v", r)
	}
}

func TestHold_OfNoTimeEndsIt(t *testing.T) {
	_, h := newInput()
	for _, lease := range []time.Duration{time.Minute, 0} {
		h.Ask(t, noon, 1, protocol.Request{Type: protocol.Hold, Lease: lease})
	}
	if r := open(t, h, id); r.Type != protocol.Opened {
		t.Fatalf("an input that is not held any more answers %+v", r)
	}
}

// TestR8_ANodeThatWasTakenOutIsForgotten: a node leaves the topology and comes back later with another log. No session has lost anything.
func TestR8_ANodeThatWasTakenOutIsForgotten(t *testing.T) {
	before, _ := newInput()
	before.Heartbeat(noon, role.Heard{From: "input-1", ID: link.Identity{LogID: link.LogID{1}, Incarnation: 1}})
	before.Heartbeat(noon, role.Heard{From: "input-2", ID: link.Identity{LogID: link.LogID{2}, Incarnation: 1}})

	about := roletest.About()
	about.InputNodes, about.Inputs = about.InputNodes[1:2], about.Inputs[1:2]
	without := New(about)
	roletest.NewHost(without)
	if err := without.RestoreAll(before.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	without.Tick(noon)

	about.InputNodes, about.Inputs = about.InputNodes[:2], about.Inputs[:2] // input-2 again
	again := New(about)
	h := roletest.NewHost(again)
	if err := again.RestoreAll(without.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	again.Tick(noon)
	open(t, h, id)
	again.Heartbeat(noon, role.Heard{From: "input-2", ID: link.Identity{LogID: link.LogID{3}, Incarnation: 1}})
	if len(h.Aborted) != 0 {
		t.Fatalf("a new node fails sessions: %v", h.Aborted)
	}
	again.Heartbeat(noon, role.Heard{From: "input-1", ID: link.Identity{LogID: link.LogID{4}, Incarnation: 1}})
	if len(h.Aborted) != 1 {
		t.Fatalf("a node that lost its disk fails %v", h.Aborted)
	}
}
