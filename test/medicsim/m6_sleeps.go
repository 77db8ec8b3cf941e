package medicsim

import "posta.dev/posta/medic/core"

// sleeps is M6: nobody is restarted because the leader itself slept, or was cut off.
type sleeps struct{ *facts }

func (c *sleeps) given(p *process, o core.Order) {
	// A target that works and was heard must not be ordered about before the whole silence, which a hint shortens, is over when the order leaves.
	least := suspectAfter
	if o.Ended {
		least = hinted
	}
	if silence := p.waking.silence(o.Target); c.w.targets[o.Target].healthy() && silence < least {
		c.w.fail("M6", "%s orders a restart of %s (ended: %v), which it heard %v of its own waking time ago", p.t.ID, o.Target, o.Ended, silence)
	}
	// A medic that hears somebody again gives everybody one timeout.
	if since := c.w.At - p.backSince; !o.Ended && c.works(o.Target) && p.backSince > 0 && since < suspectAfter && p.waking.quiet() < since {
		c.w.fail("M6", "%s orders a restart of %s, which works, %v after it was cut off", p.t.ID, o.Target, since)
	}
}

// restarted is told about a target that is restarted although it neither died nor hangs: the leader must have missed it while it was awake itself.
func (c *sleeps) restarted(t *target, o core.Order, g given) {
	if c.w.At >= t.p.speaks && g.silent < suspectAfter {
		c.w.fail("M6", "%s works, and is killed by %s, which has missed it for %v of its own waking time", t.ID, o.Leader, g.silent)
	}
}
