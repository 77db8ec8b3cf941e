package core

import (
	"slices"
	"testing"
	"time"
)

// restarts lets the host carry out the order for a-1, and returns how long the leader then waits for a sign before it gives that start up.
func (b *bench) restarts(t *testing.T) time.Duration {
	t.Helper()
	suspected := func() (n int) {
		for _, e := range b.Journal() {
			if e.Kind == Suspected && e.Node == "a-1" {
				n++
			}
		}
		return n
	}
	for range 1000 {
		if all := b.ordersFor("a-1"); len(all) > 0 {
			b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
			break
		}
		b.pass(heartbeat, "b-1")
	}
	for began, before := b.now, suspected(); b.now.Sub(began) < 100*b.cfg.StartTimeout; b.pass(heartbeat, "b-1") {
		if suspected() > before {
			return b.now.Sub(began)
		}
	}
	t.Fatal("the leader waits for ever")
	return 0
}

// TestM5_AStartGetsMoreTimeAfterEachThatFailed, up to eight times as much. One that recovers ends the row.
func TestM5_AStartGetsMoreTimeAfterEachThatFailed(t *testing.T) {
	b := led()
	for row := range 2 {
		for n, times := range []time.Duration{1, 2, 4, 8, 8} {
			want := times * b.cfg.StartTimeout
			if waited := b.restarts(t); waited < want || waited > want+2*heartbeat {
				t.Fatalf("row %d, start %d gets %v, want %v", row, n, waited, want)
			}
		}
		for _, mark := range []uint64{1, 2} { // the next start succeeds
			for range 1000 {
				if all := b.ordersFor("a-1"); len(all) > 0 {
					b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
					break
				}
				if b.targets["a-1"].phase == starting {
					break
				}
				b.pass(heartbeat, "b-1")
			}
			b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: uint64(row) + 2, PID: 8}, Mark: mark}, b.now)
			b.pass(heartbeat, "b-1")
		}
		if b.targets["a-1"].phase != well {
			t.Fatalf("row %d: it works, and is %v", row, b.targets["a-1"].phase)
		}
	}
}

// TestR8_LateSignsOfSeveralLostLogsDoNotCount: a node lost its log again and again. When it fails, no late sign of any of its lives shows
// that a start has succeeded.
func TestR8_LateSignsOfSeveralLostLogsDoNotCount(t *testing.T) {
	const logs = 5
	b := led()
	beat := func(log byte) {
		b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{log}, Incarnation: 1, PID: 7}}, b.now)
	}
	for log := byte(2); log <= logs; log++ {
		for range 4 {
			beat(log)
			b.pass(heartbeat, "b-1")
		}
	}
	b.look()
	b.pass(suspectAfter+heartbeat, "b-1")
	all := b.ordersFor("a-1")
	if len(all) != 1 {
		t.Fatalf("the orders are %+v", all)
	}
	b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
	recovered := func() bool {
		return slices.ContainsFunc(b.Journal(), func(e Entry) bool { return e.Kind == Recovered && e.Node == "a-1" })
	}
	for log := byte(1); log <= logs; log++ {
		beat(log)
		if b.pass(heartbeat, "b-1"); recovered() {
			t.Fatalf("a late sign of log %d of %d is taken for a start that has succeeded", log, logs)
		}
	}
	beat(logs + 1)
	if b.pass(heartbeat, "b-1"); !recovered() {
		t.Fatal("the life that was started is not believed")
	}
}
