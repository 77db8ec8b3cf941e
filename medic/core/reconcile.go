package core

import (
	"fmt"
	"slices"
	"time"
)

// reconcileAll takes the next step for each target.
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

// reconcile takes the next step for a target, which depends on its phase.
func (c *Core) reconcile(t *target, v *liveness, now time.Time) {
	switch t.phase {
	case well:
		switch {
		case v.dead(&c.cfg, now):
			if c.mayOrder(v, now) {
				c.suspect(t, v, v.lastSign, now)
			}
		case v.known && v.works && c.journal.isOpen(t.ID) && (v.Incarnation > c.journal.lastFailed(t.ID) ||
			now.Sub(t.since) >= c.cfg.StartTimeout):
			// It came back by itself, or an earlier leader restarted it. Late signs of the failed incarnation stop within the timeout.
			c.recovered(t, v, now)
		}
	case waiting:
		switch {
		case t.heardAgain(v):
			c.enter(t, onBack, Entry{}, now) // it was only slow; its incident is closed once it works
		case now.Sub(t.since) >= t.wait && c.mayOrder(v, now) && t.stillMissed(v, &c.cfg, now):
			c.order(t, now)
		}
	case ordered:
		switch {
		case t.executor == "" && t.heardAgain(v):
			c.enter(t, onBack, Entry{}, now) // no medic can act on its host, so something else has restarted it
		case now.Sub(t.given) >= c.cfg.Heartbeat:
			c.give(t, now) // the order, or its report, may be lost
		}
	case starting:
		c.awaitStart(t, v, now)
	}
}

// selfRecovered closes an incident of this medic itself that an earlier leader left open.
func (c *Core) selfRecovered(now time.Time) {
	if c.journal.isOpen(c.cfg.Self) {
		c.write(Entry{Kind: Recovered, Node: c.cfg.Self, Incarnation: c.cfg.ID.Incarnation}, now)
	}
}

// suspect records a failure. The restart follows at once, or in a crash loop after a pause.
func (c *Core) suspect(t *target, v *liveness, seen time.Time, now time.Time) {
	inARow := 1
	failed := c.journal.lastFailed(t.ID)
	counted := c.journal.isOpen(t.ID) && (failed == 0 || v.Incarnation <= failed) // no incarnation is known to have come after the failed one
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

// awaitStart waits until a new incarnation works: it has recovered its log, and its loop makes progress (N9). Until then its heartbeats
// keep it from being suspected.
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
		c.recovered(t, v, now) // the suspected incarnation was only slow: late signs would have stopped by now
	case v.ended && silence >= c.cfg.hintTimeout(), silence >= c.cfg.StartTimeout<<min(t.failed, 3):
		t.failed++
		c.suspect(t, v, t.started.Add(c.cfg.Heartbeat), now) // Margin: see Order.Margin
	}
}

// recovered closes the incident. A start that succeeds ends the row of failed starts.
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
