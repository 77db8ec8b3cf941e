package output

import (
	"testing"
	"time"

	"posta.dev/posta/nodes/role"
)

// TestR16_PollsAreBounded: however many connections a client opens, few polls wait. The oldest one is answered, and none is lost.
func TestR16_PollsAreBounded(t *testing.T) {
	o, h := newOutput(t)
	q := results(0, time.Minute)
	q.Data, q.Header = make([]byte, 1000), make([]byte, 1000)
	for i := range 3 * maxPolls {
		h.Ask(t, noon, role.Peer(i+1), q)
	}
	if len(o.waiting) != maxPolls {
		t.Fatalf("R16: %d polls wait", len(o.waiting))
	}
	for _, p := range o.waiting {
		if p.req.Data != nil || p.req.Header != nil {
			t.Fatal("R16: a poll keeps what it has no use for")
		}
	}
	if r, ok := h.Answer(1); !ok || len(r.Parts) != 0 || r.Complete {
		t.Fatalf("the oldest poll: %+v, %v", r, ok)
	}
	give(t, o, part("known", 1))
	o.Tick(noon)
	if r, ok := h.Answer(3 * maxPolls); !ok || len(r.Parts) != 1 {
		t.Fatalf("the last poll: %+v, %v", r, ok)
	}
}
