package input

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

var third = session.Token{3}

// gate is an input with its clock.
type gate struct {
	t   *testing.T
	in  *Input
	h   *roletest.Host
	now time.Time
}

// newGate returns the first input, or another one.
func newGate(t *testing.T, first bool) *gate {
	about := roletest.About()
	if !first {
		about.Node = "input-1"
	}
	g := &gate{t: t, in: New(about), now: noon}
	g.h = roletest.NewHost(g.in)
	g.in.Tick(noon)
	return g
}

// listens lets time pass in punctual ticks.
func (g *gate) listens(d time.Duration) {
	for ; d > 0; d -= 100 * time.Millisecond {
		g.now = g.now.Add(100 * time.Millisecond)
		g.in.Tick(g.now)
	}
}

func (g *gate) ask(q protocol.Request) protocol.Reply {
	g.t.Helper()
	r, ok := g.h.Ask(g.t, g.now, 1, q)
	if !ok {
		g.t.Fatalf("no answer to %s", q.Type)
	}
	return r
}

func (g *gate) wants(code protocol.Code, q protocol.Request) {
	g.t.Helper()
	if r := g.ask(q); r.Err.Code != code {
		g.t.Fatalf("to %s of client %d it answers %+v, want %q", q.Type, q.Token[0], r, code)
	}
}

// again returns the input after a restart: from its snapshot, or from its records.
func (g *gate) again(snapshot bool) *gate {
	g.t.Helper()
	x := &gate{t: g.t, in: New(g.in.About), now: g.now}
	x.h = roletest.NewHost(x.in)
	if snapshot {
		if err := x.in.RestoreAll(g.in.SnapshotAll(nil)); err != nil {
			g.t.Fatal(err)
		}
	} else {
		for _, p := range g.h.Recorded {
			if err := x.in.Apply(bytes.Clone(p)); err != nil {
				g.t.Fatal(err)
			}
		}
	}
	x.h.Recorded = slices.Clone(g.h.Recorded)
	x.in.Tick(x.now)
	return x
}

func opens(token session.Token, openers ...session.Token) protocol.Request {
	q := protocol.Request{Type: protocol.Open, Session: id, Token: token, Analysis: "paint", Takeover: true}
	for _, o := range openers {
		q.Openers = append(q.Openers, o.Hash())
	}
	return q
}

func by(token session.Token, q protocol.Request) protocol.Request {
	q.Token = token
	return q
}

// TestR17_Takeover: after 5 s without the opener another client may continue, and the opener hears that, also after restarts.
func TestR17_Takeover(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	g.wants("", chunk("colours", 0, 1))
	g.wants("", chunk("colours", 3, 1))
	g.listens(4900 * time.Millisecond)
	if r := g.ask(opens(theirs)); r.Err.Code != protocol.ErrInUse || r.Err.RetryAfter != 100*time.Millisecond {
		t.Fatalf("before the opener was silent for 5 s: %+v", r)
	}
	g.wants("", protocol.Request{Type: protocol.Ping, Session: id, Token: ours})
	g.listens(4900 * time.Millisecond)
	g.now = g.now.Add(100*time.Millisecond - time.Microsecond)
	if r := g.ask(opens(theirs)); r.Err.Code != protocol.ErrInUse || r.Err.RetryAfter < time.Millisecond {
		t.Fatalf("a moment before: %+v", r)
	}
	g.now = g.now.Add(time.Microsecond)
	r := g.ask(opens(theirs))
	want := []protocol.LaneSeq{{Lane: 0, Seq: 1}, {Lane: 3, Seq: 1}}
	both := session.Openers{ours.Hash(), theirs.Hash()}
	if r.Type != protocol.Opened || !slices.Equal(r.Lanes, want) || !slices.Equal(r.Openers, both) {
		t.Fatalf("%+v", r)
	}
	if len(g.h.TakenOver) != 1 || !slices.Equal(g.h.TakenOver[0].Openers, both) {
		t.Fatalf("announced: %+v", g.h.TakenOver)
	}
	for _, g := range []*gate{g, g.again(true), g.again(false)} {
		for _, q := range []protocol.Request{
			chunk("colours", 0, 2), end("colours"), {Type: protocol.Ping, Session: id}, {Type: protocol.Cancel, Session: id},
			{Type: protocol.Close, Session: id}, {Type: protocol.Open, Session: id, Analysis: "paint"}, opens(ours),
		} {
			g.wants(protocol.ErrSuperseded, by(ours, q))
		}
		if g.in.Running() != 1 || len(g.h.Aborted) > 0 {
			t.Fatal("the former opener changes something")
		}
		g.wants("", opens(theirs))
		g.wants("", by(theirs, chunk("colours", 0, 2)))
		g.wants("", by(theirs, end("colours", protocol.LaneSeq{Lane: 0, Seq: 2}, protocol.LaneSeq{Lane: 3, Seq: 1})))
	}
}

// TestR17_TakeoverKeepsNumbersExact: the new client uses no number of the former one, and the end counts what both have sent.
func TestR17_TakeoverKeepsNumbersExact(t *testing.T) {
	for name, q := range map[string]protocol.Request{
		"other content under the last number": by(theirs, func() (q protocol.Request) {
			q = chunk("colours", 0, 1)
			q.Data = []byte("blue\n")
			return q
		}()),
		"an end that forgets what the former client sent": by(theirs, end("colours")),
	} {
		g := newGate(t, true)
		open(t, g.h, id)
		g.wants("", chunk("colours", 0, 1))
		g.listens(5 * time.Second)
		g.wants("", opens(theirs))
		g.wants("", by(theirs, chunk("colours", 0, 1))) // the same chunk again
		if r := g.ask(q); r.Err.Code != protocol.ErrFailed || len(g.h.Aborted) != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestR17_TakeoverInOrder: the other inputs accept a takeover only from clients that the first input has accepted. The last of these wins.
func TestR17_TakeoverInOrder(t *testing.T) {
	g := newGate(t, false)
	open(t, g.h, id)
	g.listens(5 * time.Second)
	if r := g.ask(opens(theirs)); r.Err.Code != protocol.ErrBadRequest || !strings.Contains(r.Err.Message, "tcp://in") {
		t.Fatalf("a takeover that begins here: %+v", r)
	}
	g.wants(protocol.ErrBadRequest, opens(theirs, ours))     // openers of another session
	g.wants(protocol.ErrInUse, opens(theirs, third, theirs)) // an opener of another session with this id
	// theirs was quicker at the first input, and died on its way here
	g.wants("", opens(third, ours, theirs, third))
	g.wants(protocol.ErrSuperseded, opens(theirs, ours, theirs))                // its request arrives late
	g.wants("", opens(third, ours, theirs, third))                              // the same again
	g.wants(protocol.ErrInUse, opens(session.Token{4}, ours, session.Token{4})) // the first input never accepted these two
	fresh := newGate(t, false)
	fresh.wants(protocol.ErrBadRequest, opens(theirs))
	if r := fresh.ask(opens(theirs, ours, theirs)); r.Type != protocol.Opened || len(r.Openers) != 2 {
		t.Fatalf("a session that its opener had not opened here: %+v", r)
	}
	fresh.wants(protocol.ErrSuperseded, protocol.Request{Type: protocol.Open, Session: id, Token: ours, Analysis: "paint"})
}

func TestR17_TakeoverOfAnotherPlan(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	g.listens(time.Minute / 4)
	q := opens(theirs)
	q.Params = map[string]string{"fail": "yes"}
	g.wants(protocol.ErrBadRequest, q)
	if r := g.ask(protocol.Request{Type: protocol.Open, Session: id, Token: theirs, Analysis: "paint"}); r.Err.Code != protocol.ErrInUse ||
		!strings.Contains(r.Err.Message, "taken over") {
		t.Errorf("nobody is told that the session can be taken over: %+v", r)
	}
}

// TestR17_AnInputThatSleptCountsNoSilence: the opener may have sent requests all the time (M6). A restart does not count as silence either.
func TestR17_AnInputThatSleptCountsNoSilence(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	for range 6 {
		g.now = g.now.Add(3 * time.Second)
		g.in.Tick(g.now)
	}
	g.wants(protocol.ErrInUse, opens(theirs))
	g.listens(4900 * time.Millisecond)
	g.wants(protocol.ErrInUse, opens(theirs))
	g = g.again(true)
	g.listens(4900 * time.Millisecond)
	g.wants(protocol.ErrInUse, opens(theirs))
	g.listens(100 * time.Millisecond)
	g.wants("", opens(theirs))
}

// TestR17_TakeoverOfWhatIsOver: the client hears how the session ended, and the id is not opened again.
func TestR17_TakeoverOfWhatIsOver(t *testing.T) {
	over := map[protocol.Code]role.Ended{
		protocol.ErrFinished: {ID: id, Opener: ours.Hash()},
		protocol.ErrFailed:   {ID: id, Opener: ours.Hash(), Failed: true, Reason: "poison"},
	}
	for code, e := range over {
		g := newGate(t, true)
		open(t, g.h, id)
		ended(t, g.h)
		g.in.Heartbeat(g.now, role.Heard{From: "output-1", ID: link.Identity{}, Ended: []role.Ended{e}})
		g.listens(10 * time.Second)
		g.wants(code, opens(theirs))
		g.wants(code, opens(theirs, ours, theirs)) // an announcement that no input has accepted
	}
}

// TestR17_TakeoverThatMeetsTheEnd: the first input accepted the takeover before it heard that the session is over. This input has heard it.
func TestR17_TakeoverThatMeetsTheEnd(t *testing.T) {
	g := newGate(t, false)
	open(t, g.h, id)
	ended(t, g.h)
	g.in.Heartbeat(g.now, role.Heard{From: "output-1", ID: link.Identity{}, Ended: []role.Ended{{ID: id, Opener: ours.Hash()}}})
	if r := g.ask(opens(theirs, ours, theirs)); r.State != session.Done || len(r.Ended) != 2 {
		t.Fatalf("%+v", r)
	}
	for _, g := range []*gate{g, g.again(true), g.again(false)} {
		if r := g.ask(protocol.Request{Type: protocol.Ping, Session: id, Token: theirs}); r.State != session.Done {
			t.Errorf("its opener hears %+v", r)
		}
		g.wants(protocol.ErrFinished, protocol.Request{Type: protocol.Ping, Session: id, Token: ours})
	}
}

// TestR17_HeldChunksOfTheFormerOpenerAreDropped: if they were taken later, they would have the numbers of other chunks of the new client.
func TestR17_HeldChunksOfTheFormerOpenerAreDropped(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	g.h.Full = true
	if _, ok := g.h.Ask(t, g.now, 7, chunk("colours", 0, 1)); ok {
		t.Fatal("there is no room, and it is answered")
	}
	g.listens(5 * time.Second)
	g.wants("", opens(theirs))
	g.h.Full = false
	g.listens(time.Second)
	if len(g.h.Fed) != 0 {
		t.Fatal("a chunk of the former opener is taken")
	}
	other := by(theirs, chunk("colours", 0, 1))
	other.Data = []byte("blue\n")
	g.wants("", other)
}

// TestR17_ATakeoverOfALogThatMayBeSetBack: an input that has just started may lack the newest takeover (R14). Its answers stop no client.
func TestR17_ATakeoverOfALogThatMayBeSetBack(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	g.h.Unheard = true
	g.listens(10 * time.Second)
	g.wants(protocol.ErrBusy, opens(theirs))
	if r, ok := g.h.Ask(t, g.now, 1, by(third, chunk("colours", 0, 1))); ok {
		t.Fatalf("a client that may be the opener hears %+v", r)
	}
}

// TestR17_TakeoversAreBounded: their list travels with each announcement.
func TestR17_TakeoversAreBounded(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	for i := range session.MaxOpeners - 1 {
		g.listens(5 * time.Second)
		g.wants("", opens(session.Token{9, byte(i), 1}))
	}
	g.listens(5 * time.Second)
	if r := g.ask(opens(theirs)); r.Err.Code != protocol.ErrInUse || !strings.Contains(r.Err.Message, "255 times") {
		t.Fatalf("%+v", r)
	}
}
