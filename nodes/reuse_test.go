package nodes_test

import (
	"encoding/binary"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/input"
	"posta.dev/posta/nodes/output"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

// TestR17_AnIDIsFreeEverywhereOrNowhere: after 3,000 sessions the first input has forgotten the oldest ones. If it lets an id in again, no
// other input and no output may refuse that id. It lets no client use an id whose answer an output still keeps.
func TestR17_AnIDIsFreeEverywhereOrNowhere(t *testing.T) {
	const sessions, kept = 3000, 200
	about := roletest.About()
	about.Limits.Results = kept
	first := input.New(about)
	h1 := roletest.NewHost(first)
	about.Node = "input-1"
	second := input.New(about)
	h2 := roletest.NewHost(second)
	about.Node = "output-1"
	out := output.New(about)
	roletest.NewHost(out)
	now := time.Unix(1_700_000_000, 0)
	ask := func(h *roletest.Host, q protocol.Request) protocol.Reply {
		t.Helper()
		r, ok := h.Ask(t, now, 1, q)
		if !ok {
			t.Fatalf("no answer to %s", q.Type)
		}
		return r
	}
	idOf := func(i int) (id session.ID) {
		binary.BigEndian.PutUint32(id[:], uint32(i+1))
		return id
	}
	running := func(r protocol.Reply) bool { return r.Type == protocol.Opened && r.State == session.Running }
	pass := func() {
		now = now.Add(10 * time.Millisecond)
		for _, g := range []role.Gateway{first, second, out} {
			g.Tick(now)
		}
	}
	// run runs a session from its open to its end, on the inputs and the output.
	run := func(id session.ID, token session.Token) (opened bool) {
		t.Helper()
		open := protocol.Request{Type: protocol.Open, Session: id, Token: token, Analysis: "paint"}
		if !running(ask(h1, open)) {
			return false
		}
		if r := ask(h2, open); !running(r) {
			t.Fatalf("session %s is open at the first input, and the second answers %+v", id, r)
		}
		a, err := role.ReadAnnouncement(id, role.Announcement{Analysis: "paint", Openers: session.Openers{token.Hash()}}.Encode(),
			roletest.Known(), analyses.Replica{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := out.Open(a); err != nil {
			t.Fatalf("session %s is open at the inputs, and the output says: %v", id, err)
		}
		for _, stream := range []string{"colours", "pots"} {
			for _, h := range []*roletest.Host{h1, h2} {
				ask(h, protocol.Request{Type: protocol.End, Session: id, Token: token, Stream: stream})
			}
		}
		for stream := range 2 {
			if _, err := out.End(id, stream, nil); err != nil {
				t.Fatal(err)
			}
		}
		out.Drop(id, role.Outcome{})
		pass()
		for _, in := range []*input.Input{first, second} {
			in.Heartbeat(now, role.Heard{From: link.NodeID("output-1"), Ended: []role.Ended{{ID: id, Opener: token.Hash()}}})
		}
		return true
	}
	for i := range sessions {
		if !run(idOf(i), session.Token{1}) {
			t.Fatalf("session %d is refused", i)
		}
	}
	free := 0
	for i := 0; i < sessions; i += 23 {
		if run(idOf(i), session.Token{2}) {
			free++
		} else if i < sessions-role.Remembered-kept-sessions/23 {
			t.Errorf("session %d is remembered for longer than it needs", i)
		}
	}
	if free == 0 || free == sessions/23+1 {
		t.Fatalf("%d ids are free", free)
	}
}
