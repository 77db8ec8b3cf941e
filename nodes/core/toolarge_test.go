package core

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// TestR15_NoFrameAboveTheLimit: a payload that every receiver would refuse never enters an outbox, whichever role emits it. Its session
// fails with that reason, the abort leaves, and the node continues.
func TestR15_NoFrameAboveTheLimit(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"frame":  func(c *Config) { c.Frame = 100 },
		"record": func(c *Config) { c.Record = recordReserve + 500 },
	} {
		d := newDriver(t, 1, "relay")
		spoil(&d.c.cfg)
		frames := []link.Frame{
			{Kind: link.Hello, Payload: link.HelloPayload{To: "me-1"}.Encode()},
			{Seq: 1, Kind: link.Open, Session: sessionOf("s"), Payload: role.Announcement{Analysis: "test"}.Encode()},
			{Seq: 2, Kind: link.Data, Session: sessionOf("s"), Stream: 1, Payload: []byte(">" + strings.Repeat("w", 300))},
			{Seq: 3, Kind: link.Data, Session: sessionOf("s"), Stream: 1, Payload: []byte(">word")},
			{Seq: 4, Kind: link.Open, Session: sessionOf("o"), Payload: role.Announcement{Analysis: "test"}.Encode()},
			{Seq: 5, Kind: link.Data, Session: sessionOf("o"), Stream: 1, Payload: []byte("+word")},
		}
		for i := range frames {
			frames[i].Edge, frames[i].From, frames[i].ID = "in", "a-1", theirs
		}
		hear(d.c, frames...)
		d.c.Advance()
		if why, gone := d.c.tombstones.Get(sessionOf("s")); !gone || !strings.Contains(why.Reason, "limits.") ||
			!strings.Contains(why.Reason, "stream facts") {
			t.Errorf("%s: the session is %v, %q", name, gone, why.Reason)
		}
		aborts := 0
		for _, f := range d.c.build.rec.Frames {
			if f.Frame.Session == sessionOf("s") && f.Frame.Kind == link.Data {
				t.Errorf("%s: R15: %d bytes are in an outbox", name, len(f.Frame.Payload))
			}
			if f.Frame.Kind == link.Abort {
				aborts++
			}
		}
		if aborts == 0 || d.c.sessions[sessionOf("o")] == nil {
			t.Errorf("%s: %d aborts; the other session is gone", name, aborts)
		}
		_ = d.c.Output(time.Time{})
	}
}
