package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/medic/core"
)

// checker checks what must never happen. It looks at hosts, disks and messages, not into cores. Each rule of the medics has its own
// checker, which remembers only what this rule needs; this type tells the checkers what happens.
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

// facts holds what several rules need.
type facts struct {
	w       *world
	durable map[core.Generation]time.Duration // when a generation was first on the disk of a medic that could be heard
	orders  map[core.EntryID]given            // orders that were given
	led     map[ledIn][16]byte                // log of the medic that led in a generation
	fine    bool                              // nothing went wrong with the network
	elected bool                              // nothing went wrong with network and medics
}

// ledIn is a generation and a medic that led in it, in any of the medic's incarnations.
type ledIn struct {
	gen    core.Generation
	leader core.NodeID
}

// plausible is more than the generations and incarnations of any run.
const plausible = 1 << 30

// given is what is known about an order at the time it was given.
type given struct {
	at     time.Duration
	silent time.Duration // as the leader counted it in its waking time
}

func newChecker(w *world) checker {
	f := &facts{w: w, durable: map[core.Generation]time.Duration{}, orders: map[core.EntryID]given{}, led: map[ledIn][16]byte{}}
	return checker{
		f, leadership{f}, elections{f}, generation{f, map[hostGeneration]core.Term{}}, fences{f, map[string]core.Generation{}},
		restarts{f, map[core.EntryID]*process{}}, sleeps{f}, isolation{f},
		journals{f, map[core.EntryID]core.Entry{}, map[core.NodeID]int{}}, loops{f},
	}
}

// says checks a message that leaves a medic.
func (c *checker) says(p *process, m *core.Message) {
	c.generation.says(p, m)
	c.leadership.says(p, m)
	c.journals.says(p, m)
}

// given notes why a leader gives an order.
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

// carriedOut checks an order when it takes effect.
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

// writes checks an entry that is about to be on a medic's disk.
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

// works reports whether the target is healthy and not cut off.
func (f *facts) works(who core.NodeID) bool {
	_, cut := f.w.cut[who]
	return f.w.targets[who].healthy() && !cut
}

// remembered reports whether anybody knows of a term, other than the medic that led in it, and other than hosts, which only decide. A medic
// that is dead or hung, and was not heard since, tells nobody. So if the hosts have not heard of the term either, a medic that has lost its
// disk is like a medic that starts for the first time.
func (f *facts) remembered(p *process, t core.Term) bool {
	same := func(o core.Term) bool { return o.Gen == t.Gen && o.Leader == t.Leader }
	return slices.ContainsFunc(f.w.order, func(o *target) bool {
		tells := o.healthy() || slices.ContainsFunc(o.past, func(life *process) bool { return p.waking.knew(life, f.w.Now()) })
		return o != p.t && tells && (same(o.disk.term) || slices.ContainsFunc(o.disk.entries, func(e core.Entry) bool { return same(e.Term) }))
	})
}

// claimsLead reports whether only the leader of a term may send the message.
func claimsLead(m *core.Message) bool {
	return m.Leading || m.Kind == core.Coordinator || m.Kind == core.Command
}
