package core

import "time"

// Receive takes another medic's message.
func (c *Core) Receive(m Message, now time.Time) {
	if _, known := c.rank[m.From]; !known || m.From == c.cfg.Self {
		return
	}
	c.noticeSleep(now)
	first := !c.det.members[m.From].known
	if !c.hear(m.From, Sign{Identity: m.ID}, now) {
		return // a superseded incarnation
	}
	if first && c.role != leader && m.Term.Gen > c.term.Gen && c.term.Gen.reaches(m.Term.Gen) {
		c.listen(now) // the first message of a peer shows that this medic's log is behind
	}
	current := c.compareTerm(m, now)
	if m.Kind == Beat {
		c.reach[m.From] = m.Reach
		c.replicate(m, now)
		return
	}
	if m.To != "" && m.To != c.cfg.Self {
		return
	}
	switch m.Kind {
	case Election:
		c.answerCandidate(m, now)
	case Alive:
		c.noteObjection(m, now)
	case Command:
		c.obey(m, current, now)
	case Outcome:
		c.resolve(m.Report, now)
	case Entries:
		if current { // a medic that has missed an election may send an old leader's entries (M8)
			c.takeEntries(m, now)
		}
	case Hint:
		c.det.processEnded(m.Node, m.EndedPID)
	}
}

// HeardNode takes a node's heartbeat.
func (c *Core) HeardNode(node NodeID, s Sign, now time.Time) {
	if _, isMedic := c.rank[node]; !isMedic { // a medic's own messages are its heartbeats
		c.hear(node, s, now)
	}
}

// hear reports whether a sign of life counts. It does not if its sender is unknown, or its incarnation is superseded.
func (c *Core) hear(who NodeID, s Sign, now time.Time) bool {
	if v := c.det.members[who]; v != nil && !v.reaches(s.Identity) {
		c.refuse(now, "%s says incarnation %d: more than a sane step (M10)", who, s.Incarnation)
		return false
	}
	quiet := now.Sub(c.det.lastAny)
	if !c.det.hear(who, s, now) {
		return false
	}
	if quiet >= c.cfg.SuspectAfter/2 {
		c.rejoin(now)
	}
	return true
}

// ProcessEnded reports that this medic saw on its own host that the process of a node or medic ended, or, with pid 0, that there is none.
func (c *Core) ProcessEnded(who NodeID, pid int) {
	if c.det.members[who] == nil || who == c.cfg.Self {
		return
	}
	c.det.processEnded(who, pid)
	c.publish(Message{Kind: Hint, Node: who, EndedPID: pid})
}
