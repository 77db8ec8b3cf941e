package output

import (
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/role/roletest"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

var ours, theirs = session.Token{1}, session.Token{2}

// opened returns an output in which a client with a token has opened the session.
func opened(t *testing.T) (*Output, *roletest.Host, role.Session) {
	t.Helper()
	o := New(roletest.About())
	h := roletest.NewHost(o)
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	s.Opener = ours.Hash()
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

// TestR17_AKeptAnswerKeepsItsID: its inputs may have forgotten the id long ago.
func TestR17_AKeptAnswerKeepsItsID(t *testing.T) {
	o, _, s := opened(t)
	endAll(t, o)
	if o.Open(s) != nil {
		t.Fatal("the announcement that comes again is refused")
	}
	other := s
	other.Opener = theirs.Hash()
	again := New(roletest.About())
	roletest.NewHost(again)
	if err := again.RestoreAll(o.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o.Open(other) == nil || again.Open(other) == nil {
			t.Fatal("another session gets the id of an answer that is kept, or was closed")
		}
		o.Forget(id, ours.Hash())
		again.Forget(id, session.TokenHash{})
	}
	if e := o.Ended(0); len(e) != 1 || e[0].Opener != s.Opener {
		t.Fatalf("%+v", e)
	}
}

// TestC1_CancelSaysThatASessionIsFinished: somebody who cancels it learns that there was nothing to cancel.
func TestC1_CancelSaysThatASessionIsFinished(t *testing.T) {
	o, h, _ := opened(t)
	endAll(t, o)
	r, _ := h.Ask(t, noon, 1, protocol.Request{Type: protocol.Cancel, Session: id, Force: true})
	if r.Type != protocol.OK || r.State != session.Done || len(h.Aborted) != 0 {
		t.Fatalf("%+v", r)
	}
}
