package medicsim

import (
	"encoding/binary"
	"time"

	"posta.dev/posta/medic/core"
)

// target is a node or medic over all its incarnations: its name, its disk.
type target struct {
	core.Member
	w            *world
	host         *host
	medic        bool
	incarnations uint64 // of the present log
	wipes        byte
	past         []*process // all incarnations so far
	disk         disk
	older        []disk        // copies of the directory that may be restored
	clock        time.Duration // by how much its clock for people is wrong
	p            *process      // nil while the target is dead
	crashLoop    int           // how many of the next starts crash at once
}

// disk is the durable state of a medic.
type disk struct {
	term    core.Term
	entries []core.Entry
	sent    core.Generation // the highest generation that was ever sent; it is not on the disk, but has the same life
	opened  uint64          // in a copy: how many times the directory had been opened
	since   time.Duration   // when the term was stored
}

// process is one incarnation.
type process struct {
	t         *target
	id        core.Identity
	born      time.Duration
	died      time.Duration // 0: it lives
	ready     time.Duration // from then on it works; before it recovers
	speaks    time.Duration // from then on it sends heartbeats
	stopped   bool
	missed    []func() // what arrived while it is stopped
	slept     time.Duration
	fitSince  time.Duration // since when it works and has a network
	backSince time.Duration // when it got the network back after it had heard nobody for long; 0: never

	core     *core.Core   // nil for a node
	lastBeat core.Message // its last heartbeat
	storing  []core.Record
	waking   wakingTime
	loop     loop // of a node
}

// host outlives all processes on it.
type host struct {
	name    string
	fence   core.Fence
	started map[core.NodeID]core.Started

	older    []core.Fence  // fences that it had before
	restored time.Duration // when an older fence was restored
}

func (t *target) healthy() bool {
	// a medic that crashes at its start has no core
	return t.p != nil && !t.p.stopped && t.w.At >= t.p.speaks && !t.p.overdue() && (!t.medic || t.p.core != nil)
}

func (p *process) recovering() bool { return p.t.w.At < p.ready }

func (p *process) alive() bool { return p.t.p == p }

// start begins a new incarnation, unless one lives.
func (t *target) start(s core.Started) {
	w := t.w
	if t.p != nil {
		return
	}
	w.pids++
	t.incarnations++
	speaks := w.At + w.Between(10*time.Millisecond, 200*time.Millisecond)
	if w.Chance(w.faults.slowStart) {
		speaks += w.Between(0, 3*time.Second)
	}
	p := &process{t: t, id: core.Identity{LogID: [16]byte{byte(len(t.ID)), t.ID[len(t.ID)-1], t.wipes}, Incarnation: t.incarnations,
		PID: w.pids}, born: w.At, speaks: speaks}
	if t.medic { // a medic's log id identifies one opening of the directory (R14)
		binary.LittleEndian.PutUint64(p.id.LogID[8:], uint64(w.pids))
	}
	p.fitSince = speaks
	p.ready = speaks + w.Between(0, 300*time.Millisecond)
	if !t.medic {
		p.startLoop()
	}
	t.p = p
	t.past = append(t.past, p)
	delete(w.cut, t.ID) // a start also gives the network back
	s.At = w.clock()
	t.host.started[t.ID] = s
	w.tracef("%s starts, life %d, process %d", t.ID, t.incarnations, p.id.PID)
	if t.crashLoop > 0 {
		t.crashLoop--
		w.After(w.Between(0, 60*time.Millisecond), func() { p.die("crashes at its start") })
		return
	}
	w.After(speaks-w.At, func() { p.run(p.begin) })
}

func (p *process) die(why string) {
	if p.alive() {
		p.t.w.tracef("%s %s", p.t.ID, why)
		p.t.p, p.died = nil, p.t.w.At
		p.sendLateSigns()
		p.t.wipe()
		p.t.restore()
	}
}

// wipe loses the disk. The fence and the notes of the host are elsewhere.
func (t *target) wipe() {
	w := t.w
	if !w.Chance(w.faults.wipe) {
		return
	}
	w.report.Injected["wipe"]++
	w.tracef("%s has lost its disk", t.ID)
	t.wipes++
	t.incarnations, t.disk, t.older = 0, disk{}, nil
	if t.medic && w.Chance(0.5) { // an engine that itself starts its containers again is faster than any order
		w.After(w.Between(0, 500*time.Millisecond), func() { t.start(t.host.started[t.ID]) })
	}
}

// lateFor is for how long at most signs of an incarnation that has ended still arrive.
const lateFor = 3 * time.Second

// sendLateSigns makes signs of an incarnation that has ended arrive.
func (p *process) sendLateSigns() {
	w := p.t.w
	if w.At < p.speaks || !w.Chance(w.faults.lateSigns) {
		return
	}
	w.report.Injected["late signs"]++
	for at := time.Duration(0); at < w.Between(0, lateFor); at += heartbeat {
		w.After(at, p.sign)
	}
}

// run calls do in the process: now, later if the process is stopped, or never if it is dead.
func (p *process) run(do func()) {
	switch {
	case !p.alive():
	case p.stopped:
		p.missed = append(p.missed, do)
	default:
		do()
	}
}

func (p *process) stop() {
	p.stopped, p.slept = true, p.t.w.At
	p.t.w.tracef("%s is stopped", p.t.ID)
}

func (p *process) resume() {
	if !p.alive() || !p.stopped {
		return
	}
	w := p.t.w
	p.stopped, p.fitSince = false, w.At
	w.tracef("%s continues", p.t.ID)
	p.waking.slept(w.At - p.slept)
	p.wakeLoop(w.At - p.slept)
	missed := p.missed
	p.missed = nil
	if w.Chance(0.5) { // which of them it notices first depends on the system
		w.Rand.Shuffle(len(missed), func(i, j int) { missed[i], missed[j] = missed[j], missed[i] })
	}
	for _, do := range missed {
		p.run(do)
	}
}

// begin is the first step of a node or medic.
func (p *process) begin() {
	if p.t.medic {
		p.beginMedic()
		return
	}
	p.beat()
}

// beat sends a node's heartbeat.
func (p *process) beat() {
	w := p.t.w
	if p.look(); !p.alive() {
		return
	}
	p.sign()
	w.After(heartbeat+w.Between(-heartbeat/10, heartbeat/10), func() { p.run(p.beat) })
}

// sign delivers a sign of life.
func (p *process) sign() {
	w := p.t.w
	for _, m := range w.medics {
		switch {
		case m.ID == p.t.ID:
		case !p.t.medic:
			s := p.says()
			w.send(p.t.ID, m.ID, func(to *process) {
				if s.MarkAge < 2*stuckAfter {
					to.waking.heard(p)
				}
				to.core.HeardNode(p.t.ID, s, w.Now())
				to.pump()
			})
		case p.lastBeat.Kind == core.Beat:
			p.tell(m.ID, p.lastBeat)
		}
	}
}
