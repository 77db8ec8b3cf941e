package core

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

func sample() Message {
	id := EntryID{Term{7, "medic-2", 0}, 3}
	return Message{
		Kind: Command, From: "medic-2", ID: Identity{LogID: [16]byte{1, 2}, Incarnation: 9, PID: 4711}, To: "medic-1",
		Term:    Term{7, "medic-2", 0},
		Leading: true, Uptime: 5 * time.Second, Reach: []string{"a", "b"}, Have: []EntryID{id},
		Order: Order{OrderID: OrderID{7, 0, 12}, Leader: "medic-2", Target: "joiner-1", Host: "a", Silent: 817 * time.Millisecond, Ended: true},
		Report: Report{Order: OrderID{7, 0, 11}, Leader: "medic-2", Target: "joiner-2", Verdict: Refused, Term: Term{8, "medic-3", 0}, PID: 5,
			Took: 3 * time.Millisecond, Text: "signal: killed"},
		Entries: []Entry{{EntryID: id, At: time.Unix(0, 1_700_000_000_123_456_789), Kind: Suspected, Node: "joiner-1", Silent: time.Second,
			Wait: time.Minute, InARow: 4, Took: 2 * time.Second, Incarnation: 8, Text: "silent"}},
		Oldest: id, Node: "output-1", EndedPID: 77,
	}
}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	for _, m := range []Message{sample(), {Kind: Beat}} {
		p := m.Append(nil)
		if err := msgpack.Unmarshal(p, new(any)); err != nil {
			t.Fatalf("not msgpack: %v", err)
		}
		got, err := DecodeMessage(p)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%v:\n got %+v\nwant %+v", err, got, m)
		}
	}
}

func TestRecordsAndSnapshotsRestoreTheState(t *testing.T) {
	b := newBench("medic-3", State{})
	var s State
	b.held = true
	b.pass(2*suspectAfter, "a-1")
	for _, r := range b.Seal() {
		typ, data := r.Encode()
		if err := s.Restore(typ, data); err != nil {
			t.Fatal(err)
		}
	}
	b.Stored(b.now)
	snapshot, err := DecodeSnapshot(b.Snapshot())
	if err != nil || s.Term != (Term{1, "medic-3", 0}) || len(s.Journal) == 0 {
		t.Fatalf("%v, %+v", err, s)
	}
	if !reflect.DeepEqual(newJournalOf(snapshot.Journal).extents(),
		newJournalOf(s.Journal).extents()[:len(newJournalOf(snapshot.Journal).extents())]) || snapshot.Term != s.Term {
		t.Errorf("the snapshot holds %+v, the log %+v", snapshot, s)
	}
}

func newJournalOf(all []Entry) *Journal {
	j := newJournal()
	for _, e := range all {
		j.add(e, e.EntryID, e.At)
	}
	return j
}

func TestM3_AGenerationThatCannotBeIsRefused(t *testing.T) {
	m := Message{Kind: Beat, Term: Term{Gen: 1 << 63}}
	if _, err := DecodeMessage(m.Append(nil)); err == nil {
		t.Error("the next generation would be the first again")
	}
}

func FuzzDecodeMessage(f *testing.F) {
	m := sample()
	f.Add(m.Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		m, err := DecodeMessage(p)
		if err != nil {
			return
		}
		again, err := DecodeMessage(m.Append(nil))
		if err != nil || !bytes.Equal(again.Append(nil), m.Append(nil)) {
			t.Fatalf("%v: %+v and %+v", err, m, again)
		}
	})
}

// The core survives every message that a stranger sends in a medic's name.
func FuzzTake(f *testing.F) {
	m := sample()
	f.Add(m.Append(nil), byte(Command))
	for k := Beat; k <= Hint; k++ {
		m.Kind = k
		f.Add(m.Append(nil), byte(k))
	}
	f.Fuzz(func(t *testing.T, p []byte, kind byte) {
		m, err := DecodeMessage(p)
		if err != nil {
			return
		}
		b := led()
		m.From, m.Kind = "medic-1", Kind(kind)
		b.Receive(m, b.now)
		b.pass(2*suspectAfter, "a-1")
	})
}
