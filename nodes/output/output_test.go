package output

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

var (
	noon = time.Unix(1_700_000_000, 0)
	id   = roletest.ID("s")
)

func newOutput(t *testing.T) (*Output, *roletest.Host) {
	t.Helper()
	o := New(roletest.About())
	h := roletest.NewHost(o)
	if err := o.Open(roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)); err != nil {
		t.Fatal(err)
	}
	o.Tick(noon)
	return o, h
}

// part returns one part of an answer as a reducer sends it.
func part(query string, rows int) role.Message {
	p := protocol.Part{Query: query, Columns: []string{"n"}, Rows: protocol.NewRows(1), Last: true}
	for i := range rows {
		if err := p.Rows.Add(protocol.Value{Kind: protocol.Int, Int: int64(i)}); err != nil {
			panic(err)
		}
	}
	return role.Message{Payload: (&protocol.Reply{Type: protocol.Parts, State: session.Running, Parts: []protocol.Part{p}}).Append(nil)}
}

func give(t *testing.T, o *Output, m role.Message) {
	t.Helper()
	if durable, err := o.Take(id, m, nil); err != nil || !durable {
		t.Fatal(durable, err)
	}
}

func endAll(t *testing.T, o *Output) {
	t.Helper()
	for stream := range 2 {
		if _, err := o.End(id, stream, nil); err != nil {
			t.Fatal(err)
		}
	}
	o.Drop(id, role.Outcome{})
}

func results(after uint64, wait time.Duration) protocol.Request {
	return protocol.Request{Type: protocol.Results, Session: id, After: after, Wait: wait}
}

func TestResults_ComeQueryByQuery(t *testing.T) {
	o, h := newOutput(t)
	give(t, o, part("known", 2))
	r, ok := h.Ask(t, noon, 1, results(0, 0))
	if !ok || r.State != session.Running || r.Complete || len(r.Parts) != 1 || r.Parts[0].N != 1 {
		t.Fatalf("%+v", r)
	}
	give(t, o, part("amounts", 1))
	endAll(t, o)
	r, _ = h.Ask(t, noon, 1, results(1, 0))
	if !r.Complete || r.State != session.Done || len(r.Parts) != 1 || r.Parts[0].N != 2 || r.Parts[0].Query != "amounts" {
		t.Fatalf("%+v", r)
	}
	if r, _ = h.Ask(t, noon, 1, results(2, time.Minute)); !r.Complete || len(r.Parts) != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestResults_APollWaitsForSomethingNew(t *testing.T) {
	o, h := newOutput(t)
	if _, ok := h.Ask(t, noon, 1, results(0, 2*time.Second)); ok {
		t.Fatal("there is nothing new")
	}
	o.Tick(noon.Add(time.Second))
	if _, ok := h.Answer(1); ok {
		t.Fatal("too early")
	}
	o.Tick(noon.Add(2 * time.Second))
	if r, ok := h.Answer(1); !ok || len(r.Parts) != 0 {
		t.Fatal("the client's patience is over")
	}
	h.Ask(t, noon, 2, results(0, time.Hour))
	give(t, o, part("known", 1))
	o.Tick(noon)
	if r, ok := h.Answer(2); !ok || len(r.Parts) != 1 {
		t.Fatal("a part has come")
	}
	h.Ask(t, noon, 3, results(1, time.Minute))
	o.Tick(noon.Add(protocol.LongestPoll))
	if _, ok := h.Answer(3); !ok {
		t.Fatal("no poll is longer than LongestPoll")
	}
}

func TestResults_OfFailure(t *testing.T) {
	o, h := newOutput(t)
	give(t, o, part("known", 1))
	o.Drop(id, role.Outcome{Failed: true, Reason: "poison"})
	r, _ := h.Ask(t, noon, 1, results(0, time.Minute))
	if r.State != session.Failed || r.Reason != "poison" || !r.Complete || len(r.Parts) != 0 {
		t.Fatalf("%+v", r)
	}
	// The same for a session that was never opened here.
	o.Drop(roletest.ID("x"), role.Outcome{Failed: true, Reason: "elsewhere"})
	q := results(0, 0)
	q.Session = roletest.ID("x")
	if r, _ := h.Ask(t, noon, 1, q); r.Reason != "elsewhere" {
		t.Fatalf("%+v", r)
	}
	if o.Running() != 0 {
		t.Fatal(o.Running())
	}
}

// TestR13_AnAbortAfterTheEndChangesNothing: a complete answer is right.
func TestR13_AnAbortAfterTheEndChangesNothing(t *testing.T) {
	o, h := newOutput(t)
	give(t, o, part("known", 1))
	endAll(t, o)
	o.Drop(id, role.Outcome{Failed: true, Reason: "too late"})
	if r, _ := h.Ask(t, noon, 1, results(0, 0)); r.State != session.Done || len(r.Parts) != 1 {
		t.Fatalf("%+v", r)
	}
}

func TestResults_ArePagedByBytes(t *testing.T) {
	o, h := newOutput(t)
	p := protocol.Part{Query: "known", Columns: []string{"text"}, Rows: protocol.NewRows(1), Last: true}
	for range 20 {
		if err := p.Rows.Add(protocol.Value{Text: strings.Repeat("x", protocol.PartBytes/30)}); err != nil {
			t.Fatal(err)
		}
	}
	large := role.Message{Payload: (&protocol.Reply{Type: protocol.Parts, State: session.Running, Parts: []protocol.Part{p}}).Append(nil)}
	for range 3 {
		give(t, o, large)
	}
	endAll(t, o)
	seen := uint64(0)
	for complete := false; !complete; {
		r, _ := h.Ask(t, noon, 1, results(seen, 0))
		if len(r.Parts) != 1 || r.Parts[0].N != seen+1 {
			t.Fatalf("%d parts after %d", len(r.Parts), seen)
		}
		seen, complete = r.Parts[0].N, r.Complete
	}
	if seen != 3 {
		t.Fatal(seen)
	}
}

func TestClose_ForgetsTheAnswer(t *testing.T) {
	o, h := newOutput(t)
	give(t, o, part("known", 1))
	endAll(t, o)
	for range 2 {
		if r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Close, Session: id, Force: true}); r.Type != protocol.OK {
			t.Fatalf("%+v", r)
		}
	}
	if r, _ := h.Ask(t, noon, 1, results(0, time.Minute)); r.Err.Code != protocol.ErrClosed {
		t.Fatalf("%+v", r)
	}
	if e := o.EndOf([]session.ID{id}); len(e) != 1 || e[0].Failed {
		t.Fatalf("inputs still have to hear of it: %+v", e)
	}
	// It does not come back.
	if err := o.Open(roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)); err != nil || o.Running() != 0 {
		t.Fatal(err)
	}
	if durable, err := o.Take(id, part("known", 1), nil); durable || err != nil {
		t.Fatal(durable, err)
	}
}

func TestResults_Expire(t *testing.T) {
	o, h := newOutput(t)
	endAll(t, o)
	o.Tick(noon)
	o.Tick(noon.Add(time.Hour - 1))
	if len(o.results) != 1 {
		t.Fatal("too early")
	}
	o.Tick(noon.Add(time.Hour))
	if r, _ := h.Ask(t, noon, 1, results(0, 0)); r.Err.Code != protocol.ErrExpired {
		t.Fatalf("%+v", r)
	}
	if e := o.EndOf([]session.ID{id}); len(e) != 1 || e[0].Failed {
		t.Fatalf("%+v", e)
	}
}

func TestCancel(t *testing.T) {
	o, h := newOutput(t)
	if r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Cancel, Session: id, Force: true}); r.Type != protocol.OK {
		t.Fatalf("%+v", r)
	}
	if h.Aborted[id].Code != protocol.ErrCancelled {
		t.Fatal(h.Aborted)
	}
	if e := o.EndOf([]session.ID{id}); len(e) != 1 || !e[0].Failed || e[0].Code != protocol.ErrCancelled {
		t.Fatalf("%+v", e)
	}
	if r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Cancel, Session: roletest.ID("x"),
		Force: true}); r.Err.Code != protocol.ErrUnknownSession {
		t.Fatalf("%+v", r)
	}
}

func TestR3_AnswersWaitForTheDisk(t *testing.T) {
	o, h := newOutput(t)
	give(t, o, part("known", 1))
	q := results(0, 0)
	o.Request(noon, &role.Request{From: 9, Client: role.LocalOperator, Body: q.Append(nil)})
	if _, early := h.Replies[9]; early {
		t.Fatal("answered from what may be lost in a crash")
	}
}

func TestN3_SnapshotsAndRecords(t *testing.T) {
	o, h := newOutput(t)
	give(t, o, part("known", 2))
	o.Drop(roletest.ID("x"), role.Outcome{Failed: true, Reason: "poison"})
	o.Drop(roletest.ID("y"), role.Outcome{Failed: true, Reason: "poison"})
	o.Forget(roletest.ID("y"), role.Asker{Identity: role.LocalOperator})
	want := o.SnapshotAll(nil)
	again := New(roletest.About())
	roletest.NewHost(again)
	if err := again.RestoreAll(bytes.Clone(want)); err != nil {
		t.Fatal(err)
	}
	if got := again.SnapshotAll(nil); !bytes.Equal(got, want) {
		t.Fatalf("%q\n%q", got, want)
	}
	if len(h.Recorded) != 1 {
		t.Fatal(len(h.Recorded))
	}
	if err := again.Apply(h.Recorded[0]); err != nil {
		t.Fatal(err)
	}
	for n := range want {
		if New(roletest.About()).RestoreAll(want[:n]) == nil {
			t.Errorf("the first %d bytes are taken for a snapshot", n)
		}
	}
	if again.Apply([]byte("?")) == nil {
		t.Fatal("rubbish is applied")
	}
	give(t, again, part("amounts", 1))
	if parts, _, _, err := again.after(again.results[id], 1, 1000); err != nil || len(parts) != 1 || parts[0].N != 2 ||
		parts[0].Query != "amounts" {
		t.Fatal("parts are numbered again", parts, err)
	}
}

func TestRequests_OfOtherNodesAndRubbish(t *testing.T) {
	o, h := newOutput(t)
	o.Request(noon, &role.Request{From: 1, Client: role.LocalOperator, Body: []byte("rubbish")})
	if r, _ := h.Answer(1); r.Err.Code != protocol.ErrBadRequest {
		t.Fatalf("%+v", r)
	}
	if r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Open, Session: id, Token: session.Token{1},
		Analysis: "paint"}); r.Err.Code != protocol.ErrWrongNode || len(r.Inputs) != 3 || len(r.InputNodes) != 3 {
		t.Fatalf("%+v", r)
	}
	if r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Ping, Session: id}); r.State != session.Running {
		t.Fatalf("%+v", r)
	}
	if r, _ := h.Ask(t, noon.Add(time.Minute), 1, protocol.Request{Type: protocol.Sessions}); len(r.Sessions) != 1 ||
		r.Sessions[0].Age != time.Minute {
		t.Fatalf("%+v", r)
	}
	if _, err := o.Take(id, role.Message{Payload: []byte("?")}, nil); err == nil {
		t.Fatal("rubbish is stored")
	}
	if r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Info}); !strings.Contains(r.Node, "me-1") {
		t.Fatalf("%+v", r)
	}
}
