package core

import (
	"strings"
	"testing"
	"time"
)

// hungNode sends heartbeats for d as a node whose mark was old at the beginning and does not move.
func (b *bench) hungNode(d, stood time.Duration, mark uint64) {
	for end := b.now.Add(d); b.now.Before(end); {
		b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 1, PID: 7}, Mark: mark, MarkAge: stood}, b.now)
		b.pass(heartbeat, "b-1")
		stood += heartbeat
	}
}

// TestN9_ABusyNodeIsLeftAlone: a node that sends heartbeats is not restarted while its mark is at most twice
// stuck_after old.
func TestN9_ABusyNodeIsLeftAlone(t *testing.T) {
	b := led()
	b.hungNode(59*time.Second, 0, 7)
	if all := b.ordersFor("a-1"); len(all) > 0 {
		t.Fatalf("a node that is busy is restarted: %+v", all)
	}
}

// TestN9_TheBackstop: a node that should have ended itself long ago is restarted, although it beats, with one order, and the journal says
// why.
func TestN9_TheBackstop(t *testing.T) {
	b := led()
	b.hungNode(heartbeat, 60*time.Second, 7)
	b.hungNode(suspectAfter+heartbeat, 60*time.Second, 7)
	all := b.ordersFor("a-1")
	if len(all) != 1 || all[0].Ended || all[0].Silent < suspectAfter {
		t.Fatalf("the orders are %+v", all)
	}
	i := Incidents(b.Journal())
	if n := len(i); n != 1 || !strings.Contains(i[0].Cause, "hangs") {
		t.Errorf("the journal tells %+v", i)
	}
	if b.isolated(b.now) {
		t.Error("who hears a node that hangs takes itself for cut off")
	}
}

// TestN9_RecoveredMeansAtWork: an incident ends when the restarted node has got something done, and not with its first
// heartbeat.
func TestN9_RecoveredMeansAtWork(t *testing.T) {
	b := led()
	b.pass(suspectAfter+heartbeat, "b-1")
	all := b.ordersFor("a-1")
	b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
	sign := Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 2, PID: 8}, Mark: 1}
	open := func() bool { return Incidents(b.Journal())[0].Open }
	for _, recovering := range []bool{true, false} {
		sign.Recovering = recovering
		for range 20 {
			b.HeardNode("a-1", sign, b.now)
			b.pass(heartbeat, "b-1")
		}
		if !open() {
			t.Fatalf("recovering %v, its mark has never moved, and it counts as recovered", recovering)
		}
	}
	sign.Mark++
	b.HeardNode("a-1", sign, b.now)
	b.pass(heartbeat, "b-1")
	if open() {
		t.Error("it works, and does not count as recovered")
	}
}
