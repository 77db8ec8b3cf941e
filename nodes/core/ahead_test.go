package core

import (
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// slicer is an adder that needs some slices before it takes a frame that says so.
type slicer struct {
	*adder
	left  map[string]int // by payload, slices that are left
	calls []string
}

func (w *slicer) Ahead(id session.ID, m role.Message) bool {
	left, slow := w.left[string(m.Payload)]
	if !slow || left == 0 {
		return false
	}
	if m.Payload[0] == 'x' {
		panic("poison")
	}
	w.calls = append(w.calls, "slice "+nameOf(id))
	w.left[string(m.Payload)]--
	return left > 1
}

func (w *slicer) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	w.calls = append(w.calls, "take "+nameOf(id))
	return w.adder.Take(id, m, out)
}

func (w *slicer) Close() {}

// TestN9_AFrameThatTakesLongLeavesOthersTheirTurn: commits go on while a role works ahead of a frame, and what the frame brings takes
// effect once, when the work is done. An abort behind it on its link ends the work at once, and a panic in it fails its session alone.
func TestN9_AFrameThatTakesLongLeavesOthersTheirTurn(t *testing.T) {
	begin := func() (*driver, *slicer) {
		d := newDriver(t, 1, "hash")
		w := &slicer{adder: newAdder(), left: map[string]int{"long": 3, "endless": 1 << 30, "x": 1}}
		d.c.cfg.Roles = []role.Role{w}
		d.says("s", link.Open, 0, announcement("", nil))
		d.says("t", link.Open, 0, announcement("", nil))
		d.commit()
		return d, w
	}
	d, w := begin()
	d.says("s", link.Data, 0, "long")
	d.says("t", link.Data, 0, "three")
	for range 4 {
		d.commit()
		w.calls = append(w.calls, fmt.Sprint(d.c.Working()))
	}
	if got, want := strings.Join(w.calls, ", "), "slice s, true, slice s, true, slice s, take s, take t, false, false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	d.same("behind a frame that took long", d.recovered(nil, 0, d.analysed()))

	d, w = begin()
	d.says("s", link.Data, 0, "endless")
	for range 5 {
		d.commit()
	}
	d.says("s", link.Abort, 0, "")
	d.says("t", link.Data, 0, "three")
	d.commit()
	d.commit()
	if got := strings.Join(w.calls[len(w.calls)-2:], ", "); got != "slice s, take t" || d.c.Working() || d.c.Sessions() != 1 {
		t.Errorf("behind an abort: %s; working %v; %d sessions", got, d.c.Working(), d.c.Sessions())
	}

	d, w = begin()
	d.says("s", link.Data, 0, "x")
	d.says("t", link.Data, 0, "three")
	d.commit()
	if got := strings.Join(w.calls, ", "); got != "take t" || d.c.Sessions() != 1 {
		t.Errorf("behind a panic: %s; %d sessions", got, d.c.Sessions())
	}
}
