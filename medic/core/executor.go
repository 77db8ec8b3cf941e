package core

import "time"

// obey handles an order for a host of this medic. An order of a leader that missed an election is refused here; the host's fence checks it
// once more when it is carried out (M4).
func (c *Core) obey(m Message, current bool, now time.Time) {
	o := m.Order
	tell := func(r Report) { c.publish(Message{Kind: Outcome, To: m.From, Report: r}) }
	if !current || o.Term() != c.term || m.From != o.Leader {
		r := o.Report(Refused)
		r.Term = c.stored
		tell(r)
		return
	}
	for _, r := range c.reports {
		if r.Order == o.OrderID {
			tell(r)
			return
		}
	}
	v := c.det.members[o.Target]
	if o.Target == c.cfg.Self || v == nil || now.Before(c.actAfter) {
		return
	}
	if v.known && !o.Ended && now.Sub(v.lastSign) < c.cfg.freshTimeout() {
		tell(o.Report(Late)) // this medic hears the target, so it is alive: the order is late, or its leader is partly cut off
		return
	}
	c.accept(o, now)
}

// accept releases an order once, and sets its deadline.
func (c *Core) accept(o Order, now time.Time) {
	if c.executing[o.OrderID] {
		return
	}
	c.executing[o.OrderID] = true
	o.Until, o.Margin, o.Young = now.Add(c.cfg.SuspectAfter/2), c.cfg.Heartbeat, c.cfg.SuspectAfter
	c.build.orders = append(c.build.orders, o)
}

// maxReports is how many reports are kept to answer repeated orders. For older orders the host's note has the outcome.
const maxReports = 64

// Executed takes the report of an order that Output returned.
func (c *Core) Executed(r Report, now time.Time) {
	delete(c.executing, r.Order)
	if r.Verdict == Done || r.Verdict == Found {
		c.reports = append(c.reports, r)
		c.reports = c.reports[max(0, len(c.reports)-maxReports):]
	}
	if r.Leader == c.cfg.Self {
		c.resolve(r, now)
		return
	}
	c.publish(Message{Kind: Outcome, To: r.Leader, Report: r})
}
