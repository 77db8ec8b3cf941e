package sim

import (
	"slices"
	"time"

	"posta/medic"
	"posta/medic/core"
)

// awake counts a medic's own time, in which it was not stopped, and when in that time it heard whom: by it the judge tells whether a
// suspicion was the medic's own fault (M6).
type awake struct {
	w      *world
	asleep time.Duration
	last   map[core.NodeID]time.Duration
	lives  map[core.NodeID]uint64
	pids   map[core.NodeID]int
	gap    map[core.NodeID]time.Duration // the silence before last
}

func newAwake(w *world) awake {
	return awake{w: w, last: map[core.NodeID]time.Duration{}, lives: map[core.NodeID]uint64{}, pids: map[core.NodeID]int{}, gap: map[core.NodeID]time.Duration{}}
}

func (a *awake) now() time.Duration { return a.w.At - a.asleep }

func (a *awake) slept(d time.Duration) {
	a.asleep += d
	if d >= suspectAfter/2+tickEvery {
		for id := range a.last {
			a.last[id], a.gap[id] = a.now(), 0
		}
	}
}

func (a *awake) heard(who core.NodeID, life uint64) {
	if life >= a.lives[who] {
		if gap := a.now() - a.last[who]; gap > heartbeat {
			a.gap[who] = gap
		}
		a.lives[who], a.last[who] = life, a.now()
	}
}

// silence is how long somebody was not heard. A silence that ended while an order was being stored was one when the leader decided.
func (a *awake) silence(who core.NodeID) time.Duration {
	silence := a.now() - a.last[who]
	if silence < time.Second {
		silence = max(silence, a.gap[who])
	}
	return silence
}

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
		Self: t.ID, ID: p.id, Reach: reach, Medics: w.medics, Nodes: w.nodes, Heartbeat: heartbeat, SuspectAfter: suspectAfter,
		Pace: medic.Pace{First: 100 * time.Millisecond, Most: 2 * time.Second, Healthy: time.Second},
	}
	p.awake = newAwake(w)
	for _, x := range w.order {
		p.awake.last[x.ID] = p.awake.now()
	}
	p.core = core.New(cfg, core.State{Term: t.disk.term, Journal: slices.Clone(t.disk.entries)}, w.Now())
	p.tick()
}

func (p *process) tick() {
	p.core.Tick(p.t.w.Now())
	p.pump()
	p.t.w.After(tickEvery+p.t.w.Between(0, time.Millisecond), func() { p.run(p.tick) })
}

// pump is the rest of the shell's loop: store, then let out what may leave.
func (p *process) pump() {
	w := p.t.w
	if records := p.core.Seal(); records != nil {
		p.storing = records
		delay := w.Between(time.Millisecond, 8*time.Millisecond)
		if w.Chance(w.faults.slowDisk) {
			delay = w.Between(0, 600*time.Millisecond)
		}
		if w.Chance(w.faults.crash) {
			p.crash()
			return
		}
		w.After(delay, func() { p.run(p.stored) })
	}
	o := p.core.Output()
	for _, m := range o.Messages {
		p.publish(m)
	}
	if o.Fence != (core.Term{}) {
		w.After(w.Between(0, 5*time.Millisecond), func() { p.run(func() { p.raise(o.Fence) }) })
	}
	for _, order := range o.Orders {
		w.judge.given(p, order)
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

// crash ends a medic in the middle of storing: nobody knows whether it is on the disk.
func (p *process) crash() {
	p.t.w.report.Injected["crash while storing"]++
	if p.t.w.Chance(0.5) {
		p.save()
	}
	p.die("crashes while it stores")
}

func (p *process) save() {
	d := &p.t.disk
	for _, r := range p.storing {
		if r.Term != nil {
			if r.Term.Gen < d.term.Gen {
				p.t.w.fail("M3: %s goes back from generation %d to %d", p.t.ID, d.term.Gen, r.Term.Gen)
			}
			d.term = *r.Term
			if g := r.Term.Gen; p.t.w.judge.durable[g] == 0 {
				p.t.w.judge.durable[g] = p.t.w.At
			}
		} else {
			d.entries = append(d.entries, *r.Entry)
		}
	}
	p.storing = nil
}

func (p *process) stored() {
	p.save()
	p.core.Stored(p.t.w.Now())
	p.pump()
}

func (p *process) publish(m core.Message) {
	w := p.t.w
	w.judge.says(p, &m)
	if m.Kind == core.Command {
		w.judge.given(p, m.Order)
	}
	for _, to := range w.medics {
		if to.ID != p.t.ID {
			w.send(p.t.ID, to.ID, func(x *process) {
				x.awake.heard(m.From, m.ID.Life)
				x.core.Take(m, w.Now())
				x.pump()
			})
		}
	}
}

// raise is what a medic does to the fences it reaches when it hears of a new term.
func (p *process) raise(t core.Term) {
	for _, h := range p.t.w.hosts {
		if p.t.w.reach || h.name == p.t.Host {
			h.fence, _ = h.fence.Raise(t)
		}
	}
}

// carry carries out an order, under the host's lock: at one go, but it may die between any two steps.
func (p *process) carry(o core.Order) {
	w := p.t.w
	h, t := w.host(o.Host), w.targets[o.Target]
	h.fence, _ = h.fence.Raise(core.Term{Gen: o.Gen, Leader: o.Leader})
	if newest, _ := p.core.Term(); newest.Gen > o.Gen {
		h.fence, _ = h.fence.Raise(newest)
	}
	r, do := h.fence.Judge(o, h.started[o.Target], t.p != nil, w.Now())
	if do {
		w.judge.carriedOut(p, o)
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
	h.started[o.Target] = h.started[o.Target].Note(r)
	if r.Verdict == core.Refused {
		w.report.Refused++
	}
	if t.p != nil {
		r.PID = t.p.id.PID
	}
	p.core.Carried(r, w.Now())
	p.pump()
}
