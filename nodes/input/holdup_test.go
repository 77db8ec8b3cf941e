package input

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

// TestR11_AClientThatDelaysOthersIsGivenUp: a client pings, and never ends a reference stream at this input that it has ended at another
// one. So the facts of all sessions wait at joiners. The client is given up after limits.client_timeout. Clients that only look similar are
// not.
func TestR11_AClientThatDelaysOthersIsGivenUp(t *testing.T) {
	const limit = 30 * time.Second
	var seq uint64
	cases := map[string]struct {
		expires bool
		each    func(g *gate) // called every second
	}{
		"it only pings":                     {true, func(g *gate) {}},
		"it is slow, and gets on":           {false, func(g *gate) { seq++; g.wants("", chunk("colours", 0, seq)) }},
		"its reference data has ended here": {false, func(g *gate) { g.wants("", end("colours")) }},
		"joiners say nothing of it":         {false, nil},
		"this node keeps it waiting":        {false, func(g *gate) { g.h.Full = true; g.h.Ask(g.t, g.now, 9, chunk("colours", 0, 1)) }},
	}
	for name, c := range cases {
		g := newGate(t, true)
		seq = 0
		open(t, g.h, id)
		other := roletest.ID("other")
		open(t, g.h, other)
		run := func(d time.Duration) {
			for end := g.now.Add(d); g.now.Before(end); {
				for range 10 {
					g.listens(100 * time.Millisecond)
					if c.each != nil {
						g.in.Heartbeat(g.now, role.Heard{From: "joiner-1", Waiting: []session.ID{id, roletest.ID("unheard of")}})
					}
				}
				if c.each != nil {
					c.each(g)
				}
				g.ask(protocol.Request{Type: protocol.Ping, Session: id, Token: ours})
				g.ask(protocol.Request{Type: protocol.Ping, Session: other, Token: ours})
			}
		}
		run(limit - time.Second)
		if len(g.h.Aborted) != 0 {
			t.Errorf("%s: given up before limits.client_timeout: %v", name, g.h.Aborted)
		}
		run(3 * time.Second)
		why, gone := g.h.Aborted[id]
		if gone != c.expires || gone && (why.Code != protocol.ErrExpired || !strings.Contains(why.Reason, "every input")) ||
			len(g.h.Aborted) > 1 {
			t.Errorf("%s: aborted %v", name, g.h.Aborted)
		}
	}
}

// TestR11_AClientThatDelaysNoOtherMayTakeItsTime: a client that delays no other session is not given up.
func TestR11_AClientThatDelaysNoOtherMayTakeItsTime(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	for range 600 {
		g.listens(100 * time.Millisecond)
		g.in.Heartbeat(g.now, role.Heard{From: "joiner-1", Waiting: []session.ID{id}})
		g.ask(protocol.Request{Type: protocol.Ping, Session: id, Token: ours})
	}
	if len(g.h.Aborted) != 0 {
		t.Fatalf("aborted %v, and nobody waits", g.h.Aborted)
	}
}
