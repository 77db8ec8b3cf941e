package core

import "time"

// obey takes an order for a host of this medic. Whoever missed an election is refused here already; the host's fence does it again when
// the order is carried out (M4).
func (c *Core) obey(m Message, current bool, now time.Time) {
	o := m.Order
	if !current || o.Gen != c.term.Gen || o.Leader != c.term.Leader || m.From != o.Leader {
		c.say(Message{Kind: Outcome, To: m.From, Report: Report{Order: o.OrderID, Leader: o.Leader, Target: o.Target, Verdict: Refused, Term: c.stored}})
		return
	}
	for _, r := range c.reports {
		if r.Order == o.OrderID {
			c.say(Message{Kind: Outcome, To: m.From, Report: r})
			return
		}
	}
	if o.Target == c.cfg.Self || c.det.vitals[o.Target] == nil || now.Before(c.held) {
		return
	}
	if v := c.det.vitals[o.Target]; v.ever && !o.Ended && now.Sub(v.spoke) < c.cfg.audible() {
		// The order is late, or its leader is half cut off: the target lives, we hear it.
		c.say(Message{Kind: Outcome, To: m.From, Report: Report{Order: o.OrderID, Leader: o.Leader, Target: o.Target, Verdict: Late}})
		return
	}
	c.accept(o, now)
}

// accept lets an order out once, with the time it has.
func (c *Core) accept(o Order, now time.Time) {
	if c.carrying[o.OrderID] {
		return
	}
	c.carrying[o.OrderID] = true
	o.Until, o.Margin, o.Young = now.Add(c.cfg.SuspectAfter/2), c.cfg.Heartbeat, c.cfg.SuspectAfter
	c.build.orders = append(c.build.orders, o)
}

// remembered is how many reports are kept for orders that come again. An order that comes after more than that is told by the host.
const remembered = 64

// Carried says what became of an order that Output gave.
func (c *Core) Carried(r Report, now time.Time) {
	delete(c.carrying, r.Order)
	if r.Verdict == Done || r.Verdict == Found {
		c.reports = append(c.reports, r)
		c.reports = c.reports[max(0, len(c.reports)-remembered):]
	}
	if r.Leader == c.cfg.Self {
		c.resolve(r, now)
		return
	}
	c.say(Message{Kind: Outcome, To: r.Leader, Report: r})
}
