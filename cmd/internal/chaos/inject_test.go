package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/topology"
)

// reluctant is a faults.Injector whose calls end as the test says.
type reluctant struct {
	faults.Injector
	err    error
	now    int // the pid of each target
	did    []faults.Kind
	undone []faults.Kind
}

func (r *reluctant) Pid(medic.NodeID) (int, error) { return r.now, nil }

func (r *reluctant) Do(_ context.Context, k faults.Kind, _ medic.NodeID) error {
	r.did = append(r.did, k)
	return r.err
}

func (r *reluctant) Undo(_ context.Context, k faults.Kind, _ medic.NodeID, pid int) error {
	if pid == 7 {
		r.undone = append(r.undone, k)
	}
	return nil
}

// TestChaos_WhatIsMissingHasAName: chaos names the processes that it waits for without success. It never prints an empty list.
func TestChaos_WhatIsMissingHasAName(t *testing.T) {
	led := func(age time.Duration, entries ...core.Entry) monitor.Medics {
		return monitor.Medics{Led: true, Entries: entries, All: []monitor.Medic{{Node: topology.Node{ID: "medic-1"}, Heard: true, Age: age}}}
	}
	for want, m := range map[string]monitor.Medics{
		"[]":                   led(0),
		"[medic-1]":            led(time.Minute),
		"[joiner-1]":           led(0, core.Entry{Node: "joiner-1", Kind: core.Suspected}),
		"[a medic that leads]": {},
	} {
		if got := fmt.Sprint(missing(m, time.Second)); got != want {
			t.Errorf("%s is missing, not %s", got, want)
		}
	}
}

// TestChaos_AProcessThatWasEndedHasToBeReplaced: the medics may not have noticed a death yet, so the journal alone could say that
// everything is back.
func TestChaos_AProcessThatWasEndedHasToBeReplaced(t *testing.T) {
	for _, c := range []struct {
		kind    faults.Kind
		err     error
		now     int
		waiting bool
	}{
		{faults.Kill, nil, 7, true}, {faults.Hang, nil, 7, true}, {faults.Kill, nil, 0, true}, {faults.Kill, nil, 8, false},
		{faults.Pause, nil, 7, false}, {faults.Pause, nil, 0, true},
		{faults.Kill, context.DeadlineExceeded, 7, false}, {faults.Kill, errors.New("no such process"), 7, false},
	} {
		injector := &reluctant{err: c.err, now: 7}
		r := &FaultInjector{injector: injector, rand: rand.New(rand.NewPCG(1, 2)), targets: []medic.NodeID{"joiner-1"},
			kinds: []faults.Kind{c.kind}, suspect: time.Hour}
		r.inject(t.Context())
		for _, end := range r.undos {
			end()
		}
		injector.now = c.now
		if got := r.down(); (len(got) > 0) != c.waiting {
			t.Errorf("%s, %v: process 7 was hit, it is %d now, and chaos waits for %v", c.kind, c.err, c.now, got)
		}
	}
}

// TestChaos_AFaultWithoutAnswerCounts: a call that was given up may have been carried out. The journal may report it, so chaos counts it,
// and ends it if its effect would last. A call that was refused had no effect.
func TestChaos_AFaultWithoutAnswerCounts(t *testing.T) {
	for _, c := range []struct {
		err              error
		done, unanswered int
		ended            bool
		last             string
	}{
		{nil, 1, 0, true, "1 fault; the journal"},
		{fmt.Errorf("stop joiner-1: %w", context.DeadlineExceeded), 1, 1, true, "1 fault, 1 without an answer; the journal"},
		{errors.New("no such container"), 0, 0, false, "0 faults; the journal"},
	} {
		injector := &reluctant{err: c.err, now: 7}
		r := &FaultInjector{
			injector: injector, rand: rand.New(rand.NewPCG(1, 2)), targets: []medic.NodeID{"joiner-1"}, kinds: []faults.Kind{faults.Pause},
			suspect: time.Hour,
		}
		r.inject(t.Context())
		for _, resume := range r.undos {
			resume()
		}
		done, unanswered := r.counts()
		said := fmt.Sprint(r.told.until(time.Now())) + summary(nil, time.Now(), done, unanswered)
		if done != c.done || unanswered != c.unanswered || len(injector.did) != 1 || slices.Contains(injector.undone, faults.Pause) != c.ended {
			t.Errorf("%v: %d done, %d unanswered, did %v, ended %v", c.err, done, unanswered, injector.did, injector.undone)
		}
		if !strings.Contains(said, c.last) || c.err != nil && !strings.Contains(said, c.err.Error()) {
			t.Errorf("%v: it is said %q", c.err, said)
		}
	}
}

// TestChaos_LinesAreInOrder: chaos may hear an entry of the journal after a later fault. It prints the entry before that fault
// nevertheless.
func TestChaos_LinesAreInOrder(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	var told timeline
	journal := journalReader{since: began, known: map[core.EntryID]bool{}}
	entry := func(n uint64, ms int) core.Entry {
		return core.Entry{EntryID: core.EntryID{N: n}, Node: topology.NodeID(fmt.Sprint("joiner-", n)), Kind: core.Adopted, At: at(ms)}
	}
	told.add(at(0), "kill 1")
	told.add(at(900), "kill 2")
	if due := told.until(at(-100)); len(due) > 0 {
		t.Errorf("%v is told too early", due)
	}
	journal.read([]core.Entry{entry(9, -1), entry(2, 1500), entry(1, 800)}, &told) // the first entry is older than the run
	journal.read([]core.Entry{entry(1, 800), entry(3, 1000)}, &told)
	var got []string
	for _, ms := range []int{850, 1000, 5000} {
		for _, h := range told.until(at(ms)) {
			got = append(got, strings.TrimSpace(h.text))
		}
		got = append(got, "|")
	}
	want := "kill 1, joiner-1: had been restarted already, |, kill 2, joiner-3: had been restarted already, |, joiner-2: had been " +
		"restarted already, |"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s", text)
	}
}
