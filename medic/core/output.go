package core

import "time"

// Record is what a medic stores. Exactly one field is set.
type Record struct {
	Term  *Term
	Entry *Entry
}

// Output is what may be sent and done now: all that it depends on is durable.
type Output struct {
	Messages []Message
	Orders   []Order  // to be carried out on this medic's hosts; Executed takes the reports
	Fence    Term     // to which the fences of this medic's hosts are raised; zero if there is none
	Refused  []string // for people: messages that were implausible (M10)
}

// batch is records, and what must not leave before they are durable.
type batch struct {
	records  []Record
	messages []Message
	orders   []Order
	fence    Term
}

func (b *batch) empty() bool {
	return len(b.records)+len(b.messages)+len(b.orders) == 0 && b.fence == Term{}
}

// Seal returns the records to store next, in order, with one fsync; then the caller calls Stored. It returns nil while there is nothing to
// store, or while the last batch is still being stored.
func (c *Core) Seal() []Record {
	if c.inflight != nil || c.build.empty() {
		return nil
	}
	b := c.build
	c.build = batch{}
	if len(b.records) == 0 {
		c.release(&b)
		return nil
	}
	c.inflight = &b
	return b.records
}

// Stored reports that the records that Seal returned are durable.
func (c *Core) Stored(now time.Time) {
	c.noticeSleep(now)
	b := c.inflight
	if b == nil {
		return
	}
	c.inflight = nil
	for _, r := range b.records {
		if r.Term != nil {
			assert(r.Term.Gen >= c.stored.Gen, "M3: term %v is stored after %v", *r.Term, c.stored)
			c.stored = *r.Term
		}
	}
	c.have = c.extentsStored()
	c.release(b)
}

// extentsStored returns the extents of the durable part of the journal, which other medics may be told.
func (c *Core) extentsStored() []EntryID {
	all := c.journal.extents()
	for _, r := range c.build.records {
		if r.Entry == nil {
			continue
		}
		for i := range all {
			if all[i].Term == r.Entry.Term {
				all[i].N = min(all[i].N, r.Entry.N-1)
			}
		}
	}
	return all
}

func (c *Core) release(b *batch) {
	for _, m := range b.messages {
		if m.Kind != Command || c.stillNeeded(m.Order) {
			c.publish(m)
		}
	}
	for _, o := range b.orders {
		if o.Leader != c.cfg.Self || c.stillNeeded(o) {
			c.out.Orders = append(c.out.Orders, o)
		}
	}
	if b.fence != (Term{}) {
		c.out.Fence = b.fence
	}
}

// Output returns what may leave, and forgets it.
func (c *Core) Output() Output {
	o := c.out
	c.out = Output{}
	return o
}

// Idle reports whether there is nothing to store and nothing is being stored. Then Snapshot has the whole state.
func (c *Core) Idle() bool { return c.inflight == nil && len(c.build.records) == 0 }
