package core

import "time"

// elect begins elections and ends them (M2).
func (c *Core) elect(now time.Time) {
	if now.Before(c.actAfter) || now.Before(c.electAfter) || c.role != leader && !c.mayCampaign(now) {
		return
	}
	switch c.role {
	case follower:
		if c.leaderless(now) {
			c.campaign(now)
		}
	case candidate:
		switch {
		case !c.objected.IsZero() && now.Sub(c.objected) >= c.cfg.SuspectAfter:
			c.campaign(now) // the medic that objected did not come to lead
		case c.objected.IsZero() && now.Sub(c.candidateSince) >= c.cfg.answerTimeout():
			c.lead(c.term.Gen, now)
		case now.Sub(c.asked) >= c.cfg.Heartbeat:
			c.ask(now)
		}
	}
}

// leaderless reports whether the leader was silent for too long. If its process was seen to end, a short silence is enough.
func (c *Core) leaderless(now time.Time) bool {
	silence := now.Sub(c.leaderHeard)
	v := c.det.members[c.term.Leader]
	return silence >= c.cfg.SuspectAfter || v != nil && v.ended && silence >= c.cfg.hintTimeout()
}

// campaign asks all higher medics whether they are alive. The highest medic has nobody to ask, so it leads at once.
func (c *Core) campaign(now time.Time) {
	c.endTerm()
	c.role, c.candidateSince, c.objected = candidate, now, time.Time{}
	if c.rank[c.cfg.Self] == len(c.rank)-1 {
		c.lead(c.term.Gen, now)
		return
	}
	c.ask(now)
}

func (c *Core) ask(now time.Time) {
	c.asked = now
	c.publish(Message{Kind: Election})
}

// answerCandidate answers a candidate. A leader answers with its heartbeat. A follower of a living leader only objects: the candidate hears
// only a part of the network, and must not take over from a leader that works.
func (c *Core) answerCandidate(m Message, now time.Time) {
	if c.role == leader {
		c.beat(now)
		return
	}
	if c.rank[m.From] > c.rank[c.cfg.Self] || now.Before(c.electAfter) {
		return
	}
	c.publish(Message{Kind: Alive, To: m.From})
	if c.role == follower && now.Sub(c.leaderHeard) >= c.cfg.SuspectAfter/2 && !now.Before(c.actAfter) {
		c.campaign(now)
	}
}

func (c *Core) noteObjection(m Message, now time.Time) {
	if c.role == candidate && c.rank[m.From] > c.rank[c.cfg.Self] && c.objected.IsZero() {
		c.objected = now
	}
}

// lead begins the generation after the given one. No message is sent in it before it is durable (M3).
func (c *Core) lead(last Generation, now time.Time) {
	c.endTerm()
	c.role = leader
	c.enterTerm(Term{last + 1, c.cfg.Self, c.cfg.Life}, now)
	c.written, c.ordered = 0, 0
	c.write(Entry{Kind: Elected}, now)
	c.publishStored(Message{Kind: Coordinator})
}

// enterTerm makes a term the present one. The new term may be of the same generation and another leader (settleTie).
func (c *Core) enterTerm(t Term, now time.Time) {
	assert(t.Gen >= c.term.Gen, "M3: from term %v back to %v", c.term, t)
	c.term, c.leaderHeard, c.reports = t, now, nil // another leader's orders may have the same numbers
	clear(c.executing)
	c.build.records = append(c.build.records, Record{Term: &t})
	c.build.fence = t
}

// follow makes this medic a follower in the term, and drops its work as candidate or leader.
func (c *Core) follow(t Term, now time.Time) {
	c.endTerm()
	c.role = follower
	c.enterTerm(t, now)
}

// endTerm drops orders and messages that wait for the disk: they belong to a term that has ended.
func (c *Core) endTerm() {
	c.targets = map[NodeID]*target{}
	for _, b := range []*batch{&c.build, c.inflight} {
		if b == nil {
			continue
		}
		for _, o := range b.orders {
			delete(c.executing, o.OrderID)
		}
		b.orders, b.messages = nil, nil
	}
}

// compareTerm compares a message's term with the present one; false if its sender has missed an election (M3).
func (c *Core) compareTerm(m Message, now time.Time) (current bool) {
	switch {
	case m.Term.Gen > c.term.Gen:
		if !c.term.Gen.reaches(m.Term.Gen) {
			c.refuse(now, "%s speaks of generation %d after %d: more than a sane step (M10)", m.From, m.Term.Gen, c.term.Gen)
			return false
		}
		c.follow(m.Term, now)
	case m.Term.Gen < c.term.Gen:
		c.answerOutdated(m, now)
		return false
	case m.Term != c.term:
		return c.settleTie(m, now)
	}
	if m.From == c.term.Leader && (m.Leading || m.Kind == Coordinator || m.Kind == Command || m.Kind == Entries) {
		c.leaderHeard = now
		if c.role == candidate {
			c.role = follower
		}
	}
	return true
}

// answerOutdated sends a heartbeat, which carries this medic's term, to a leader that missed an election. It is limited to four in a
// heartbeat's time, or two medics could keep each other busy.
func (c *Core) answerOutdated(m Message, now time.Time) {
	if (m.Leading || m.Kind == Coordinator || m.Kind == Command) && now.Sub(c.lastBeat) >= c.cfg.Heartbeat/4 {
		c.beat(now)
	}
}

// settleTie decides between two leaders of one generation: the higher one stays (M3). It takes a new generation, because the other one may
// have given orders in this one. A leader whose log was set back may lead twice in one generation. Its two incarnations count as two
// leaders (R14): it takes a new generation as soon as it hears of its earlier term, and any medic that knows the earlier term tells it.
func (c *Core) settleTie(m Message, now time.Time) (current bool) {
	other, higher := m.Term.Leader, c.rank[m.Term.Leader] > c.rank[c.term.Leader]
	switch {
	case other == "" || c.term.Leader != "" && !higher:
		if c.role == leader {
			c.lead(c.term.Gen, now)
		} else if other == c.term.Leader {
			c.answerOutdated(m, now)
		}
		return false
	}
	c.follow(m.Term, now)
	return true
}
