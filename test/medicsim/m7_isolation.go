package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/medic/core"
)

// isolation is M7, for medics that are cut off: they leave restarts to the others. world checks that everything recovers in the end.
type isolation struct{ *facts }

func (c *isolation) given(p *process, o core.Order) {
	// A medic that hears nobody at all must assume that it is cut off, and leaves the target to the others for a while. It may count a silence
	// from the tick before the last sign, and a tick may come late.
	quiet := p.waking.quiet()
	if c.w.targets[o.Target].healthy() && !o.Ended && quiet > 3*heartbeat+2*tickEvery && quiet < suspectAfter+cutOff-2*tickEvery {
		c.w.fail("M7", "%s orders a restart of %s, though it has heard nobody at all for %v", p.t.ID, o.Target, quiet)
	}
}

func (c *isolation) carriedOut(p *process, o core.Order) {
	since, cut := c.w.cut[p.t.ID]
	if cut && c.w.At-since > suspectAfter && o.Leader == p.t.ID && c.works(o.Target) && c.helped(p, since) {
		c.w.fail("M7", "%s, cut off since %v, restarts %s, which works, though others could have restarted it", p.t.ID, since, o.Target)
	}
}

// helped reports whether another medic could have restarted the target. This medic has worked since before the given time, reaches the
// host, and has led since then, or soon after. So it had the time to suspect the medic that was cut off and to restart it, if nothing else
// is wrong with the network.
//
// The other medic must also have had the time to hear the one that was cut off. A medic that is cut off within its first heartbeats looks
// unstarted to its peers: they give it the timeout of every start, and they report to the host a silence that is no shorter than the
// medic's age. Another medic that itself heard nobody meanwhile considered itself isolated, and gave everybody a timeout when it heard
// somebody again. And a wrong hint causes an order that never kills.
func (c *isolation) helped(p *process, since time.Duration) bool {
	const acquainted = 3 * heartbeat
	if c.w.unreliable || c.w.misledByHints || since-p.speaks < acquainted {
		return false
	}
	return slices.ContainsFunc(c.w.order, func(t *target) bool {
		return t.medic && t.p != p && c.works(t.ID) && t.p.fitSince < since-acquainted && t.p.waking.quiet() < suspectAfter &&
			t.p.waking.rejoined < since && (c.w.reach || t.host == p.t.host) && t.disk.term.Leader == t.ID &&
			c.durable[t.disk.term.Gen] < since+2*suspectAfter
	})
}
