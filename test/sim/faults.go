package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"posta.dev/posta/test/simulator/eventqueue"
)

// faults are the faults that a seed injects. A seed has some kinds of them: with all kinds at once a run hardly makes progress, and a run
// with few kinds finds bugs that other kinds would hide.
type faults struct {
	end    time.Duration // end of the first phase
	drop   float64       // probability for each message
	repeat float64
	slow   float64
	ghost  float64 // for each frame: a copy arrives at any later time
	old    float64 // for each request: an older one is sent again
	crash  float64 // at each point where a step may be cut off

	crashes, breaks, partitions, stops, terms, fulls time.Duration // mean time between two; 0 for none
	wipes                                            int
	strikes                                          []strike // set-backs at chosen moments
	rewirings                                        int      // changes of the topology
	setBacks                                         int      // disks that come back in a former state (R14)
	noHeartbeats                                     bool     // nobody hears a heartbeat in the first phase

	badSnapshot   float64
	snapshotEvery int64 // bytes of log
	poison        bool
	clockJumps    time.Duration // mean time between two jumps of the wall clock of some machine (M10); 0 for none
	rivals        bool          // each session's id is used by two clients
	slowBatch     float64       // for each step with work: it takes long (N9)
	largeRows     int           // how many rows of an upload are about as large as limits.frame (R15)
	atTheEnds     *rand.Rand    // draws which limits are at the ends of their ranges; nil if none are
	again         bool          // clients vanish or sleep, and are started once more under their id
	// draws clients with names and roles, and those that ask for other clients' sessions (S5); nil if all clients are one
	owners       *rand.Rand
	sharedMemory int        // limits.node_memory, for the sessions of several owners; 0: no bound
	dozes        bool       // with again: clients do so as soon as an input has admitted them, when a takeover has most to take over
	meddling     bool       // strangers cancel and close the sessions of others
	aimed        *rand.Rand // draws the moments of aimed faults; nil if there are none
	aim          aim        // the kind of aimed faults
	files        *rand.Rand // draws which files inputs read in place (S8), and which change; nil if clients send all files
	filesChange  bool
	filesSlow    bool       // some pieces take seconds to be read
	longKeys     bool       // not a fault: keys so long that payloads are large enough for the sockets to reuse
	fullQueues   *rand.Rand // draws which frames a transport refuses; nil if it takes all
	vanish       float64
	cancel       float64
	think        time.Duration // pause of clients between two chunks
}

func newFaults(w *world) faults {
	f := faults{
		end:           w.Between(3*time.Second, 15*time.Second),
		snapshotEvery: eventqueue.OneOf[int64](w.Queue, 1<<10, 4<<10, 32<<10, 1<<40),
		think:         eventqueue.OneOf(w.Queue, 0, 10*time.Millisecond, 100*time.Millisecond),
	}
	f.longKeys = w.Seed%8 == 3 // not drawn, so that the other seeds keep their runs
	f.rivals = w.Seed%8 == 5
	if readsFiles(w.Seed) { // not drawn, either
		f.files = rand.New(rand.NewPCG(w.Seed, 8))
		f.filesChange = f.files.IntN(3) == 0
		f.filesSlow = w.Seed%3 == 0
	}
	if w.Seed%4 == 2 {
		f.setBacks = 1 + int(w.Seed/4%4) // not drawn, either
	}
	f.drawKinds(w)
	f.drawRewirings(w)
	f.drawStrikes(w)
	f.drawAim(w)
	if w.Chance(0.06) {
		return f // nothing else goes wrong
	}
	often := func(p float64, set func()) {
		if w.Chance(p) {
			set()
		}
	}
	every := func(low, high time.Duration) time.Duration { return w.Between(low, high) }
	often(0.4, func() { f.drop = eventqueue.OneOf(w.Queue, 0.002, 0.02, 0.1) })
	often(0.4, func() { f.repeat = eventqueue.OneOf(w.Queue, 0.01, 0.1) })
	often(0.4, func() { f.slow = eventqueue.OneOf(w.Queue, 0.01, 0.1) })
	often(0.3, func() { f.ghost = eventqueue.OneOf(w.Queue, 0.005, 0.05) })
	often(0.3, func() { f.old = 0.1 })
	often(0.5, func() { f.crash = eventqueue.OneOf(w.Queue, 0.0005, 0.003, 0.01) })
	often(0.5, func() { f.crashes = every(200*time.Millisecond, 3*time.Second) })
	often(0.4, func() { f.breaks = every(50*time.Millisecond, time.Second) })
	often(0.3, func() { f.partitions = every(500*time.Millisecond, 4*time.Second) })
	often(0.3, func() { f.stops = every(time.Second, 5*time.Second) })
	often(0.3, func() { f.terms = every(time.Second, 5*time.Second) })
	often(0.2, func() { f.fulls = every(time.Second, 5*time.Second) })
	often(0.2, func() { f.wipes = 1 + w.Rand.IntN(3) })
	often(0.15, func() { f.noHeartbeats = true })
	often(0.3, func() { f.badSnapshot = 0.4 })
	often(0.25, func() { f.poison = true })
	often(0.25, func() { f.vanish = 0.4 })
	often(0.25, func() { f.cancel = 0.4 })
	return f
}

func (f *faults) String() string {
	text := fmt.Sprintf("until %v, snapshot every %d bytes, clients think %v", f.end.Round(time.Millisecond), f.snapshotEvery, f.think)
	for _, p := range []struct {
		name string
		p    float64
	}{
		{"drop", f.drop}, {"repeat", f.repeat}, {"slow", f.slow}, {"ghost", f.ghost}, {"old", f.old}, {"crash", f.crash},
		{"bad snapshot", f.badSnapshot}, {"vanish", f.vanish}, {"cancel", f.cancel}, {"wipes", float64(f.wipes)},
		{"set back", float64(f.setBacks)}, {"topologies", float64(f.rewirings)}, {"directed set-backs", float64(len(f.strikes))},
		{"slow batch", f.slowBatch},
	} {
		if p.p > 0 {
			text += fmt.Sprintf(", %s %v", p.name, p.p)
		}
	}
	for _, t := range []struct {
		name string
		t    time.Duration
	}{{"crashes", f.crashes}, {"breaks", f.breaks}, {"partitions", f.partitions}, {"stops", f.stops}, {"drains", f.terms},
		{"full disks", f.fulls}, {"clock jumps", f.clockJumps}} {
		if t.t > 0 {
			text += fmt.Sprintf(", %s every %v", t.name, t.t.Round(time.Millisecond))
		}
	}
	if f.largeRows > 0 {
		text += fmt.Sprintf(", %d large rows", f.largeRows)
	}
	if f.atTheEnds != nil {
		text += ", limits at the ends"
	}
	if f.owners != nil {
		text += ", owners"
	}
	if f.sharedMemory > 0 {
		text += fmt.Sprintf(" that share %d bytes of each node", f.sharedMemory)
	}
	if f.again {
		text += ", clients started again"
		if f.dozes {
			text += " and dozing"
		}
	}
	if f.meddling {
		text += ", meddling strangers"
	}
	if f.aimed != nil {
		text += ", aimed at " + f.aim.String()
	}
	if f.longKeys {
		text += ", long keys"
	}
	if f.rivals {
		text += ", rivals"
	}
	if f.noHeartbeats {
		text += ", no heartbeats"
	}
	if f.poison {
		text += ", poison"
	}
	return text
}

// inject plans the first phase, and its end.
func (f *faults) inject(w *world) {
	w.again(f.crashes, func(n *node) {
		n.crash("")
		w.restart(n)
	})
	if len(w.wireset) > 0 { // a node that holds all roles has no links
		w.again(f.breaks, func(*node) { w.cut(eventqueue.OneOf(w.Queue, w.wireset...)) })
	}
	w.again(f.partitions, w.partition)
	w.again(f.stops, w.stop)
	w.again(f.terms, w.drain)
	w.again(f.fulls, w.fill)
	w.again(f.clockJumps, w.jumpClock)
	for range f.wipes {
		w.After(w.Between(0, f.end), func() { w.wipe(eventqueue.OneOf(w.Queue, w.order...)) })
	}
	for range f.setBacks {
		w.planSetBack()
	}
	f.planRewirings(w)
	w.backUps()
	f.takeAim(w)
	w.After(f.end, w.heal)
}

// again injects a fault now and then in the first phase.
func (w *world) again(mean time.Duration, do func(*node)) {
	if mean == 0 {
		return
	}
	w.After(time.Duration(w.Rand.ExpFloat64()*float64(mean)), func() {
		if w.At < w.faults.end && w.err == nil {
			do(eventqueue.OneOf(w.Queue, w.order...))
			w.again(mean, do)
		}
	})
}

// crashes is called where a process may die between two steps of its loop.
func (n *node) crashes(where string) bool {
	w := n.w
	if w.At >= w.faults.end || !w.Chance(w.faults.crash) {
		return false
	}
	n.crash(where)
	w.restart(n)
	return true
}

func (w *world) restart(n *node) {
	w.After(eventqueue.OneOf(w.Queue, w.Between(time.Millisecond, 20*time.Millisecond), w.Between(20*time.Millisecond, 2*time.Second)),
		n.start)
}

// partition cuts some nodes off from the others, in one direction or both, for a while.
func (w *world) partition(*node) {
	w.injected("partition")
	both := w.Chance(0.6)
	var pairs []pair
	side := map[*node]bool{}
	for _, n := range w.order {
		side[n] = w.Chance(0.3)
	}
	for _, a := range w.order {
		for _, b := range w.order {
			if side[a] && !side[b] {
				pairs = append(pairs, pair{a.id, b.id})
				if both {
					pairs = append(pairs, pair{b.id, a.id})
				}
			}
		}
	}
	for _, p := range pairs {
		w.block(p, true)
	}
	w.tracef("partition of %d pairs begins", len(pairs))
	w.After(w.Between(50*time.Millisecond, 3*time.Second), func() {
		for _, p := range pairs {
			w.block(p, false)
		}
	})
}

// block blocks or unblocks one direction between two nodes. In both cases connections break, because TCP gives them up, or finds them dead.
func (w *world) block(p pair, on bool) {
	if w.blocked[p] == on {
		return
	}
	w.blocked[p] = on
	for _, x := range w.wireset {
		if x.from == p.from && x.to == p.to {
			w.cut(x)
		}
	}
}

// stop stops a process, like SIGSTOP or a starved machine, sometimes for longer than its clients wait.
func (w *world) stop(n *node) {
	if n.stopped || !n.up {
		return
	}
	w.injected("stop")
	n.stopped = true
	life := n.life
	d := eventqueue.OneOf(w.Queue, w.Between(time.Millisecond, time.Second), w.Between(time.Second, clientTimeout*3/2))
	w.tracef("%s stops for %v", n.id, d)
	w.After(d, func() {
		if n.life == life {
			n.resume()
		}
	})
}

func (n *node) resume() {
	n.stopped = false
	n.ends = max(n.ends, n.w.At+time.Second)
	n.w.tracef("%s continues", n.id)
	if n.w.Chance(0.5) {
		n.step() // it first notices its own timer
	}
	n.catchUp()
}

// catchUp delivers to the process what arrived meanwhile, until it is stopped again.
func (n *node) catchUp() {
	for len(n.missed) > 0 && n.up && !n.stopped {
		do := n.missed[0]
		n.missed = n.missed[1:]
		do()
	}
}

// drainTime is limits.drain.
const drainTime = 2 * time.Second

// drain orders a process to stop, as SIGTERM does (N5). The process is started again when it has ended.
func (w *world) drain(n *node) {
	if !n.up || n.stopped || n.drains {
		return
	}
	w.injected("drain")
	w.tracef("%s is told to stop", n.id)
	n.drains, n.drainBy, n.ends = true, w.At+drainTime, w.At+drainTime+time.Second
	n.took = n.core().Counters.FramesIn
	n.shell.Drain(n.now())
	n.wake()
}

// checkDrained checks a node that says that it has drained: while there is time and room, nothing waits to be stored or sent.
func (n *node) checkDrained() {
	if n.w.At < n.drainBy && !n.suspect && !n.isFull && (n.job != nil || n.core().Pending() || n.core().Sendable()) {
		n.w.fail("N5: %s ends before its drain is over: stores %v, to be stored %v, to be sent %v", n.id, n.job != nil, n.core().Pending(),
			n.core().Sendable())
	}
}

// fill fills a disk for a while (W5).
func (w *world) fill(n *node) {
	w.injected("full disk")
	disk := n.disk
	disk.fill(true)
	w.tracef("%s has no room on its disk", n.id)
	w.After(w.Between(50*time.Millisecond, 2*time.Second), func() { disk.fill(false) })
}

// wipe takes a node's disk away: the node starts again with another log (R8).
func (w *world) wipe(n *node) {
	w.loseDisk(n)
	w.restart(n)
}

// loseDisk is the first half of wipe: from then on the node is down.
func (w *world) loseDisk(n *node) {
	w.injected("wipe")
	w.lost(n)
	n.crash("and loses its disk")
	n.disk = w.blankDisk()
	n.left, n.fixed = false, false
}

// heal ends the first phase.
func (w *world) heal() {
	f := &w.faults
	w.tracef("faults stop")
	f.noHeartbeats, f.filesSlow = false, false
	w.damage.p = 0
	f.drop, f.repeat, f.slow, f.ghost, f.old, f.crash, f.badSnapshot = 0, 0, 0, 0, 0, 0, 0
	for _, a := range w.order {
		a.disk.heal()
		for _, b := range w.order {
			w.block(pair{a.id, b.id}, false)
		}
	}
}

// overshoot returns what a link may hold beyond its window: the window is checked before a frame is taken, and the output of one commit is
// added.
func overshoot(w *world) int {
	largest := 24 << 10
	if w.faults.longKeys || w.faults.largeRows > 0 {
		largest = 256 << 10
	}
	return 2*min(w.layout.commit, 64<<10) + largest
}
