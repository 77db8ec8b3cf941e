package sim

import (
	"bytes"
	"testing"
)

// found are seeds that found a bug. They are always run, whatever seeds TestSeeds is asked for. A change of the
// simulator turns them into other runs. The comments here then still say what they found, and the tests that they name
// guard it.
var found = []struct {
	seed uint64
	what string
}{
	{2, "R2: a broadcast with one receiver forgot its numbers (link TestR2_NumbersContinueAfterARestart, testdata r10_broadcast)"},
	{4, "N3: a log that was cut after its snapshot did not recover (link TestN3_ALogThatWasCutAfterTheSnapshot)"},
	{42, "D1: groups of one session were spread over two chains of aggregator and reducer"},
	{413, "R12: a chain that holds input and output never heard that its sessions had ended"},
	{583, "R8: an input lost its disk when all parsers but one had a session's ends, and nobody failed it (testdata r8_lost_input)"},
	{790, "R8: a receiver that lost its disk was not told again of sessions that had failed (testdata r8_lost_receiver)"},
	{191, "M6: a client said the end of a stream ever more seldom, and was not heard for limits.client_timeout (client/core " +
		"TestB13_AnEndIsSaidAsOftenAsAPing)"},
	{201391, "N10: a node with nothing to store said for ever that its disk was full, and inputs opened no session"},
	{400940, "S5: an operator heard of the session that it ran what another owner claimed of its id (nodes/output " +
		"TestS5_AClaimIsNotTheOperatorsOwnSession)"},
	{10818, "R8: a late word of a lost log shut out the one that lives (link TestR8_ALogThatGoesOnSpeakingIsBelievedAgain)"},
	{13871, "R17: a client that asked again in another topology heard that its parameters were others (nodes/input " +
		"TestR17_AnOpenIsRepeatedInAnotherTopology)"},
	{1004431, "R13: a session outlived the topology that it began in, at a node that came back and waited for the end of a sender which " +
		"had never heard of it (nodes/core TestR2_WhatComesBackContinues)"},
	{1008415,
		"S5: anybody heard why a session was refused whose topology was another one (nodes/core TestS5_ARefusedAnnouncementNamesTheOwner)"},
	{1009226, "S5: the judge let nobody hear that its own word about another's session was closed"},
	{1009609, "S5: the judge knew who had claimed a session only from the client of it that was running then"},
	{1011727, "N10: the judge waited for a client that had slept, and whose output had left the topology"},
	{1018934, "N3: the judge compared a node that was retiring its log with the disk, whose log was retired already"},
	{1019455, "N10: the judge wanted a client to say something to an input that had left the topology, as the client had heard"},
	{1019503, "R12: a session that had left a node was given up with its departed receiver, and failed nowhere as the topology was changed " +
		"back (nodes/core TestR12_WhatADepartedReceiverLacksFails)"},
	{1041925, "R17: the judge did not know that a client hears of a session of its id that it has too much reference data"},
	{1029820, "N10: the judge wanted a client to say something to an input that had told it that the session was cancelled"},
	{1029271, "R17: the judge took the word of an input that had lost its log for that of all, and blamed a client that cancelled its own " +
		"session elsewhere"},
	{1073597, "R8: a session that a lost log opened late, on one link, waited for ever for what the other link would not bring"},
	{1048271, "S5: the judge did not know that a node that left the topology leaves failures behind of which others know no owner"},
	{1048372, "R9: on a full disk a node passed two clients' claims of one session on again and again"},
	{1090288, "S8: the judge wanted a row that no request can carry to be told as a changed file, where the client's files were changed, too"},
	{807, "R2: the judge did not know that a disk can come back in a later state than the one that it was set back to before"},
	{1287, "R2: the judge did not know that such a later state may have records cut that differ from those that it had kept"},
	{464, "R17: the judge did not know that who says the token of one that never got to take over hears that the session is finished"},
	{1090332, "R9: a chain that begins with an input sent the pages of a reference stream out, be there room or not, before it took facts"},
	{1320, "R14: files were slow for ever, and the judge did not wait as long as five sessions one after the other took"},
	{1045369,
		"S5: the judge did not know that an operator can close a failure of which a node knows no owner, and that everybody may hear of it"},
}

func TestFound(t *testing.T) {
	if raceEnabled {
		t.Log("a seed is one goroutine, and TestSeeds shows what several at once share: the race detector finds no more here")
		return
	}
	for _, f := range found {
		t.Run(f.what, func(t *testing.T) { run(t, f.seed) })
	}
}

// TestSameSeedSameRun: a seed always gives the same run, or it could not be used to find the bug.
func TestSameSeedSameRun(t *testing.T) {
	if raceEnabled {
		t.Log("the trace is the same without -race")
		return
	}
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

// TestRunsAreWorthIt: a run without events proves nothing. Over some seeds most sessions get an answer, and every kind
// of fault, every kind of dropped frame and every way to end occurs.
func TestRunsAreWorthIt(t *testing.T) {
	if *seeds < 1000 {
		t.Log("it runs beside a thousand seeds and more, as make nightly does")
		return
	}
	sessions, done := 0, 0
	failed, injected, counters := map[string]int{}, map[string]int{}, map[string]uint64{}
	for seed := range uint64(1000) {
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
	able := sessions
	for _, code := range []string{"vanished", "cancelled", "in_use", "finished", "superseded", "too_large"} {
		able -= failed[code] // the client's own doing
	}
	if done < able/2 {
		t.Errorf("%d of %d sessions that could have an answer get one", done, able)
	}
	for _, kind := range []string{"crash", "damage", "partition", "stop", "full disk", "reserve", "wipe", "vanish", "cancel", "ghost",
		"old request", "rival", "takeover", "stranger", "meddling", "aimed fault", "wiped behind a full disk", "started again", "client sleeps",
		"broken connection", "clock jump", "full queue", "drain", "retirement", "repair", "large row", "large request", "limits at the ends",
		"slow batch", "intruder", "topology changed", "node added", "node removed", "node is back", "small pages", "small tables",
		"set back after an acknowledgement", "set back after an end", "set back during a takeover", "resumed", "died while it resumed"} {
		if injected[kind] == 0 {
			t.Errorf("no %s", kind)
		}
	}
	for _, kind := range []string{"frames", "commits", "duplicates", "gaps", "zombies", "damaged", "released", "too large", "too much memory",
		"gave way", "hidden", "forbidden", "pages", "moves to files", "records lost", "bytes that were taken"} {
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
