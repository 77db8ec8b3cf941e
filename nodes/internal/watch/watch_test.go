package watch

import (
	"testing"
	"time"
)

// TestN9_AHangIsCountedByPunctualTicks: time in which a process was stopped or starved does not count as a hang, nor does waiting for the
// disk. Any mark starts the count again.
func TestN9_AHangIsCountedByPunctualTicks(t *testing.T) {
	const every = 100 * time.Millisecond
	now := time.Unix(1000, 0)
	h := NewHang(every, now, 7)
	tick := func(after time.Duration, mark uint64, waits bool, want time.Duration) {
		t.Helper()
		now = now.Add(after)
		if got := h.Tick(now, mark, waits); got != want || h.Stands(mark) != want {
			t.Fatalf("it stands for %v, %v, want %v", got, h.Stands(mark), want)
		}
	}
	tick(every, 7, false, every)
	tick(2*every, 7, false, 3*every)
	tick(time.Hour, 7, false, 3*every) // SIGSTOP, a suspended machine, no processor
	tick(every, 7, false, 4*every)
	tick(every, 8, false, 0)
	tick(every, 8, false, every)
	tick(every, 8, true, 0) // the loop waits for the disk
	tick(every, 8, false, every)
	if got := h.Stands(9); got != 0 {
		t.Errorf("the mark has moved, and stands for %v", got)
	}
}

func TestWatch(t *testing.T) {
	var none *Watch
	none.Leave(none.Enter(Doing{Role: "joiner"}))
	if _, ok := none.Now(); ok {
		t.Error("nobody is told, and somebody knows")
	}
	w := new(Watch)
	a := w.Enter(Doing{Role: "input", Stream: "trips"})
	b := w.Enter(Doing{Role: "parser", Stream: "trips"})
	if d, _ := w.Now(); d.Role != "parser" {
		t.Errorf("it is %q that works", d.Role)
	}
	w.Leave(b)
	if d, _ := w.Now(); d.Role != "input" {
		t.Errorf("it is %q that works", d.Role)
	}
	c := w.Enter(Doing{Role: "parser", Stream: "weather"}) // in parallel
	w.Leave(a)
	if d, _ := w.Now(); d.Stream != "weather" {
		t.Errorf("it works on %q", d.Stream)
	}
	w.Leave(c)
	w.Leave(c)
	if d, ok := w.Now(); ok {
		t.Errorf("%v is not over", d)
	}
}
