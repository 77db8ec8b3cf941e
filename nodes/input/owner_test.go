package input

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/roletest"
)

var alice, bob, olga, wanda = roletest.Alice, roletest.Bob, roletest.Olga, roletest.Wanda

func openOf(token session.Token) protocol.Request {
	return protocol.Request{Type: protocol.Open, Session: id, Token: token, Analysis: "paint"}
}

// alices returns an input at which alice has opened a session and sent a chunk.
func alices(t *testing.T) (*Input, *roletest.Host) {
	t.Helper()
	in, h := newInput()
	if r := h.Told(t, alice, noon, openOf(ours)); r.Type != protocol.Opened {
		t.Fatalf("%+v", r)
	}
	if r := h.Told(t, alice, noon, chunk("colours", 0, 1)); r.Type != protocol.OK {
		t.Fatalf("%+v", r)
	}
	return in, h
}

// requestsFor returns every kind of request about the session except an open.
func requestsFor(token session.Token) []protocol.Request {
	c, e := chunk("colours", 0, 2), end("colours", protocol.LaneSeq{Lane: 0, Seq: 1})
	c.Token, e.Token = token, token
	all := []protocol.Request{
		c, e,
		{Type: protocol.Ping, Session: id, Token: token},
		{Type: protocol.Ping, Session: id, Token: token, Lanes: []protocol.LaneSeq{{Lane: 0, Seq: 9}}},
		{Type: protocol.Ping, Session: id},
	}
	for _, kind := range []protocol.RequestType{protocol.Cancel, protocol.Close} {
		all = append(all, protocol.Request{Type: kind, Session: id, Token: token}, protocol.Request{Type: kind, Session: id, Force: true})
	}
	return all
}

// TestS5_AnotherOwnersSessionIsNotThere: whatever a stranger asks about it, even with the opener's token, the answer is that of an input
// which has never heard of the session, and nothing changes.
func TestS5_AnotherOwnersSessionIsNotThere(t *testing.T) {
	over := map[string]func(*Input, *roletest.Host){
		"it runs": func(*Input, *roletest.Host) {},
		"it ended": func(in *Input, _ *roletest.Host) {
			hears(in, role.Ended{ID: id, Opener: ours.Hash(), Failed: true, Reason: "poison in alice's rows"})
		},
	}
	for name, become := range over {
		for _, token := range []session.Token{ours, theirs} {
			in, h := alices(t)
			become(in, h)
			before, aborted := in.SnapshotAll(nil), len(h.Aborted)
			for _, q := range requestsFor(token) {
				_, blank := newInput()
				got, want := h.Told(t, bob, noon, q), blank.Told(t, bob, noon, q)
				if !bytes.Equal(got.Append(nil), want.Append(nil)) {
					t.Errorf("%s: to %s of a stranger it answers %+v, and without the session %+v", name, q.Type, got.Err, want.Err)
				}
			}
			for _, takeover := range []bool{false, true} {
				q := openOf(token)
				q.Takeover = takeover
				r := h.Told(t, bob, noon, q)
				if r.Err.Code != protocol.ErrInUse || r.Err.RetryAfter != 0 || strings.Contains(r.Err.Message, "alice") ||
					strings.Contains(r.Err.Message, "poison") {
					t.Errorf("%s: a stranger who opens it (takeover %v) hears %+v", name, takeover, r)
				}
			}
			if l := h.Told(t, bob, noon, protocol.Request{Type: protocol.Sessions}); len(l.Sessions) != 0 {
				t.Errorf("%s: a stranger's list has %v", name, l.Sessions)
			}
			if !bytes.Equal(in.SnapshotAll(nil), before) || len(h.Aborted) != aborted || len(h.Fed) != 1 || len(h.Ended) != 0 ||
				len(h.TakenOver) != 0 {
				t.Errorf("%s: a stranger changes something: aborted %v, fed %d, ended %v", name, h.Aborted, len(h.Fed), h.Ended)
			}
			if _, _, ok := in.DecodeChunk(&role.Request{Client: bob, Body: requestsFor(ours)[0].Append(nil)}); ok {
				t.Errorf("%s: a stranger's chunk is prepared", name)
			}
		}
	}
}

func hears(in *Input, e role.Ended) {
	in.Heartbeat(noon, role.Heard{From: "output-1", ID: link.Identity{}, Ended: []role.Ended{e}})
}

// TestS5_SilenceIsTheOwners: requests of other clients do not keep a session alive.
func TestS5_SilenceIsTheOwners(t *testing.T) {
	for _, c := range []security.Identity{bob, olga, wanda} {
		in, h := alices(t)
		before := in.uploads[id].lastHeard
		for _, token := range []session.Token{{}, ours} {
			h.AskAs(t, c, noon.Add(time.Second), 3, protocol.Request{Type: protocol.Ping, Session: id, Token: token})
		}
		if in.uploads[id].lastHeard != before {
			t.Errorf("a ping of %s counts as one of alice", c.Name)
		}
	}
}

// TestS5_RolesAtAnInput: what watchers and operators may do with a session of another client.
func TestS5_RolesAtAnInput(t *testing.T) {
	in, h := alices(t)
	if l := h.Told(t, wanda, noon, protocol.Request{Type: protocol.Sessions}); len(l.Sessions) != 1 || l.Sessions[0].Session != id ||
		l.Sessions[0].Owner != "alice" {
		t.Errorf("a watcher's list is %+v", l)
	}
	if r := h.Told(t, wanda, noon, protocol.Request{Type: protocol.Ping, Session: id}); r.State != session.Running {
		t.Errorf("a watcher asks for the state: %+v", r)
	}
	for _, q := range append(requestsFor(ours), openOf(theirs), protocol.Request{Type: protocol.Hold, Lease: time.Minute}) {
		if q.Type == protocol.Ping {
			continue
		}
		if r := h.Told(t, wanda, noon, q); r.Err.Code != protocol.ErrForbidden || !strings.Contains(r.Err.Message, `"wanda"`) ||
			!strings.Contains(r.Err.Message, "[clients]") {
			t.Errorf("%s of a watcher: %+v", q.Type, r)
		}
		if r := h.Told(t, security.Identity{Name: "alice"}, noon, q); r.Err.Code != protocol.ErrForbidden {
			t.Errorf("%s without any role: %+v", q.Type, r)
		}
	}
	if r := h.Told(t, alice, noon, protocol.Request{Type: protocol.Hold, Lease: time.Minute}); r.Err.Code != protocol.ErrForbidden ||
		!strings.Contains(r.Err.Message, `"operate"`) {
		t.Errorf("who submits holds the cluster: %+v", r)
	}
	// An operator may end other clients' sessions, and may add nothing to them.
	for _, q := range requestsFor(ours)[:2] {
		if r := h.Told(t, olga, noon, q); r.Err.Code != protocol.ErrUnknownSession || len(h.Fed) != 1 || len(h.Aborted) != 0 {
			t.Errorf("%s of an operator: %+v", q.Type, r)
		}
	}
	if r := h.Told(t, olga, noon, openOf(ours)); r.Err.Code != protocol.ErrInUse {
		t.Errorf("an operator opens it: %+v", r)
	}
	if r := h.Told(t, olga, noon, protocol.Request{Type: protocol.Cancel, Session: id, Force: true}); r.Type != protocol.OK ||
		h.Aborted[id].Code != protocol.ErrCancelled || in.Running() != 0 {
		t.Errorf("an operator cancels it: %+v", r)
	}
}

// TestS5_AnOwnersProcesses: the name decides who the owner is, and the token distinguishes the owner's processes. A new key does not change
// the name.
func TestS5_AnOwnersProcesses(t *testing.T) {
	in, h := alices(t)
	if r := h.Told(t, alice, noon, openOf(theirs)); r.Err.Code != protocol.ErrInUse || !strings.Contains(r.Err.Message, "posta results") {
		t.Errorf("another process of alice opens it: %+v", r)
	}
	later := noon
	for range 20 { // a node that was asleep has heard nothing, so time passes tick by tick
		later = later.Add(leftAfter / 20)
		in.Tick(later)
	}
	takeover := openOf(theirs)
	takeover.Takeover = true
	for _, c := range []security.Identity{bob, olga, role.LocalOperator} {
		if r, ok := h.AskAs(t, c, later, 4, takeover); !ok || r.Err.Code != protocol.ErrInUse || r.Err.RetryAfter != 0 {
			t.Errorf("%q takes it over: %+v", c.Name, r)
		}
	}
	if r, ok := h.AskAs(t, alice, later, 4, takeover); !ok || r.Type != protocol.Opened || len(r.Lanes) != 1 || len(h.TakenOver) != 1 ||
		h.TakenOver[0].Owner != "alice" {
		t.Errorf("alice takes it over: %+v", r)
	}
	if r := h.Told(t, alice, noon, protocol.Request{Type: protocol.Cancel, Session: id, Force: true}); r.Type != protocol.OK ||
		len(h.Aborted) != 1 {
		t.Errorf("alice cancels her session from elsewhere: %+v", r)
	}
}

// TestS5_TheOwnerIsRemembered: after a restart, from records and from a snapshot, while the session runs and after its end.
func TestS5_TheOwnerIsRemembered(t *testing.T) {
	for name, become := range map[string]func(*Input){
		"it runs":  func(*Input) {},
		"it ended": func(in *Input) { in.over(id, gateway.Outcome{}, "") },
	} {
		in, h := alices(t)
		become(in)
		restored, replayed := New(roletest.About()), New(roletest.About())
		if err := restored.RestoreAll(in.SnapshotAll(nil)); err != nil {
			t.Fatal(err)
		}
		for _, p := range h.Recorded {
			if err := replayed.Apply(bytes.Clone(p)); err != nil {
				t.Fatal(err)
			}
		}
		become(replayed)
		for _, x := range []*Input{restored, replayed} {
			h := roletest.NewHost(x)
			x.Tick(noon)
			if r := h.Told(t, bob, noon, openOf(ours)); r.Err.Code != protocol.ErrInUse {
				t.Errorf("%s: a stranger opens it: %+v", name, r)
			}
			if r := h.Told(t, bob, noon, protocol.Request{Type: protocol.Ping, Session: id}); r.Err.Code != protocol.ErrUnknownSession {
				t.Errorf("%s: a stranger pings: %+v", name, r)
			}
			if r := h.Told(t, alice, noon, openOf(ours)); r.Type != protocol.Opened {
				t.Errorf("%s: alice opens it again: %+v", name, r)
			}
		}
	}
}

// TestS5_AClaimIsOfItsOwnersSession: a client that claims that an input has lost a session fails no session of another owner by that.
func TestS5_AClaimIsOfItsOwnersSession(t *testing.T) {
	about := roletest.About()
	about.Node = "input-2" // not the first input: alice's open arrives here later
	in := New(about)
	h := roletest.NewHost(in)
	in.Tick(noon)
	if r := h.Told(t, bob, noon, chunk("colours", 0, 5)); r.Err.Code != protocol.ErrUnknownSession || h.Aborted[id].Owner != "bob" {
		t.Fatalf("%+v, aborted %+v", r, h.Aborted)
	}
	if r := h.Told(t, alice, noon, chunk("colours", 0, 5)); r.Err.Code != protocol.ErrUnknownSession || h.Aborted[id].Owner != "alice" {
		t.Fatalf("alice's own word after it: %+v, aborted %+v", r, h.Aborted)
	}
	if r := h.Told(t, bob, noon, chunk("colours", 0, 5)); h.Aborted[id].Owner != "bob" {
		t.Fatalf("and bob's once more: %+v, aborted %+v", r, h.Aborted)
	}
	if r := h.Told(t, alice, noon, openOf(ours)); r.Type != protocol.Opened {
		t.Fatalf("alice's open after it: %+v", r)
	}
	hears(in, role.Ended{ID: id, Owner: "bob", Failed: true, Reason: "bob lost it"})
	if in.uploads[id] == nil {
		t.Fatal("an output's word of bob's claim ends alice's session")
	}
	hears(in, role.Ended{ID: id, Owner: "alice", Failed: true, Reason: "alice lost it"})
	if in.uploads[id] != nil {
		t.Fatal("an output's word of alice's claim does not end her session")
	}
	// What an operator claims about a session that it may not feed is not a claim at all.
	_, h = alices(t)
	if h.Told(t, olga, noon, chunk("colours", 0, 5)); len(h.Aborted) != 0 {
		t.Fatalf("aborted %v", h.Aborted)
	}
}

// TestS5_ClaimsAreBounded: invented sessions of one client do not make nodes forget other clients' sessions.
// TestS5_ARefusedOpenLeavesAnothersClaim: bob says that the input has lost bob's session. A refused open of the same id by alice does
// not change what bob is told, also after a restart. A session that alice does open replaces bob's claim, because then the id belongs to
// alice.
func TestS5_ARefusedOpenLeavesAnothersClaim(t *testing.T) {
	for _, refused := range []bool{true, false} {
		in, h := newInput()
		lost := chunk("colours", 0, 5)
		lost.Token = theirs
		h.Told(t, bob, noon, lost)
		again := protocol.Request{Type: protocol.Ping, Session: id, Token: theirs}
		if r := h.Told(t, bob, noon, again); !strings.Contains(r.Err.Message, "lost its data") {
			t.Fatalf("bob's claim: %+v", r)
		}
		before := in.SnapshotAll(nil)
		if refused {
			h.Refuses = errors.New("another session has the id")
			if r := h.Told(t, alice, noon, openOf(ours)); r.Type != protocol.Refused || in.Running() != 0 {
				t.Fatalf("alice's open: %+v", r)
			}
			if !bytes.Equal(in.SnapshotAll(nil), before) {
				t.Error("a refused open changes what the input remembers")
			}
		} else if r := h.Told(t, alice, noon, openOf(ours)); r.Type != protocol.Opened {
			t.Fatalf("alice's open: %+v", r)
		}
		if r := h.Told(t, bob, noon, again); strings.Contains(r.Err.Message, "lost its data") != refused {
			t.Errorf("refused %v: bob hears %+v", refused, r)
		}
	}
}

func TestS5_ClaimsAreBounded(t *testing.T) {
	in := New(roletest.About())
	h := roletest.NewHost(in)
	in.Tick(noon)
	most := max(leastClaims, in.About.Limits.Sessions)
	claim := func(who security.Identity, n int) bool {
		q := chunk("colours", 0, 5)
		q.Session = roletest.ID(fmt.Sprint(n))
		if r := h.Told(t, who, noon, q); r.Err.Code != protocol.ErrUnknownSession {
			t.Fatalf("claim %d: %+v", n, r)
		}
		return h.Aborted[q.Session].Owner == who.Name
	}
	for n := range most + 10 {
		if believed := claim(bob, n); believed != (n < most) {
			t.Fatalf("claim %d of bob is believed: %v", n, believed)
		}
	}
	if !claim(alice, 5000) {
		t.Error("alice's claim is not believed after those of bob")
	}
}
