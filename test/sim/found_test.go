package sim

import (
	"bytes"
	"testing"
)

// found are seeds that found something. They run for ever, whatever TestSeeds is asked for. A change of the simulator makes
// them other runs; what they found is then told here, and guarded by the tests that are named.
var found = []struct {
	seed uint64
	what string
}{
	{2, "R2: a broadcast with one receiver forgot its numbers (link TestR2_NumbersGoOnAfterARestart, testdata r10_broadcast)"},
	{4, "N3: a log that was cut after its snapshot did not recover (link TestN3_ALogThatWasCutAfterTheSnapshot)"},
	{42, "D1: groups of one session were spread over two chains of aggregator and reducer"},
	{413, "R12: a chain that holds input and output never heard that its sessions had ended"},
	{583, "R8: an input lost its disk when all parsers but one had a session's ends, and nobody failed it (testdata r8_lost_input)"},
	{790, "R8: a receiver that lost its disk was not told again of sessions that had failed (testdata r8_lost_receiver)"},
	{10818, "R8: a late word of a lost log shut out the one that lives (link TestR8_ALogThatGoesOnSpeakingIsBelievedAgain)"},
}

func TestFound(t *testing.T) {
	for _, f := range found {
		t.Run(f.what, func(t *testing.T) { run(t, f.seed) })
	}
}

// TestSameSeedSameRun: a seed that cannot be repeated is worth nothing.
func TestSameSeedSameRun(t *testing.T) {
	for seed := range uint64(5) {
		var one, two bytes.Buffer
		a, errA := Run(Options{Seed: seed, Trace: &one})
		b, errB := Run(Options{Seed: seed, Trace: &two})
		if a.Hash != b.Hash || a.Events != b.Events || (errA == nil) != (errB == nil) {
			t.Fatalf("seed %d: %d events, then %d", seed, a.Events, b.Events)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatalf("seed %d: the traces differ", seed)
		}
		if c, _ := Run(Options{Seed: seed}); c.Hash != a.Hash {
			t.Fatalf("seed %d: tracing changes the run", seed)
		}
	}
}

// TestRunsAreWorthIt: a run in which nothing happens proves nothing. Over some seeds most sessions get an answer, every
// kind of fault is injected, every kind of frame is dropped, every way to end is seen.
func TestRunsAreWorthIt(t *testing.T) {
	if raceEnabled {
		t.Log("it counts what happens, which is the same without -race")
		return
	}
	sessions, done := 0, 0
	failed, injected, counters := map[string]int{}, map[string]int{}, map[string]uint64{}
	for seed := range uint64(150) {
		r := run(t, seed+5000)
		sessions += r.Sessions
		done += r.Done
		for k, n := range r.Failed {
			failed[k] += n
		}
		for k, n := range r.Injected {
			injected[k] += n
		}
		for k, n := range r.Counters {
			counters[k] += n
		}
	}
	t.Logf("%d sessions, %d right answers, failed %v, injected %v, counted %v", sessions, done, failed, injected, counters)
	if done < sessions/2 {
		t.Errorf("%d of %d sessions get an answer", done, sessions)
	}
	for _, kind := range []string{"crash", "partition", "stop", "full disk", "wipe", "vanish", "cancel", "ghost", "old request", "rival"} {
		if injected[kind] == 0 {
			t.Errorf("no %s", kind)
		}
	}
	for _, kind := range []string{"frames", "commits", "duplicates", "gaps", "zombies", "released"} {
		if counters[kind] == 0 {
			t.Errorf("no %s", kind)
		}
	}
	for _, code := range []string{"failed", "cancelled", "vanished", "unknown_session", "in_use", "finished"} {
		if failed[code] == 0 {
			t.Errorf("no session ends with %s", code)
		}
	}
}
