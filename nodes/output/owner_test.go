package output

import (
	"bytes"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/roletest"
)

var alice, bob, olga, wanda = roletest.Alice, roletest.Bob, roletest.Olga, roletest.Wanda

func alicesSession(t *testing.T) role.Session {
	t.Helper()
	s := roletest.Session(t, "s", analyses.Replica{Of: 1}, nil)
	s.Openers, s.Owner = session.Openers{ours.Hash()}, "alice"
	return s
}

// alices returns an output that has a part of the answer of alice's session.
func alices(t *testing.T) (*Output, *roletest.Host) {
	t.Helper()
	o := New(roletest.About())
	h := roletest.NewHost(o)
	if err := o.Open(alicesSession(t)); err != nil {
		t.Fatal(err)
	}
	give(t, o, part("known", 1))
	o.Tick(noon)
	return o, h
}

// TestS5_AnotherOwnersAnswerIsNotThere: whatever a stranger asks about it, even with the opener's token, the answer is that of an output
// which has never heard of the session, and nothing changes.
func TestS5_AnotherOwnersAnswerIsNotThere(t *testing.T) {
	for name, become := range map[string]func(*Output){
		"it runs":    func(*Output) {},
		"it is done": func(o *Output) { endAll(t, o) },
		"it has failed": func(o *Output) {
			o.Drop(id, role.Outcome{Failed: true, Owner: "alice", Reason: "poison in alice's rows"})
		},
		"it is closed": func(o *Output) { o.Forget(id, role.Asker{Identity: alice}) },
		"it failed, and nothing else was heard of it": func(o *Output) {
			delete(o.results, id)
			o.Drop(id, role.Outcome{Failed: true, Owner: "alice", Reason: "alice's input lost it"})
		},
	} {
		o, h := alices(t)
		become(o)
		o.Tick(noon)
		before, aborted := o.SnapshotAll(nil), len(h.Aborted)
		for _, q := range []protocol.Request{
			results(0, 0), results(0, time.Minute), {Type: protocol.Ping, Session: id}, {Type: protocol.Cancel, Session: id, Force: true},
			{Type: protocol.Close, Session: id, Force: true}, {Type: protocol.Sessions},
		} {
			for _, token := range []session.Token{{}, ours, theirs} {
				if q.Force = token == (session.Token{}); q.Type == protocol.Sessions || q.Type == protocol.Results || q.Type == protocol.Ping {
					q.Force = false
				}
				q.Token = token
				got, want := h.Told(t, bob, noon, q),
					roletest.NewHost(New(roletest.About())).Told(t, bob, noon, q)
				if !bytes.Equal(got.Append(nil), want.Append(nil)) {
					t.Errorf("%s: to %s of a stranger it answers %+v, and without the session %+v", name, q.Type, got, want)
				}
			}
		}
		if !bytes.Equal(o.SnapshotAll(nil), before) || len(h.Aborted) != aborted || len(o.waiting) != 0 {
			t.Errorf("%s: a stranger changes something", name)
		}
	}
}

// TestS5_RolesAtAnOutput: an operator may read and drop every answer. A watcher may see that there is one.
func TestS5_RolesAtAnOutput(t *testing.T) {
	o, h := alices(t)
	endAll(t, o)
	for _, c := range []security.Identity{alice, olga, role.LocalOperator} {
		if r := h.Told(t, c, noon, results(0, 0)); r.State != session.Done || len(r.Parts) != 1 {
			t.Errorf("results for %q: %+v", c.Name, r)
		}
	}
	if r := h.Told(t, wanda, noon, results(0, 0)); r.Err.Code != protocol.ErrUnknownSession {
		t.Errorf("results for a watcher: %+v", r)
	}
	if r := h.Told(t, wanda, noon, protocol.Request{Type: protocol.Ping, Session: id}); r.State != session.Done {
		t.Errorf("the state for a watcher: %+v", r)
	}
	if r := h.Told(t, wanda, noon, protocol.Request{Type: protocol.Sessions}); len(r.Sessions) != 1 || r.Sessions[0].Owner != "alice" {
		t.Errorf("the list for a watcher: %+v", r)
	}
	for _, kind := range []protocol.RequestType{protocol.Cancel, protocol.Close} {
		if r := h.Told(t, wanda, noon, protocol.Request{Type: kind, Session: id, Force: true}); r.Err.Code != protocol.ErrForbidden {
			t.Errorf("%s of a watcher: %+v", kind, r)
		}
	}
	if r := h.Told(t, security.Identity{Name: "alice"}, noon, results(0, 0)); r.Err.Code != protocol.ErrForbidden {
		t.Errorf("results without any role: %+v", r)
	}
	if r := h.Told(t, olga, noon, protocol.Request{Type: protocol.Close, Session: id, Force: true}); r.Type != protocol.OK ||
		len(o.results) != 0 {
		t.Errorf("an operator drops it: %+v", r)
	}
}

// TestS5_AnOutputRemembersOwners: in a snapshot, in the next log after a retirement, and when the answer is gone.
func TestS5_AnOutputRemembersOwners(t *testing.T) {
	o, _ := alices(t)
	endAll(t, o)
	restored, heir := New(roletest.About()), New(roletest.About())
	hosts := map[string]*roletest.Host{"a snapshot": roletest.NewHost(restored), "the log before": roletest.NewHost(heir)}
	if err := restored.RestoreAll(o.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	if err := heir.Inherit(o.Bequeath()); err != nil {
		t.Fatal(err)
	}
	for name, h := range hosts {
		if r := h.Told(t, bob, noon, results(0, 0)); r.Err.Code != protocol.ErrUnknownSession {
			t.Errorf("from %s: a stranger hears %+v", name, r)
		}
		if r := h.Told(t, alice, noon, results(0, 0)); r.State != session.Done {
			t.Errorf("from %s: alice hears %+v", name, r)
		}
	}
}

// TestS5_AnAnnouncementOfAnotherOwner: it belongs to another session, whichever client began that, and takes nothing over.
func TestS5_AnAnnouncementOfAnotherOwner(t *testing.T) {
	o, h := alices(t)
	a := role.Announcement{Analysis: "paint", Openers: session.Openers{ours.Hash()}, Owner: "bob"}
	bobs, err := role.ReadAnnouncement(id, a.Encode(), roletest.Known(), analyses.Replica{})
	if err != nil || bobs.Owner != "bob" {
		t.Fatal(bobs.Owner, err)
	}
	if o.Open(bobs) == nil {
		t.Error("the output opens the id once more, for another owner")
	}
	bobs.Openers = append(bobs.Openers, theirs.Hash())
	o.TakenOver(bobs)
	o.Forget(id, role.Asker{Identity: alice})
	o.TakenOver(bobs)
	if gone, _ := o.Tombstones.Get(id); gone.Owner != "alice" || len(gone.Openers) != 1 {
		t.Errorf("what is remembered of it is %+v", gone)
	}
	if r := h.Told(t, alice, noon, results(0, 0)); r.Err.Code != protocol.ErrClosed {
		t.Errorf("alice hears %+v", r)
	}
}

// TestS5_AClaimMakesRoom: a claim of another client about this id does not concern the session that has the id.
func TestS5_AClaimMakesRoom(t *testing.T) {
	o := New(roletest.About())
	h := roletest.NewHost(o)
	o.Drop(id, role.Outcome{Failed: true, Owner: "bob", Reason: "bob lost it"})
	if e := o.EndOf([]session.ID{id}); len(e) != 1 || e[0].Owner != "bob" {
		t.Fatalf("inputs hear %+v", e)
	}
	if r := h.Told(t, bob, noon, results(0, 0)); r.State != session.Failed {
		t.Errorf("bob hears %+v", r)
	}
	if r := h.Told(t, alice, noon, results(0, 0)); r.Err.Code != protocol.ErrUnknownSession {
		t.Errorf("alice hears %+v", r)
	}
	if err := o.Open(alicesSession(t)); err != nil || o.Running() != 1 {
		t.Fatalf("alice's session is not opened: %v", err)
	}
	endAll(t, o)
	if r := h.Told(t, alice, noon, results(0, 0)); r.State != session.Done {
		t.Errorf("alice hears %+v", r)
	}
}

// TestS5_AClaimIsNotTheOperatorsOwnSession: an operator that shows a token asks for a session of its own.
func TestS5_AClaimIsNotTheOperatorsOwnSession(t *testing.T) {
	o := New(roletest.About())
	h := roletest.NewHost(o)
	o.Drop(id, role.Outcome{Failed: true, Owner: "bob", Reason: "bob lost it"})
	own := results(0, 0)
	own.Token = ours
	if r := h.Told(t, olga, noon, own); r.Err.Code != protocol.ErrUnknownSession {
		t.Errorf("of the session that it runs olga hears %+v", r)
	}
	if r := h.Told(t, olga, noon, results(0, 0)); r.State != session.Failed {
		t.Errorf("of everybody's sessions olga hears %+v", r)
	}
}

// TestS5_APollIsAnsweredAsItsAskerMay: this holds even if the id has gone to another owner while the poll waited.
func TestS5_APollIsAnsweredAsItsAskerMay(t *testing.T) {
	o, h := alices(t)
	if _, ok := h.AskAs(t, alice, noon, 5, results(1, time.Minute)); ok {
		t.Fatal("there is nothing new")
	}
	o.results[id].Owner = "bob"
	give(t, o, part("amounts", 1))
	o.Tick(noon)
	if r, ok := h.Answer(5); !ok || r.Err.Code != protocol.ErrUnknownSession {
		t.Fatalf("alice hears %+v", r)
	}
}
