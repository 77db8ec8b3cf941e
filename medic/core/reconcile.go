package core

import (
	"fmt"
	"slices"
	"time"
)

// reconcileAll looks after everybody.
func (c *Core) reconcileAll(now time.Time) {
	if now.Before(c.actAfter) {
		return
	}
	for _, m := range c.cfg.members() {
		if m.ID == c.cfg.Self {
			c.selfRecovered(now)
			continue
		}
		t := c.targets[m.ID]
		if t == nil {
			t = &target{Member: m, since: now}
			c.targets[m.ID] = t
		}
		c.reconcile(t, c.det.members[m.ID], now)
	}
}

// reconcile does what a target's phase asks for.
func (c *Core) reconcile(t *target, v *liveness, now time.Time) {
	switch t.phase {
	case well:
		switch {
		case v.dead(&c.cfg, now):
			if c.mayOrder(v, now) {
				c.suspect(t, v, v.lastSign, now)
			}
		case v.known && v.works && c.journal.isOpen(t.ID) && (v.Incarnation > c.journal.lastFailed(t.ID) || now.Sub(t.since) >= c.cfg.StartTimeout):
			// It came back by itself, or the leader before this one restarted it. Late signs of the incarnation that failed end within the timeout.
			c.recovered(t, v, now)
		}
	case waiting:
		switch {
		case t.heardAgain(v):
			c.enter(t, onBack, Entry{}, now) // it had only been slow; its incident closes once it is at work
		case now.Sub(t.since) >= t.wait && c.mayOrder(v, now) && t.stillMissed(v, &c.cfg, now):
			c.order(t, now)
		}
	case ordered:
		switch {
		case t.executor == "" && t.heardAgain(v):
			c.enter(t, onBack, Entry{}, now) // on a host that no medic reaches only others can help
		case now.Sub(t.given) >= c.cfg.Heartbeat:
			c.give(t, now) // the order, or its report, may be lost
		}
	case starting:
		c.awaitStart(t, v, now)
	}
}

// selfRecovered closes what a leader before this one has noted of this medic.
func (c *Core) selfRecovered(now time.Time) {
	if c.journal.isOpen(c.cfg.Self) {
		c.write(Entry{Kind: Recovered, Node: c.cfg.Self, Incarnation: c.cfg.ID.Incarnation}, now)
	}
}

// suspect notes a failure. The restart follows at once, or after a pause in a crash loop.
func (c *Core) suspect(t *target, v *liveness, seen time.Time, now time.Time) {
	inARow := 1
	failed := c.journal.lastFailed(t.ID)
	counted := c.journal.isOpen(t.ID) && (failed == 0 || v.Incarnation <= failed) // no incarnation is known to be heard after the one that failed
	if !v.known || t.phase != well || counted || v.lastSign.Sub(v.firstSign) < c.cfg.Backoff.Healthy {
		inARow += c.journal.inARow(t.ID, now)
	}
	t.wait = c.cfg.Backoff.Delay(inARow)
	t.lastSeen, t.incarnations = seen, slices.Clone(v.incarnations)
	text := "silent"
	switch {
	case v.ended:
		text = "its process ended"
	case v.standsFor > 0:
		text = fmt.Sprintf("its loop hangs: nothing done for %v", v.standsFor.Round(time.Second))
	}
	c.enter(t, onMissed, Entry{Silent: now.Sub(seen), Wait: t.wait, InARow: inARow, Incarnation: v.Incarnation, Text: text}, now)
	if t.wait == 0 {
		c.order(t, now)
	}
}

// awaitStart ends when an incarnation that is not the one that failed is at work: it has read its log back, and gets something done (N9). Until
// then its heartbeats keep it alive.
func (c *Core) awaitStart(t *target, v *liveness, now time.Time) {
	reborn := t.reborn(v)
	switch silence := now.Sub(t.since); {
	case !c.mayOrder(v, now):
	case reborn && v.dead(&c.cfg, now):
		c.suspect(t, v, v.lastSign, now)
	case reborn && v.works:
		c.recovered(t, v, now)
	case reborn:
	case t.adopted && silence >= c.cfg.StartTimeout && v.lastSign.After(t.started) && !v.dead(&c.cfg, now) && v.works:
		c.recovered(t, v, now) // the incarnation that failed had only been slow: late signs would have ended by now
	case v.ended && silence >= c.cfg.hintTimeout(), silence >= c.cfg.StartTimeout<<min(t.failed, 3):
		t.failed++
		c.suspect(t, v, t.started.Add(c.cfg.Heartbeat), now) // the report took its time: see Order.Margin
	}
}

// recovered closes the incident. Starts count as failed in a row only until one is seen to succeed.
func (c *Core) recovered(t *target, v *liveness, now time.Time) {
	total := time.Duration(0)
	if !t.lastSeen.IsZero() {
		total = now.Sub(t.lastSeen)
	}
	if t.phase == starting {
		t.failed = 0
	}
	c.enter(t, onRecovered, Entry{Took: total, Incarnation: v.Incarnation}, now)
}
