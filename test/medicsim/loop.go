package medicsim

import (
	"time"

	"posta.dev/posta/medic/core"
)

// loop is the loop of a node's process (N9): it gets something done all the time, or works on something large, or hangs. The process beats
// whatever its loop does. A node whose loop hangs ends itself after stuckAfter; where that fails medics do it after twice that time.
type loop struct {
	from   time.Duration // when it began what it does now
	until  time.Duration // busy until then; 0: it is not
	hangs  bool
	immune bool          // it does not end itself
	asleep time.Duration // how long the process was stopped since from: it has not hung meanwhile
	first  uint64        // the mark in the first sign; 0: none was given
	worked bool          // a sign has said that it works
}

const stuckAfter = 30 * time.Second

func (p *process) busy() bool { return p.loop.until > p.at() }

// at is now, or when the process died.
func (p *process) at() time.Duration {
	if p.died > 0 {
		return p.died
	}
	return p.t.w.At
}

// stands is for how long the mark has stood, by the process' own time.
func (p *process) stands() time.Duration {
	switch l := &p.loop; {
	case p.stopped:
		return max(0, p.slept-l.from-l.asleep)
	case l.hangs, p.busy():
		return max(0, p.at()-l.from-l.asleep)
	}
	return 0
}

// overdue says that medics have to end it.
func (p *process) overdue() bool { return p.stands() >= 2*stuckAfter }

// mark counts what the loop has got done.
func (p *process) mark() uint64 {
	at := p.at()
	if p.loop.hangs || p.busy() {
		at = p.loop.from
	}
	return 1 + uint64((at-p.born)/time.Millisecond)
}

// look is the beat goroutine's look at the loop: it ends a process whose loop hangs.
func (p *process) look() {
	if !p.loop.hangs || p.loop.immune || p.stands() < stuckAfter {
		return
	}
	p.t.w.report.Injected["hung loop ended itself"]++
	p.die("ends itself: its loop hangs")
}

// says returns what a sign of the process says of it now.
func (p *process) says() core.Sign {
	s := core.Sign{Identity: p.id, Recovering: p.recovering(), Mark: p.mark(), MarkAge: p.stands()}
	if p.loop.first == 0 {
		p.loop.first = s.Mark
	}
	p.loop.worked = p.loop.worked || !s.Recovering && s.Mark != p.loop.first
	return s
}

// startLoop is what the loop does at first.
func (p *process) startLoop() {
	w := p.t.w
	if w.Chance(w.faults.slowRecovery) {
		w.report.Injected["slow recovery"]++
		p.ready = p.speaks + w.Between(2*time.Second, 20*time.Second)
	}
	if w.Chance(w.faults.hangAtStart) {
		w.report.Injected["loop hangs at its start"]++
		p.loop.hangs, p.loop.from = true, p.born
		w.tracef("%s hangs from its start on", p.t.ID)
	}
}

func (w *world) keepBusy() { w.occupy(w.any(false), false) }

func (w *world) hang() { w.occupy(w.any(false), true) }

// occupy gives a loop something to do for long, or for ever.
func (w *world) occupy(t *target, hangs bool) {
	p := t.p
	if p == nil || p.stopped || p.loop.hangs || p.busy() || w.At < p.ready {
		return
	}
	p.loop.from, p.loop.asleep = w.At, 0
	if hangs {
		p.loop.hangs, p.loop.immune = true, w.Chance(w.faults.immune)
		w.report.Injected["loop hangs"]++
		w.tracef("the loop of %s hangs; it ends itself: %v", t.ID, !p.loop.immune)
		return
	}
	p.loop.until = w.At + w.Between(5*time.Second, 25*time.Second)
	w.report.Injected["busy loop"]++
	w.tracef("%s is busy until %v", t.ID, p.loop.until)
}

// wakeLoop takes a sleep out of what the loop does.
func (p *process) wakeLoop(d time.Duration) {
	if p.loop.hangs {
		p.loop.asleep += d
	}
	if p.loop.until > p.slept {
		p.loop.asleep += d
		p.loop.until += d
	}
}
