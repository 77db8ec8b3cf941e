package core

import (
	"fmt"
	"slices"
	"time"
)

// order tells a medic that can act on the host to restart the target. The journal's entry with the reason is durable before the order
// leaves.
func (c *Core) order(t *target, now time.Time) {
	c.ordered++
	t.order = Order{OrderID: OrderID{c.term.Gen, c.term.Life, c.ordered}, Leader: c.cfg.Self, Target: t.ID, Host: t.Host,
		Ended: c.det.members[t.ID].ended}
	t.executor, t.decided, t.sent = "", now, false
	c.enter(t, onDue, Entry{}, now)
	c.give(t, now)
}

// give gives the order, or gives it again.
func (c *Core) give(t *target, now time.Time) {
	t.given, t.order.Silent = now, now.Sub(t.lastSeen) // an order that is repeated may be old
	t.executor = c.chooseExecutor(t, now)
	switch t.executor {
	case "": // no medic reaches the host; one may come back
	case c.cfg.Self:
		c.accept(t.order, now)
	default:
		c.publishStored(Message{Kind: Command, To: t.executor, Order: t.order})
	}
}

// chooseExecutor keeps the executor while it is heard and StartTimeout has not passed; then it takes the next one.
func (c *Core) chooseExecutor(t *target, now time.Time) NodeID {
	var able []NodeID
	for _, m := range c.cfg.Medics {
		reach := c.reach[m.ID]
		if m.ID == c.cfg.Self {
			reach = c.cfg.Reach
		}
		if slices.Contains(reach, t.Host) && (m.ID == c.cfg.Self || m.ID != t.ID && c.det.alive(m.ID, now)) {
			able = append(able, m.ID)
		}
	}
	at := slices.Index(able, t.executor)
	switch {
	case at >= 0 && now.Sub(t.since) < c.cfg.StartTimeout:
		return t.executor
	case at < 0 && slices.Contains(able, c.cfg.Self):
		return c.cfg.Self
	case len(able) == 0:
		return ""
	}
	t.since = now
	return able[(at+1)%len(able)]
}

// recall takes back an order that has not left.
func (c *Core) recall(t *target, now time.Time) {
	delete(c.executing, t.order.OrderID)
	c.enter(t, onRecalled, Entry{}, now)
}

// recallAll takes back all orders that have not left. The next tick decides again about their targets.
func (c *Core) recallAll(now time.Time) {
	for _, t := range c.targets {
		if t.phase == ordered && !t.sent {
			c.recall(t, now)
			t.wait = 0
		}
	}
}

// stillNeeded is asked when an order could leave. It recalls the order if its target was heard while the order was being stored, or if this
// medic is isolated now. An order that has left cannot be recalled.
func (c *Core) stillNeeded(o Order) bool {
	t := c.targets[o.Target]
	switch {
	case t == nil || t.order.OrderID != o.OrderID || t.phase != ordered:
		return false
	case t.sent:
		return true
	}
	if v := c.det.members[o.Target]; !v.silentSince.Before(t.decided) || !o.Ended && c.isolated(c.det.ticks.Last()) {
		c.recall(t, t.decided) // if the target was heard, the next tick moves it to well
		return false
	}
	t.sent = true
	return true
}

// resolve handles the report of an order. Reports of orders that are not current are ignored.
func (c *Core) resolve(r Report, now time.Time) {
	t := c.targets[r.Target]
	if c.role != leader || t == nil || t.phase != ordered || t.order.OrderID != r.Order || r.Leader != c.cfg.Self {
		return
	}
	switch r.Verdict {
	case Done:
		c.enter(t, onRestarted, Entry{Took: r.Took, Text: r.Text}, now)
		c.expect(t, r, now)
	case Found:
		c.enter(t, onAdopted, Entry{}, now)
		c.expect(t, r, now)
	case Failed:
		c.enter(t, onFailed, Entry{Text: r.Text}, now)
		t.wait = max(c.cfg.Backoff.Delay(c.journal.inARow(t.ID, now)), c.cfg.Heartbeat)
	case Held:
		c.enter(t, onHeld, Entry{}, now)
		t.wait = c.cfg.SuspectAfter
	case Late:
		c.enter(t, onLate, Entry{}, now)
		t.wait = c.cfg.Heartbeat
	case Refused:
		if !c.term.Gen.reaches(r.Term.Gen) {
			c.enter(t, onFailed, Entry{Text: fmt.Sprintf(
				"the fence of host %s says generation %d, which cannot be (M10); stop all medics of the host and remove it", t.Host, r.Term.Gen)}, now)
			t.wait = max(c.cfg.Backoff.Delay(c.journal.inARow(t.ID, now)), c.cfg.Heartbeat)
			return
		}
		c.refused(r.Term, now)
	}
}

// expect begins the wait for the new incarnation's heartbeat.
func (c *Core) expect(t *target, r Report, now time.Time) {
	t.started, t.adopted = now, r.Verdict == Found
	v := c.det.members[t.ID]
	v.ended, v.PID = false, r.PID // a hint from now on is about this process; an earlier hint that there is none is outdated
}

// refused handles a report that a host has seen a newer term, or this generation under another leader (M4).
func (c *Core) refused(t Term, now time.Time) {
	switch _, known := c.rank[t.Leader]; {
	case t.Gen > c.term.Gen && known:
		c.follow(t, now)
	case t.Gen >= c.term.Gen: // another leader of this generation, or a medic that is no longer in the topology
		c.lead(t.Gen, now)
	}
}
