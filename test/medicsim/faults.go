package medicsim

import (
	"fmt"
	"time"

	"posta.dev/posta/test/simulator/eventqueue"
)

// faults are the faults that a seed injects; a seed may have any of the kinds.
type faults struct {
	end                                  time.Duration
	drop, repeat, slow                   float64 // probability for each message
	slowDisk, slowStart, crash           float64
	kills, medicKills                    time.Duration // mean time between two; 0 for none
	stops, medicStops, partitions, sleep time.Duration
	loops                                float64       // for each kill: the target crashes again at its next starts
	wrongHints                           float64       // for each look at a process
	stall                                float64       // for each order: the medic that carries it out is stopped at that moment
	killAllButOne                        bool          // at once, all medics but one, and all nodes
	slowFence                            float64       // for each new term: the host learns of it late
	wipe                                 float64       // for each death: the disk is lost with the process
	lateSigns                            float64       // for each death: signs of life arrive for up to 3 s more
	cuts                                 time.Duration // mean time between two cuts: a medic loses the network, and nothing else
	restore                              float64       // for each death of a medic: an older copy of the directory is restored
	fenceRestores, clocks                time.Duration // mean time between two restored fences, and between two jumps of a clock
	absurd                               float64       // for each message: it contains an impossible number
	busy, hangs                          time.Duration // mean time between two loops that are busy for 5 to 25 s, and between two that hang
	immune                               float64       // for each loop that hangs: the process does not end itself
	slowRecovery, hangAtStart            float64       // for each start
	aim                                  aim
}

func newFaults(w *world) faults {
	f := faults{end: w.Between(4*time.Second, 20*time.Second)}
	if w.Chance(0.1) { // nothing happens to medics
		f.kills, f.loops, f.slowStart = w.Between(500*time.Millisecond, 4*time.Second), eventqueue.OneOf(w.Queue, 0, 0.4),
			eventqueue.OneOf(w.Queue, 0, 0.2)
		return f
	}
	often := func(p float64, set func()) {
		if w.Chance(p) {
			set()
		}
	}
	often(0.3, func() { f.drop = eventqueue.OneOf(w.Queue, 0.01, 0.1, 0.3) })
	often(0.3, func() { f.repeat = eventqueue.OneOf(w.Queue, 0.05, 0.3) })
	often(0.3, func() { f.slow = eventqueue.OneOf(w.Queue, 0.01, 0.1) })
	often(0.3, func() { f.slowDisk = 0.2 })
	often(0.2, func() { f.slowStart = 0.3 })
	often(0.3, func() { f.crash = eventqueue.OneOf(w.Queue, 0.002, 0.05) })
	often(0.7, func() { f.kills = w.Between(500*time.Millisecond, 4*time.Second) })
	often(0.5, func() { f.medicKills = w.Between(time.Second, 6*time.Second) })
	often(0.3, func() { f.stops = w.Between(time.Second, 6*time.Second) })
	often(0.4, func() { f.medicStops = w.Between(500*time.Millisecond, 5*time.Second) })
	often(0.3, func() { f.partitions = w.Between(time.Second, 6*time.Second) })
	often(0.3, func() { f.sleep = w.Between(time.Second, 6*time.Second) })
	often(0.2, func() { f.loops = 0.4 })
	often(0.2, func() { f.wrongHints = eventqueue.OneOf(w.Queue, 0.001, 0.02) })
	often(0.3, func() { f.stall = 0.2 })
	often(0.2, func() { f.killAllButOne = true })
	// Faults that were added later have their own source of chance, so that seeds which found something keep their runs.
	later := eventqueue.New(w.Seed, 0x1a7e)
	rare := func(p float64, set func()) {
		if later.Chance(p) {
			set()
		}
	}
	rare(0.2, func() { f.wipe = eventqueue.OneOf(later, 0.1, 0.5) })
	rare(0.1, func() { f.wipe, f.slowFence = 0.5, 0.5 })
	rare(0.2, func() { f.lateSigns = eventqueue.OneOf(later, 0.2, 0.7) })
	rare(0.2, func() { f.cuts = later.Between(2*time.Second, 8*time.Second) })
	rare(0.2, func() { f.restore = eventqueue.OneOf(later, 0.2, 0.7) })
	rare(0.15, func() { f.fenceRestores = later.Between(2*time.Second, 6*time.Second) })
	rare(0.3, func() { f.clocks = later.Between(time.Second, 4*time.Second) })
	rare(0.15, func() { f.absurd = eventqueue.OneOf(later, 0.002, 0.02) })
	if w.Plain {
		return f
	}
	rare(0.2, func() { f.busy = later.Between(500*time.Millisecond, 4*time.Second) })
	rare(0.1, func() {
		f.hangs, f.immune = later.Between(2*time.Second, 8*time.Second), eventqueue.OneOf(later, 0, 0.3)
	})
	rare(0.1, func() { f.slowRecovery = eventqueue.OneOf(later, 0.2, 1) })
	rare(0.05, func() { f.hangAtStart = 0.2 })
	return f
}

func (f *faults) String() string { return fmt.Sprintf("%+v", *f) }

// networkIsFine reports whether nothing between medics and nodes goes wrong in this run.
func (f *faults) networkIsFine() bool { return !f.networkIsUnreliable() && f.cuts == 0 }

// networkIsUnreliable reports whether something may go wrong between any two of them.
func (f *faults) networkIsUnreliable() bool {
	return f.drop+f.slow+f.lateSigns+f.absurd > 0 || f.partitions > 0
}

// medicsAreFine reports whether nothing happens to a medic, its disk or its network.
func (f *faults) medicsAreFine() bool {
	return f.networkIsFine() && f.slowDisk+f.crash == 0 && f.medicKills+f.medicStops+f.sleep == 0 && f.stall+f.wipe+f.restore+f.absurd == 0 &&
		f.fenceRestores == 0 && !f.killAllButOne && f.aim == noAim
}

func (f *faults) inject(w *world) {
	w.again(f.kills, func() { w.kill(w.any(false)) })
	w.again(f.medicKills, func() { w.kill(w.any(true)) })
	w.again(f.stops, func() { w.stop(w.any(false)) })
	w.again(f.medicStops, func() { w.stop(w.any(true)) })
	w.again(f.partitions, w.partition)
	w.again(f.sleep, w.sleep)
	w.again(f.cuts, w.cutOff)
	w.again(f.fenceRestores, w.restoreFence)
	w.again(f.clocks, w.jumpClock)
	w.again(f.busy, w.keepBusy)
	w.again(f.hangs, w.hang)
	if f.killAllButOne {
		w.After(w.Between(2*time.Second, f.end), w.killAllButOne)
	}
	w.injectAimed()
	w.After(f.end, w.heal)
}

func (w *world) again(mean time.Duration, do func()) {
	if mean == 0 {
		return
	}
	w.After(time.Duration(w.Rand.ExpFloat64()*float64(mean)), func() {
		if w.At < w.faults.end && w.err == nil {
			do()
			w.again(mean, do)
		}
	})
}

func (w *world) any(medic bool) *target {
	for {
		if t := eventqueue.OneOf(w.Queue, w.order...); t.medic == medic {
			return t
		}
	}
}

// maxCrashes is how many starts in a row crash at most, once the faults have stopped.
const maxCrashes = 5

func (w *world) kill(t *target) {
	if t.p == nil {
		return
	}
	w.report.Injected["kill"]++
	w.report.Kills++
	if !t.medic && w.Chance(w.faults.loops) {
		t.crashLoop = 1 + w.Rand.IntN(maxCrashes)
	}
	t.p.die("is killed by a fault")
}

// stop stops a process for a moment, for long, or for ever.
func (w *world) stop(t *target) {
	if t.p == nil || t.p.stopped {
		return
	}
	w.report.Injected["stop"]++
	p := t.p
	p.stop()
	if w.Chance(0.2) {
		return // it hangs until a medic kills it
	}
	w.After(eventqueue.OneOf(w.Queue, w.Between(0, suspectAfter), w.Between(0, 6*time.Second)), p.resume)
}

// sleep simulates a machine that sleeps: it stops all processes of one host, or of all hosts.
func (w *world) sleep() {
	w.report.Injected["sleep"]++
	only := eventqueue.OneOf(w.Queue, append([]*host{nil}, w.hosts...)...)
	d := w.Between(50*time.Millisecond, 4*time.Second)
	w.tracef("a machine sleeps for %v", d)
	for _, t := range w.order {
		if t.p != nil && !t.p.stopped && (only == nil || t.host == only) {
			p := t.p
			p.stop()
			w.After(d, p.resume)
		}
	}
}

func (w *world) killAllButOne() {
	w.report.Injected["all but one killed"]++
	spared := w.any(true)
	for _, t := range w.order {
		if t != spared {
			w.kill(t)
		}
	}
}

// heal ends the faults. Dead processes stay dead, and stopped ones stay stopped. But a host that no working medic reaches gets a medic from
// outside: nothing on that host can recover by itself, and in a real cluster somebody starts a medic there (docs/medics.md).
func (w *world) heal() {
	w.tracef("faults stop")
	f := &w.faults
	w.checker.fine, w.checker.elected = f.networkIsFine(), f.medicsAreFine()
	f.drop, f.repeat, f.slow, f.slowDisk, f.slowStart, f.crash, f.wrongHints, f.stall = 0, 0, 0, 0, 0, 0, 0, 0
	f.wipe, f.lateSigns, f.slowFence, f.restore, f.absurd = 0, 0, 0, 0, 0
	f.slowRecovery, f.hangAtStart = 0, 0
	clear(w.blocked)
	for _, t := range w.order {
		w.rejoin(t)
		t.crashLoop = min(t.crashLoop, maxCrashes)
	}
	clear(w.cut)
	w.help()
}

func (w *world) help() {
	for _, h := range w.hosts {
		var of []*target
		working := false
		for _, t := range w.order {
			if t.medic && (w.reach || t.host == h) {
				of = append(of, t)
				working = working || t.p != nil && !t.p.stopped
			}
		}
		if working || len(of) == 0 {
			continue
		}
		if t := of[0]; t.p != nil {
			t.p.resume()
		} else {
			t.start(t.host.started[t.ID])
		}
	}
	for _, t := range w.order { // a host that never had a medic
		covered := false
		for _, m := range w.medics {
			covered = covered || w.reach || m.Host == t.Host && (!t.medic || m.ID != t.ID)
		}
		if covered && !(t.medic && len(w.medics) == 1) {
			continue
		}
		if t.crashLoop = 0; t.p == nil {
			t.start(t.host.started[t.ID])
		} else if t.p.stopped {
			t.p.resume()
		} else if t.p.overdue() {
			t.p.die("is killed from outside: its loop hangs")
		}
	}
	w.After(3*time.Second, w.help)
}
