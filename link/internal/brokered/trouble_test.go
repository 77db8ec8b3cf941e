package brokered

import (
	"fmt"
	"testing"
	"time"
)

func TestTroubles(t *testing.T) {
	now := time.Unix(1000, 0)
	var x troubles
	text := func(want string) {
		t.Helper()
		if got := x.Text(now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	text("")
	x.say("broker, in", "no way through", time.Time{})
	x.say("broker, out", "no way through", time.Time{})
	if !x.failed("a link", "somebody deleted its queue", now) {
		t.Error("the first failure of a link is not logged")
	}
	text("no way through; somebody deleted its queue")
	x.Over("broker, in")
	now = now.Add(recently / 2)
	if x.failed("a link", "somebody deleted its queue", now) {
		t.Error("the same is logged again at once")
	}
	if !x.failed("a link", "another reason", now) {
		t.Error("another failure is not logged")
	}
	x.Over("broker, out")
	text("another reason")
	now = now.Add(recently + time.Second)
	text("")
	if x.failed("a link", "another reason", now) {
		t.Error("a failure that was out of sight is logged again too soon")
	}
	now = now.Add(logEvery)
	text("")
	if !x.failed("a link", "another reason", now) {
		t.Error("a failure is not logged after a long time")
	}
}

// TestALinkLogsLittle: this holds for failures that alternate, and for texts that are never the same twice.
func TestALinkLogsLittle(t *testing.T) {
	for name, text := range map[string]func(int) string{
		"alternating": func(i int) string { return fmt.Sprint("reason ", i%2) },
		"always new":  func(i int) string { return fmt.Sprint("reason ", i) },
	} {
		var x troubles
		lines := 0
		now := time.Unix(1000, 0)
		for i := range 1000 { // 100 s
			if x.failed("a link", text(i), now) {
				lines++
			}
			x.Text(now)
			now = now.Add(100 * time.Millisecond)
		}
		if lines > 4*mostLines || lines < 4 {
			t.Errorf("%s: %d lines in 100 s", name, lines)
		}
	}
}
