package nodes

import (
	"testing"
	"time"

	"posta.dev/posta/nodes/core"
)

// TestPace: what nobody waits for goes once in a while, what clients wait for when they have said all they had to say, and
// everything else at once.
func TestPace(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := pace{sealed: start, asked: start.Add(5 * time.Millisecond)}
	for _, x := range []struct {
		haste core.Haste
		want  time.Duration
	}{{core.Batch, linger}, {core.Client, 5*time.Millisecond + patience}} {
		if got := p.until(x.haste).Sub(start); got != x.want {
			t.Errorf("haste %d: after %v, not %v", x.haste, got, x.want)
		}
	}
	p.asked = start.Add(linger) // clients that never stop talking do not keep each other waiting
	if got := p.until(core.Client).Sub(start); got != linger {
		t.Errorf("clients that go on talking: after %v, not %v", got, linger)
	}
	for _, h := range []core.Haste{core.Nothing, core.Full} {
		if !p.until(h).IsZero() {
			t.Errorf("haste %d waits", h)
		}
	}
}

// TestProcessors: nodes that share a machine share its cores.
func TestProcessors(t *testing.T) {
	for _, x := range []struct{ cores, nodes, want int }{{2, 8, 1}, {2, 1, 2}, {16, 1, 16}, {16, 8, 4}, {4, 7, 1}, {8, 7, 2}, {1, 1, 1}} {
		if got := processors(x.cores, x.nodes); got != x.want {
			t.Errorf("%d cores, %d nodes: %d, not %d", x.cores, x.nodes, got, x.want)
		}
	}
}
