package watch

import (
	"testing"
	"time"
)

// TestN9_WorkThatTakesLong: only work that goes on for long, while the process has processors, is long. Marks do not matter.
func TestN9_WorkThatTakesLong(t *testing.T) {
	const every = 100 * time.Millisecond
	now := time.Unix(1000, 0)
	l := NewLong(every, 3*every, now)
	for i, tick := range []struct {
		after time.Duration
		token Token
		long  bool
	}{
		{every, 0, false}, {every, 0, false}, {every, 0, false}, {every, 0, false},
		{every, 1, false}, {every, 1, false}, {every, 1, false}, {every, 1, true}, {every, 1, true},
		{every, 2, false}, {time.Hour, 2, false}, {every, 2, false}, {2 * every, 2, true},
		{every, 0, false}, {every, 3, false},
	} {
		now = now.Add(tick.after)
		if long := l.Tick(now, tick.token); long != tick.long {
			t.Errorf("tick %d: %v", i, long)
		}
	}
}

func TestOldest(t *testing.T) {
	var none *Watch
	if _, token := none.Oldest(); token != 0 {
		t.Error("nobody works, and somebody is the oldest")
	}
	w := new(Watch)
	a := w.Enter(Doing{Role: "input"})
	b := w.Enter(Doing{Role: "parser"})
	if d, token := w.Oldest(); token != a || d.Role != "input" {
		t.Errorf("%v, %q", token, d.Role)
	}
	w.Leave(a)
	if d, token := w.Oldest(); token != b || d.Role != "parser" {
		t.Errorf("%v, %q", token, d.Role)
	}
	w.Leave(b)
	if _, token := w.Oldest(); token != 0 {
		t.Error("all work has ended")
	}
}
