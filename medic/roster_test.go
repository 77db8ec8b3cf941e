package medic

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var (
	begin = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	pace  = Backoff{First: 100 * time.Millisecond, Max: time.Second, Healthy: 5 * time.Second}
)

func at(d time.Duration) time.Time { return begin.Add(d) }

func TestM5_AllNodesAreDueAtOnceAndOnlyOnce(t *testing.T) {
	r := NewRoster(pace, []NodeID{"b-1", "a-1"})
	if due := r.Due(begin); !slices.Equal(due, []NodeID{"a-1", "b-1"}) {
		t.Fatalf("due are %v, want both nodes, sorted", due)
	}
	if due := r.Due(at(time.Hour)); len(due) > 0 {
		t.Fatalf("%v are due again although nobody said that they died", due)
	}
	if next, some := r.Next(); some {
		t.Fatalf("somebody is due at %v, but nobody waits", next)
	}
}

func TestM5_ADeathIsFollowedByAStartAtOnce(t *testing.T) {
	r := NewRoster(pace, []NodeID{"a-1"})
	r.Due(begin)
	if nth := r.Started("a-1", begin); nth != 1 {
		t.Fatalf("the first start is number %d", nth)
	}
	if wait, inARow := r.Died("a-1", at(time.Second)); wait != 0 || inARow != 1 {
		t.Fatalf("the first death makes it wait %v, number %d in a row", wait, inARow)
	}
	if due := r.Due(at(time.Second)); len(due) != 1 {
		t.Fatalf("due are %v, want the dead one", due)
	}
	if nth := r.Started("a-1", at(time.Second)); nth != 2 {
		t.Fatalf("the second start is number %d", nth)
	}
}

func TestM5_CrashLoopsBackOffAndNeverGiveUp(t *testing.T) {
	r := NewRoster(pace, []NodeID{"a-1"})
	now := begin
	want := []time.Duration{0, 100, 200, 400, 800, 1000, 1000, 1000}
	for i, ms := range want {
		if due := r.Due(now); len(due) != 1 {
			t.Fatalf("start %d at %v: not due", i+1, now.Sub(begin))
		}
		r.Started("a-1", now)
		now = now.Add(10 * time.Millisecond)
		wait, inARow := r.Died("a-1", now)
		if wait != ms*time.Millisecond || inARow != i+1 {
			t.Fatalf("death %d: wait %v, %d in a row; want %v", i+1, wait, inARow, ms*time.Millisecond)
		}
		if next, some := r.Next(); !some || !next.Equal(now.Add(wait)) {
			t.Fatalf("death %d: next is %v, want after %v", i+1, next, wait)
		}
		if wait > 0 && len(r.Due(now.Add(wait-1))) > 0 {
			t.Fatalf("death %d: due before its time", i+1)
		}
		now = now.Add(wait)
	}
}

func TestM5_AHealthyLifeEndsTheRow(t *testing.T) {
	r := NewRoster(pace, []NodeID{"a-1"})
	r.Due(begin)
	for range 6 {
		r.Started("a-1", begin)
		r.Died("a-1", at(time.Millisecond))
		r.Due(at(time.Hour))
	}
	r.Started("a-1", begin)
	if wait, inARow := r.Died("a-1", at(pace.Healthy)); wait != 0 || inARow != 1 {
		t.Fatalf("after a healthy life: wait %v, %d in a row; want a start at once", wait, inARow)
	}
}

// A failed start counts as a death after no run time: the time since an earlier start must not count as run time.
func TestM5_AFailedStartIsADeath(t *testing.T) {
	r := NewRoster(pace, []NodeID{"a-1"})
	r.Due(begin)
	r.Started("a-1", begin)
	r.Died("a-1", at(time.Millisecond))
	now := at(time.Hour)
	for i, want := range []time.Duration{100, 200, 400} {
		r.Due(now)
		if wait, _ := r.Died("a-1", now); wait != want*time.Millisecond {
			t.Fatalf("failed start %d: wait %v, want %v", i+1, wait, want*time.Millisecond)
		}
		now = now.Add(time.Hour)
	}
}

func TestRosterPassesOverStrangers(t *testing.T) {
	r := NewRoster(pace, nil)
	r.Started("x-1", begin)
	if wait, inARow := r.Died("x-1", begin); wait != 0 || inARow != 0 {
		t.Fatal("a stranger's death was counted")
	}
	if len(r.Due(at(time.Hour))) > 0 {
		t.Fatal("a stranger is to be started")
	}
}

// At any time a node is either started (returned by Due, no death since) or waits for at most Pace.Most.
func TestM5_NoNodeIsForgottenOrStartedTwice(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		nodes := []NodeID{"a-1", "a-2", "b-1"}
		r := NewRoster(pace, nodes)
		underWay := map[NodeID]bool{}
		now := begin
		for range 300 {
			now = now.Add(time.Duration(rnd.IntN(int(2 * time.Second))))
			for _, n := range r.Due(now) {
				if underWay[n] {
					t.Fatalf("seed %d: %s is started twice", seed, n)
				}
				underWay[n] = true
				if rnd.IntN(3) > 0 {
					r.Started(n, now)
				}
			}
			n := nodes[rnd.IntN(len(nodes))]
			if underWay[n] {
				wait, _ := r.Died(n, now)
				if wait > pace.Max {
					t.Fatalf("seed %d: %s waits %v, more than %v", seed, n, wait, pace.Max)
				}
				underWay[n] = false
			}
		}
		for _, n := range r.Due(now.Add(pace.Max)) {
			underWay[n] = true
		}
		for _, n := range nodes {
			if !underWay[n] {
				t.Fatalf("seed %d: %s was forgotten", seed, n)
			}
		}
	}
}
