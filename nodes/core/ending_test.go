package core

import (
	"fmt"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// worker is an adder that needs three slices to compute each page.
type worker struct {
	*adder
	left  map[session.ID]int // slices that are left
	calls []string
}

func (w *worker) End(id session.ID, stream int, out role.Emitter) (bool, error) {
	w.left[id] = 3
	return w.adder.End(id, stream, out)
}

func (w *worker) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	w.calls = append(w.calls, "take "+nameOf(id))
	return w.adder.Take(id, m, out)
}

func (w *worker) Work(id session.ID) (bool, error) {
	w.calls = append(w.calls, "work "+nameOf(id))
	w.left[id]--
	return w.left[id] > 0, nil
}

func (w *worker) More(id session.ID, out role.Emitter) (bool, error) {
	w.calls = append(w.calls, "more "+nameOf(id))
	w.left[id] = 3
	return w.adder.More(id, out)
}

func (w *worker) Close() {}

// TestN9_ASessionThatEndsLeavesOthersTheirTurn: frames that wait on the same link are taken while a session ends, both its own and those of
// other sessions. One call of Advance does one slice. Slices are not recorded, and a core that is restarted in the middle continues.
func TestN9_ASessionThatEndsLeavesOthersTheirTurn(t *testing.T) {
	d := newDriver(t, 1, "hash")
	w := &worker{adder: newAdder(), left: map[session.ID]int{}}
	d.c.cfg.Roles = []role.Role{w}
	d.says("s", link.Open, 0, announcement("", nil))
	d.says("t", link.Open, 0, announcement("", nil))
	d.says("s", link.Data, 0, "one")
	d.commit()
	w.calls = nil
	d.says("s", link.End, 0, "")
	d.says("s", link.Data, 1, "two")
	d.says("t", link.Data, 0, "three")
	d.commit()
	if got := fmt.Sprint(w.calls); got != "[work s]" || !d.c.Working() {
		t.Fatalf("%v, working %v", w.calls, d.c.Working())
	}
	for range 3 {
		d.says("t", link.Data, 0, "again")
		d.commit()
	}
	want := "[work s take s work s take t work s more s take t take t take t]"
	if got := fmt.Sprint(w.calls); got != want || d.c.Working() {
		t.Fatalf("%v, want %v; working %v", got, want, d.c.Working())
	}
	d.same("behind an end in slices", d.recovered(nil, 0, d.analysed()))
}

// TestR11_AnInputsFactsWaitForThePagesOfReferenceData: an input whose node also has the joiner could feed facts while the reference data
// still leaves the joiner, page by page as windows allow (R9). The facts have to wait.
func TestR11_AnInputsFactsWaitForThePagesOfReferenceData(t *testing.T) {
	d := newDriver(t, 1, "gateway")
	d.c.cfg.Joiner = true
	h, id := d.c.cfg.Roles[0].(*fakeGateway).host, sessionOf("s")
	payload := []byte(announcement("", nil))
	if err := h.Open(role.Session{ID: id, Analysis: known[0]}, payload); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one", "two", "three"} {
		if err := h.Feed(id, role.Message{Stream: 0, Payload: []byte(word)}); err != nil {
			t.Fatal(err)
		}
	}
	h.EndStream(id, 0)
	if h.Room(id, false) || !h.Room(id, true) {
		t.Fatal("there is room for facts, or none for other reference data")
	}
	d.commit()
	if !h.Room(id, false) {
		t.Fatal("all pages have left, and facts wait")
	}
	d.same("behind the pages", d.recovered(nil, 0, d.analysed()))
}

// TestN9_SessionsThatEndTakeTurns: while one of them computes a slice, none of the others is forgotten.
func TestN9_SessionsThatEndTakeTurns(t *testing.T) {
	d := newDriver(t, 1, "hash")
	w := &worker{adder: newAdder(), left: map[session.ID]int{}}
	d.c.cfg.Roles = []role.Role{w}
	for _, id := range d.ids {
		d.says(id, link.Open, 0, announcement("", nil))
		for range 5 {
			d.says(id, link.Data, 0, "one")
		}
	}
	for stream := range 2 {
		for _, id := range d.ids {
			d.says(id, link.End, stream, "")
		}
	}
	for range 100 {
		d.commit()
	}
	if d.c.Sessions() > 0 || len(d.c.ending) > 0 {
		t.Fatalf("%d sessions are left of which all streams have ended: %v", d.c.Sessions(), w.calls)
	}
}
