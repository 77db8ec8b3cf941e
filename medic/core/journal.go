package core

import (
	"cmp"
	"slices"
	"time"
)

// EntryKind is what an entry tells.
type EntryKind byte

// What there is to tell.
const (
	Elected   EntryKind = iota + 1 // the term begins
	Suspected                      // silent for too long, or seen to end
	Restarted                      // killed if need be, and started
	Adopted                        // somebody had restarted it already
	Missed                         // the restart failed
	Recovered                      // heard again, and at work
)

// EntryID is the term in which an entry was written, and its number there. Only the term's leader writes, so entries of different medics never
// contradict each other: a journal is a set, and two of them are joined by putting them together.
type EntryID struct {
	Term
	N uint64
}

// Entry is one line of the journal.
type Entry struct {
	EntryID
	At          time.Time // by its leader's clock, for people: no medic counts with it (M10)
	Kind        EntryKind
	Node        NodeID
	Silent      time.Duration // Suspected: since it was heard
	Wait        time.Duration // Suspected: until its restart, in a crash loop
	InARow      int           // Suspected: failures close to each other, this one included
	Took        time.Duration // Restarted: by the executor. Recovered: since it was heard last
	Incarnation uint64        // Suspected: the incarnation that was heard last, 0 for none. Recovered: the one that came back
	Text        string        // for people
}

// Journal is the newest entries of all terms (M8), oldest first.
type Journal struct {
	entries []Entry
	have    map[Term]uint64
	// learned is when this medic, in its present life, came to know of an entry. What is counted is the time since then: the clocks of the
	// medics that write entries may be set to anything, and back (M10).
	learned map[EntryID]time.Time
}

// maxEntries bounds the journal: that many entries are what people look back on, and what a new medic is sent.
const maxEntries = 256

func newJournal() *Journal {
	return &Journal{have: map[Term]uint64{}, learned: map[EntryID]time.Time{}}
}

func compareIDs(a, b EntryID) int {
	return cmp.Or(cmp.Compare(a.Gen, b.Gen), cmp.Compare(a.Leader, b.Leader), cmp.Compare(a.Life, b.Life), cmp.Compare(a.N, b.N))
}

// add takes an entry that is the next of its term, or oldest, the first one that there still is; false for all others.
func (j *Journal) add(e Entry, oldest EntryID, now time.Time) bool {
	if e.N <= j.have[e.Term] || e.N != j.have[e.Term]+1 && e.EntryID != oldest {
		return false
	}
	if len(j.entries) == maxEntries && compareIDs(e.EntryID, j.entries[0].EntryID) < 0 {
		return false // it would be dropped at once
	}
	at, _ := slices.BinarySearchFunc(j.entries, e.EntryID, func(x Entry, id EntryID) int { return compareIDs(x.EntryID, id) })
	j.entries = slices.Insert(j.entries, at, e)
	j.have[e.Term], j.learned[e.EntryID] = e.N, now
	if len(j.entries) > maxEntries {
		j.drop()
	}
	return true
}

// drop forgets the oldest entry, and its term with the last entry of it.
func (j *Journal) drop() {
	t := j.entries[0].Term
	delete(j.learned, j.entries[0].EntryID)
	j.entries = slices.Delete(j.entries, 0, 1)
	if j.entries[0].Term != t {
		delete(j.have, t)
	}
}

// rowTimeout is how long a medic has to have known that a target came back for its next failure to be the first one again, whatever else is
// known of it. A medic that has just started has known it for no longer than that: at worst a pause is too long.
const rowTimeout = time.Minute

// inARow is how many failures of a target came close to each other, up to now: a new leader goes on where the last one was (M5, M8). Whether
// an incarnation worked for long enough to end the row is for the leader to tell, which hears it.
//
// Two leaders may both have counted, one after the other, and the order of their terms does not say which came later. A leader dies before
// anybody hears of its term, and the next one takes the same generation. Or a leader sleeps, logs and fences are set back meanwhile, and
// another medic leads in a lower generation. So what this medic learned of a lower generation after the higher one had counted is counted,
// too. The longer row is the right one then; at worst it makes a pause too long.
func (j *Journal) inARow(who NodeID, now time.Time) (most int) {
	var (
		n       int     // of the term that is being read, backward
		counted EntryID // where the count of the term before it ended: that term is done with
	)
	for _, e := range slices.Backward(j.entries) {
		switch {
		case e.Node != who || e.Term == counted.Term:
		case counted.Gen > e.Gen && !j.learned[e.EntryID].After(j.learned[counted]): // the leader that counted knew of it
		case e.Kind == Recovered && now.Sub(j.learned[e.EntryID]) > rowTimeout:
			most, n, counted = max(most, n), 0, e.EntryID
		case e.Kind == Missed:
			n++
		case e.Kind == Suspected:
			most, n, counted = max(most, n+e.InARow), 0, e.EntryID
		}
	}
	return max(most, n)
}

// isOpen reports whether the last entry about a target is not its recovery.
func (j *Journal) isOpen(who NodeID) bool {
	for _, e := range slices.Backward(j.entries) {
		if e.Node == who {
			return e.Kind != Recovered
		}
	}
	return false
}

// lastFailed is the newest incarnation of a target that is known to have failed. A leader that had not heard the target notes none; then it
// was not one before the incarnation that had come back.
func (j *Journal) lastFailed(who NodeID) (n uint64) {
	failed := false
	for _, e := range slices.Backward(j.entries) {
		switch {
		case e.Node != who:
		case e.Kind == Suspected:
			n, failed = max(n, e.Incarnation), true
		case e.Kind == Recovered && failed:
			return max(n, e.Incarnation)
		}
	}
	return n
}

// extents is how far the journal reaches: the last entry of each term, oldest first.
func (j *Journal) extents() []EntryID {
	var all []EntryID
	for _, e := range j.entries {
		if n := len(all); n == 0 || all[n-1].Term != e.Term {
			all = append(all, EntryID{Term: e.Term})
		}
		all[len(all)-1].N = e.N
	}
	return all
}

// missing is the first entries that a journal with these extents lacks; at most a message full.
func (j *Journal) missing(have []EntryID) (entries []Entry, oldest EntryID) {
	const most = 64
	there := map[Term]uint64{}
	for _, x := range have {
		there[x.Term] = x.N
	}
	for _, e := range j.entries {
		if len(entries) < most && e.N > there[e.Term] {
			entries = append(entries, e)
		}
	}
	if len(j.entries) > 0 {
		oldest = j.entries[0].EntryID
	}
	return entries, oldest
}
