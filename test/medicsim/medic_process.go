package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

// wakingTime counts a medic's own time, without the time in which it was stopped, and notes when in that time it heard each member. With it
// the checkers find out whether a suspicion was the medic's own fault (M6).
type wakingTime struct {
	w        *world
	asleep   time.Duration
	last     map[core.NodeID]time.Duration // when each member was last heard; without the medic itself
	doubtful time.Duration                 // when a sign of an earlier incarnation that the medic may have believed was last heard
	rejoined time.Duration                 // in the world's time: when somebody was heard after a long silence of all
	newest   map[core.NodeID]*process      // the newest process that was heard
	first    map[int]time.Time             // when each process was first heard
	pids     map[core.NodeID]int
}

func newAwake(w *world) wakingTime {
	return wakingTime{w: w, last: map[core.NodeID]time.Duration{}, newest: map[core.NodeID]*process{}, first: map[int]time.Time{},
		pids: map[core.NodeID]int{}}
}

func (a *wakingTime) now() time.Duration { return a.w.At - a.asleep }

// slept is called after a sleep. A sleep of less than a heartbeat cannot be told from a late tick, so it counts as waking time. A longer
// sleep does not count, and a long sleep ends all silences.
func (a *wakingTime) slept(d time.Duration) {
	if d <= heartbeat {
		return
	}
	a.asleep += d
	if d >= suspectAfter/2 {
		for id := range a.last {
			a.last[id] = a.now()
		}
	}
}

// heard notes a sign of life. A sign of an earlier process than the newest one heard does not count. But once the newer process has fallen
// silent, a medic cannot know which of two logs is the newer one, so a sign of either may count.
func (a *wakingTime) heard(from *process) {
	if _, before := a.first[from.id.PID]; !before {
		a.first[from.id.PID] = a.w.Now()
	}
	if a.quiet() >= suspectAfter/2 {
		a.rejoined = a.w.At
	}
	who := from.t.ID
	switch newest := a.newest[who]; {
	case newest == nil || from.id.PID >= newest.id.PID:
		a.newest[who], a.last[who] = from, a.now()
	case from.id.LogID != newest.id.LogID && a.silence(who) >= suspectAfter/2:
		a.doubtful = a.now()
	}
}

// knew reports whether a process had been heard by that time.
func (a *wakingTime) knew(p *process, by time.Time) bool {
	at, ever := a.first[p.id.PID]
	return ever && !at.After(by)
}

// silence returns how long a member was not heard.
func (a *wakingTime) silence(who core.NodeID) time.Duration { return a.now() - a.last[who] }

// quiet returns for how long nobody was heard.
func (a *wakingTime) quiet() time.Duration {
	last := a.doubtful
	for _, at := range a.last {
		last = max(last, at)
	}
	return a.now() - last
}

var backoff = medic.Backoff{First: 100 * time.Millisecond, Max: 2 * time.Second, Healthy: time.Second}

func (p *process) beginMedic() {
	w, t := p.t.w, p.t
	reach := []string{t.Host}
	if w.reach {
		reach = nil
		for _, h := range w.hosts {
			reach = append(reach, h.name)
		}
	}
	cfg := core.Config{
		Self: t.ID, ID: p.id, Life: uint64(p.id.PID), Wall: t.wall, Reach: reach, Medics: w.medics, Nodes: w.nodes, Heartbeat: heartbeat,
		SuspectAfter: suspectAfter,
		Backoff:      backoff,
	}
	p.waking = newAwake(w)
	for _, x := range w.order {
		if x != t {
			p.waking.last[x.ID] = p.waking.now()
		}
	}
	s := core.State{Term: t.disk.term, Journal: slices.Clone(t.disk.entries)}
	for _, name := range reach {
		if f := w.host(name).fence; f.Term.Gen > s.Fence.Gen {
			s.Fence = f.Term
		}
	}
	p.core = core.New(cfg, s, w.Now())
	p.tick()
}

func (p *process) tick() {
	p.core.Tick(p.t.w.Now())
	p.pump()
	pause := tickEvery
	if !p.t.w.Steady {
		pause = p.core.Pause(p.t.w.Now())
	}
	p.t.w.After(pause+p.t.w.Between(0, time.Millisecond), func() { p.run(p.tick) })
}

// pump is the rest of the shell's loop: it stores the next batch, and then sends what may leave.
func (p *process) pump() {
	w := p.t.w
	if records := p.core.Seal(); records != nil {
		p.storing = records
		delay := w.Between(time.Millisecond, 8*time.Millisecond)
		if w.Chance(w.faults.slowDisk) {
			delay = w.Between(0, 600*time.Millisecond)
		}
		delay = max(delay, p.suspects(records))
		if w.Chance(w.faults.crash) {
			p.crash()
			return
		}
		w.After(delay, func() { p.run(p.stored) })
	}
	o := p.core.Output()
	w.report.NotBelieved += len(o.Refused)
	for _, m := range o.Messages {
		p.publish(m)
	}
	if p.ahead(o.Fence) {
		delay := w.Between(0, 5*time.Millisecond)
		if w.Chance(w.faults.slowFence) { // another process acts on the host
			delay = w.Between(0, 2*time.Second)
		}
		w.After(delay, func() { p.run(func() { p.raise(o.Fence) }) })
	}
	for _, order := range o.Orders {
		w.checker.given(p, order)
		delay := w.Between(0, 10*time.Millisecond)
		if w.Chance(w.faults.slowDisk) {
			delay = w.Between(0, time.Second)
		}
		w.After(delay, func() { p.run(func() { p.carry(order) }) })
		if w.Chance(w.faults.stall) && !p.stopped {
			p.stop()
			w.After(w.Between(0, 5*time.Second), p.resume)
		}
	}
}

// suspects tells the aimed faults what a leader begins to store.
func (p *process) suspects(records []core.Record) (storing time.Duration) {
	for _, r := range records {
		if do := p.t.w.suspected; do != nil && r.Entry != nil && r.Entry.Kind == core.Suspected && r.Entry.Leader == p.t.ID {
			storing = max(storing, do(p, *r.Entry))
		}
	}
	return storing
}

// crash ends a medic while it stores: it is unknown whether the records are on the disk.
func (p *process) crash() {
	p.t.w.report.Injected["crash while storing"]++
	if p.t.w.Chance(0.5) {
		p.save()
	}
	p.die("crashes while it stores")
}

func (p *process) save() {
	w, d := p.t.w, &p.t.disk
	for _, r := range p.storing {
		if r.Term != nil {
			w.checker.generation.stores(p, *r.Term)
			d.term, d.since = *r.Term, w.At
		} else {
			w.checker.writes(p, *r.Entry)
			d.entries = append(d.entries, *r.Entry)
		}
	}
	p.storing = nil
	p.t.backUp()
}

func (p *process) stored() {
	p.save()
	p.core.Stored(p.t.w.Now())
	p.pump()
}

func (p *process) publish(m core.Message) {
	w := p.t.w
	w.checker.says(p, &m)
	if m.Kind == core.Command {
		w.checker.given(p, m.Order)
	}
	if m.Kind == core.Beat {
		p.lastBeat = m
	}
	for _, to := range w.medics {
		if to.ID != p.t.ID {
			p.tell(to.ID, m)
		}
	}
}

func (p *process) tell(to core.NodeID, m core.Message) {
	w := p.t.w
	m = w.absurd(m)
	w.send(p.t.ID, to, func(x *process) {
		if m.ID == p.id {
			x.waking.heard(p)
		}
		x.core.Receive(m, w.Now())
		x.pump()
	})
}

// ahead reports whether a host that the medic reaches does not know of the term. The medic checks that before it takes the host's lock.
func (p *process) ahead(t core.Term) bool {
	return slices.ContainsFunc(p.t.w.hosts, func(h *host) bool { return (p.t.w.reach || h.name == p.t.Host) && h.fence.Term.Gen < t.Gen })
}

// raise raises the fences that a medic reaches when it hears of a new term.
func (p *process) raise(t core.Term) {
	for _, h := range p.t.w.hosts {
		if p.t.w.reach || h.name == p.t.Host {
			h.raise(t)
		}
	}
}

// carry carries out an order under the host's lock. It takes no time, but the medic may die between any two steps.
func (p *process) carry(o core.Order) {
	w := p.t.w
	h, t := w.host(o.Host), w.targets[o.Target]
	h.raise(o.Term())
	if newest, _ := p.core.Term(); newest.Gen > o.Gen {
		h.raise(newest)
	}
	r, do := h.fence.Decide(o, h.started[o.Target], t.p != nil, w.Now(), w.clock())
	if do {
		w.checker.carriedOut(p, o)
		if t.p != nil {
			t.p.die("is killed on order of " + string(o.Leader))
		}
		if w.Chance(w.faults.crash) {
			p.die("crashes between kill and start")
			return
		}
		t.start(core.Started{Order: o.OrderID, Verdict: core.Done})
		if w.Chance(w.faults.crash) {
			p.die("crashes between start and report")
			return
		}
	} else {
		w.tracef("%s: order %v of %s for %s: verdict %d", p.t.ID, o.OrderID, o.Leader, o.Target, r.Verdict)
	}
	h.started[o.Target] = h.started[o.Target].After(r)
	if r.Verdict == core.Refused {
		w.report.Refused++
	}
	if t.p != nil {
		r.PID = t.p.id.PID
	}
	p.core.Executed(r, w.Now())
	p.pump()
}
