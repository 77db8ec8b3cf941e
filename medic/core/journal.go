package core

import (
	"cmp"
	"slices"
	"time"
)

// EntryKind is what an entry reports.
type EntryKind byte

// The kinds of entries.
const (
	Elected   EntryKind = iota + 1 // the term begins
	Suspected                      // silent for too long, or seen to end
	Restarted                      // killed if need be, and started
	Adopted                        // something else had restarted it already
	Missed                         // the restart failed
	Recovered                      // heard again, and working
)

// EntryID is the term in which an entry was written, and its number there. Only the term's leader writes, so entries of different medics
// never contradict each other. A journal is a set: two journals are merged by their union.
type EntryID struct {
	Term
	N uint64
}

// Entry is one line of the journal.
type Entry struct {
	EntryID
	At          time.Time // by the leader's clock, for people; no decision depends on it (M10)
	Kind        EntryKind
	Node        NodeID
	Silent      time.Duration // Suspected: since it was last heard
	Wait        time.Duration // Suspected: until its restart, in a crash loop
	InARow      int           // Suspected: failures close to each other, this one included
	Took        time.Duration // Restarted: by the executor. Recovered: since it was last heard before the failure
	Incarnation uint64        // Suspected: the incarnation that was heard last, 0 for none. Recovered: the one that came back
	Text        string        // for people
}

// Journal is the newest entries of all terms (M8), oldest first.
type Journal struct {
	entries []Entry
	have    map[Term]uint64
	// learned is when this process got to know each entry. Time is measured from there, because the clocks of the leaders that write entries
	// may show anything (M10).
	learned map[EntryID]time.Time
}

// maxEntries bounds the journal: how many entries people can look back on, and how many a new medic is sent.
const maxEntries = 256

func newJournal() *Journal {
	return &Journal{have: map[Term]uint64{}, learned: map[EntryID]time.Time{}}
}

func compareIDs(a, b EntryID) int {
	return cmp.Or(cmp.Compare(a.Gen, b.Gen), cmp.Compare(a.Leader, b.Leader), cmp.Compare(a.Life, b.Life), cmp.Compare(a.N, b.N))
}

// add adds an entry if it is the next one of its term, or oldest, the first entry that its sender still has; else it returns false.
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

// drop removes the oldest entry, and forgets its term if that was the last entry of it.
func (j *Journal) drop() {
	t := j.entries[0].Term
	delete(j.learned, j.entries[0].EntryID)
	j.entries = slices.Delete(j.entries, 0, 1)
	if j.entries[0].Term != t {
		delete(j.have, t)
	}
}

// rowTimeout: when a medic has known for this long that a target recovered, the next failure begins a new row. A medic that has just
// started knows it only since its start, so at worst a pause is too long.
const rowTimeout = time.Minute

// inARow returns how many failures of a target followed closely on each other, up to now. A new leader continues the count of the one
// before (M5, M8). The leader decides whether an incarnation worked for long enough to end the row, because it hears the target.
//
// Two leaders may have counted one after the other, and their terms do not show which one was later. A leader may die before anybody hears
// of its term, and the next one takes the same generation. Or a leader sleeps, logs and fences are set back meanwhile, and another medic
// leads in a lower generation. So entries of a lower generation count, too, if this medic learned them after the count of the higher one.
// The longer row is then used; at worst a pause is too long.
func (j *Journal) inARow(who NodeID, now time.Time) (most int) {
	var (
		n       int     // failures of the term that is being read, backward
		counted EntryID // where the count of the term read before ended; the rest of that term is skipped
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

// lastFailed returns the newest incarnation of a target that is known to have failed. A leader that never heard the target writes none;
// then it is at least the incarnation that recovered before.
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

// extents returns the last entry of each term, oldest term first.
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

// missing returns the first entries that a journal with these extents lacks, at most as many as fit into a message.
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
