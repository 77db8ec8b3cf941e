package input

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/roletest"
)

// newHouse returns an input with places for some sessions, of which each client may have a share.
func newHouse(t *testing.T, places, share int) *gate {
	about := roletest.About()
	about.Limits.Sessions, about.Limits.ClientShare = places, share
	g := &gate{t: t, in: New(about), now: noon}
	g.h = roletest.NewHost(g.in)
	g.in.Tick(noon)
	return g
}

func named(name string) security.Identity {
	return security.Identity{Role: security.Submit, Name: name}
}

func (g *gate) askAs(who string, q protocol.Request) protocol.Reply {
	g.t.Helper()
	r, ok := g.h.AskAs(g.t, named(who), g.now, 1, q)
	if !ok {
		g.t.Fatalf("no answer to %s of %s", q.Type, who)
	}
	return r
}

// opens lets a client open a session, and returns why it cannot; empty if it can.
func (g *gate) opens(who, name string) string {
	g.t.Helper()
	r := g.askAs(who, protocol.Request{Type: protocol.Open, Session: roletest.ID(name), Token: ours, Analysis: "paint"})
	if r.Type == protocol.Opened {
		return ""
	}
	if r.Err.Code != protocol.ErrBusy || r.Err.RetryAfter <= 0 {
		g.t.Fatalf("%s opens %s and hears %+v", who, name, r)
	}
	return r.Err.Message
}

func (g *gate) runs(who string) (n int) {
	for _, u := range g.in.uploads {
		if u.Owner == who {
			n++
		}
	}
	return n
}

// pings keeps sessions open for some time.
func (g *gate) pings(d time.Duration) {
	for end := g.now.Add(d); g.now.Before(end); {
		g.listens(time.Second)
		for _, u := range role.ByID(g.in.uploads) {
			g.askAs(u.Owner, protocol.Request{Type: protocol.Ping, Session: u.ID, Token: ours})
		}
	}
}

func (g *gate) cancels(who, name string) {
	g.askAs(who, protocol.Request{Type: protocol.Cancel, Session: roletest.ID(name), Token: ours})
}

// TestR16_AClientHasItsShareOfSessions: it is told so, and the places that it may not have are there for others.
func TestR16_AClientHasItsShareOfSessions(t *testing.T) {
	for _, c := range []struct{ places, share, most int }{{8, 50, 7}, {8, 1, 7}, {1, 1, 1}, {1, 50, 1}, {2, 50, 1}, {3, 50, 2}, {8, 100, 8},
		{8, 0, 8}, {8, 99, 7}} {
		g := newHouse(t, c.places, c.share)
		why := ""
		for i := 0; why == ""; i++ {
			why = g.opens("ann", fmt.Sprint(i))
		}
		says := "limits.client_share"
		if c.most == c.places {
			says = "limits.sessions"
		}
		if g.runs("ann") != c.most || !strings.Contains(why, says) {
			t.Errorf("of %d places, with a share of %d %%, ann has %d: %s", c.places, c.share, g.runs("ann"), why)
		}
		if why := g.opens("bob", "b"); (why == "") != (c.most < c.places) {
			t.Errorf("of %d places, with a share of %d %%, bob hears %q", c.places, c.share, why)
		}
		// What becomes free goes to others until ann is below her share.
		for i := range c.most - 1 {
			g.cancels("ann", fmt.Sprint(i))
			if share := max(1, c.places*c.share/100); c.share > 0 && c.most < c.places && g.runs("ann") >= share {
				if why := g.opens(fmt.Sprint("eve", i), fmt.Sprint("eve", i)); why != "" {
					t.Errorf("of %d places, with a share of %d %%, eve hears %q while ann runs %d", c.places, c.share, why, g.runs("ann"))
				}
			}
		}
	}
	g := newHouse(t, 4, 50) // without keys nobody has a name
	for i := range 4 {
		if r := g.ask(protocol.Request{Type: protocol.Open, Session: roletest.ID(fmt.Sprint(i)), Token: ours,
			Analysis: "paint"}); r.Type != protocol.Opened {
			t.Fatalf("without keys: %+v", r)
		}
	}
}

// TestR16_AFreePlaceGoesToWhoRunsFewest: two clients that flood an input get no place before a third one that has waited, however often
// they ask.
func TestR16_AFreePlaceGoesToWhoRunsFewest(t *testing.T) {
	g := newHouse(t, 4, 50)
	for i := range 2 {
		g.opens("ann", fmt.Sprint("a", i))
		g.opens("bob", fmt.Sprint("b", i))
	}
	if g.opens("olga", "o") == "" {
		t.Fatal("there are more places than limits.sessions")
	}
	g.cancels("ann", "a0")
	for i := range 20 {
		if why := g.opens("ann", fmt.Sprint("again", i)); !strings.Contains(why, "run fewer sessions") {
			t.Fatalf("ann takes the place: %q", why)
		}
		g.listens(100 * time.Millisecond)
	}
	if why := g.opens("olga", "o"); why != "" {
		t.Fatalf("olga has no session and hears %q", why)
	}
	g.cancels("bob", "b0")
	if g.opens("ann", "a2") != "" { // ann and bob run one session each, and ann has asked first
		t.Fatal("ann waited, and gets no place")
	}
	// A client that waited and went away keeps no place free.
	g.cancels("olga", "o")
	g.cancels("ann", "a1")
	for _, who := range []string{"x1", "x2"} {
		g.opens(who, who)
	}
	if g.opens("zoe", "z") == "" {
		t.Fatal("there are more places than limits.sessions")
	}
	g.cancels("x1", "x1")
	if g.opens("bob", "b9") == "" {
		t.Fatal("zoe has asked first, and runs fewer sessions")
	}
	g.listens(3*g.in.About.Limits.RetryAfter + time.Second)
	if why := g.opens("bob", "b9"); why != "" {
		t.Fatalf("zoe has left, and still bob hears %q", why)
	}
}

// TestR16_SessionsThatStandStillGiveWay: clients that open sessions and only ping keep nobody out. Sessions that make progress, that wait
// for the cluster, or that have sent everything, stay.
func TestR16_SessionsThatStandStillGiveWay(t *testing.T) {
	limit := 30 * time.Second
	g := newHouse(t, 4, 50)
	for i := range 2 {
		g.opens("ann", fmt.Sprint("a", i))
		g.opens("bob", fmt.Sprint("b", i))
	}
	g.pings(limit - 2*time.Second)
	if g.opens("olga", "o") == "" || len(g.h.Aborted) != 0 {
		t.Fatalf("sessions were given up before limits.client_timeout: %v", g.h.Aborted)
	}
	c := chunk("colours", 0, 1)
	c.Session = roletest.ID("a0")
	g.askAs("ann", c)
	g.pings(3 * time.Second)
	if len(g.h.Aborted) != 0 {
		t.Fatalf("sessions were given up though nobody waits: %v", g.h.Aborted)
	}
	if why := g.opens("olga", "o"); why != "" || len(g.h.Aborted) != 1 {
		t.Fatalf("%q, aborted %v", why, g.h.Aborted)
	}
	if why := g.h.Aborted[roletest.ID("a1")]; why.Code != protocol.ErrExpired || !strings.Contains(why.Reason, "limits.client_timeout") {
		t.Fatalf("not the session of the owner that runs most and stands still: %v", g.h.Aborted)
	}
	if g.opens("ann", "a2") == "" || len(g.h.Aborted) != 1 {
		t.Fatalf("ann, who runs as many as others, takes a place from them: %v", g.h.Aborted)
	}

	for name, busy := range map[string]func(g *gate){
		"it waits for room": func(g *gate) {
			g.h.Full = true
			for i := range 2 {
				c := chunk("colours", 0, 1)
				c.Session = roletest.ID(fmt.Sprint("a", i))
				g.h.AskAs(t, named("ann"), g.now, 7, c)
			}
		},
		"it has sent everything": func(g *gate) {
			for _, u := range g.in.uploads {
				u.ended[0], u.ended[1] = true, true
			}
		},
	} {
		g := newHouse(t, 2, 100)
		g.opens("ann", "a0")
		g.opens("ann", "a1")
		busy(g)
		g.pings(2 * limit)
		if why := g.opens("olga", "o"); why == "" || len(g.h.Aborted) != 0 {
			t.Errorf("%s: %q, aborted %v", name, why, g.h.Aborted)
		}
	}
}

// TestR16_APlaceAfterARestart: an input that has just started has heard nothing of any session, which does not mean that the sessions stand
// still.
func TestR16_APlaceAfterARestart(t *testing.T) {
	g := newHouse(t, 2, 100)
	g.opens("ann", "a0")
	g.opens("ann", "a1")
	x := &gate{t: t, in: New(g.in.About), now: g.now}
	x.h = roletest.NewHost(x.in)
	if err := x.in.RestoreAll(g.in.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	if why := x.opens("olga", "o"); why == "" || len(x.h.Aborted) != 0 {
		t.Fatalf("%q, aborted %v", why, x.h.Aborted)
	}
}

// TestR16_HeldChunksAreSharedFairly: a client that sends on many lanes while there is no room keeps no chunk of another client from
// waiting.
func TestR16_HeldChunksAreSharedFairly(t *testing.T) {
	g := newHouse(t, 4, 50)
	g.opens("ann", "a")
	g.opens("olga", "o")
	g.h.Full = true
	send := func(who, session string, lane uint32) {
		c := chunk("colours", lane, 1)
		c.Session = roletest.ID(session)
		g.h.AskAs(t, named(who), g.now, role.Peer(100+lane), c)
	}
	for lane := range uint32(maxHeld + 5) {
		send("ann", "a", lane)
	}
	send("olga", "o", 1000)
	g.h.Full = false
	g.listens(100 * time.Millisecond)
	if r, ok := g.h.Answer(1100); !ok || r.Type != protocol.OK {
		t.Fatalf("olga's chunk: %+v, %v", r, ok)
	}
	if r, ok := g.h.Answer(100); !ok || r.Type != protocol.OK {
		t.Fatalf("ann's first chunk: %+v, %v", r, ok)
	}
}

// FuzzPlaces: whatever clients open, cancel and leave, no client takes the last place beyond its share, and a client that runs no session
// and asks again and again gets a place within limits.client_timeout.
func FuzzPlaces(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 250}, uint8(50))
	f.Add([]byte{0, 0, 0, 1, 1, 1, 255, 0, 1, 2}, uint8(100))
	f.Fuzz(func(t *testing.T, acts []byte, share uint8) {
		share = 1 + share%100
		g := newHouse(t, 4, int(share))
		most := 4
		if share < 100 {
			most = 3
		}
		for i, b := range acts[:min(len(acts), 60)] {
			who := string('a' + rune(b%5))
			switch b / 5 % 4 {
			case 0, 1:
				g.opens(who, fmt.Sprint(i))
			case 2:
				for _, u := range role.ByID(g.in.uploads) {
					if u.Owner == who {
						g.h.AskAs(t, named(who), g.now, 1, protocol.Request{Type: protocol.Cancel, Session: u.ID, Token: session.Token(ours)})
						break
					}
				}
			case 3:
				g.pings(time.Duration(b%7) * time.Second)
			}
			for _, u := range g.in.uploads {
				if g.runs(u.Owner) > most || len(g.in.uploads) > 4 {
					t.Fatalf("%s runs %d sessions of %d, and may run %d", u.Owner, g.runs(u.Owner), len(g.in.uploads), most)
				}
			}
		}
		for range 100 {
			if g.opens("zoe", "z") == "" {
				return
			}
			g.pings(time.Second)
		}
		t.Fatalf("a client without a session gets no place: %d run", len(g.in.uploads))
	})
}
