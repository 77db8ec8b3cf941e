package core

import (
	"strings"
	"testing"

	"posta.dev/posta/link"
)

// TestM10_AnAbsurdIncarnationDoesNotStopALink: a node that believes an incarnation takes every lower one for a zombie's (R8). So if it
// believed one message with an impossible incarnation, the link would stop for ever.
func TestM10_AnAbsurdIncarnationDoesNotStopALink(t *testing.T) {
	for _, n := range []link.Incarnation{1 << 40, 1 << 63, 1<<64 - 1} {
		d := newDriver(t, 1, "relay")
		d.c.Advance()
		l := d.c.in[linkKey{"in", "a-1"}]
		absurd := link.Identity{LogID: theirs.LogID, Incarnation: n}
		hello := link.Frame{Edge: "in", From: "a-1", ID: absurd, Kind: link.Hello, Payload: link.HelloPayload{To: "me-1"}.Encode()}
		frame := link.Frame{Edge: "in", From: "a-1", ID: absurd, Seq: 1, Kind: link.End, Session: sessionOf("s")}
		hear(d.c, hello, frame)
		for _, e := range d.c.out {
			for _, s := range e.outboxes {
				for _, p := range s.Peers() {
					d.c.Ack(link.Ack{Edge: e.cfg.Name, To: "me-1", Log: logOf("mine"), Receiver: p, ID: absurd}, d.now)
					if s.Peer(p) != theirs {
						t.Errorf("incarnation %d: %s is taken for %v", n, p, s.Peer(p))
					}
				}
			}
		}
		d.c.Advance()
		if what := d.c.Refused(); d.c.Counters.Refused < 3 || !strings.Contains(what, "M10") || d.c.Refused() != "" {
			t.Errorf("incarnation %d: refused %d, reported %q", n, d.c.Counters.Refused, what)
		}
		frame.ID = theirs
		if v := l.recv.Check(&frame); v != link.Take {
			t.Errorf("incarnation %d: the next frame of the real one gets verdict %d", n, v)
		}
	}
}
