package medicsim

import (
	"time"

	"posta.dev/posta/medic/core"
)

// fences is M4: a host carries out no order of a leader that was replaced.
type fences struct {
	*facts
	newest map[string]core.Generation // that acted on a host
}

func (c *fences) carriedOut(p *process, o core.Order) {
	if o.Gen < c.newest[o.Host] {
		c.w.fail("M4", "an order of generation %d is carried out on %s after one of %d", o.Gen, o.Host, c.newest[o.Host])
	}
	c.newest[o.Host] = max(c.newest[o.Host], o.Gen)
	if g := p.t.disk.term.Gen; g > o.Gen {
		c.w.fail("M4", "%s, which knows of generation %d, carries out an order of %d", p.t.ID, g, o.Gen)
	}
	c.outdated(o)
}

// outdated: where all can hear each other, a leader that others have replaced must not act any more.
func (c *fences) outdated(o core.Order) {
	w := c.w
	all := time.Duration(0) // since when all can hear each other
	if !w.fine {
		all = w.faults.end
	}
	for _, t := range w.order {
		if !t.medic || !t.healthy() || t.disk.term.Gen <= o.Gen || t.ID == o.Leader {
			continue
		}
		if since := c.durable[t.disk.term.Gen]; since > 0 && w.At-max(since, all) > suspectAfter {
			w.fail("M4", "%s acts in generation %d, %v after %s was in %d", o.Leader, o.Gen, w.At-since, t.ID, t.disk.term.Gen)
		}
	}
}
