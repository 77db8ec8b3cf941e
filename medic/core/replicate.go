package core

import "time"

// replicate sends the peer the entries that its journal lacks: the leader sends them to its followers, and followers to a leader that lacks
// older ones.
func (c *Core) replicate(m Message, now time.Time) {
	if c.role != leader && m.From != c.term.Leader || m.Term != c.term || now.Sub(c.replicated[m.From]) < c.cfg.Heartbeat/2 {
		return
	}
	c.replicated[m.From] = now
	if entries, oldest := c.journal.missing(m.Have); len(entries) > 0 {
		c.publishStored(Message{Kind: Entries, To: m.From, Entries: entries, Oldest: oldest})
	}
}

func (c *Core) takeEntries(m Message, now time.Time) {
	for _, e := range m.Entries {
		if e.Gen <= m.Term.Gen { // an entry newer than its sender's term cannot be right
			c.add(e, m.Oldest, now)
		}
	}
}

// write adds to the journal of the term that this medic leads.
func (c *Core) write(e Entry, now time.Time) {
	assert(c.role == leader, "M8: a medic that does not lead writes to the journal of term %v", c.term)
	c.written++
	e.EntryID, e.At = EntryID{c.term, c.written}, c.cfg.Wall(now)
	c.add(e, e.EntryID, now)
}

// add adds an entry to the journal and, if the journal took it, to the log.
func (c *Core) add(e Entry, oldest EntryID, now time.Time) {
	if c.journal.add(e, oldest, now) {
		c.build.records = append(c.build.records, Record{Entry: &e})
	}
}
