package monitor

import (
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

var begin = time.Unix(1000, 0)

func beat(node string, incarnation, bytesIn uint64) heartbeat.Beat {
	return heartbeat.Beat{
		Node: link.NodeID(node), ID: link.Identity{LogID: link.LogID{1}, Incarnation: link.Incarnation(incarnation)},
		State: heartbeat.Running, BytesIn: bytesIn, BytesOut: bytesIn / 2,
	}
}

func board() *nodeTable { return newNodeTable([]topology.Node{{ID: "a-1"}, {ID: "b-1"}}) }

func TestANodeThatWasNotHeardIsSilent(t *testing.T) {
	b := board()
	b.Heard(beat("a-1", 1, 0), begin)
	b.Heard(beat("stranger-1", 1, 0), begin)
	view := b.View(begin.Add(time.Second))
	if len(view) != 2 || !view[0].Heard || view[0].Age != time.Second || view[1].Heard || view[1].Node.ID != "b-1" {
		t.Fatalf("the board is %+v", view)
	}
	if !view[0].Up(time.Second) || view[0].Up(time.Second-1) || view[1].Up(time.Hour) {
		t.Fatal("who is up is decided by the age of what was heard")
	}
}

func TestANodeThatReadsItsLogBackIsNotUpYet(t *testing.T) {
	for state, want := range map[heartbeat.State]bool{
		heartbeat.Recovering: false, heartbeat.Draining: false, heartbeat.Damaged: false, heartbeat.Running: true, heartbeat.Blocked: true,
		heartbeat.DiskFull: true,
	} {
		b, beat := board(), beat("a-1", 1, 0)
		beat.State = state
		b.Heard(beat, begin)
		if got := b.View(begin)[0]; got.Up(time.Second) != want {
			t.Errorf("%s: up is %v", state, !want)
		}
	}
}

func TestR8_ALowerIncarnationIsPassedOver(t *testing.T) {
	b := board()
	b.Heard(beat("a-1", 2, 100), begin)
	b.Heard(beat("a-1", 1, 500), begin.Add(time.Second))
	if got := b.View(begin.Add(time.Second))[0]; got.Beat.ID.Incarnation != 2 || got.Age != time.Second {
		t.Fatalf("a zombie was believed: %+v", got)
	}
}

func TestRatesAreOfOneProcessAndOfLately(t *testing.T) {
	b := board()
	now, n := begin, uint64(0)
	step := func(incarnation, by uint64) Status {
		now, n = now.Add(100*time.Millisecond), n+by
		b.Heard(beat("a-1", incarnation, n), now)
		return b.View(now)[0]
	}
	if got := step(1, 0); got.Span != 0 || got.InRate != 0 {
		t.Fatalf("a rate of one heartbeat: %+v", got)
	}
	for range 100 {
		if got := step(1, 1000); got.Span <= 0 || got.Span > rateSpan*3/2 || got.InRate < 9999 || got.InRate > 10001 || got.OutRate < 4900 ||
			got.OutRate > 5100 {
			t.Fatalf("10,000 bytes a second are told as %v in and %v out, over %v", got.InRate, got.OutRate, got.Span)
		}
	}
	var last Status
	for range 40 {
		last = step(1, 0)
	}
	if last.InRate != 0 {
		t.Fatalf("four seconds after the last byte the rate is %v", last.InRate)
	}
	n = 0
	if got := step(2, 50); got.Span != 0 || got.InRate != 0 {
		t.Fatalf("the next process begins with %+v", got)
	}
}

func TestBacklogIsOfAllLinks(t *testing.T) {
	s := Status{Beat: heartbeat.Beat{Links: []heartbeat.Link{{Bytes: 3}, {Bytes: 4}}}}
	if s.Backlog() != 7 {
		t.Fatalf("backlog %d", s.Backlog())
	}
}
