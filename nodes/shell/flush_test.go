package shell

import (
	"testing"
	"time"

	"posta.dev/posta/nodes/core"
)

// TestFlushTimer: what nobody waits for goes once in a while, what clients wait for when they have said all they had to say, and
// everything else at once.
func TestFlushTimer(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := flushTimer{sealed: start, asked: start.Add(5 * time.Millisecond)}
	for _, x := range []struct {
		urgency core.FlushUrgency
		want    time.Duration
	}{{core.FlushLater, linger}, {core.FlushSoon, 5*time.Millisecond + clientDeadline}} {
		if got := p.due(x.urgency).Sub(start); got != x.want {
			t.Errorf("urgency %d: after %v, not %v", x.urgency, got, x.want)
		}
	}
	p.asked = start.Add(linger) // clients that never stop talking do not keep each other waiting
	if got := p.due(core.FlushSoon).Sub(start); got != linger {
		t.Errorf("clients that go on talking: after %v, not %v", got, linger)
	}
	for _, h := range []core.FlushUrgency{core.FlushNothing, core.FlushNow} {
		if !p.due(h).IsZero() {
			t.Errorf("urgency %d waits", h)
		}
	}
}
