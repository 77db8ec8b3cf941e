package input

import (
	"strings"
	"testing"

	"posta.dev/posta/protocol"
	"posta.dev/posta/test/roletest"
)

// TestR14_AClientThatWasAcknowledgedMore: the input's log was set back, so data is lost that the client was told is stored. The session
// fails.
func TestR14_AClientThatWasAcknowledgedMore(t *testing.T) {
	ping := func(stream string, lanes ...protocol.LaneSeq) protocol.Request {
		return protocol.Request{Type: protocol.Ping, Session: id, Token: ours, Stream: stream, Lanes: lanes}
	}
	for name, q := range map[string]protocol.Request{
		"a chunk behind a hole":         chunk("colours", 0, 3),
		"a ping with a later chunk":     ping("", protocol.LaneSeq{Lane: 0, Seq: 2}),
		"a ping with a lane of its own": ping("", protocol.LaneSeq{Lane: 7, Seq: 1}),
		"a ping with an end":            ping("colours"),
	} {
		_, h := newInput()
		open(t, h, id)
		code(t, h, chunk("colours", 0, 1))
		if r, ok := h.Ask(t, noon, 1, ping("", protocol.LaneSeq{Lane: 0, Seq: 1})); !ok || r.Type != protocol.OK {
			t.Fatalf("%s: what it has is in order: %+v", name, r)
		}
		if r, ok := h.Ask(t, noon, 2, q); !ok || r.Type != protocol.Refused {
			t.Fatalf("%s: %+v", name, r)
		}
		if !strings.Contains(h.Aborted[id].Reason, "lost its data") {
			t.Fatalf("%s: the session continues: %v", name, h.Aborted)
		}
	}
	// Nodes downstream may know a session that this input does not know.
	_, h := newInput()
	x := chunk("colours", 0, 2)
	x.Session = roletest.ID("x")
	code(t, h, x)
	if h.Aborted[x.Session].Reason == "" {
		t.Fatal("who was acknowledged chunk 1 waits for ever")
	}
	if h.Ask(t, noon, 3, ping("")); len(h.Aborted) != 1 {
		t.Fatal("a ping that claims nothing ends a session")
	}
}

// TestR14_NoSessionBeginsBeforeTheLogIsConfirmed: a session that began earlier would fail if the log had to be retired.
func TestR14_NoSessionBeginsBeforeTheLogIsConfirmed(t *testing.T) {
	in, h := newInput()
	h.Unheard = true
	q := protocol.Request{Type: protocol.Open, Session: id, Token: ours, Analysis: "paint"}
	if r, ok := h.Ask(t, noon, 1, q); !ok || r.Err.Code != protocol.ErrBusy || r.Err.RetryAfter == 0 || in.Running() != 0 {
		t.Fatalf("%+v", r)
	}
	h.Unheard = false
	if r, ok := h.Ask(t, noon, 2, q); !ok || r.Type != protocol.Opened {
		t.Fatalf("%+v", r)
	}
}
