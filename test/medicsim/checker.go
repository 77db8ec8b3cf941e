package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/medic/core"
)

// judge knows what must not happen. It looks at hosts, disks and messages, not into cores.
type judge struct {
	w       *world
	acted   map[actKey]core.NodeID // who has acted on a host in a generation
	newest  map[string]core.Generation
	durable map[core.Generation]time.Duration // when a generation was first on a disk of somebody who could be heard
	orders  map[core.EntryID]given
	done    map[core.NodeID]int    // orders carried out, by target
	led     map[core.Term][16]byte // by which log of its leader
	entries map[core.EntryID]core.Entry
	writers map[core.EntryID]*process
	twice   map[core.Term]bool // led in by two logs of one medic, which could not know
	fine    bool               // nothing went wrong with the network
	elected bool               // nor with medics
}

type actKey struct {
	host string
	gen  core.Generation
}

// given is what is known of an order from when it was given.
type given struct {
	at     time.Duration
	silent time.Duration // by the leader's own waking hours
}

func newJudge(w *world) judge {
	return judge{w: w, acted: map[actKey]core.NodeID{}, newest: map[string]core.Generation{}, durable: map[core.Generation]time.Duration{},
		orders: map[core.EntryID]given{}, done: map[core.NodeID]int{}, led: map[core.Term][16]byte{}, entries: map[core.EntryID]core.Entry{}, writers: map[core.EntryID]*process{}, twice: map[core.Term]bool{}}
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
	if m.Leading || m.Kind == core.Coordinator || m.Kind == core.Command {
		if log, before := j.led[m.Term]; before && log != p.id.LogID && j.remembered(p, m.Term) {
			j.w.fail("M3: %s leads in generation %d, in which it led before it lost its disk", p.t.ID, m.Term.Gen)
		}
		j.led[m.Term] = p.id.LogID
	}
	for _, e := range m.Entries {
		if !slices.Contains(d.entries, e) {
			j.w.fail("M8: %s sends entry %v before it is on its disk", p.t.ID, e.EntryID)
		}
	}
}

// remembered: somebody knows of a term beside who led in it, and hosts, which only judge. Who is dead or hung, and was not heard since, tells
// nobody: where the hosts have not heard of the term either, who has lost its disk is like one that starts for the first time.
func (j *judge) remembered(p *process, t core.Term) bool {
	return slices.ContainsFunc(j.w.order, func(o *target) bool {
		tells := o.healthy() || slices.ContainsFunc(o.past, func(life *process) bool { return p.awake.knew(life, j.w.Now()) })
		return o != p.t && tells && (o.disk.term == t || slices.ContainsFunc(o.disk.entries, func(e core.Entry) bool { return e.Term == t }))
	})
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
	// Who works and was heard must not be ordered about: not before the whole silence, which a hint shortens, is over when the order leaves.
	least := suspectAfter
	if o.Ended {
		least = hinted
	}
	if t, silence := j.w.targets[o.Target], p.awake.silence(o.Target); t.healthy() && silence < least {
		j.w.fail("M6: %s orders a restart of %s (ended: %v), which it heard %v of its own waking time ago", p.t.ID, o.Target, o.Ended, silence)
	}
	// Who hears nobody at all is cut off as far as it can know, and leaves it to the others for a while (M7).
	if t, quiet := j.w.targets[o.Target], p.awake.quiet(p.t.ID); t.healthy() && !o.Ended && quiet > 3*heartbeat+2*tickEvery && quiet < suspectAfter+cutOff {
		j.w.fail("M7: %s orders a restart of %s, though it has heard nobody at all for %v", p.t.ID, o.Target, quiet)
	}
	// Who hears somebody again gives everybody one timeout.
	if since := j.w.At - p.back; !o.Ended && j.works(o.Target) && p.back > 0 && since < suspectAfter && p.awake.quiet(p.t.ID) < since {
		j.w.fail("M6: %s orders a restart of %s, which works, %v after it was cut off", p.t.ID, o.Target, since)
	}
	j.orders[key(o)] = given{j.w.At, p.awake.silence(o.Target)}
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
	if since, cut := w.cut[p.t.ID]; cut && w.At-since > suspectAfter && o.Leader == p.t.ID && j.works(o.Target) && j.helped(p, since) {
		w.fail("M7: %s, cut off since %v, restarts %s, which works, though others could have restarted it", p.t.ID, since, o.Target)
	}
	w.report.Orders++
	j.done[o.Target]++
	j.justified(o)
	j.outdated(o)
}

// works: he does, and is not cut off himself.
func (j *judge) works(who core.NodeID) bool {
	_, cut := j.w.cut[who]
	return j.w.targets[who].healthy() && !cut
}

// forget takes back what was written on a disk that is lost, unless others have it: nobody can know.
func (j *judge) forget(t *target) {
	for _, e := range t.disk.entries {
		if !slices.ContainsFunc(j.w.order, func(o *target) bool { return o != t && slices.Contains(o.disk.entries, e) }) {
			delete(j.entries, e.EntryID)
		}
	}
}

// helped: another medic has worked since before the given time, reaches the host, and has led since then, or soon after: time enough to
// miss who was cut off, and to restart it, where nothing else is wrong with the network.
//
// It must have had the time to hear it. Who is cut off within the first heartbeats of its life is to others one who has yet to start: they
// leave it the patience that every start gets, and the silence that a host is told of is no shorter than its age. And a hint that is wrong
// makes an order one that never kills.
func (j *judge) helped(p *process, since time.Duration) bool {
	const acquainted = 3 * heartbeat
	if j.w.noisy || j.w.misled || since-p.speaks < acquainted {
		return false
	}
	return slices.ContainsFunc(j.w.order, func(t *target) bool {
		return t.medic && t.p != p && j.works(t.ID) && t.p.able < since-acquainted && t.p.awake.quiet(t.ID) < suspectAfter && (j.w.reach || t.host == p.t.host) &&
			t.disk.term.Leader == t.ID && j.durable[t.disk.term.Gen] < since+2*suspectAfter
	})
}

// writes checks what gets on a medic's disk.
func (j *judge) writes(p *process, e core.Entry) {
	before, ok := j.entries[e.EntryID]
	if ok && before == e {
		return // a copy; perhaps of what it wrote itself before it lost its disk
	}
	if ok && j.led[e.Term] != p.id.LogID && e.Leader == p.t.ID && !j.remembered(p, e.Term) {
		j.twice[e.Term] = true
	}
	if ok && !j.twice[e.Term] {
		j.w.fail("M8: %s has entry %v with another content than others", p.t.ID, e.EntryID)
	}
	j.entries[e.EntryID] = e
	if e.Term != p.t.disk.term || e.Leader != p.t.ID {
		return
	}
	j.writers[e.EntryID] = p
	var last core.Entry // of who was missed
	for _, x := range p.t.disk.entries {
		if x.Node == e.Node && x.Kind == core.Suspected && x.At.After(last.At) {
			last = x
		}
	}
	switch {
	case last.Kind == 0:
	case e.Kind == core.Recovered && e.Incarnation <= last.Incarnation && !j.livedAfter(e.Node, e.Incarnation, last.At) && j.comparable(e, last):
		j.w.fail("M5: %s takes a late sign of life %d of %s for that of a new one", p.t.ID, e.Incarnation, e.Node)
	case e.Kind == core.Suspected && e.InARow <= last.InARow && e.At.Sub(last.At) < time.Minute && !j.healthySince(e.Node, last.At):
		j.w.fail("M5: %s takes failure %d in a row of %s for the %dth: %v life %d at %v after %v life %d at %v", p.t.ID, last.InARow+1, e.Node, e.InARow, e.EntryID, e.Incarnation, e.At, last.EntryID, last.Incarnation, last.At)
	}
}

// once is a medic's journal without the terms that were led in twice: of their entries one stays here, the other there.
func (j *judge) once(t *target) []core.Entry {
	return slices.DeleteFunc(slices.Clone(t.p.core.Journal()), func(e core.Entry) bool { return j.twice[e.Term] })
}

func (j *judge) livedAfter(who core.NodeID, life uint64, at time.Time) bool {
	return slices.ContainsFunc(j.w.targets[who].past, func(p *process) bool {
		return p.id.Incarnation == life && (p.died == 0 || j.w.moment(p.died).After(at))
	})
}

// comparable: the two entries count lives of one log. A life of which the first sign comes after its end is news to everybody if its log was
// never heard before, and the number that the journal has is that of another log.
func (j *judge) comparable(back, missed core.Entry) bool {
	now, then := j.writers[back.EntryID], j.writers[missed.EntryID]
	if then == nil {
		return true
	}
	return !slices.ContainsFunc(j.w.targets[back.Node].past, func(p *process) bool { // a life of that number, of a log that nobody has missed
		return p.id.Incarnation == back.Incarnation && now.awake.knew(p, back.At) && !slices.ContainsFunc(p.t.past, func(o *process) bool {
			return o.id.LogID == p.id.LogID && then.awake.knew(o, missed.At)
		})
	})
}

// healthySince: some life of him has lasted long enough to end a row of failures, or may have seemed to where signs of life can be late.
func (j *judge) healthySince(who core.NodeID, at time.Time) bool {
	return slices.ContainsFunc(j.w.targets[who].past, func(p *process) bool {
		until := p.died
		if until == 0 {
			until = j.w.At
		}
		return j.w.moment(until).After(at) && until-p.speaks >= pace.Healthy-latency // the last sign was on the way for that much longer than the first
	}) || !j.w.fine
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
	case w.At >= t.p.speaks && g.silent < suspectAfter:
		w.fail("M6: %s works, and is killed by %s, which has missed it for %v of its own waking time", t.ID, o.Leader, g.silent)
	}
}

// outdated: where all can hear each other, a leader that others have replaced must not act any more.
func (j *judge) outdated(o core.Order) {
	w := j.w
	all := time.Duration(0) // since when all can hear each other
	if !w.fine {
		all = w.faults.end
	}
	for _, t := range w.order {
		if !t.medic || !t.healthy() || t.disk.term.Gen <= o.Gen || t.ID == o.Leader {
			continue
		}
		if since := j.durable[t.disk.term.Gen]; since > 0 && w.At-max(since, all) > suspectAfter {
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
		if e.Kind == core.Restarted {
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
