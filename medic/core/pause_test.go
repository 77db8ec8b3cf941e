package core

import (
	"testing"
	"time"
)

// paced moves the clock by the medic's own pauses, each with the milliseconds that a timer is late. Meanwhile every living node and medic
// is heard once in each heartbeat. It returns how often the medic ticked.
func (b *bench) paced(d time.Duration, living ...NodeID) (ticks int) {
	heard := b.now.Add(-heartbeat)
	for end := b.now.Add(d); b.now.Before(end); ticks++ {
		b.now = b.now.Add(b.Pause(b.now) + time.Duration(ticks%3)*time.Millisecond)
		if b.now.Sub(heard) >= heartbeat-5*time.Millisecond {
			heard = b.now
			for _, id := range living {
				b.HeardNode(id, Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 1, PID: 7}}, b.now)
			}
			for _, id := range []NodeID{"medic-1", "medic-2"} {
				b.say(id, Message{Kind: Beat, Term: b.stored})
			}
		}
		b.Tick(b.now)
		b.pump()
	}
	return ticks
}

// TestM6_AMedicPausesOnlyWhileAllIsWell: it ticks twice in a heartbeat while everybody is heard, and still sends each heartbeat. From the
// moment in which somebody is silent, or ends, until it is back, the medic ticks four times in a heartbeat, and orders no later than with
// steady ticks.
func TestM6_AMedicPausesOnlyWhileAllIsWell(t *testing.T) {
	b := led()
	if p := b.Pause(b.now); p != heartbeat/4 {
		t.Errorf("a medic that has never heard the other medics pauses for %v", p)
	}
	b.paced(2*heartbeat, "a-1", "b-1")
	b.look()
	const beats = 20
	if n := b.paced(beats*heartbeat, "a-1", "b-1"); n > 2*beats {
		t.Errorf("it ticks %d times in %d heartbeats while all is well", n, beats)
	}
	if n := len(b.look().of(Beat)); n < beats-2 {
		t.Errorf("it sends %d heartbeats in the time of %d", n, beats)
	}

	b.ProcessEnded("a-1", 7)
	if p := b.Pause(b.now); p != heartbeat/4 {
		t.Errorf("it pauses for %v after a process has ended", p)
	}
	died := b.det.members["a-1"].lastSign
	for len(b.ordersFor("a-1")) == 0 {
		if b.paced(1, "b-1"); b.now.Sub(died) > 3*heartbeat {
			t.Fatal("it does not order a restart of a process that has ended")
		}
	}
	if silence := b.now.Sub(died); silence > b.cfg.hintTimeout()+heartbeat/4+2*time.Millisecond {
		t.Errorf("it orders a restart %v after the last heartbeat", silence)
	}
	if p := b.Pause(b.now); p != heartbeat/4 {
		t.Errorf("it pauses for %v while it restarts a node", p)
	}

	b = led()
	b.paced(5*heartbeat, "a-1", "b-1")
	heard := b.det.members["a-1"].lastSign
	for b.now.Sub(heard) < 2*heartbeat {
		b.paced(1, "b-1")
	}
	if p := b.Pause(b.now); p != heartbeat/4 {
		t.Errorf("it pauses for %v while a node is silent", p)
	}
}
