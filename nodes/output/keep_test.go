package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

// keeper is an output with a clock that the test moves, on a machine that the test restarts.
type keeper struct {
	t    *testing.T
	o    *Output
	h    *roletest.Host
	now  time.Time
	boot string
	up   time.Duration // uptime of the machine
}

func newKeeper(t *testing.T) *keeper {
	k := &keeper{t: t, now: noon, boot: "first", up: time.Hour}
	k.start()
	return k
}

// start creates the output of a new process: empty, on a wall clock that was changed meanwhile.
func (k *keeper) start() {
	about := roletest.About()
	about.Uptime = gateway.Uptime{Boot: k.boot, Zero: k.now.Add(-k.up)}
	about.Limits.Results, about.Limits.ResultsSize = 3, 4000
	k.o = New(about)
	recorded := [][]byte(nil)
	if k.h != nil {
		recorded = k.h.Recorded
	}
	k.h = roletest.NewHost(k.o)
	k.h.Recorded = recorded
}

func (k *keeper) pass(d time.Duration) {
	for ; d > 0; d -= min(d, time.Minute) {
		k.now, k.up = k.now.Add(min(d, time.Minute)), k.up+min(d, time.Minute)
		k.o.Tick(k.now)
	}
}

// restart starts the process again, from its records or from a snapshot.
func (k *keeper) restart(down time.Duration, finished ...string) {
	k.t.Helper()
	snapshot := k.o.SnapshotAll(nil)
	k.now, k.up = k.now.Add(-48*time.Hour), k.up+down
	k.start()
	if len(finished) == 0 {
		if err := k.o.RestoreAll(snapshot); err != nil {
			k.t.Fatal(err)
		}
		return
	}
	for _, name := range finished {
		k.finish(name, 10)
	}
	for _, p := range k.h.Recorded {
		if err := k.o.Apply(bytes.Clone(p)); err != nil {
			k.t.Fatal(err)
		}
	}
}

func (k *keeper) finish(name string, rows int) {
	k.t.Helper()
	s := roletest.Session(k.t, name, analyses.Replica{Of: 1}, nil)
	s.Openers = session.Openers{ours.Hash()}
	if err := k.o.Open(s); err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.o.Take(s.ID, part("amounts", rows), nil); err != nil {
		k.t.Fatal(err)
	}
	for stream := range 2 {
		if _, err := k.o.End(s.ID, stream, nil); err != nil {
			k.t.Fatal(err)
		}
	}
	k.o.Drop(s.ID, role.Outcome{})
}

func (k *keeper) ask(name string) protocol.Reply {
	k.t.Helper()
	r, _ := k.h.Ask(k.t, k.now, 1, protocol.Request{Type: protocol.Results, Session: roletest.ID(name), Token: ours})
	return r
}

// TestR16_ResultsTTLCountsOverRestarts: in one boot of the machine no time is lost. A reboot loses what was not recorded. A wall clock
// decides nothing (M10).
func TestR16_ResultsTTLCountsOverRestarts(t *testing.T) {
	for name, finished := range map[string][]string{"from the log": {"a"}, "from a snapshot": nil} {
		k := newKeeper(t)
		k.finish("a", 10)
		k.pass(30 * time.Minute)
		k.restart(20*time.Minute, finished...)
		k.pass(9 * time.Minute)
		if r := k.ask("a"); r.State != session.Done {
			t.Fatalf("%s: after 59 minutes it hears %+v", name, r)
		}
		k.pass(2 * time.Minute)
		if r := k.ask("a"); r.Err.Code != protocol.ErrExpired || !strings.Contains(r.Err.Message, "results_ttl") {
			t.Fatalf("%s: after 61 minutes it hears %+v", name, r)
		}
	}
	k := newKeeper(t)
	k.finish("a", 10)
	k.pass(30 * time.Minute)
	k.boot, k.up = "second", 0
	k.restart(20*time.Minute, "a")
	k.pass(28 * time.Minute)
	if r := k.ask("a"); r.State != session.Done {
		t.Fatalf("in another boot it hears %+v", r)
	}
	k.pass(10 * time.Minute)
	if r := k.ask("a"); r.Err.Code != protocol.ErrExpired {
		t.Fatalf("each boot of the machine gives the answer another life: %+v", r)
	}
}

// TestR16_AnAnswerThatIsClosedSoonCostsNoRecord: the time that it was kept is recorded only later.
func TestR16_AnAnswerThatIsClosedSoonCostsNoRecord(t *testing.T) {
	k := newKeeper(t)
	k.finish("a", 10)
	for range 50 {
		k.now = k.now.Add(100 * time.Millisecond)
		k.o.Tick(k.now)
	}
	if len(k.h.Recorded) != 0 {
		t.Fatalf("%d records in 5 s", len(k.h.Recorded))
	}
	k.pass(time.Hour - time.Minute)
	if n := len(k.h.Recorded); n < 5 || n > 9 {
		t.Fatalf("%d records in an hour", n)
	}
}

// TestR16_ResultsAreBounded: in number and in bytes. A client that comes too late hears why its answer is gone.
func TestR16_ResultsAreBounded(t *testing.T) {
	k := newKeeper(t)
	for i := range 5 {
		k.finish(fmt.Sprint(i), 10)
		k.pass(time.Second)
		k.ask("0") // its client reads it all the time
	}
	if len(k.o.results) != 3 || k.ask("0").State != session.Done || k.ask("4").State != session.Done {
		t.Fatalf("%d answers are kept", len(k.o.results))
	}
	if r := k.ask("1"); r.Err.Code != protocol.ErrExpired || !strings.Contains(r.Err.Message, "limits.results = 3") {
		t.Fatalf("%+v", r)
	}
	k.finish("large", 3000)
	k.pass(time.Second)
	if len(k.o.results) != 1 || k.ask("large").State != session.Done {
		t.Fatalf("%d answers are kept", len(k.o.results))
	}
	if r := k.ask("4"); !strings.Contains(r.Err.Message, "limits.results_size = 4000B") {
		t.Fatalf("%+v", r)
	}
	k.restart(0, "0", "1", "2", "3", "4", "large")
	k.o.Tick(k.now)
	if len(k.o.results) != 1 {
		t.Fatalf("after a restart %d answers are kept", len(k.o.results))
	}
}

// TestR16_AnAnswerUnderWayPushesNothingOut: an incomplete answer cannot be dropped, and its session may still fail. It counts from when it
// is complete.
func TestR16_AnAnswerUnderWayPushesNothingOut(t *testing.T) {
	for name, completes := range map[string]bool{"completes": true, "fails": false} {
		k := newKeeper(t)
		for i := range 3 {
			k.finish(fmt.Sprint(i), 10)
			k.pass(time.Second)
		}
		large := roletest.Session(t, "large", analyses.Replica{Of: 1}, nil)
		large.Openers = session.Openers{ours.Hash()}
		if err := k.o.Open(large); err != nil {
			t.Fatal(err)
		}
		if _, err := k.o.Take(large.ID, part("amounts", 3000), nil); err != nil {
			t.Fatal(err)
		}
		k.pass(time.Second)
		for i := range 3 {
			if r := k.ask(fmt.Sprint(i)); r.State != session.Done {
				t.Errorf("%s: while a large answer is under way answer %d is %+v", name, i, r)
			}
		}
		kept := 3 // reasons take no memory, but count as results: the oldest answer is dropped
		if completes {
			for stream := range 2 {
				if _, err := k.o.End(large.ID, stream, nil); err != nil {
					t.Fatal(err)
				}
			}
			kept = 1
		}
		k.o.Drop(large.ID, role.Outcome{Failed: !completes, Reason: "a poisoned row"})
		k.pass(time.Second)
		if len(k.o.results) != kept {
			t.Errorf("%s: then %d answers are kept, not %d", name, len(k.o.results), kept)
		}
	}
}

// TestR16_AReasonIsKeptLongerThanAnAnswer: a client that comes late wants to know the reason.
func TestR16_AReasonIsKeptLongerThanAnAnswer(t *testing.T) {
	k := newKeeper(t)
	k.o.Drop(roletest.ID("failed"), role.Outcome{Failed: true, Reason: "a poisoned row"})
	k.pass(2 * time.Hour)
	if r := k.ask("failed"); len(k.o.results) != 0 || r.Err.Code != protocol.ErrFailed || !strings.Contains(r.Err.Message, "a poisoned row") {
		t.Fatalf("%d answers; %+v", len(k.o.results), r)
	}
}

// TestN3_WhatIsRemovedNeedsNoCalls: whether recovery repeats the calls that brought an answer or not, the output is the same when it has
// repeated the record that removed the answer, and Removes finds exactly these records.
func TestN3_WhatIsRemovedNeedsNoCalls(t *testing.T) {
	k := newKeeper(t)
	k.finish("expired", 10)
	k.pass(30 * time.Minute)
	k.finish("closed", 10)
	k.pass(31 * time.Minute)
	k.o.Drop(roletest.ID("failed"), role.Outcome{Failed: true, Reason: "because"})
	k.finish("kept", 10)
	k.pass(10 * time.Minute)
	for _, name := range []string{"closed", "failed"} {
		k.h.Ask(t, k.now, 1, protocol.Request{Type: protocol.Close, Session: roletest.ID(name), Token: ours})
	}
	recorded, gone := k.h.Recorded, map[session.ID]bool{}
	for _, p := range recorded {
		if id, ok := Removes(p); ok {
			gone[id] = true
		}
	}
	if len(gone) != 3 || gone[roletest.ID("kept")] || len(recorded) == 3 {
		t.Fatalf("of %d records these remove something: %v", len(recorded), gone)
	}
	var states [][]byte
	for _, all := range []bool{true, false} {
		k.start()
		for _, name := range []string{"expired", "closed", "kept"} {
			if s := roletest.Session(t, name, analyses.Replica{Of: 1}, nil); all || !gone[s.ID] {
				k.finish(name, 10)
			} else {
				s.Openers = session.Openers{ours.Hash()}
				if err := k.o.Open(s); err != nil {
					t.Fatal(err)
				}
				k.o.Drop(s.ID, role.Outcome{})
			}
			if name == "closed" {
				k.o.Drop(roletest.ID("failed"), role.Outcome{Failed: true, Reason: "because"})
			}
		}
		for _, p := range recorded {
			if err := k.o.Apply(bytes.Clone(p)); err != nil {
				t.Fatal(err)
			}
		}
		states = append(states, k.o.SnapshotAll(nil))
	}
	if !bytes.Equal(states[0], states[1]) {
		t.Errorf("with all calls repeated the state is\n%q, otherwise\n%q", states[0], states[1])
	}
	for n, p := range [][]byte{nil, {0xc1}, k.o.SnapshotAll(nil), encodeAges(nil), encodeRefused(role.Ended{}),
		encodeRemoval(session.ID{}, gateway.Outcome{})[:12]} {
		if id, ok := Removes(p); ok {
			t.Errorf("record %d removes %v", n, id)
		}
	}
}
