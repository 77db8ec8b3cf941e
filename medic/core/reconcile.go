package core

import (
	"slices"
	"time"
)

// patient is one who is watched, as the leader treats him. The way is a circle (M5):
//
//	well → waiting (for his turn in a crash loop) → ordered (until the report is there) → starting → well
type patient struct {
	Member
	phase    phase
	began    time.Time // of the phase
	wait     time.Duration
	lastSeen time.Time // before he fell silent
	order    Order
	executor NodeID
	decided  time.Time     // the order
	given    time.Time     // the order, the last time
	sent     bool          // it has left
	known    []incarnation // that were heard when it failed
	started  time.Time     // the report of the start
	adopted  bool          // it was not started for this failure, but found young
	failed   int           // starts in a row of which nothing was heard
}

type phase int

const (
	well phase = iota
	waiting
	ordered
	starting
)

// visit looks after everybody.
func (c *Core) visit(now time.Time) {
	if now.Before(c.actAfter) {
		return
	}
	for _, members := range [][]Member{c.cfg.Nodes, c.cfg.Medics} {
		for _, m := range members {
			if m.ID == c.cfg.Self {
				c.selfRecovered(now)
				continue
			}
			p := c.patients[m.ID]
			if p == nil {
				p = &patient{Member: m, began: now}
				c.patients[m.ID] = p
			}
			c.treat(p, c.det.members[m.ID], now)
		}
	}
}

func (c *Core) treat(p *patient, v *liveness, now time.Time) {
	switch p.phase {
	case well:
		switch {
		case v.dead(&c.cfg, now):
			if c.mayOrder(v, now) {
				c.suspect(p, v, v.lastSign, now)
			}
		case v.known && !v.recovering && c.journal.isOpen(p.ID) && (v.Incarnation > c.journal.lastFailed(p.ID) || now.Sub(p.began) >= c.cfg.StartTimeout):
			c.recovered(p, v, now) // from what a leader before this one has noted, or by itself; late signs of the life that failed end
		}
	case waiting:
		switch {
		case v.known && v.lastSign.After(p.lastSeen):
			p.phase, p.began = well, now // he had only been slow; the journal closes when he is at work
		case now.Sub(p.began) >= p.wait && c.mayOrder(v, now) && p.missed(v, &c.cfg, now):
			c.order(p, now)
		}
	case ordered:
		c.insist(p, v, now)
	case starting:
		c.await(p, v, now)
	}
}

// selfRecovered closes what a leader before this one has noted of this medic.
func (c *Core) selfRecovered(now time.Time) {
	if c.journal.isOpen(c.cfg.Self) {
		c.write(Entry{Kind: Recovered, Node: c.cfg.Self, Incarnation: c.cfg.ID.Incarnation}, now)
	}
}

func (c *Core) suspect(p *patient, v *liveness, seen time.Time, now time.Time) {
	inARow := 1
	failed := c.journal.lastFailed(p.ID)
	counted := c.journal.isOpen(p.ID) && (failed == 0 || v.Incarnation <= failed) // nothing is known to be heard of a life after the one that failed
	if !v.known || p.phase != well || counted || v.lastSign.Sub(v.firstSign) < c.cfg.Backoff.Healthy {
		inARow += c.journal.inARow(p.ID, now)
	}
	p.wait = c.cfg.Backoff.Delay(inARow)
	p.lastSeen, p.known = seen, slices.Clone(v.incarnations)
	text := "silent"
	if v.ended {
		text = "its process ended"
	}
	c.write(Entry{Kind: Suspected, Node: p.ID, Silent: now.Sub(seen), Wait: p.wait, InARow: inARow, Incarnation: v.Incarnation, Text: text}, now)
	p.phase, p.began = waiting, now
	if p.wait == 0 {
		c.order(p, now)
	}
}

// order tells somebody on the right host to restart the patient. The entry that says why is durable first.
func (c *Core) order(p *patient, now time.Time) {
	c.ordered++
	p.order = Order{OrderID: OrderID{c.term.Gen, c.ordered}, Leader: c.cfg.Self, Target: p.ID, Host: p.Host}
	p.order.Ended = c.det.members[p.ID].ended
	p.phase, p.began, p.executor, p.decided, p.sent = ordered, now, "", now, false
	c.give(p, now)
}

// callOff takes back orders that have not left.
func (c *Core) callOff(now time.Time) {
	for _, p := range c.patients {
		if p.phase == ordered && !p.sent {
			delete(c.executing, p.order.OrderID)
			p.phase, p.began, p.wait = waiting, now, 0
		}
	}
}

// stillNeeded calls an order off when its target was heard while the order was being stored, or nobody is heard any more. Once it has left it is too late for that.
func (c *Core) stillNeeded(o Order) bool {
	p := c.patients[o.Target]
	switch {
	case p == nil || p.order.OrderID != o.OrderID || p.phase != ordered:
		return false
	case p.sent:
		return true
	}
	if v := c.det.members[o.Target]; !v.silentSince.Before(p.decided) || !o.Ended && c.isolated(c.det.ticked) {
		p.phase, p.began = waiting, p.decided // and well again with the next tick
		delete(c.executing, o.OrderID)
		return false
	}
	p.sent = true
	return true
}

func (c *Core) give(p *patient, now time.Time) {
	p.given, p.order.Silent = now, now.Sub(p.lastSeen) // it may have been under way for long
	p.executor = c.choose(p, now)
	switch p.executor {
	case "": // nobody can reach the host; somebody may come back
	case c.cfg.Self:
		c.accept(p.order, now)
	default:
		c.publishStored(Message{Kind: Command, To: p.executor, Order: p.order})
	}
}

// choose keeps an executor while it is heard and has had its time; then it is the next one's turn.
func (c *Core) choose(p *patient, now time.Time) NodeID {
	var able []NodeID
	for _, m := range c.cfg.Medics {
		reach := c.reach[m.ID]
		if m.ID == c.cfg.Self {
			reach = c.cfg.Reach
		}
		if slices.Contains(reach, p.Host) && (m.ID == c.cfg.Self || m.ID != p.ID && c.det.alive(m.ID, now)) {
			able = append(able, m.ID)
		}
	}
	at := slices.Index(able, p.executor)
	switch {
	case at >= 0 && now.Sub(p.began) < c.cfg.StartTimeout:
		return p.executor
	case at < 0 && slices.Contains(able, c.cfg.Self):
		return c.cfg.Self
	case len(able) == 0:
		return ""
	}
	p.began = now
	return able[(at+1)%len(able)]
}

// missed says that he is silent still. The silence of somebody of whom no heartbeat came after a start is that of the start.
func (p *patient) missed(v *liveness, cfg *Config, now time.Time) bool {
	return p.failed > 0 || v.dead(cfg, now)
}

// insist repeats an order: it, or its report, may be lost. On a host that no medic reaches only others can help.
func (c *Core) insist(p *patient, v *liveness, now time.Time) {
	switch {
	case p.executor == "" && v.known && v.lastSign.After(p.lastSeen):
		p.phase, p.began = well, now
	case now.Sub(p.given) >= c.cfg.Heartbeat:
		c.give(p, now)
	}
}

// reborn says that a life is heard which is not the one that failed, nor one before it.
func (p *patient) reborn(v *liveness) bool {
	return v.known && v.lastSign.After(p.lastSeen) && v.isNew(p.known)
}

// resolve takes the report of an order.
func (c *Core) resolve(r Report, now time.Time) {
	p := c.patients[r.Target]
	if c.role != leader || p == nil || p.phase != ordered || p.order.OrderID != r.Order || r.Leader != c.cfg.Self {
		return
	}
	switch r.Verdict {
	case Done:
		c.write(Entry{Kind: Restarted, Node: p.ID, Took: r.Took, Text: r.Text}, now)
		c.expect(p, r.PID, now)
		p.adopted = false
	case Found:
		c.write(Entry{Kind: Adopted, Node: p.ID}, now)
		c.expect(p, r.PID, now)
		p.adopted = true
	case Failed:
		c.write(Entry{Kind: Missed, Node: p.ID, Text: r.Text}, now)
		p.phase, p.began, p.wait = waiting, now, max(c.cfg.Backoff.Delay(c.journal.inARow(p.ID, now)), c.cfg.Heartbeat)
	case Held:
		p.phase, p.began, p.wait = waiting, now, c.cfg.SuspectAfter
	case Late:
		p.phase, p.began, p.wait = waiting, now, c.cfg.Heartbeat
	case Refused:
		c.refused(r.Term, now)
	}
}

// refused: a host has seen a newer term, or this generation under another leader (M4).
func (c *Core) refused(t Term, now time.Time) {
	switch _, known := c.rank[t.Leader]; {
	case t.Gen > c.term.Gen && known:
		c.follow(t, now)
	case t.Gen > c.term.Gen: // a medic that the topology does not have any more
		c.term.Gen = t.Gen
		c.lead(now)
	case t.Gen == c.term.Gen:
		c.lead(now)
	}
}

// expect waits for the new life's heartbeat.
func (c *Core) expect(p *patient, pid int, now time.Time) {
	p.phase, p.began, p.started = starting, now, now
	v := c.det.members[p.ID]
	v.ended, v.PID = false, pid // an end that is seen from now on is that of this process; and a hint that there is none was wrong
}

// await ends with the first heartbeat of a life that is not the one that failed. A life that reads its log back is a life.
func (c *Core) await(p *patient, v *liveness, now time.Time) {
	news := p.reborn(v)
	switch silence := now.Sub(p.began); {
	case !c.mayOrder(v, now):
	case news && v.dead(&c.cfg, now):
		c.suspect(p, v, v.lastSign, now)
	case news && !v.recovering:
		p.failed = 0
		c.recovered(p, v, now)
	case news:
	case p.adopted && silence >= c.cfg.StartTimeout && v.lastSign.After(p.started) && !v.dead(&c.cfg, now) && !v.recovering:
		p.failed = 0
		c.recovered(p, v, now) // the life that we knew had only been slow: late signs would have ended by now
	case v.ended && silence >= c.cfg.hintTimeout(), silence >= c.cfg.StartTimeout<<min(p.failed, 3):
		p.failed++
		c.suspect(p, v, p.started.Add(c.cfg.Heartbeat), now) // the report took its time: see Order.Margin
	}
}

func (c *Core) recovered(p *patient, v *liveness, now time.Time) {
	total := time.Duration(0)
	if !p.lastSeen.IsZero() {
		total = now.Sub(p.lastSeen)
	}
	c.write(Entry{Kind: Recovered, Node: p.ID, Took: total, Incarnation: v.Incarnation}, now)
	p.phase, p.began = well, now
}
