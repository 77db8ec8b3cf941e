package medicsim

import (
	"time"

	"posta.dev/posta/medic/core"
)

// loop is the loop of a node's process (N9): it makes progress all the time, or works on something large, or hangs. The process sends
// heartbeats in all three cases. A node whose loop hangs ends itself after stuckAfter; if that fails, medics end it after twice that time.
type loop struct {
	from   time.Duration // when it began its present work
	until  time.Duration // until then the loop is busy; 0: it is not
	hangs  bool
	immune bool          // the process does not end itself
	asleep time.Duration // how long the process was stopped after from; this does not count as hanging
	first  uint64        // the mark in the first sign; 0: no sign was sent yet
	worked bool          // a sign has reported that the node works
}

const stuckAfter = 30 * time.Second

func (p *process) busy() bool { return p.loop.until > p.at() }

// at returns the present time, or the time at which the process died.
func (p *process) at() time.Duration {
	if p.died > 0 {
		return p.died
	}
	return p.t.w.At
}

// stands returns how long the mark has stayed the same, in the process's own time.
func (p *process) stands() time.Duration {
	switch l := &p.loop; {
	case p.stopped:
		return max(0, p.slept-l.from-l.asleep)
	case l.hangs, p.busy():
		return max(0, p.at()-l.from-l.asleep)
	}
	return 0
}

// overdue reports whether medics have to end the process.
func (p *process) overdue() bool { return p.stands() >= 2*stuckAfter }

// mark counts the progress of the loop.
func (p *process) mark() uint64 {
	at := p.at()
	if p.loop.hangs || p.busy() {
		at = p.loop.from
	}
	return 1 + uint64((at-p.born)/time.Millisecond)
}

// look does what the heartbeat goroutine does: it ends a process whose loop hangs.
func (p *process) look() {
	if !p.loop.hangs || p.loop.immune || p.stands() < stuckAfter {
		return
	}
	p.t.w.report.Injected["hung loop ended itself"]++
	p.die("ends itself: its loop hangs")
}

// says returns the content of a sign that the process would send now.
func (p *process) says() core.Sign {
	s := core.Sign{Identity: p.id, Recovering: p.recovering(), Mark: p.mark(), MarkAge: p.stands()}
	if p.loop.first == 0 {
		p.loop.first = s.Mark
	}
	p.loop.worked = p.loop.worked || !s.Recovering && s.Mark != p.loop.first
	return s
}

// startLoop sets what the loop does after the start.
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

// occupy makes a loop busy for long, or makes it hang.
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

// wakeLoop subtracts a sleep from the time that the loop's work takes.
func (p *process) wakeLoop(d time.Duration) {
	if p.loop.hangs {
		p.loop.asleep += d
	}
	if p.loop.until > p.slept {
		p.loop.asleep += d
		p.loop.until += d
	}
}
