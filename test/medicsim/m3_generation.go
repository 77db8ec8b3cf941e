package medicsim

import (
	"maps"
	"slices"

	"posta.dev/posta/medic/core"
)

// generation is M3: generations only grow, are on the disk before they are used, and have one leader on each host.
type generation struct {
	*facts
	acted map[hostGeneration]core.Term // the term whose orders were carried out
}

type hostGeneration struct {
	host string
	gen  core.Generation
}

func (c *generation) says(p *process, m *core.Message) {
	d := &p.t.disk
	switch {
	case m.Term.Gen > d.term.Gen:
		c.w.fail("M3", "%s speaks of generation %d before it is on its disk", p.t.ID, m.Term.Gen)
	case m.Term.Gen < d.sent:
		c.w.fail("M3", "%s goes back from generation %d to %d", p.t.ID, d.sent, m.Term.Gen)
	case m.Kind == core.Command:
		c.given(p, m.Order)
	}
	d.sent = max(d.sent, m.Term.Gen)
	if !claimsLead(m) {
		return
	}
	in := ledIn{m.Term.Gen, m.Term.Leader}
	if log, before := c.led[in]; before && log != p.id.LogID && c.remembered(p, m.Term) && !c.fencesWereRestored() {
		c.w.fail("M3", "%s leads in generation %d, in which it led before it lost its disk", p.t.ID, m.Term.Gen)
	}
	c.led[in] = p.id.LogID
}

func (c *generation) given(p *process, o core.Order) {
	if o.Gen > p.t.disk.term.Gen {
		c.w.fail("M3", "%s gives an order of generation %d before it is on its disk", p.t.ID, o.Gen)
	}
}

// stores is called before a term is on the disk.
func (c *generation) stores(p *process, t core.Term) {
	if t.Gen > plausible {
		c.w.fail("M10", "%s stores generation %d", p.t.ID, t.Gen)
	}
	if last := p.t.disk.term.Gen; t.Gen < last {
		c.w.fail("M3", "%s goes back from generation %d to %d", p.t.ID, last, t.Gen)
	}
	if c.durable[t.Gen] == 0 {
		c.durable[t.Gen] = c.w.At
	}
}

// restored forgets what a host forgot when it was set back: nobody on the host can know it.
func (c *generation) restored(h *host) {
	maps.DeleteFunc(c.acted, func(on hostGeneration, _ core.Term) bool { return on.host == h.name && on.gen > h.fence.Term.Gen })
}

// fencesWereRestored reports whether fences were restored: then a medic that has lost its log, too, may have nobody to ask.
func (c *generation) fencesWereRestored() bool {
	return slices.ContainsFunc(c.w.hosts, func(h *host) bool { return h.restored > 0 })
}

func (c *generation) carriedOut(o core.Order) {
	on := hostGeneration{o.Host, o.Gen}
	switch other, ok := c.acted[on]; {
	case ok && other.Leader != o.Leader:
		c.w.fail("M3", "%s and %s act in generation %d on %s", other.Leader, o.Leader, o.Gen, o.Host)
	case ok && other != o.Term():
		c.w.fail("R14", "two lives of %s act in generation %d on %s", o.Leader, o.Gen, o.Host)
	}
	c.acted[on] = o.Term()
}
