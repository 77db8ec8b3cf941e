package core

import (
	"testing"
	"time"
)

func TestM7_AMedicThatHearsNothingFirstAssumesItIsCutOff(t *testing.T) {
	b := led()
	b.pass(4*suspectAfter, []NodeID{}...)
	if o := b.look(); len(o.Orders) > 0 || len(o.of(Command)) > 0 {
		t.Fatalf("it hears nobody, and acts: %+v", o)
	}
	b.pass(2 * suspectAfter)
	if all := b.look().Orders; len(all) != 4 {
		t.Fatalf("the last one alive gives the orders %+v, want one for everybody else", all)
	}
}

func TestM7_WhatIsKnownToBeGoneIsStartedAtOnceByTheLastOne(t *testing.T) {
	b := led()
	b.pass(heartbeat)
	b.ProcessEnded("a-1", 0)
	b.pass(suspectAfter)
	if all := b.look().Orders; len(all) != 1 || all[0].Target != "a-1" || !all[0].Ended {
		t.Fatalf("the orders are %+v, want one for a-1 alone", all)
	}
}

func TestM7_AMedicThatHearsNothingIsNoCandidate(t *testing.T) {
	b := newBench("medic-1", State{Term: Term{4, "medic-3", 0}})
	b.pass(suspectAfter/2, "a-1", "b-1")
	b.pass(3 * suspectAfter)
	if term, _ := b.Term(); term.Gen != 4 || len(b.look().of(Election)) > 0 {
		t.Fatalf("it hears nobody, and is in term %v", term)
	}
	for _, who := range []NodeID{"a-1", "b-1", "medic-2", "medic-3"} {
		b.ProcessEnded(who, 0)
	}
	b.pass(suspectAfter)
	if _, leads := b.Term(); !leads {
		t.Fatal("all the others are gone, and it does not lead")
	}
}

func TestM3_AMedicWithoutItsLogLearnsFromTheHostAndListensFirst(t *testing.T) {
	b := newBench("medic-3", State{Fence: Term{7, "medic-3", 0}})
	b.pass(2*suspectAfter, "a-1", "b-1")
	if term, leads := b.Term(); leads || term != (Term{7, "medic-3", 0}) {
		t.Fatalf("in term %v, leading: %v", term, leads)
	}
	b.say("medic-1", Message{Kind: Beat, Term: Term{9, "medic-3", 0}}) // it had led in another partition, too
	b.pass(3*suspectAfter, "a-1", "b-1")
	if term, leads := b.Term(); !leads || term != (Term{10, "medic-3", 0}) {
		t.Fatalf("in term %v, leading: %v", term, leads)
	}
}

func TestM5_ANewLeaderContinuesTheBackOff(t *testing.T) {
	b := led()
	b.pass(suspectAfter+2*heartbeat, "b-1")
	var journal []Entry
	for _, e := range b.Journal() {
		if e.Kind == Suspected && e.Node == "a-1" {
			e.InARow = 3
		}
		journal = append(journal, e)
	}
	b = newBench("medic-2", State{Term: Term{1, "medic-3", 0}, Journal: journal})
	b.pass(5*suspectAfter, "b-1")
	b.pass(2*suspectAfter, "b-1")
	last := Entry{}
	for _, e := range b.Journal() {
		if e.Kind == Suspected && e.Node == "a-1" {
			last = e
		}
	}
	if last.Gen != 2 || last.InARow != 4 || last.Wait != 400*time.Millisecond {
		t.Fatalf("the new leader notes %+v", last)
	}
}

func TestR8_LateSignsOfAnEndedLifeDoNotCount(t *testing.T) {
	b := led()
	beat := func(log byte, life uint64) {
		b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{log}, Incarnation: life}}, b.now)
	}
	recovered := func() (n int) {
		for _, e := range b.Journal() {
			if e.Kind == Recovered && e.Node == "a-1" {
				n++
			}
		}
		return n
	}
	b.pass(suspectAfter+heartbeat, "b-1")
	all := b.ordersFor("a-1")
	if len(all) != 1 {
		t.Fatalf("the orders are %+v", all)
	}
	b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
	for range 5 {
		beat(1, 1) // a heartbeat of the killed incarnation
		b.pass(heartbeat, "b-1")
	}
	if recovered() > 0 {
		t.Fatal("late signs of the old life are taken for the new one")
	}
	beat(2, 1) // the new incarnation has lost its log
	beat(1, 1)
	b.pass(heartbeat, "b-1")
	if v := b.det.members["a-1"]; recovered() != 1 || v.LogID[0] != 2 {
		t.Fatalf("%d recoveries, and log %d is believed", recovered(), v.LogID[0])
	}
	b.pass(suspectAfter/2, "b-1")
	beat(1, 1) // the one that keeps sending was the later one after all
	if v := b.det.members["a-1"]; v.LogID[0] != 1 {
		t.Fatal("who continues is not believed")
	}
}

func TestR8_ADoubtfulSignEndsSilence(t *testing.T) {
	b := led()
	beat := func(log byte) {
		b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{log}, Incarnation: 1, PID: 7}}, b.now)
	}
	beat(2) // it has lost its log, and works
	b.pass(suspectAfter/2+heartbeat, "b-1")
	beat(1) // a late heartbeat, when the present incarnation had been silent for a moment: it is believed
	for range 3 {
		b.pass(heartbeat, "b-1")
		beat(2) // and the present incarnation's heartbeats are doubted
	}
	if v := b.det.members["a-1"]; v.LogID[0] != 1 {
		t.Fatalf("log %d is believed", v.LogID[0])
	}
	b.pass(suspectAfter-2*heartbeat, "b-1")
	if all := b.ordersFor("a-1"); len(all) > 0 {
		t.Fatalf("a node that was heard %v ago is restarted: %+v", suspectAfter-2*heartbeat, all)
	}
	b.pass(3*heartbeat, "b-1")
	if len(b.ordersFor("a-1")) != 1 {
		t.Fatal("who is silent after that is not restarted")
	}
}

func TestR8_AnOrderDoesNotLeaveWhenADoubtfulSignHasCome(t *testing.T) {
	b := led()
	b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{2}, Incarnation: 1}}, b.now)
	b.held = true
	b.ProcessEnded("a-1", 0)
	b.pass(3*heartbeat, "b-1")
	b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 1}}, b.now)
	b.held = false
	b.pump()
	if all := b.ordersFor("a-1"); len(all) > 0 {
		t.Fatalf("the order leaves: %+v", all)
	}
}

// A node that was silent after its start, while the leader was cut off and could not send the order to restart it.
func TestM6_AMedicThatWasCutOffAlsoWaitsForNodesThatWereNeverHeard(t *testing.T) {
	b := led()
	b.pass(suspectAfter+heartbeat, "b-1")
	all := b.ordersFor("a-1")
	if len(all) != 1 {
		t.Fatalf("the orders are %+v", all)
	}
	b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
	b.pass(5*suspectAfter-heartbeat, "b-1")
	b.held = true
	b.pass(2*heartbeat, "b-1") // its deadline ends, and the order is being stored
	b.pass(suspectAfter / 2)   // nobody is heard
	b.HeardNode("b-1", Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 1, PID: 7}}, b.now)
	b.held = false
	b.look()
	b.pass(suspectAfter-heartbeat, "b-1")
	if all := b.ordersFor("a-1"); len(all) > 0 {
		t.Fatalf("it acts on what it has missed: %+v", all)
	}
	b.pass(3*heartbeat, "b-1")
	if len(b.ordersFor("a-1")) != 1 {
		t.Fatal("who is silent after that is not restarted")
	}
}
