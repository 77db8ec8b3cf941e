package core

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

func entry(gen Generation, leader NodeID, n uint64) Entry {
	return Entry{EntryID: EntryID{Term{gen, leader, 0}, n}, Kind: Elected}
}

func TestM8_JournalsJoinInAnyOrderAndHaveNoHoles(t *testing.T) {
	var all []Entry
	for gen := range Generation(5) {
		for n := range uint64(6) {
			all = append(all, entry(gen+1, "medic-1", n+1))
		}
	}
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		from, to := newJournalOf(all), newJournal()
		for range 200 { // lost, late, and twice
			entries, oldest := from.missing(to.extents())
			for _, e := range entries {
				if rnd.IntN(3) > 0 {
					to.add(e, oldest, begin)
				}
			}
		}
		if !reflect.DeepEqual(to.entries, from.entries) {
			t.Fatalf("seed %d: %d of %d entries", seed, len(to.entries), len(from.entries))
		}
	}
	j := newJournal()
	if j.add(entry(1, "medic-1", 2), EntryID{}, begin) {
		t.Error("an entry was taken before the one before it")
	}
}

func TestM8_AJournalForgetsItsBeginning(t *testing.T) {
	j := newJournal()
	for n := range uint64(maxEntries + 50) {
		j.add(entry(Generation(1+n/100), "medic-1", 1+n%100), EntryID{}, begin)
	}
	if len(j.entries) != maxEntries || j.entries[0].N != 51 {
		t.Fatalf("%d entries, the first is %v", len(j.entries), j.entries[0].EntryID)
	}
	late := newJournal()
	entries, oldest := j.missing(nil)
	for _, e := range entries {
		late.add(e, oldest, begin)
	}
	if len(late.entries) == 0 || late.entries[0].N != 51 {
		t.Errorf("somebody new gets %d entries", len(late.entries))
	}
	if j.add(entry(1, "medic-1", 51), EntryID{}, begin) || j.add(entry(0, "medic-9", 1), EntryID{}, begin) {
		t.Error("it takes what it has forgotten")
	}
}

func TestM8_IncidentsAreDerivedFromTheJournal(t *testing.T) {
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	first, second := Term{1, "medic-3", 0}, Term{2, "medic-2", 0}
	all := Incidents([]Entry{
		{EntryID: EntryID{first, 1}, Kind: Elected},
		{EntryID: EntryID{first, 2}, At: at(0), Kind: Suspected, Node: "a-1", Silent: 800 * time.Millisecond, InARow: 1, Text: "silent"},
		{EntryID: EntryID{first, 3}, At: at(50), Kind: Restarted, Node: "a-1", Text: "signal: killed"},
		{EntryID: EntryID{second, 1}, At: at(60), Kind: Elected}, // the leader died before it saw the end
		{EntryID: EntryID{second, 2}, At: at(100), Kind: Suspected, Node: "b-1", Silent: time.Second, InARow: 1},
		{EntryID: EntryID{second, 3}, At: at(250), Kind: Recovered, Node: "a-1", Incarnation: 4},
	})
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	a, b := all[0], all[1]
	if a.Open || a.Restarts != 1 || a.Cause != "signal: killed" || a.Restart != 50*time.Millisecond || a.Recovery != 200*time.Millisecond ||
		a.Incarnation != 4 ||
		a.Total() != 1050*time.Millisecond {
		t.Errorf("the first is told as %+v", a)
	}
	if !b.Open || b.Node != "b-1" || b.Restarts != 0 {
		t.Errorf("the second is told as %+v", b)
	}
}

func TestM5_TwoLeadersOfOneGenerationHaveCountedOneRow(t *testing.T) {
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	first, second := Term{3, "medic-3", 0}, Term{3, "medic-1", 0} // no other medic heard of the first incident; by its term it comes last
	j := newJournalOf([]Entry{
		{EntryID: EntryID{second, 1}, At: at(20), Kind: Suspected, Node: "a-1", InARow: 1},
		{EntryID: EntryID{second, 2}, At: at(21), Kind: Missed, Node: "a-1"},
		{EntryID: EntryID{second, 3}, At: at(22), Kind: Suspected, Node: "a-1", InARow: 3},
		{EntryID: EntryID{first, 1}, At: at(10), Kind: Suspected, Node: "a-1", InARow: 1},
	})
	if n := j.inARow("a-1", at(23)); n != 3 {
		t.Errorf("%d failures in a row, want 3", n)
	}
	for n := range uint64(3) {
		j.add(Entry{EntryID: EntryID{first, 2 + n}, At: at(11), Kind: Missed, Node: "a-1"}, EntryID{}, begin)
	}
	if n := j.inARow("a-1", at(25)); n != 4 {
		t.Errorf("%d failures in a row, want the longer row's 4", n)
	}
	j.add(Entry{EntryID: EntryID{Term{4, "medic-1", 0}, 1}, At: at(26), Kind: Suspected, Node: "a-1", InARow: 1}, EntryID{}, at(26))
	if n := j.inARow("a-1", at(27)); n != 1 {
		t.Errorf("%d failures in a row, want the newer generation's 1", n)
	}
}

func TestM5_ALeaderThatSleptCountsWhatALowerGenerationCountedMeanwhile(t *testing.T) {
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	first, sleeper, meanwhile := Term{5, "medic-2", 0}, Term{6, "medic-3", 0}, Term{5, "medic-1", 0}
	j := newJournal()
	learn := func(s int, e Entry) { j.add(e, EntryID{}, at(s)) }
	suspected := func(term Term, n uint64, inARow int) Entry {
		return Entry{EntryID: EntryID{term, n}, Kind: Suspected, Node: "a-1", InARow: inARow}
	}
	learn(1, suspected(first, 1, 7))
	learn(100, suspected(sleeper, 1, 1)) // the target had been healthy for long
	if n := j.inARow("a-1", at(101)); n != 1 {
		t.Fatalf("%d failures in a row, want 1: the leader of generation 6 knew of the 7 before, and began again", n)
	}
	learn(110, suspected(meanwhile, 1, 2)) // its log and the fences had been set back
	learn(110, Entry{EntryID: EntryID{meanwhile, 2}, Kind: Missed, Node: "a-1"})
	if n := j.inARow("a-1", at(111)); n != 3 {
		t.Errorf("%d failures in a row, want the 3 that were counted while the leader of generation 6 slept", n)
	}
	learn(112, suspected(sleeper, 2, 1))
	if n := j.inARow("a-1", at(113)); n != 1 {
		t.Errorf("%d failures in a row, want 1: the leader of generation 6 knew of the 3", n)
	}
}
