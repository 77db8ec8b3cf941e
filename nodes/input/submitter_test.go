package input

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/test/roletest"
)

// TestS5_WhatASubmitterCannotDoToOthers: a client with the role submit leaves the first input out, guesses ids, claims to have lost
// sessions, and asks for what only operators may. None of it takes a place, an id or an answer from another client.
func TestS5_WhatASubmitterCannotDoToOthers(t *testing.T) {
	for _, node := range []string{"me-1", "input-1"} {
		about := roletest.About()
		about.Node, about.Limits.Sessions, about.Limits.ClientShare = node, 4, 50
		g := &gate{t: t, in: New(about), now: noon}
		g.h = roletest.NewHost(g.in)
		g.in.Tick(noon)

		// Sessions at one input alone, held by pings: at each input they leave one place free, and others open theirs.
		for i := range 10 {
			if why := g.opens("ann", fmt.Sprint("half", i)); (why == "") != (i < 3) {
				t.Fatalf("%s: session %d: %q", node, i, why)
			}
		}
		g.pings(2 * time.Minute)
		if why := g.opens("bob", "bobs"); why != "" {
			t.Errorf("%s: bob cannot open a session: %s", node, why)
		}

		// Another one's id: it is refused, taken over or not, and the session goes on.
		bobs := roletest.ID("bobs")
		for _, takeover := range []bool{false, true} {
			r := g.askAs("ann", protocol.Request{Type: protocol.Open, Session: bobs, Token: third, Analysis: "paint", Takeover: takeover})
			if r.Type == protocol.Opened || strings.Contains(r.Err.Message, "bob") {
				t.Errorf("%s: ann opens bob's session (takeover %v): %+v", node, takeover, r)
			}
		}

		// Ids that nobody has opened: a claim that one of them was lost is believed a bounded number of times, and bars nobody from opening it.
		for i := range 3 * leastClaims {
			g.askAs("ann", protocol.Request{Type: protocol.Ping, Session: roletest.ID(fmt.Sprint("claim", i)), Token: ours,
				Lanes: []protocol.LaneSeq{{Lane: 0, Seq: 9}}})
		}
		claims := 0
		for id := range g.h.Aborted {
			if id != bobs {
				claims++
			}
		}
		if claims > leastClaims {
			t.Errorf("%s: %d claims of one client are believed", node, claims)
		}
		if why := g.opens("bob", "claim0"); why != "" {
			t.Errorf("%s: an id that ann has claimed cannot be opened: %s", node, why)
		}

		// What operators do.
		if r := g.askAs("ann", protocol.Request{Type: protocol.Hold, Lease: time.Minute}); r.Err.Code != protocol.ErrForbidden {
			t.Errorf("%s: ann holds the input: %+v", node, r)
		}
		for _, kind := range []protocol.RequestType{protocol.Cancel, protocol.Close} {
			g.askAs("ann", protocol.Request{Type: kind, Session: bobs, Force: true})
		}
		if g.runs("bob") != 2 || g.h.Aborted[bobs].Failed {
			t.Errorf("%s: bob runs %d sessions, aborted %v", node, g.runs("bob"), g.h.Aborted[bobs])
		}
		if l := g.askAs("ann", protocol.Request{Type: protocol.Sessions}); len(l.Sessions) != 2 {
			t.Errorf("%s: ann sees %d sessions", node, len(l.Sessions))
		}
	}
}
