package medicsim

import "posta.dev/posta/medic/core"

// sleeps is M6: no target is restarted because the leader itself slept, or was cut off.
type sleeps struct{ *facts }

func (c *sleeps) given(p *process, o core.Order) {
	// If the target works and was heard, the silence must have lasted for its full time when the order leaves; a hint shortens that time.
	least := suspectAfter
	if o.Ended {
		least = hinted
	}
	if silence := p.waking.silence(o.Target); c.w.targets[o.Target].healthy() && silence < least {
		c.w.fail("M6", "%s orders a restart of %s (ended: %v), which it heard %v of its own waking time ago", p.t.ID, o.Target, o.Ended, silence)
	}
	// A medic that hears somebody again gives every target one timeout.
	if since := c.w.At - p.backSince; !o.Ended && c.works(o.Target) && p.backSince > 0 && since < suspectAfter && p.waking.quiet() < since {
		c.w.fail("M6", "%s orders a restart of %s, which works, %v after it was cut off", p.t.ID, o.Target, since)
	}
}

// restarted is called when a target is restarted although it neither died nor hangs: the leader must have been awake for the whole silence.
func (c *sleeps) restarted(t *target, o core.Order, g given) {
	if c.w.At >= t.p.speaks && g.silent < suspectAfter {
		c.w.fail("M6", "%s works, and is killed by %s, which has missed it for %v of its own waking time", t.ID, o.Leader, g.silent)
	}
}
