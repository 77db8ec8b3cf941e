package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/medic/core"
)

// checker knows what must never happen. It looks at hosts, disks and messages, not into cores. Each rule of the medics has a checker of its
// own, which remembers what that rule alone asks for; this one tells them what happens.
type checker struct {
	*facts
	leadership leadership // M1
	elections  elections  // M2
	generation generation // M3
	fences     fences     // M4
	restarts   restarts   // M5
	sleeps     sleeps     // M6
	isolation  isolation  // M7
	journals   journals   // M8
	loops      loops      // N9
}

// facts is what several rules ask for.
type facts struct {
	w       *world
	durable map[core.Generation]time.Duration // when a generation was first on a disk of somebody who could be heard
	orders  map[core.EntryID]given            // those that were given
	led     map[ledIn][16]byte                // by which log of the leader
	fine    bool                              // nothing went wrong with the network
	elected bool                              // nor with medics
}

// ledIn is a generation that a medic led in, in whatever life.
type ledIn struct {
	gen    core.Generation
	leader core.NodeID
}

// plausible is more than any run has of generations and incarnations.
const plausible = 1 << 30

// given is what is known of an order from when it was given.
type given struct {
	at     time.Duration
	silent time.Duration // by the leader's own waking hours
}

func newChecker(w *world) checker {
	f := &facts{w: w, durable: map[core.Generation]time.Duration{}, orders: map[core.EntryID]given{}, led: map[ledIn][16]byte{}}
	return checker{
		f, leadership{f}, elections{f}, generation{f, map[hostGeneration]core.Term{}}, fences{f, map[string]core.Generation{}},
		restarts{f, map[core.EntryID]*process{}}, sleeps{f}, isolation{f},
		journals{f, map[core.EntryID]core.Entry{}, map[core.NodeID]int{}}, loops{f},
	}
}

// says checks what leaves a medic.
func (c *checker) says(p *process, m *core.Message) {
	c.generation.says(p, m)
	c.leadership.says(p, m)
	c.journals.says(p, m)
}

// given notes on what grounds a leader gives an order.
func (c *checker) given(p *process, o core.Order) {
	if _, again := c.orders[key(o)]; again || o.Leader != p.t.ID {
		return
	}
	c.generation.given(p, o)
	c.loops.given(p, o)
	c.sleeps.given(p, o)
	c.isolation.given(p, o)
	c.orders[key(o)] = given{c.w.At, p.waking.silence(o.Target)}
	c.w.tracef("%s orders a restart of %s, %v, silent for %v", p.t.ID, o.Target, o.OrderID, o.Silent)
}

// carriedOut checks an order at the moment in which it takes effect.
func (c *checker) carriedOut(p *process, o core.Order) {
	c.w.report.Orders++
	c.generation.carriedOut(o)
	c.fences.carriedOut(p, o)
	c.isolation.carriedOut(p, o)
	c.journals.carriedOut(o)
	g, known := c.orders[key(o)]
	if !known {
		c.w.fail("M4", "nobody gave order %v", o.OrderID)
		return
	}
	c.w.tracef("%s is restarted on order %v of %s", o.Target, o.OrderID, o.Leader)
	if t := c.w.targets[o.Target]; t.p != nil && !t.p.stopped {
		c.restarts.restarted(t)
		c.sleeps.restarted(t, o, g)
	}
}

// writes checks what gets on a medic's disk.
func (c *checker) writes(p *process, e core.Entry) {
	if !c.journals.writes(p, e) && e.Term == p.t.disk.term && e.Leader == p.t.ID {
		c.restarts.writes(p, e)
		c.loops.writes(e)
	}
}

// end compares the journal with what has happened.
func (c *checker) end() {
	c.journals.end()
	c.elections.end()
}

// key distinguishes orders, even if two medics lead in one generation.
func key(o core.Order) core.EntryID {
	return core.EntryID{Term: o.Term(), N: o.N}
}

// works reports whether it works, and is not cut off itself.
func (f *facts) works(who core.NodeID) bool {
	_, cut := f.w.cut[who]
	return f.w.targets[who].healthy() && !cut
}

// remembered reports whether somebody knows of a term beside the medic that led in it, and hosts, which only decide. A medic that is dead or
// hung, and was not heard since, tells nobody. So where the hosts have not heard of the term either, a medic that has lost its disk is like
// one that starts for the first time.
func (f *facts) remembered(p *process, t core.Term) bool {
	same := func(o core.Term) bool { return o.Gen == t.Gen && o.Leader == t.Leader }
	return slices.ContainsFunc(f.w.order, func(o *target) bool {
		tells := o.healthy() || slices.ContainsFunc(o.past, func(life *process) bool { return p.waking.knew(life, f.w.Now()) })
		return o != p.t && tells && (same(o.disk.term) || slices.ContainsFunc(o.disk.entries, func(e core.Entry) bool { return same(e.Term) }))
	})
}

// claimsLead reports whether only the leader of a term may say that.
func claimsLead(m *core.Message) bool {
	return m.Leading || m.Kind == core.Coordinator || m.Kind == core.Command
}
