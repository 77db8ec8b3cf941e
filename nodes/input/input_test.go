package input

import (
	"bytes"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/input/coverage"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

var (
	noon = time.Unix(1_700_000_000, 0)
	id   = roletest.ID("s")
	ours = session.Token{1} // the token of the client that opens sessions
)

func newInput() (*Input, *roletest.Host) {
	in := New(roletest.About())
	h := roletest.NewHost(in)
	in.Tick(noon)
	return in, h
}

func open(t *testing.T, h *roletest.Host, id session.ID) protocol.Reply {
	t.Helper()
	r, ok := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Open, Session: id, Token: ours, Analysis: "paint"})
	if !ok {
		t.Fatal("no answer to an open")
	}
	return r
}

func chunk(stream string, lane uint32, seq uint64) protocol.Request {
	file := map[string]string{"colours": "shop/colours.csv", "pots": "shop/pots.csv"}[stream]
	return protocol.Request{
		Type: protocol.Chunk, Session: id, Token: ours, Stream: stream, Lane: lane, Seq: seq, File: file, Line: 2, Header: []byte("colour"),
		Data: []byte("red\n"),
	}
}

func end(stream string, lanes ...protocol.LaneSeq) protocol.Request {
	return protocol.Request{Type: protocol.End, Session: id, Token: ours, Stream: stream, Lanes: lanes}
}

// code makes a request and returns the code of the refusal, empty if it was accepted.
func code(t *testing.T, h *roletest.Host, q protocol.Request) protocol.Code {
	t.Helper()
	r, ok := h.Ask(t, noon, 1, q)
	if !ok {
		t.Fatalf("no answer to %s", q.Type)
	}
	return r.Err.Code
}

func TestOpen_IsIdempotentAndDescribes(t *testing.T) {
	_, h := newInput()
	r := open(t, h, id)
	if r.Type != protocol.Opened || r.State != session.Running || len(r.Streams) != 2 || !r.Streams[0].Reference || len(r.Queries) != 2 {
		t.Fatalf("%+v", r)
	}
	code(t, h, chunk("colours", 3, 1))
	again := open(t, h, id)
	if len(again.Lanes) != 1 || again.Lanes[0] != (protocol.LaneSeq{Lane: 3, Seq: 1}) {
		t.Fatalf("%+v", again)
	}
	q := protocol.Request{Type: protocol.Open, Session: id, Token: ours, Analysis: "paint", Params: map[string]string{"fail": "yes"}}
	if c := code(t, h, q); c != protocol.ErrBadRequest {
		t.Fatalf("the same session with other parameters: %q", c)
	}
}

// TestR17_AnOpenIsRepeatedInAnotherTopology: an input that has ended its part of a session keeps the upload until an output reports how the
// session ended. If the topology changes meanwhile, the session is still the same, and its client has made no mistake.
func TestR17_AnOpenIsRepeatedInAnotherTopology(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	in.About.Wiring = "another"
	if r := open(t, h, id); r.Type != protocol.Opened {
		t.Fatalf("the opener asks again: %+v", r)
	}
}

func TestOpen_Refusals(t *testing.T) {
	_, h := newInput()
	for want, q := range map[protocol.Code]protocol.Request{
		protocol.ErrUnknownAnalysis: {Type: protocol.Open, Session: id, Token: ours, Analysis: "sculpture"},
		protocol.ErrBadParam:        {Type: protocol.Open, Session: id, Token: ours, Analysis: "paint", Params: map[string]string{"size": "1"}},
	} {
		if c := code(t, h, q); c != want {
			t.Errorf("%q, want %q", c, want)
		}
	}
	open(t, h, roletest.ID("a"))
	open(t, h, roletest.ID("b"))
	if r := open(t, h, id); r.Err.Code != protocol.ErrBusy || r.Err.RetryAfter != time.Second {
		t.Fatalf("a third session of two: %+v", r)
	}
}

func TestR5_AChunkCountsOnce(t *testing.T) {
	_, h := newInput()
	open(t, h, id)
	for range 3 {
		if c := code(t, h, chunk("colours", 0, 1)); c != "" {
			t.Fatal(c)
		}
	}
	if len(h.Fed) != 1 {
		t.Fatalf("fed %d times", len(h.Fed))
	}
	if c := code(t, h, chunk("colours", 1, 1)); c != "" || len(h.Fed) != 2 {
		t.Fatal("another lane has its own numbers")
	}
	if c := code(t, h, chunk("colours", 0, 3)); c != protocol.ErrGap {
		t.Fatalf("chunk 3 after 1: %q", c)
	}
}

func TestR3_ChunksAreAcknowledgedWhenDurable(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	q := chunk("colours", 0, 1)
	for range 2 { // first as a new request, then as a repeat
		in.Request(noon, &role.Request{From: 9, Client: role.LocalOperator, Body: q.Append(nil)})
		if _, early := h.Replies[9]; early {
			t.Fatal("acknowledged before it is on disk")
		}
		if r, ok := h.Answer(9); !ok || r.Seq != 1 {
			t.Fatal(r, ok)
		}
	}
}

func TestR9_AChunkWaitsForRoom(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	h.Full = true
	if _, ok := h.Ask(t, noon, 7, chunk("colours", 0, 1)); ok {
		t.Fatal("there is no room, and it is answered")
	}
	if _, ok := h.Ask(t, noon, 8, chunk("colours", 0, 1)); ok { // the client repeats the request over another connection
		t.Fatal("there is no room, and it is answered")
	}
	in.Tick(noon)
	h.Full = false
	in.Tick(noon)
	if _, ok := h.Answer(7); ok {
		t.Fatal("the connection that was given up is answered")
	}
	if r, ok := h.Answer(8); !ok || r.Type != protocol.OK || len(h.Fed) != 1 {
		t.Fatal(r, ok, len(h.Fed))
	}
}

func TestR9_HeldChunksAreBounded(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	h.Full = true
	for lane := range uint32(maxHeld + 5) {
		if _, ok := h.Ask(t, noon, role.Peer(lane), chunk("colours", lane, 1)); ok {
			t.Fatal("answered: silence is what clients repeat, anything else ends their session")
		}
	}
	if len(in.held) != maxHeld {
		t.Fatalf("%d chunks are held", len(in.held))
	}
}

func TestR11_FactsWaitForTheEndOfReference(t *testing.T) {
	_, h := newInput()
	open(t, h, id)
	if c := code(t, h, chunk("pots", 0, 1)); c != protocol.ErrBadRequest {
		t.Fatalf("facts before the reference data: %q", c)
	}
	if c := code(t, h, end("pots")); c != protocol.ErrBadRequest {
		t.Fatalf("the end of facts before that of reference data: %q", c)
	}
	if c := code(t, h, end("colours")); c != "" {
		t.Fatal(c)
	}
	if c := code(t, h, chunk("pots", 0, 1)); c != "" {
		t.Fatal(c)
	}
	if c := code(t, h, chunk("colours", 0, 2)); c != protocol.ErrClosed {
		t.Fatalf("reference data after its end: %q", c)
	}
}

// TestR12_StreamsEndInTheirOrder: this includes two streams of facts. A table that both fill leaves when the later one ends.
func TestR12_StreamsEndInTheirOrder(t *testing.T) {
	about := roletest.About()
	paint := roletest.Analysis()
	paint.Streams = append(paint.Streams, paint.Streams[1])
	paint.Streams[2].Name = "lids"
	about.Known = analyses.Set{paint}
	in := New(about)
	h := roletest.NewHost(in)
	in.Tick(noon)
	open(t, h, id)
	code(t, h, end("colours"))
	if c := code(t, h, end("lids")); c != protocol.ErrBadRequest || len(h.Ended) != 1 {
		t.Fatalf("the second stream of facts ends before the first: %q, %v", c, h.Ended)
	}
	for _, s := range []string{"pots", "lids"} {
		if c := code(t, h, end(s)); c != "" {
			t.Fatal(s, c)
		}
	}
}

func TestR17_AnEndSaysWhatWasTaken(t *testing.T) {
	_, h := newInput()
	open(t, h, id)
	code(t, h, chunk("colours", 0, 1))
	right := end("colours", protocol.LaneSeq{Lane: 0, Seq: 1})
	if c := code(t, h, right); c != "" || len(h.Ended) != 1 {
		t.Fatal(c, h.Ended)
	}
	code(t, h, chunk("pots", 0, 2))
	if c := code(t, h, right); c != "" || len(h.Ended) != 1 {
		t.Fatalf("an end that is repeated late: %q, %v", c, h.Ended)
	}
	for name, lanes := range map[string][]protocol.LaneSeq{
		"more": {{Lane: 0, Seq: 3}}, "less": {{Lane: 0, Seq: 1}}, "nothing": {}, "another lane": {{Lane: 0, Seq: 2}, {Lane: 1, Seq: 1}},
	} {
		in, h := newInput()
		open(t, h, id)
		code(t, h, end("colours"))
		code(t, h, chunk("pots", 0, 1))
		code(t, h, chunk("pots", 0, 2))
		if c := code(t, h, end("pots", lanes...)); c != protocol.ErrFailed || len(h.Ended) != 1 || in.Running() != 0 {
			t.Errorf("%s than was taken: %q", name, c)
		}
	}
}

func TestChunk_Refusals(t *testing.T) {
	_, h := newInput()
	if c := code(t, h, chunk("colours", 0, 1)); c != protocol.ErrUnknownSession {
		t.Fatal(c)
	}
	open(t, h, id)
	bad := chunk("colours", 0, 1)
	bad.Stream = "brushes"
	if c := code(t, h, bad); c != protocol.ErrBadRequest {
		t.Fatal(c)
	}
	bad = chunk("colours", 0, 1)
	bad.File = "shop/pots.csv"
	if c := code(t, h, bad); c != protocol.ErrBadRequest {
		t.Fatal(c)
	}
	h.Broken = true
	if c := code(t, h, chunk("colours", 0, 1)); c != protocol.ErrFailed {
		t.Fatal(c)
	}
	if c := code(t, h, chunk("colours", 0, 2)); c != protocol.ErrFailed {
		t.Fatalf("the reason is told again: %q", c)
	}
	if r, ok := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Info}); !ok || r.Node != "me-1" || len(r.Analyses) != 1 {
		t.Fatalf("%+v", r)
	}
}

func TestClient_SilentForTooLongIsGivenUp(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	at := noon
	pass := func(d time.Duration) {
		for ; d > 0; d -= time.Second {
			at = at.Add(time.Second)
			in.Tick(at)
		}
	}
	pass(20 * time.Second)
	h.Ask(t, at, 1, protocol.Request{Type: protocol.Ping, Session: id, Token: ours})
	pass(20 * time.Second)
	if len(h.Aborted) != 0 {
		t.Fatal("it has pinged")
	}
	pass(11 * time.Second)
	if h.Aborted[id].Code != protocol.ErrExpired {
		t.Fatal(h.Aborted)
	}
	if c := code(t, h, protocol.Request{Type: protocol.Ping, Session: id, Token: ours}); c != protocol.ErrExpired {
		t.Fatalf("it is told %q", c)
	}
}

// TestR11_ASessionThatDoesNotGetOnIsGivenUp: a client that pings and does nothing else holds other sessions up. A client that has ended its
// streams here may still have streams open elsewhere.
func TestR11_ASessionThatDoesNotGetOnIsGivenUp(t *testing.T) {
	for _, finished := range []bool{false, true} {
		in, h := newInput()
		open(t, h, id)
		if finished {
			ended(t, h)
		}
		ttl := in.About.Limits.ResultsTTL
		at := noon
		for at.Before(noon.Add(ttl - time.Second)) {
			at = at.Add(time.Second)
			in.Tick(at)
			h.Ask(t, at, 1, protocol.Request{Type: protocol.Ping, Session: id, Token: ours})
		}
		if len(h.Aborted) != 0 {
			t.Fatalf("finished %v: given up too early: %v", finished, h.Aborted)
		}
		in.Tick(at.Add(2 * time.Second))
		if h.Aborted[id].Code != protocol.ErrExpired {
			t.Fatalf("finished %v: %v", finished, h.Aborted)
		}
	}
}

// TestM6_ASleepingNodeBlamesNoClient: the time in which a node was stopped does not count as silence of a client.
func TestM6_ASleepingNodeBlamesNoClient(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	in.Tick(noon.Add(time.Hour))
	h.Ask(t, noon.Add(2*time.Hour), 2, protocol.Request{Type: protocol.Ping, Session: roletest.ID("x")})
	in.Tick(noon.Add(2*time.Hour + time.Second))
	if len(h.Aborted) != 0 {
		t.Fatal(h.Aborted)
	}
}

func ended(t *testing.T, h *roletest.Host) {
	t.Helper()
	code(t, h, end("colours"))
	code(t, h, end("pots"))
}

func TestHeard_OutputsFreeThePlace(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	ended(t, h)
	in.Tick(noon.Add(time.Hour)) // all is sent, so the client may be silent
	if in.Running() != 1 || len(h.Aborted) != 0 {
		t.Fatal("the place was given away before the answer was there")
	}
	in.Heartbeat(noon, role.Heard{From: "output-1", ID: link.Identity{},
		Ended: []role.Ended{{ID: id}, {ID: roletest.ID("unheard of"), Failed: true}}})
	if in.Running() != 0 || len(h.Aborted) != 0 {
		t.Fatal(in.Running(), h.Aborted)
	}
	if r := open(t, h, id); r.State != session.Done {
		t.Fatalf("%+v", r)
	}
	if c := code(t, h, chunk("pots", 0, 1)); c != "" {
		t.Fatalf("a repeat from before the end gets %q", c)
	}
	// a client takes the reply for another lane as an answer to no request
	if r, ok := h.Ask(t, noon, 1, read(3, 1)); !ok || r.Type != protocol.OK || r.Lane != 3 || r.Seq != 1 || r.At != 30 {
		t.Fatalf("a read from before the end gets %v %+v", ok, r)
	}
}

func TestHeard_AFailureElsewhereFailsItHere(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	in.Heartbeat(noon, role.Heard{From: "output-1", ID: link.Identity{}, Ended: []role.Ended{{ID: id, Failed: true, Reason: "poison"}}})
	if h.Aborted[id].Reason != "poison" || in.Running() != 0 {
		t.Fatal(h.Aborted)
	}
}

// TestHeard_ClosedBeforeItsEnd: an answer that was closed during the upload counts as given up.
func TestHeard_ClosedBeforeItsEnd(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	in.Heartbeat(noon, role.Heard{From: "output-1", ID: link.Identity{}, Ended: []role.Ended{{ID: id}}})
	if h.Aborted[id].Code != protocol.ErrCancelled {
		t.Fatal(h.Aborted)
	}
}

func TestR8_ANodeWithAnotherLogFailsWhatRuns(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	hear := func(from link.NodeID, log byte) {
		in.Heartbeat(noon, role.Heard{From: from, ID: link.Identity{LogID: link.LogID{log}, Incarnation: 1}})
	}
	hear("input-1", 1)
	in.Heartbeat(noon, role.Heard{From: "input-1", ID: link.Identity{LogID: link.LogID{1}, Incarnation: 2}})
	if len(h.Aborted) != 0 {
		t.Fatal("a restart is not a loss")
	}
	hear("joiner-1", 1)
	hear("joiner-1", 2)
	if len(h.Aborted) != 0 {
		t.Fatal("who sent to it knows better which sessions it had")
	}
	hear("input-1", 2)
	if len(h.Aborted) != 1 {
		t.Fatal("its data is lost")
	}
}

// TestR8_ALostLogFailsSessionsOnce: a session that began after the new log was heard does not fail because of it, whatever late heartbeats
// of the old log say. This holds before and after a restart of the input.
func TestR8_ALostLogFailsSessionsOnce(t *testing.T) {
	in, h := newInput()
	hear := func(in *Input, log byte) {
		in.Heartbeat(noon, role.Heard{From: "input-1", ID: link.Identity{LogID: link.LogID{log}, Incarnation: 1}})
	}
	hear(in, 1)
	hear(in, 2)
	open(t, h, id)
	hear(in, 1)
	hear(in, 2)
	if len(h.Aborted) != 0 {
		t.Fatal("the late word of a lost log fails a session that it never saw")
	}
	for name, again := range map[string]func(*Input) error{
		"snapshot": func(in2 *Input) error { return in2.RestoreAll(in.SnapshotAll(nil)) },
		"records": func(in2 *Input) error {
			for _, p := range h.Recorded {
				if err := in2.Apply(bytes.Clone(p)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		in2 := New(roletest.About())
		h2 := roletest.NewHost(in2)
		if err := again(in2); err != nil {
			t.Fatal(name, err)
		}
		in2.Tick(noon)
		hear(in2, 1)
		hear(in2, 2)
		if in2.Running() != 1 || len(h2.Aborted) != 0 {
			t.Fatalf("%s: what it was told about lost logs is forgotten", name)
		}
		hear(in2, 3)
		if len(h2.Aborted) != 1 {
			t.Fatalf("%s: another disk is lost, and nobody says so", name)
		}
	}
}

func TestCancelAndClose(t *testing.T) {
	for _, ask := range []protocol.RequestType{protocol.Cancel, protocol.Close} {
		in, h := newInput()
		open(t, h, id)
		for range 2 {
			if c := code(t, h, protocol.Request{Type: ask, Session: id, Token: ours}); c != "" {
				t.Fatal(ask, c)
			}
		}
		if h.Aborted[id].Code != protocol.ErrCancelled || in.Running() != 0 {
			t.Fatal(ask, h.Aborted)
		}
	}
}

// TestN3_RecordsAndSnapshotsGiveTheSameInput: an input that is rebuilt from its records or from a snapshot equals the former one.
func TestN3_RecordsAndSnapshotsGiveTheSameInput(t *testing.T) {
	in, h := newInput()
	open(t, h, roletest.ID("over"))
	in.Heartbeat(noon, role.Heard{From: "output-1", ID: link.Identity{LogID: link.LogID{5}}})
	open(t, h, id)
	code(t, h, chunk("colours", 0, 1))
	code(t, h, chunk("colours", 4, 1))
	code(t, h, placed("shop/colours.csv", 4, 2, 0, "red\n"))
	code(t, h, end("colours", protocol.LaneSeq{Lane: 0, Seq: 1}, protocol.LaneSeq{Lane: 4, Seq: 2}))
	want := in.SnapshotAll(nil)

	replayed := New(roletest.About())
	roletest.NewHost(replayed)
	for _, p := range h.Recorded {
		if err := replayed.Apply(bytes.Clone(p)); err != nil {
			t.Fatal(err)
		}
	}
	restored := New(roletest.About())
	roletest.NewHost(restored)
	if err := restored.RestoreAll(bytes.Clone(want)); err != nil {
		t.Fatal(err)
	}
	if got := replayed.SnapshotAll(nil); !bytes.Equal(got, want) {
		t.Errorf("replayed %q\nwant     %q", got, want)
	}
	if got := restored.SnapshotAll(nil); !bytes.Equal(got, want) {
		t.Errorf("restored %q\nwant     %q", got, want)
	}
	for n := range want {
		if New(roletest.About()).RestoreAll(want[:n]) == nil {
			t.Errorf("the first %d bytes are taken for a snapshot", n)
		}
	}
}

func TestN3_WhatIsNoRecordIsAnError(t *testing.T) {
	in, _ := newInput()
	for _, p := range [][]byte{nil, []byte("?"), encodeOpen(id, []byte("?")), encodeOpen(id, nil)[:20]} {
		if in.Apply(p) == nil {
			t.Errorf("%q is applied", p)
		}
	}
}

func TestRequest_RubbishIsRefused(t *testing.T) {
	in, h := newInput()
	in.Request(noon, &role.Request{From: 5, Client: role.LocalOperator, Body: []byte("rubbish")})
	if r, ok := h.Answer(5); !ok || r.Err.Code != protocol.ErrBadRequest {
		t.Fatal(r, ok)
	}
	if in.Request(noon, &role.Request{From: 5, Client: role.LocalOperator,
		Body: (&protocol.Request{Type: protocol.Results, Session: id}).Append(nil)}) {
		t.Fatal("results are for outputs")
	}
	r, _ := h.Ask(t, noon, 5, protocol.Request{Type: protocol.Sessions})
	if r.Type != protocol.Listed {
		t.Fatalf("%+v", r)
	}
}

func FuzzApply(f *testing.F) {
	f.Add(encodeLane(id, 3, taken{seq: 4, sum: 6}, 5, nil))
	f.Add(encodeLane(id, 3, taken{seq: 4, sum: 6}, 5, &coverage.Chunk{Stream: 1, File: "shop/pots.csv", At: 7, Size: 5}))
	f.Add(encodeEnd(id, 1))
	f.Add(encodeOver(id, gateway.Outcome{Code: protocol.ErrFailed, Reason: "because"}))
	f.Add(encodeLog("joiner-1", link.LogID{1}))
	f.Add(encodeOpen(id, role.Announcement{Analysis: "paint"}.Encode()))
	f.Fuzz(func(t *testing.T, p []byte) {
		in := New(roletest.About())
		roletest.NewHost(in)
		if in.Apply(encodeOpen(id, role.Announcement{Analysis: "paint"}.Encode())) != nil {
			t.Fatal("a session cannot be opened")
		}
		_ = in.Apply(p) // it must return, and need do nothing else
		_ = in.RestoreAll(p)
	})
}
