package output

import (
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

var ours, theirs = session.Token{1}, session.Token{2}

// opened returns an output at which a client with a token has opened a session.
func opened(t *testing.T) (*Output, *roletest.Host, role.Session) {
	t.Helper()
	o := New(roletest.About())
	h := roletest.NewHost(o)
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	s.Openers = session.Openers{ours.Hash()}
	if err := o.Open(s); err != nil {
		t.Fatal(err)
	}
	o.Tick(noon)
	return o, h, s
}

func TestR17_AnotherTokenChangesNothing(t *testing.T) {
	o, h, _ := opened(t)
	ask := func(kind protocol.RequestType, token session.Token) protocol.Reply {
		r, _ := h.Ask(t, noon, 1, protocol.Request{Type: kind, Session: id, Token: token})
		return r
	}
	for _, want := range []protocol.Code{protocol.ErrInUse, protocol.ErrFinished} {
		for _, kind := range []protocol.RequestType{protocol.Cancel, protocol.Close, protocol.Ping, protocol.Results} {
			if r := ask(kind, theirs); r.Err.Code != want {
				t.Errorf("to %s of another token it answers %+v, not %s", kind, r, want)
			}
		}
		if len(h.Aborted) != 0 || len(h.Recorded) != 0 || len(o.results) != 1 {
			t.Fatal("a client without the token changes something")
		}
		endAll(t, o)
	}
	for _, token := range []session.Token{ours, {}} {
		if r := ask(protocol.Results, token); r.State != session.Done {
			t.Errorf("with token %x results are %+v", token[:1], r)
		}
	}
	if r := ask(protocol.Close, ours); r.Type != protocol.OK || len(o.results) != 0 {
		t.Errorf("its opener closes it: %+v", r)
	}
	for _, token := range []session.Token{ours, theirs, {}} {
		if r := ask(protocol.Results, token); r.Err.Code != protocol.ErrClosed {
			t.Errorf("results that were closed: %+v", r)
		}
	}
}

// TestR17_AKeptAnswerKeepsItsID: inputs may have forgotten the id long ago.
func TestR17_AKeptAnswerKeepsItsID(t *testing.T) {
	o, _, s := opened(t)
	endAll(t, o)
	if o.Open(s) != nil {
		t.Fatal("the announcement that comes again is refused")
	}
	other := s
	other.Openers = session.Openers{theirs.Hash()}
	again := New(roletest.About())
	roletest.NewHost(again)
	if err := again.RestoreAll(o.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	more := s
	more.Digest[0]++
	for _, foreign := range []role.Session{other, more} {
		for _, o := range []*Output{o, again} {
			if err := o.Open(foreign); err == nil || !strings.Contains(err.Error(), "keeps the answer") {
				t.Fatalf("another session gets the id of an answer that is kept: %v", err)
			}
		}
	}
	// The first input alone decides whether the id may be used again when the answer is gone.
	o.Forget(id, role.Asker{Identity: role.LocalOperator, Token: ours.Hash()})
	if e := o.EndOf([]session.ID{id}); len(e) != 2 || e[0].Opener != s.Openers.Founder() || e[1].Opener != theirs.Hash() || !e[1].Failed {
		t.Fatalf("%+v", e)
	}
	if err := o.Open(s); err != nil || o.Running() != 0 {
		t.Fatalf("the announcement of what was closed comes late and opens it again: %v", err)
	}
	if err := o.Open(other); err != nil || o.Running() != 1 {
		t.Fatalf("the id is half free: %v", err)
	}
}

// TestR17_TakenOverAtAnOutput: the former opener hears of the takeover and the new one gets the answer, before the end and after it, also
// from a snapshot.
func TestR17_TakenOverAtAnOutput(t *testing.T) {
	o, h, s := opened(t)
	s.Openers = session.Openers{ours.Hash(), theirs.Hash()}
	o.TakenOver(s)
	older := s
	older.Openers = s.Openers[:1]
	if o.Open(older) != nil || o.Open(s) != nil {
		t.Fatal("an announcement of the session is refused")
	}
	ask := func(h *roletest.Host, kind protocol.RequestType, token session.Token) protocol.Reply {
		r, _ := h.Ask(t, noon, 1, protocol.Request{Type: kind, Session: id, Token: token})
		return r
	}
	again := New(roletest.About())
	h2 := roletest.NewHost(again)
	for range 2 {
		if err := again.RestoreAll(o.SnapshotAll(nil)); err != nil {
			t.Fatal(err)
		}
		for _, h := range []*roletest.Host{h, h2} {
			for _, kind := range []protocol.RequestType{protocol.Cancel, protocol.Close, protocol.Ping, protocol.Results} {
				if r := ask(h, kind, ours); r.Err.Code != protocol.ErrSuperseded {
					t.Errorf("to %s of the former opener it answers %+v", kind, r)
				}
			}
			if r := ask(h, protocol.Ping, theirs); r.Type != protocol.OK {
				t.Errorf("the opener hears %+v", r)
			}
			if len(h.Aborted) != 0 {
				t.Fatal("the former opener cancels the session")
			}
		}
		endAll(t, o)
	}
	if r := ask(h, protocol.Close, theirs); r.Type != protocol.OK || len(o.results) != 0 {
		t.Errorf("its opener closes it: %+v", r)
	}
}

// TestC1_CancelSaysThatASessionIsFinished: a client that cancels a finished session learns that there was nothing to cancel.
func TestC1_CancelSaysThatASessionIsFinished(t *testing.T) {
	o, h, _ := opened(t)
	endAll(t, o)
	r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Cancel, Session: id, Force: true})
	if r.Type != protocol.OK || r.State != session.Done || len(h.Aborted) != 0 {
		t.Fatalf("%+v", r)
	}
}
