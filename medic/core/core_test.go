package core

import (
	"slices"
	"testing"
	"time"
)

func TestM2_TheHighestLeadsAtOnceAndOthersAsk(t *testing.T) {
	high, low := newBench("medic-3", State{}), newBench("medic-1", State{})
	high.pass(suspectAfter+heartbeat, "a-1")
	if term, leads := high.Term(); !leads || term != (Term{1, "medic-3", 0}) {
		t.Errorf("the highest is in term %v, leading: %v", term, leads)
	}
	low.pass(suspectAfter+heartbeat, "a-1")
	if _, leads := low.Term(); leads || len(low.look().of(Election)) == 0 {
		t.Error("the lowest has not asked, or not waited for an answer")
	}
	low.say("medic-2", Message{Kind: Alive})
	low.pass(suspectAfter/2, "a-1")
	if _, leads := low.Term(); leads {
		t.Error("it leads although a higher one has objected")
	}
	low.pass(3*suspectAfter, "a-1")
	if _, leads := low.Term(); !leads {
		t.Error("it never leads although who objected did not")
	}
}

func TestM3_NothingIsSaidInAGenerationThatIsNotStored(t *testing.T) {
	b := newBench("medic-3", State{Term: Term{6, "medic-2", 0}})
	b.held = true
	b.pass(5*suspectAfter, "a-1")
	o := b.look()
	for _, m := range o.Messages {
		if m.Term.Gen != 6 || m.Leading {
			t.Fatalf("it says %+v", m)
		}
	}
	if len(o.Orders) > 0 || o.Fence.Gen > 6 {
		t.Fatalf("it acts: %+v, fence %v", o.Orders, o.Fence)
	}
	b.held = false
	b.pump()
	if m := b.look().of(Coordinator); len(m) != 1 || m[0].Term != (Term{7, "medic-3", 0}) {
		t.Fatalf("once it is stored, it says %+v", m)
	}
}

func TestM3_AHigherGenerationDeposesALeaderAndALowerOneIsAnswered(t *testing.T) {
	b := newBench("medic-3", State{})
	b.pass(2*suspectAfter, "a-1")
	b.say("medic-1", Message{Kind: Beat, Term: Term{5, "medic-1", 0}, Leading: true})
	if term, leads := b.Term(); leads || term != (Term{5, "medic-1", 0}) {
		t.Fatalf("in term %v, leading: %v", term, leads)
	}
	b.pass(heartbeat / 2)
	b.look()
	b.say("medic-2", Message{Kind: Command, To: "medic-3", Term: Term{4, "medic-2", 0},
		Order: Order{OrderID: OrderID{4, 0, 1}, Leader: "medic-2", Target: "a-1", Host: "h"}})
	o := b.look()
	if r := o.of(Outcome); len(o.Orders) > 0 || len(r) != 1 || r[0].Report.Verdict != Refused || r[0].Report.Term != (Term{5, "medic-1", 0}) {
		t.Fatalf("an old leader's order gives %+v", o)
	}
}

func TestM3_OfTwoLeadersOfOneGenerationTheHigherStaysInANewOne(t *testing.T) {
	b := newBench("medic-3", State{})
	b.pass(2*suspectAfter, "a-1")
	b.say("medic-1", Message{Kind: Beat, Term: Term{1, "medic-1", 0}, Leading: true})
	if term, leads := b.Term(); !leads || term != (Term{2, "medic-3", 0}) {
		t.Errorf("the higher is in term %v, leading: %v", term, leads)
	}
	b = newBench("medic-1", State{})
	b.pass(4*suspectAfter, "a-1")
	b.say("medic-2", Message{Kind: Beat, Term: Term{1, "medic-2", 0}, Leading: true})
	if term, leads := b.Term(); leads || term != (Term{1, "medic-2", 0}) {
		t.Errorf("the lower is in term %v, leading: %v", term, leads)
	}
}

// led returns a leader that has heard its nodes.
func led() *bench {
	b := newBench("medic-3", State{})
	b.pass(3*suspectAfter, "a-1", "b-1")
	b.look()
	return b
}

// ordersFor returns the orders for a target since the last call.
func (b *bench) ordersFor(target NodeID) (all []Order) {
	for _, o := range b.look().Orders {
		if o.Target == target {
			all = append(all, o)
		}
	}
	return all
}

func TestM5_OneFailureOneOrderUntilItsReport(t *testing.T) {
	b := led()
	b.pass(suspectAfter+heartbeat, "b-1")
	all := b.ordersFor("a-1")
	if len(all) != 1 || all[0].Silent < suspectAfter || all[0].Ended {
		t.Fatalf("the orders are %+v", all)
	}
	b.pass(suspectAfter, "b-1") // the host carries it out, slowly
	if again := b.ordersFor("a-1"); len(again) > 0 {
		t.Fatalf("ordered again: %+v", again)
	}
	b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8}, b.now)
	b.pass(suspectAfter, "b-1")
	b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 2, PID: 8}, Recovering: true}, b.now)
	b.pass(heartbeat, "b-1")
	b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 2, PID: 8}}, b.now)
	b.pass(heartbeat, "b-1")
	for _, i := range Incidents(b.Journal()) {
		if i.Node == "a-1" && (i.Restarts != 1 || i.Open || i.Incarnation != 2) {
			t.Errorf("the journal tells %+v", i)
		}
	}
}

func TestHintsShortenASuspicionAndNeverMakeOne(t *testing.T) {
	b := led()
	b.ProcessEnded("a-1", 7)
	b.pass(5*suspectAfter, "a-1", "b-1")
	if all := b.ordersFor("a-1"); len(all) > 0 {
		t.Fatalf("a living node is restarted on a hint: %+v", all)
	}
	b.ProcessEnded("a-1", 7)
	b.pass(3*heartbeat, "b-1")
	if all := b.ordersFor("a-1"); len(all) != 1 || !all[0].Ended {
		t.Fatalf("the orders are %+v", all)
	}
	b.ProcessEnded("b-1", 6) // an earlier process than the one that is heard
	b.pass(5*heartbeat, "a-1")
	if all := b.ordersFor("b-1"); len(all) > 0 {
		t.Fatalf("the end of an older process makes %+v", all)
	}
}

func TestM6_AfterASleepNoNodeIsSuspectedForOneTimeout(t *testing.T) {
	b := led()
	b.now = b.now.Add(time.Minute)
	b.Tick(b.now)
	b.pump()
	b.pass(suspectAfter-2*heartbeat, "b-1")
	if o := b.look(); len(o.Orders) > 0 || len(o.of(Command)) > 0 {
		t.Fatalf("it acts on its own sleep: %+v", o)
	}
	b.pass(3*heartbeat, "b-1")
	if len(b.ordersFor("a-1")) != 1 {
		t.Fatal("who is silent after that is not restarted")
	}
}

func TestM5_CrashLoopsBackOff(t *testing.T) {
	b := led()
	var waits []time.Duration
	for life := range 6 {
		b.ProcessEnded("a-1", 7+life)
		for range 100 {
			b.pass(heartbeat, "b-1")
			if all := b.ordersFor("a-1"); len(all) == 1 {
				b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Done, PID: 8 + life}, b.now)
				break
			}
		}
	}
	for _, e := range b.Journal() {
		if e.Kind == Suspected && e.Node == "a-1" {
			waits = append(waits, e.Wait)
		}
	}
	want := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, time.Second}
	for i := range want {
		if i >= len(waits) || waits[i] != want[i] {
			t.Fatalf("pauses of %v, want %v", waits, want)
		}
	}
}

func TestM8_FollowersRefuseEntriesOfALowerGeneration(t *testing.T) {
	b := newBench("medic-1", State{Term: Term{5, "medic-3", 0}})
	e := Entry{EntryID: EntryID{Term{4, "medic-2", 0}, 1}, Kind: Elected}
	b.say("medic-2", Message{Kind: Entries, To: "medic-1", Term: Term{4, "medic-2", 0}, Entries: []Entry{e}, Oldest: e.EntryID})
	if len(b.Journal()) > 0 {
		t.Fatal("an old leader's entries were taken")
	}
	b.say("medic-3", Message{Kind: Entries, To: "medic-1", Term: Term{5, "medic-3", 0}, Entries: []Entry{e}, Oldest: e.EntryID})
	if len(b.Journal()) != 1 {
		t.Fatal("history was not taken from the present leader")
	}
}

// The host finds a process that seems too young to be the silent one. It is the silent one nevertheless: it was only
// slow, and is heard again.
func TestM5_AnAdoptedProcessThatSpeaksAgainIsSpared(t *testing.T) {
	b := led()
	b.pass(suspectAfter+heartbeat, "b-1")
	all := b.ordersFor("a-1")
	if len(all) != 1 {
		t.Fatalf("the orders are %+v", all)
	}
	b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Found, PID: 7}, b.now)
	tells := func() (what []EntryKind) {
		for _, e := range b.Journal() {
			if e.Node == "a-1" {
				what = append(what, e.Kind)
			}
		}
		return what
	}
	b.pass(4*suspectAfter, "a-1", "b-1")
	if got := tells(); !slices.Equal(got, []EntryKind{Suspected, Adopted}) {
		t.Fatalf("the journal tells %v: signs of the life that was missed may be late ones for so long", got)
	}
	b.pass(10*suspectAfter, "a-1", "b-1")
	if got := tells(); !slices.Equal(got, []EntryKind{Suspected, Adopted, Recovered}) {
		t.Fatalf("the journal tells %v", got)
	}
	if again := b.ordersFor("a-1"); len(again) > 0 {
		t.Fatalf("who works is restarted: %+v", again)
	}
	b.pass(suspectAfter+2*heartbeat, "b-1")
	if again := b.ordersFor("a-1"); len(again) != 1 {
		t.Fatalf("its next failure gives the orders %+v", again)
	}
}

// Late heartbeats of the previous incarnation do not keep alive an adopted process that hangs.
func TestM5_AnAdoptedProcessThatHangsIsRestartedWhateverCameLate(t *testing.T) {
	b := led()
	b.pass(suspectAfter+heartbeat, "b-1")
	all := b.ordersFor("a-1")
	b.Executed(Report{Order: all[0].OrderID, Leader: "medic-3", Target: "a-1", Verdict: Found, PID: 7}, b.now)
	b.pass(3*suspectAfter, "a-1", "b-1")
	b.pass(3*suspectAfter, "b-1")
	if again := b.ordersFor("a-1"); len(again) != 1 {
		t.Fatalf("the orders are %+v", again)
	}
}

func TestM5_AnOrderDoesNotLeaveIfItsTargetIsHeardAtTheDecision(t *testing.T) {
	b := led()
	b.held = true
	for b.targets["a-1"].phase != ordered {
		b.pass(heartbeat/4, "b-1")
	}
	// the message was in the queue when the clock was read
	b.HeardNode("a-1", Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 1, PID: 7}}, b.now)
	b.held = false
	b.pump()
	b.pass(heartbeat, "b-1")
	if all := b.ordersFor("a-1"); len(all) > 0 {
		t.Fatalf("the order leaves: %+v", all)
	}
}
