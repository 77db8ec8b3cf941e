package core

import "time"

// Record is what a medic stores. Exactly one field is set.
type Record struct {
	Term  *Term
	Entry *Entry
}

// Output is what may leave now: all that it depends on is durable.
type Output struct {
	Messages []Message
	Orders   []Order  // to be carried out on this medic's hosts; Executed takes the reports
	Fence    Term     // to be raised on this medic's hosts; zero if there is none
	Refused  []string // for people: what was heard and not believed (M10)
}

// batch is records, and what waits for them.
type batch struct {
	records  []Record
	messages []Message
	orders   []Order
	fence    Term
}

func (b *batch) empty() bool {
	return len(b.records)+len(b.messages)+len(b.orders) == 0 && b.fence == Term{}
}

// Seal gives what is to be made durable next: all of it with one fsync, in order. nil while there is nothing, or while the last batch is
// still being stored. Then Stored is to be called.
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

// Stored says that what Seal gave is durable.
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

// extentsStored is what others may be told: the journal without what is still to be stored.
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

// Output gives what may leave, once.
func (c *Core) Output() Output {
	o := c.out
	c.out = Output{}
	return o
}

// Idle says that there is nothing to store and nothing being stored: Snapshot then is all that is durable.
func (c *Core) Idle() bool { return c.inflight == nil && len(c.build.records) == 0 }
