package output

import (
	"testing"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

// TestR14_CompleteAnswersAreInherited: a complete answer is right whatever the log has lost. An incomplete one is dropped with the log.
func TestR14_CompleteAnswersAreInherited(t *testing.T) {
	o, _ := newOutput(t)
	if o.Bequeath() != nil {
		t.Fatal("there is nothing to leave")
	}
	give(t, o, part("known", 2))
	endAll(t, o)
	o.Drop(roletest.ID("x"), role.Outcome{Failed: true, Reason: "poison"})
	running := session.ID(roletest.ID("r"))
	o.results[running] = &result{id: running, streams: 2}

	next := New(roletest.About())
	h := roletest.NewHost(next)
	if err := next.Inherit(o.Bequeath()); err != nil {
		t.Fatal(err)
	}
	if r, _ := h.Ask(t, noon, 1, results(0, 0)); !r.Complete || r.State != session.Done || len(r.Parts) != 1 {
		t.Fatalf("%+v", r)
	}
	if len(next.results) != 2 || next.results[running] != nil {
		t.Fatalf("%d answers", len(next.results))
	}
	// The record in the next log restores them after a crash.
	again := New(roletest.About())
	g := roletest.NewHost(again)
	if len(h.Recorded) != 1 || again.Apply(h.Recorded[0]) != nil {
		t.Fatal("the heritage is not recorded")
	}
	if r, _ := g.Ask(t, noon.Add(time.Second), 1, results(0, 0)); !r.Complete || len(r.Parts) != 1 {
		t.Fatalf("%+v", r)
	}
	if next.Inherit([]byte("?")) == nil {
		t.Fatal("rubbish is inherited")
	}
}
