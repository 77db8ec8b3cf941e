package input

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// TestW5_AnInputSaysWhoseDiskIsFull: a client that opens a session or pings hears at once which node's disk is full, as long as it is full.
func TestW5_AnInputSaysWhoseDiskIsFull(t *testing.T) {
	for _, node := range []string{"joiner-1", "me-1"} {
		g := newGate(t, true)
		open(t, g.h, id)
		heard := role.Heard{From: link.NodeID(node), Full: true}
		g.in.Heartbeat(g.now, heard)
		other := protocol.Request{Type: protocol.Open, Session: session.ID{7}, Token: theirs, Analysis: "paint"}
		now := func(q protocol.Request) protocol.Reply {
			t.Helper()
			if !g.in.Request(g.now, &role.Request{From: 1, Client: role.LocalOperator, Body: q.Append(nil)}) || len(g.h.Waiting) > 0 {
				t.Fatalf("the answer to %s waits for a disk that is full", q.Type)
			}
			r, _ := g.h.Answer(1)
			return r
		}
		if r := now(other); r.Err.Code != protocol.ErrBusy || !strings.Contains(r.Err.Message, node+" is full") || r.Err.RetryAfter == 0 {
			t.Errorf("%s: an open hears %+v", node, r)
		}
		if r := now(protocol.Request{Type: protocol.Ping, Session: id, Token: ours}); r.State != session.Running ||
			!strings.Contains(r.Reason, node+" is full") {
			t.Errorf("%s: a ping hears %+v", node, r)
		}
		heard.Full = false
		g.in.Heartbeat(g.now, heard)
		if r := g.ask(protocol.Request{Type: protocol.Ping, Session: id, Token: ours}); r.Reason != "" {
			t.Errorf("%s: when there is room a ping hears %+v", node, r)
		}
		heard.Full = true
		g.in.Heartbeat(g.now, heard)
		g.listens(fullFor + time.Second)
		if r := g.ask(other); r.Type != protocol.Opened {
			t.Errorf("%s: nothing was heard of it for %v: %+v", node, fullFor, r)
		}
	}
	g := newGate(t, true)
	for _, n := range []string{"joiner-2", "joiner-1"} {
		g.in.Heartbeat(g.now, role.Heard{From: link.NodeID(n), Full: true})
	}
	if r := g.ask(protocol.Request{Type: protocol.Open, Session: id, Token: ours, Analysis: "paint"}); !strings.Contains(r.Err.Message,
		"joiner-1, joiner-2 are full") {
		t.Errorf("%+v", r)
	}
}
