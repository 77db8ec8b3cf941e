package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A leader whose log was set back leads in a generation in which it led before. A medic that remembers the former term
// tells it, and the leader takes the next generation.
func TestR14_TwoLivesOfOneLeaderAreTwoTerms(t *testing.T) {
	b := newBench("medic-3", State{})
	b.cfg.Life = 2
	b.pass(2*suspectAfter, "a-1")
	if term, leads := b.Term(); !leads || term != (Term{1, "medic-3", 2}) {
		t.Fatalf("in term %v, leading: %v", term, leads)
	}
	b.say("medic-1", Message{Kind: Beat, Term: Term{1, "medic-3", 1}})
	if term, leads := b.Term(); !leads || term != (Term{2, "medic-3", 2}) {
		t.Errorf("once it hears of its earlier life it is in term %v, leading: %v", term, leads)
	}
	peer := newBench("medic-1", State{Term: Term{1, "medic-3", 1}})
	peer.pass(heartbeat, "a-1")
	peer.look()
	peer.pass(heartbeat/2, "a-1")
	peer.look()
	o := Order{OrderID: OrderID{1, 2, 1}, Leader: "medic-3", Target: "a-1", Host: "h", Ended: true}
	peer.say("medic-3", Message{Kind: Command, To: "medic-1", Term: Term{1, "medic-3", 2}, Order: o})
	out := peer.look()
	if r := out.of(Outcome); len(out.Orders) > 0 || len(r) != 1 || r[0].Report.Verdict != Refused ||
		r[0].Report.Term != (Term{1, "medic-3", 1}) {
		t.Errorf("an order of the other life gives %+v", out)
	}
	if m := out.of(Beat); len(m) != 1 || m[0].Term != (Term{1, "medic-3", 1}) {
		t.Errorf("the leader is not told about its earlier life: %+v", out)
	}
}

// A report about an order of an earlier incarnation with the same number is not taken for a report about the present
// order.
func TestR14_AReportOfAnotherLifeIsNotTaken(t *testing.T) {
	b := led()
	b.pass(suspectAfter+heartbeat, "b-1")
	o := b.ordersFor("a-1")[0]
	other := o.OrderID
	other.Life++
	b.Executed(Report{Order: other, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
	if p := b.targets["a-1"].phase; p != ordered {
		t.Errorf("a-1 is %v after the report of another life's order", p)
	}
}

// leadsAfter returns how long a medic takes to become leader, alone with a node.
func leadsAfter(t *testing.T, b *bench) time.Duration {
	t.Helper()
	for b.now.Before(begin.Add(time.Minute)) {
		b.pass(heartbeat, "a-1")
		if _, leads := b.Term(); leads {
			return b.now.Sub(begin)
		}
	}
	t.Fatal("it never leads")
	return 0
}

func TestR14_AMedicBehindAFenceOrAPeerListensBeforeItActs(t *testing.T) {
	log := Term{6, "medic-3", 1}
	if took := leadsAfter(t, newBench("medic-3", State{Term: log, Fence: log})); took > 2*suspectAfter {
		t.Errorf("one whose fence and log agree leads after %v", took)
	}
	for what, fence := range map[string]Term{"a newer generation": {8, "medic-2", 1}, "another life of this generation": {6, "medic-3", 2}} {
		b := newBench("medic-3", State{Term: log, Fence: fence})
		if took := leadsAfter(t, b); took < listenTimeouts*suspectAfter {
			t.Errorf("a fence of %s: it leads after %v", what, took)
		}
		if term, _ := b.Term(); term.Gen <= fence.Gen {
			t.Errorf("a fence of %s: it leads in %v", what, term)
		}
	}
	b := newBench("medic-3", State{Term: log})
	b.say("medic-1", Message{Kind: Beat, Term: Term{9, "medic-2", 1}})
	if took := leadsAfter(t, b); took < listenTimeouts*suspectAfter {
		t.Errorf("behind a peer: it leads after %v", took)
	}
	b = newBench("medic-3", State{Term: log})
	b.say("medic-2", Message{Kind: Beat, Term: log})
	b.say("medic-2", Message{Kind: Coordinator, Leading: true, Term: Term{7, "medic-2", 1}})
	if took := leadsAfter(t, b); took > 2*suspectAfter {
		t.Errorf("after an election in its presence: it leads after %v", took)
	}
}

func TestR14_AFenceThatWasSetBackIsSentAgain(t *testing.T) {
	b := led()
	term, _ := b.Term()
	b.pass(suspectAfter+heartbeat, "a-1", "b-1")
	if o := b.look(); o.Fence != term {
		t.Errorf("the fence is told about %v, want %v", o.Fence, term)
	}
}

func TestM10_AGenerationThatJumpsIsRefusedAndReported(t *testing.T) {
	for _, gen := range []Generation{6 + maxStep + 1, 1 << 40, 1 << 62, 1<<64 - 1} {
		b := newBench("medic-1", State{Term: Term{6, "medic-3", 1}})
		b.pass(heartbeat, "a-1")
		b.look()
		for _, m := range []Message{
			{Kind: Beat, Leading: true, Term: Term{gen, "medic-2", 1}}, {Kind: Coordinator, Leading: true, Term: Term{gen, "medic-2", 1}},
			{Kind: Entries, To: "medic-1", Term: Term{6, "medic-3", 1}, Entries: []Entry{{EntryID: EntryID{Term{gen, "medic-2", 1}, 1}}},
				Oldest: EntryID{Term{gen, "medic-2", 1}, 1}},
		} {
			b.say("medic-2", m)
		}
		if term, _ := b.Term(); term.Gen != 6 || len(b.Journal()) > 0 {
			t.Errorf("generation %d: it is in term %v, with %d entries", gen, term, len(b.Journal()))
		}
		if o := b.look(); len(o.Refused) != 1 || !strings.Contains(o.Refused[0], "medic-2") {
			t.Errorf("generation %d: it reports %q", gen, o.Refused)
		}
	}
	for gen, known := range map[Generation]Generation{6 + maxStep: 6, maxFirst: 0} {
		b := newBench("medic-1", State{Term: Term{Gen: known}})
		b.say("medic-2", Message{Kind: Beat, Leading: true, Term: Term{gen, "medic-2", 1}})
		if term, _ := b.Term(); term.Gen != gen {
			t.Errorf("generation %d after %d is possible, and it is in %v", gen, known, term)
		}
	}
}

func TestM10_AFenceThatCannotBeIsReportedAndDoesNotStopTheOthers(t *testing.T) {
	b := newBench("medic-3", State{Term: Term{6, "medic-3", 1}, Fence: Term{1 << 62, "medic-2", 1}})
	b.pass(3*suspectAfter, "a-1", "b-1")
	o := b.look()
	if term, leads := b.Term(); !leads || term.Gen != 7 || len(o.Refused) != 1 {
		t.Fatalf("in term %v, leading: %v, it reports %q", term, leads, o.Refused)
	}
	b.pass(suspectAfter+heartbeat, "b-1")
	r := b.ordersFor("a-1")[0].Report(Refused)
	r.Term = Term{1 << 62, "medic-2", 1}
	b.Executed(r, b.now)
	b.pass(heartbeat, "b-1")
	missed := false
	for _, e := range b.Journal() {
		missed = missed || e.Kind == Missed && strings.Contains(e.Text, "fence of host h")
	}
	if term, leads := b.Term(); !leads || term.Gen != 7 || !missed {
		t.Errorf("in term %v, leading: %v; the journal reports it: %v", term, leads, missed)
	}
}

// A medic accepts every log that it can have stored: if it refused its own log, it would die at every start.
func TestM10_WhatIsStoredIsReadBack(t *testing.T) {
	term := Term{1<<64 - 1, "medic-2", 1<<64 - 1}
	e := Entry{EntryID: EntryID{term, 1<<64 - 1}, At: time.Unix(0, 1), Incarnation: 1<<64 - 1}
	var s State
	for _, r := range []Record{{Term: &term}, {Entry: &e}} {
		typ, data := r.Encode()
		if err := s.Restore(typ, data); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench("medic-1", s)
	again, err := DecodeSnapshot(b.Snapshot())
	if err != nil || again.Term != term || len(again.Journal) != 1 {
		t.Errorf("%v: %+v", err, again)
	}
}

func TestM10_AnIncarnationThatJumpsIsRefusedAndReported(t *testing.T) {
	b := led()
	log := [16]byte{1}
	b.HeardNode("a-1", Sign{Identity: Identity{LogID: log, Incarnation: 1 << 63, PID: 7}}, b.now)
	b.pass(2*suspectAfter, "a-1", "b-1") // the living one says 1, as before
	o := b.look()
	if slices.ContainsFunc(o.Orders, func(o Order) bool { return o.Target == "a-1" }) || len(o.Refused) != 1 ||
		!strings.Contains(o.Refused[0], "a-1") {
		t.Errorf("it orders %+v and reports %q", o.Orders, o.Refused)
	}
	b.HeardNode("a-1", Sign{Identity: Identity{LogID: log, Incarnation: 1 + maxStep, PID: 7}}, b.now)
	if v := b.det.members["a-1"]; v.Incarnation != 1+maxStep {
		t.Errorf("the largest step is not taken: %d", v.Incarnation)
	}
}

// The time since a target came back is counted by this medic's own clock, whatever the entry says.
func TestM10_NoOtherClockEndsARowOfFailures(t *testing.T) {
	term := Term{3, "medic-3", 0}
	for what, at := range map[string]time.Time{"behind": begin.Add(-24 * time.Hour), "ahead": begin.Add(24 * time.Hour)} {
		j := newJournal()
		j.add(Entry{EntryID: EntryID{term, 1}, At: at, Kind: Suspected, Node: "a-1", InARow: 4}, EntryID{}, begin)
		j.add(Entry{EntryID: EntryID{term, 2}, At: at, Kind: Recovered, Node: "a-1"}, EntryID{}, begin)
		if n := j.inARow("a-1", begin.Add(rowTimeout/2)); n != 4 {
			t.Errorf("a clock %s: %d in a row, want 4", what, n)
		}
		if n := j.inARow("a-1", begin.Add(2*rowTimeout)); n != 0 {
			t.Errorf("a clock %s, long after: %d in a row, want 0", what, n)
		}
	}
}
