package medicsim

import "posta.dev/posta/medic/core"

// loops is N9: no node is restarted because its loop is busy, or before it has had the time to end itself; and a node that counts as
// recovered works.
type loops struct{ *facts }

func (c *loops) given(p *process, o core.Order) {
	t := c.w.targets[o.Target]
	if t.medic || !t.healthy() || !t.p.busy() && !t.p.loop.hangs || o.Ended {
		return
	}
	if silence := p.waking.silence(o.Target); silence < suspectAfter {
		c.w.fail("N9", "%s orders a restart of %s, whose loop is busy for %v (hangs: %v), and which it heard %v ago", p.t.ID, o.Target,
			t.p.stands(), t.p.loop.hangs, silence)
	}
}

// writes is called with an entry that its leader writes, before the entry is on the disk.
func (c *loops) writes(e core.Entry) {
	t := c.w.targets[e.Node]
	if e.Kind != core.Recovered || t.medic {
		return
	}
	for _, p := range t.past {
		if p.id.Incarnation == e.Incarnation && p.loop.worked {
			return
		}
	}
	c.w.fail("N9", "%s takes incarnation %d of %s for recovered, and it has got nothing done", e.Leader, e.Incarnation, e.Node)
}
