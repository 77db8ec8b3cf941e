package medicsim

import (
	"slices"

	"posta.dev/posta/medic/core"
)

// journals is M8: no entry has two contents, no entry is sent before it is stored, and the journal reports the restarts that happened.
type journals struct {
	*facts
	entries map[core.EntryID]core.Entry
	done    map[core.NodeID]int // orders carried out, by target
}

func (c *journals) says(p *process, m *core.Message) {
	for _, e := range m.Entries {
		if !slices.Contains(p.t.disk.entries, e) {
			c.w.fail("M8", "%s sends entry %v before it is on its disk", p.t.ID, e.EntryID)
		}
	}
}

func (c *journals) carriedOut(o core.Order) { c.done[o.Target]++ }

// writes reports whether the entry is a copy. It may be a copy of an entry that the medic itself wrote before it lost its disk.
func (c *journals) writes(p *process, e core.Entry) (isCopy bool) {
	before, ok := c.entries[e.EntryID]
	if ok && before == e {
		return true
	}
	if ok {
		c.w.fail("M8", "%s has entry %v with another content than others", p.t.ID, e.EntryID)
	}
	if e.Gen > plausible || e.Incarnation > plausible {
		c.w.fail("M10", "%s has an entry of generation %d about incarnation %d", p.t.ID, e.Gen, e.Incarnation)
	}
	c.entries[e.EntryID] = e
	return false
}

func (c *journals) end() {
	told := map[core.NodeID]int{}
	for _, e := range c.w.targets[c.w.medics[len(c.w.medics)-1].ID].p.core.Journal() {
		if e.Kind == core.Restarted {
			told[e.Node]++
		}
	}
	for _, t := range c.w.order {
		if n, done := told[t.ID], c.done[t.ID]; n > done || c.elected && n != done {
			c.w.fail("M8", "the journal reports %d restarts of %s, there were %d", n, t.ID, done)
		}
	}
}
