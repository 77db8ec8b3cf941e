package sim

import (
	"slices"
	"time"

	"posta/medic/core"
)

// judge knows what must not happen. It looks at hosts, disks and messages, not into cores.
type judge struct {
	w       *world
	acted   map[actKey]core.NodeID // who has acted on a host in a generation
	newest  map[string]core.Generation
	durable map[core.Generation]time.Duration // when a generation was first on a disk of somebody who could be heard
	orders  map[core.EntryID]given
	done    map[core.NodeID]int // orders carried out, by target
	fine    bool                // nothing went wrong with the network
	elected bool                // nor with medics
}

type actKey struct {
	host string
	gen  core.Generation
}

// given is what is known of an order from when it was given.
type given struct {
	at     time.Duration
	silent time.Duration // by the leader's own waking hours
	life   uint64        // of the target, as the leader knew it
}

func newJudge(w *world) judge {
	return judge{w: w, acted: map[actKey]core.NodeID{}, newest: map[string]core.Generation{}, durable: map[core.Generation]time.Duration{},
		orders: map[core.EntryID]given{}, done: map[core.NodeID]int{}}
}

// says checks what leaves a medic.
func (j *judge) says(p *process, m *core.Message) {
	d := &p.t.disk
	switch {
	case m.Term.Gen > d.term.Gen:
		j.w.fail("M3: %s speaks of generation %d before it is on its disk", p.t.ID, m.Term.Gen)
	case m.Term.Gen < d.sent:
		j.w.fail("M3: %s goes back from generation %d to %d", p.t.ID, d.sent, m.Term.Gen)
	case (m.Leading || m.Kind == core.Command || m.Kind == core.Coordinator) && m.Term.Leader != p.t.ID:
		j.w.fail("M1: %s acts as leader in term %v", p.t.ID, m.Term)
	case m.Kind == core.Command && m.Order.Gen > d.term.Gen:
		j.w.fail("M3: %s gives an order of generation %d before it is on its disk", p.t.ID, m.Order.Gen)
	}
	d.sent = max(d.sent, m.Term.Gen)
	for _, e := range m.Entries {
		if !slices.Contains(d.entries, e) {
			j.w.fail("M8: %s sends entry %v before it is on its disk", p.t.ID, e.EntryID)
		}
	}
}

// key tells orders apart also where two medics lead in one generation.
func key(o core.Order) core.EntryID {
	return core.EntryID{Term: core.Term{Gen: o.Gen, Leader: o.Leader}, N: o.N}
}

// given notes on what grounds a leader gives an order.
func (j *judge) given(p *process, o core.Order) {
	if _, again := j.orders[key(o)]; again || o.Leader != p.t.ID {
		return
	}
	if o.Gen > p.t.disk.term.Gen {
		j.w.fail("M3: %s gives an order of generation %d before it is on its disk", p.t.ID, o.Gen)
	}
	if t := j.w.targets[o.Target]; t.healthy() && p.awake.silence(o.Target) < heartbeat-tickEvery { // naps of a medic are not taken out of short silences
		j.w.fail("M6: %s orders a restart of %s on a hint alone, heard %v ago", p.t.ID, o.Target, p.awake.silence(o.Target))
	}
	j.orders[key(o)] = given{j.w.At, p.awake.silence(o.Target), p.awake.lives[o.Target]}
	j.w.tracef("%s orders a restart of %s, %v, silent for %v", p.t.ID, o.Target, o.OrderID, o.Silent)
}

// carriedOut checks an order at the moment in which it takes effect.
func (j *judge) carriedOut(p *process, o core.Order) {
	w := j.w
	act := actKey{o.Host, o.Gen}
	if other, ok := j.acted[act]; ok && other != o.Leader {
		w.fail("M3: %s and %s act in generation %d on %s", other, o.Leader, o.Gen, o.Host)
	}
	j.acted[act] = o.Leader
	if o.Gen < j.newest[o.Host] {
		w.fail("M4: an order of generation %d is carried out on %s after one of %d", o.Gen, o.Host, j.newest[o.Host])
	}
	j.newest[o.Host] = max(j.newest[o.Host], o.Gen)
	if g := p.t.disk.term.Gen; g > o.Gen {
		w.fail("M4: %s, which knows of generation %d, carries out an order of %d", p.t.ID, g, o.Gen)
	}
	w.report.Orders++
	j.done[o.Target]++
	j.justified(o)
	j.outdated(o)
}

// justified: who is killed must be dead or hung, or the leader has had a reason that is not its own sleep.
func (j *judge) justified(o core.Order) {
	w, t := j.w, j.w.targets[o.Target]
	g, known := j.orders[key(o)]
	if !known {
		w.fail("M4: nobody gave order %v", o.OrderID)
		return
	}
	w.tracef("%s is restarted on order %v of %s", o.Target, o.OrderID, o.Leader)
	if t.p == nil || t.p.stopped {
		return
	}
	age := w.At - t.p.born
	switch {
	case age < suspectAfter:
		w.fail("M5: %s is restarted %v after its last start: one failure, two restarts", t.ID, age)
	case w.At >= t.p.speaks && g.silent < suspectAfter-heartbeat:
		w.fail("M6: %s works, and is killed by %s, which has missed it for %v of its own waking time", t.ID, o.Leader, g.silent)
	}
}

// outdated: where all can hear each other, a leader that others have replaced must not act any more.
func (j *judge) outdated(o core.Order) {
	w := j.w
	if !w.faults.networkIsFine() && w.At <= w.faults.end {
		return
	}
	for _, t := range w.order {
		if !t.medic || !t.healthy() || t.disk.term.Gen <= o.Gen || t.ID == o.Leader {
			continue
		}
		if since := j.durable[t.disk.term.Gen]; since > 0 && w.At-since > suspectAfter {
			w.fail("M4: %s acts in generation %d, %v after %s was in %d", o.Leader, o.Gen, w.At-since, t.ID, t.disk.term.Gen)
		}
	}
}

// end compares the journal with what has happened.
func (j *judge) end() {
	w := j.w
	var journal []core.Entry
	for _, t := range w.order {
		if t.medic {
			journal = t.p.core.Journal()
		}
	}
	told := map[core.NodeID]int{}
	for _, e := range journal {
		if e.What == core.Restarted {
			told[e.Node]++
		}
	}
	for _, t := range w.order {
		if told[t.ID] > j.done[t.ID] {
			w.fail("M8: the journal tells of %d restarts of %s, there were %d", told[t.ID], t.ID, j.done[t.ID])
		}
		if j.elected && told[t.ID] != j.done[t.ID] {
			w.fail("M8: the journal tells of %d restarts of %s, there were %d", told[t.ID], t.ID, j.done[t.ID])
		}
	}
	if gen := w.targets[w.medics[0].ID].disk.term.Gen; j.elected && gen != 1 {
		w.fail("M2: %d elections although nothing happened to a medic", gen)
	}
}
