package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/medic/core"
)

// restarts is M5: each failure causes one restart; failures in a row are counted, and only a new incarnation counts as recovered.
type restarts struct {
	*facts
	writers map[core.EntryID]*process
}

// restarted is called when a target is restarted although it neither died nor hangs.
func (c *restarts) restarted(t *target) {
	if age := c.w.At - t.p.born; age < suspectAfter {
		c.w.fail("M5", "%s is restarted %v after its last start: one failure, two restarts", t.ID, age)
	}
}

// writes is called with an entry that its leader writes, before the entry is on the disk.
func (c *restarts) writes(p *process, e core.Entry) {
	e.At = c.w.trueTime(e.At)
	c.writers[e.EntryID] = p
	var last core.Entry // the last suspicion of the same target
	for _, x := range p.t.disk.entries {
		x.At = c.w.trueTime(x.At)
		if x.Node == e.Node && x.Kind == core.Suspected && x.At.After(last.At) {
			last = x
		}
	}
	switch {
	case last.Kind == 0:
	case e.Kind == core.Recovered && e.Incarnation <= last.Incarnation && !c.livedAfter(e.Node, e.Incarnation, c.spoke(e, last)) &&
		c.comparable(e, last):
		c.w.fail("M5", "%s takes a late sign of incarnation %d of %s for that of a new one", p.t.ID, e.Incarnation, e.Node)
	case e.Kind == core.Suspected && e.InARow <= last.InARow && e.At.Sub(last.At) < time.Minute && !c.healthySince(p, e.Node, last.At):
		c.w.fail("M5", "%s takes failure %d in a row of %s for the %dth: %v incarnation %d at %v after %v incarnation %d at %v",
			p.t.ID, last.InARow+1, e.Node, e.InARow, e.EntryID, e.Incarnation, e.At, last.EntryID, last.Incarnation, last.At)
	}
}

// spoke returns the time after which a suspected incarnation must have lived, for its sign to count. If another leader suspected it,
// perhaps wrongly, its late signs look the same as signs of an incarnation that continues.
func (c *restarts) spoke(back, missed core.Entry) time.Time {
	if c.w.lateSigns && back.Term != missed.Term {
		return missed.At.Add(-lateFor)
	}
	return missed.At
}

func (c *restarts) livedAfter(who core.NodeID, incarnation uint64, at time.Time) bool {
	return slices.ContainsFunc(c.w.targets[who].past, func(p *process) bool {
		return p.id.Incarnation == incarnation && (p.died == 0 || c.w.moment(p.died).After(at))
	})
}

// comparable reports whether the two entries count incarnations of one log. If the first sign of an incarnation comes after its end, and
// its log was never heard before, the log is new to all medics, and the number in the journal belongs to another log.
func (c *restarts) comparable(back, missed core.Entry) bool {
	now, then := c.writers[back.EntryID], c.writers[missed.EntryID]
	if then == nil {
		return true
	}
	// an incarnation with that number, of a log that no medic has suspected
	return !slices.ContainsFunc(c.w.targets[back.Node].past, func(p *process) bool {
		return p.id.Incarnation == back.Incarnation && now.waking.knew(p, back.At) && !slices.ContainsFunc(p.t.past, func(o *process) bool {
			return o.id.LogID == p.id.LogID && then.waking.knew(o, missed.At)
		})
	})
}

// healthySince reports whether an incarnation has lasted long enough to end a row of failures, or may have seemed to, if signs of life can
// be late. A leader that was stopped for less than a heartbeat takes the last sign when it continues, and does not know that it slept.
func (c *restarts) healthySince(leader *process, who core.NodeID, at time.Time) bool {
	napped := leader.fitSince-leader.slept <= heartbeat
	return slices.ContainsFunc(c.w.targets[who].past, func(p *process) bool {
		until := p.died
		switch {
		case until == 0:
			until = c.w.At
		case napped && leader.slept <= until+latency:
			until = max(until, leader.fitSince)
		}
		// the last sign may have travelled longer than the first by that much
		return c.w.moment(until).After(at) && until-p.speaks >= backoff.Healthy-latency
	}) || !c.w.fine
}
