package medic

import (
	"context"
	"slices"
	"testing"
	"time"
)

// supervised runs a supervisor and returns its reports.
func supervised(t *testing.T, f *fake, nodes ...NodeID) (events chan Event, stop func()) {
	t.Helper()
	events = make(chan Event, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s := &Supervisor{
		Restarter: f, Nodes: nodes, Backoff: Backoff{First: time.Millisecond, Max: 4 * time.Millisecond, Healthy: time.Hour},
		Report: func(e Event) { events <- e },
	}
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return events, stop
}

func next(t *testing.T, events <-chan Event, node NodeID, what EventKind) Event {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		select {
		case e := <-events:
			if e.Node == node && e.Kind == what {
				return e
			}
		case <-timeout:
			t.Fatalf("nobody reported that %s %s", node, what)
		}
	}
}

func TestM5_OnlyTheDeadAreStartedAgain(t *testing.T) {
	f := newFake()
	events, stop := supervised(t, f, "a-1", "b-1")
	next(t, events, "a-1", Started)
	for i := range 5 {
		f.die("a-1", "signal: killed")
		if e := next(t, events, "a-1", Died); e.Cause != "signal: killed" || e.InARow != i+1 {
			t.Fatalf("death %d is reported as %+v", i+1, e)
		}
		if e := next(t, events, "a-1", Started); e.Start != i+2 {
			t.Fatalf("start %d is reported as number %d", i+2, e.Start)
		}
	}
	stop()
	if n := len(f.starts); n != 7 {
		t.Fatalf("%d starts (%v), want 6 of a-1 and 1 of b-1", n, f.starts)
	}
}

func TestM5_StartsThatFailAreTriedAgain(t *testing.T) {
	f := newFake()
	f.fail["a-1"] = 7
	events, _ := supervised(t, f, "a-1")
	for i := range 7 {
		if e := next(t, events, "a-1", Failed); e.InARow != i+1 || e.Cause != errFork.Error() {
			t.Fatalf("failed start %d is reported as %+v", i+1, e)
		}
	}
	next(t, events, "a-1", Started)
}

func TestM9_WhatRunsAlreadyIsAdopted(t *testing.T) {
	f := newFake()
	if err := f.Start(context.Background(), "a-1"); err != nil {
		t.Fatal(err)
	}
	events, _ := supervised(t, f, "a-1")
	next(t, events, "a-1", Adopted)
	f.die("a-1", "")
	if e := next(t, events, "a-1", Died); e.Cause != "cause unknown" {
		t.Fatalf("the cause of an adopted one's death is %q", e.Cause)
	}
	next(t, events, "a-1", Started)
}

func TestNodesOutliveTheirSupervisor(t *testing.T) {
	f := newFake()
	events, stop := supervised(t, f, "a-1")
	next(t, events, "a-1", Started)
	stop()
	if alive, _ := f.Alive(context.Background(), "a-1"); !alive {
		t.Fatal("the node went with its supervisor")
	}
	if did := f.did(); !slices.Equal(did, []string{"start a-1"}) {
		t.Fatalf("the supervisor did %v", did)
	}
}

func TestN5_StopAsksFirstAndKillsWhatStays(t *testing.T) {
	f := newFake()
	f.stubborn["b-1"] = true
	for _, n := range []NodeID{"a-1", "b-1"} {
		if err := f.Start(context.Background(), n); err != nil {
			t.Fatal(err)
		}
	}
	all := Stop(context.Background(), f, []NodeID{"a-1", "b-1", "c-1"}, 20*time.Millisecond)
	if a := all[0]; !a.Was || a.Killed || a.Err != nil || a.Death.Cause != "exit status 0" {
		t.Errorf("who goes when asked: %+v", a)
	}
	if b := all[1]; !b.Was || !b.Killed || b.Err != nil || b.Took < 20*time.Millisecond {
		t.Errorf("who does not: %+v", b)
	}
	if c := all[2]; c.Was || c.Killed || c.Err != nil {
		t.Errorf("who was not there: %+v", c)
	}
	if alive, _ := f.Alive(context.Background(), "b-1"); alive {
		t.Error("the stubborn one lives")
	}
}

func TestStopInAHurryDoesNotWaitButEndsEverything(t *testing.T) {
	f := newFake()
	f.stubborn["b-1"] = true
	if err := f.Start(context.Background(), "b-1"); err != nil {
		t.Fatal(err)
	}
	hurry, cancel := context.WithCancel(context.Background())
	cancel()
	if all := Stop(hurry, f, []NodeID{"b-1"}, time.Hour); !all[0].Killed || all[0].Err != nil {
		t.Fatalf("%+v", all[0])
	}
	if did := f.did(); !slices.Contains(did, "kill b-1") {
		t.Fatalf("did %v", did)
	}
}
