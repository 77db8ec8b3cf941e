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

// TestW2_SessionsFailWhereALogIsDamaged: running sessions fail and none begins, both with the text that the damaged node reports. If that
// node is another input, it has no log open, so it has not lost one either.
func TestW2_SessionsFailWhereALogIsDamaged(t *testing.T) {
	for _, node := range []string{"joiner-1", "me-2"} {
		g := newGate(t, true)
		open(t, g.h, id)
		heard := role.Heard{From: link.NodeID(node), Damaged: "its log is damaged: file x; run: posta log repair y"}
		g.in.Heartbeat(g.now, heard)
		g.in.Heartbeat(g.now, heard)
		if len(g.in.uploads) != 0 {
			t.Fatalf("%s: the session runs on", node)
		}
		if why, _ := g.in.Tombstones.Get(id); !strings.Contains(why.Reason, "node "+node+": its log is damaged") ||
			!strings.Contains(why.Reason, "posta log repair y") {
			t.Errorf("%s: the session fails: %q", node, why.Reason)
		}
		if len(g.in.logs[heard.From]) > 0 {
			t.Errorf("%s: the name of a process is taken for a log", node)
		}
		other := protocol.Request{Type: protocol.Open, Session: session.ID{7}, Token: theirs, Analysis: "paint"}
		if r := g.ask(other); r.Err.Code != protocol.ErrFailed || !strings.Contains(r.Err.Message, "posta log repair y") {
			t.Errorf("%s: an open hears %+v", node, r)
		}
		g.in.Heartbeat(g.now, role.Heard{From: heard.From})
		if r := g.ask(other); r.Type != protocol.Opened {
			t.Errorf("%s: after the repair an open hears %+v", node, r)
		}
		g.in.Heartbeat(g.now, heard)
		g.listens(damagedFor + time.Second)
		other.Session = session.ID{8}
		if r := g.ask(other); r.Type != protocol.Opened {
			t.Errorf("%s: nothing was heard of it for %v: %+v", node, damagedFor, r)
		}
	}
}
