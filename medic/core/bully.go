package core

import "time"

// elect begins elections and ends them (M2).
func (c *Core) elect(now time.Time) {
	if now.Before(c.held) || now.Before(c.blank) || c.role != leader && !c.mayStand(now) {
		return
	}
	switch c.role {
	case follower:
		if c.leaderless(now) {
			c.stand(now)
		}
	case candidate:
		switch {
		case !c.answered.IsZero() && now.Sub(c.answered) >= c.cfg.SuspectAfter:
			c.stand(now) // who objected did not come to lead
		case c.answered.IsZero() && now.Sub(c.since) >= c.cfg.answer():
			c.lead(now)
		case now.Sub(c.asked) >= c.cfg.Heartbeat:
			c.ask(now)
		}
	}
}

// leaderless: the leader is silent for too long, or for a moment and its process was seen to end.
func (c *Core) leaderless(now time.Time) bool {
	silence := now.Sub(c.leaderHeard)
	v := c.det.vitals[c.term.Leader]
	return silence >= c.cfg.SuspectAfter || v != nil && v.gone && silence >= c.cfg.hinted()
}

// stand puts the question to all higher medics. The highest has nobody to ask.
func (c *Core) stand(now time.Time) {
	c.retire()
	c.role, c.since, c.answered = candidate, now, time.Time{}
	if c.rank[c.cfg.Self] == len(c.rank)-1 {
		c.lead(now)
		return
	}
	c.ask(now)
}

func (c *Core) ask(now time.Time) {
	c.asked = now
	c.say(Message{Kind: Election})
}

// asksWhoIsHigher answers a candidate. A leader's answer is its leadership. A follower of a living leader only objects: the other one is
// half cut off, and must not take over from a leader that works.
func (c *Core) asksWhoIsHigher(m Message, now time.Time) {
	if c.role == leader {
		c.beat(now)
		return
	}
	if c.rank[m.From] > c.rank[c.cfg.Self] || now.Before(c.blank) {
		return
	}
	c.say(Message{Kind: Alive, To: m.From})
	if c.role == follower && now.Sub(c.leaderHeard) >= c.cfg.SuspectAfter/2 && !now.Before(c.held) {
		c.stand(now)
	}
}

func (c *Core) objects(m Message, now time.Time) {
	if c.role == candidate && c.rank[m.From] > c.rank[c.cfg.Self] && c.answered.IsZero() {
		c.answered = now
	}
}

// lead begins a new generation. Nothing is said in it before it is durable (M3).
func (c *Core) lead(now time.Time) {
	c.retire()
	c.role = leader
	c.enter(Term{c.term.Gen + 1, c.cfg.Self}, now)
	c.patients = map[NodeID]*patient{}
	c.written, c.ordered = 0, 0
	c.write(Entry{What: Elected}, now)
	c.sayStored(Message{Kind: Coordinator})
}

// enter makes a term the present one.
func (c *Core) enter(t Term, now time.Time) {
	c.term, c.leaderHeard, c.reports = t, now, nil // another leader's orders may have the same numbers
	clear(c.carrying)
	c.build.records = append(c.build.records, Record{Term: &t})
	c.build.fence = t
}

// follow gives up what this medic did on its own account.
func (c *Core) follow(t Term, now time.Time) {
	c.retire()
	c.role = follower
	c.enter(t, now)
}

// retire drops orders and messages that were waiting for the disk: they belong to a term that is over.
func (c *Core) retire() {
	c.patients = map[NodeID]*patient{}
	for _, b := range []*batch{&c.build, c.inflight} {
		if b == nil {
			continue
		}
		for _, o := range b.orders {
			delete(c.carrying, o.OrderID)
		}
		b.orders, b.messages = nil, nil
	}
}

// learn compares a message's term with ours; false if its sender has missed an election (M3).
func (c *Core) learn(m Message, now time.Time) (current bool) {
	switch {
	case m.Term.Gen > c.term.Gen:
		c.follow(m.Term, now)
	case m.Term.Gen < c.term.Gen:
		if (m.Leading || m.Kind == Coordinator || m.Kind == Command) && now.Sub(c.beaten) >= c.cfg.Heartbeat/4 {
			c.beat(now) // our term is in it; no oftener, or two medics could keep each other busy
		}
		return false
	case m.Term.Leader != c.term.Leader:
		return c.settle(m, now)
	}
	if m.From == c.term.Leader && (m.Leading || m.Kind == Coordinator || m.Kind == Command || m.Kind == Entries) {
		c.leaderHeard = now
		if c.role == candidate {
			c.role = follower
		}
	}
	return true
}

// settle decides between two leaders of one generation: the higher one stays (M3). It takes a new generation, so that there are no two in
// the one that the other may have given orders in.
func (c *Core) settle(m Message, now time.Time) (current bool) {
	other, higher := m.Term.Leader, c.rank[m.Term.Leader] > c.rank[c.term.Leader]
	switch {
	case other == "" || c.term.Leader != "" && !higher:
		if c.role == leader {
			c.lead(now)
		}
		return false
	}
	c.follow(m.Term, now)
	return true
}
