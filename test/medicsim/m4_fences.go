package medicsim

import (
	"time"

	"posta.dev/posta/medic/core"
)

// fences is M4: a host carries out no order of a leader that was replaced.
type fences struct {
	*facts
	newest map[string]core.Generation // the newest generation that acted on each host
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

// restored forgets what a host forgot when it was set back.
func (c *fences) restored(h *host) { c.newest[h.name] = min(c.newest[h.name], h.fence.Term.Gen) }

// keepUp checks that a fence that was set back catches up with its medics (R14).
func (c *fences) keepUp() {
	w := c.w
	for _, h := range w.hosts {
		for _, t := range w.order {
			since := max(h.restored, w.faults.end) // while faults are injected, the host may learn of a term late
			if t.medic && t.healthy() && (w.reach || t.host == h) && t.disk.term.Gen > h.fence.Term.Gen &&
				w.At-max(since, t.p.fitSince, t.disk.since) > 4*suspectAfter {
				w.fail("R14", "the fence of %s is at %v, and %s is at %v", h.name, h.fence.Term, t.ID, t.disk.term)
			}
		}
	}
}

// outdated checks that a leader which others have replaced no longer acts, if all can hear each other.
func (c *fences) outdated(o core.Order) {
	w := c.w
	all := time.Duration(0) // the time since which all can hear each other
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
