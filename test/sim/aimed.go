package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"posta.dev/posta/topology"
)

// aim is a fault that waits for the moment when it does most harm. At a random moment most nodes hold nothing that
// could be lost. So a bug that shows only when a session's state is lost, or when a node restarts that others wait for,
// would take thousands of seeds.
type aim int

const (
	noAim            aim = iota
	loseState            // the disk of a node that has a session
	loseBetween          // a disk before a session begins; the node starts again only after the beginning
	restartSender        // a node with facts that wait for reference data (R11)
	drainBusy            // a node that has something to store or to send, over a transport that does not take all frames
	restoreAll           // all disks, to a state before a client's upload was complete: no node can notice that, only the client
	restoreOnceAgain     // a disk, to a state whose log has been retired since
	loseBehindFull       // the disk of a node that has a session, while those of its senders are full
)

func (a aim) String() string {
	return [...]string{"nothing", "lost state", "disks lost between sessions", "restarted senders", "busy drains", "a restored cluster",
		"disks restored again", "lost state behind full disks"}[a]
}

// drawAim decides whether a seed has aimed faults, and which. Of the seeds that neither change the topology nor set logs back at chosen
// moments, a fifth has aimed faults. It draws from its own source of chance.
func (f *faults) drawAim(w *world) {
	r := rand.New(rand.NewPCG(w.Seed, 23))
	if f.rewirings > 0 || len(f.strikes) > 0 || r.Float64() > 0.24 {
		return
	}
	f.aimed, f.aim = r, loseState+aim(r.IntN(int(restoreOnceAgain)))
	// from another source, so that the other seeds stay what they are
	if also := rand.New(rand.NewPCG(w.Seed, 61)); f.aim == loseState && also.Float64() < 0.4 {
		f.aim = loseBehindFull
	}
	switch f.aim {
	case drainBusy:
		f.fullQueues = cmp.Or(f.fullQueues, r)
	case restoreAll, restoreOnceAgain:
		f.setBacks = 0 // each set-back makes its own copies, and no disk comes back with records that it had lost before
	}
}

// takeAim plans the aimed faults of a seed, one after the other.
func (f *faults) takeAim(w *world) {
	if r := f.aimed; r != nil {
		w.inFirstPhase(time.Duration(r.Int64N(int64(f.end/2))), func() { w.waitFor(f.aim, r) })
	}
}

// waitFor lets the fault happen as soon as there is a suitable node, and later waits for the next one.
func (w *world) waitFor(a aim, r *rand.Rand) {
	var targets []*node
	for _, n := range w.order {
		if n.up && !n.stopped && a.hits(n) {
			targets = append(targets, n)
		}
	}
	if len(targets) == 0 {
		w.inFirstPhase(5*time.Millisecond, func() { w.waitFor(a, r) })
		return
	}
	n := targets[r.IntN(len(targets))]
	w.injected("aimed fault")
	w.tracef("aimed at %s: %v", n.id, a)
	soon := func() time.Duration { return time.Duration(r.Int64N(int64(time.Second))) }
	next := func() { w.inFirstPhase(2*soon(), func() { w.waitFor(a, r) }) }
	switch a {
	case loseState:
		w.wipe(n)
		next()
	case loseBehindFull:
		for _, x := range w.wireset {
			if x.to == n.id {
				w.fill(w.nodes[x.from])
				w.injected("wiped behind a full disk")
			}
		}
		w.wipe(n)
		next()
	case loseBetween:
		w.loseDisk(n)
		begun := w.begun()
		w.once(func() bool { return w.begun() > begun }, func() {
			w.restart(n)
			next()
		})
	case restartSender:
		for _, x := range w.wireset {
			if from := w.nodes[x.from]; x.to == n.id && from.up {
				from.crash("while its facts wait")
				w.restart(from)
			}
		}
		next()
	case drainBusy:
		w.drain(n)
		next()
	case restoreAll:
		copies := make([]disk, len(w.order))
		for i, n := range w.order {
			copies[i] = n.disk.clone()
		}
		c := w.clients[slices.IndexFunc(w.clients, (*client).uploads)]
		w.once(func() bool { return c.sent || c.over }, func() {
			if w.At >= w.faults.end {
				return
			}
			for i, n := range w.order {
				w.setBackTo(n, copies[i])
			}
			next()
		})
	case restoreOnceAgain:
		former := n.disk.clone()
		w.inFirstPhase(soon(), func() {
			w.setBackTo(n, former)
			w.inFirstPhase(time.Second+soon(), func() {
				w.setBackTo(n, former)
				next()
			})
		})
	}
}

// once calls a function as soon as its condition holds, or when faults stop.
func (w *world) once(may func() bool, do func()) {
	if may() || w.At >= w.faults.end {
		do()
		return
	}
	w.After(2*time.Millisecond, func() { w.once(may, do) })
}

// begun counts the clients that have begun.
func (w *world) begun() (n int) {
	for _, c := range w.clients {
		if c.begun {
			n++
		}
	}
	return n
}

// uploads reports whether every input has opened the client's session, and not all streams have ended.
func (c *client) uploads() bool { return len(c.speech.opened) == len(c.inputs) && !c.sent && !c.over }

// inFirstPhase calls a function later, unless faults have stopped by then.
func (w *world) inFirstPhase(d time.Duration, do func()) {
	w.After(d, func() {
		if w.At < w.faults.end && w.err == nil {
			do()
		}
	})
}

// hits reports whether the fault would do much harm at a node now.
func (a aim) hits(n *node) bool {
	switch a {
	case restartSender:
		return len(n.core().Waiting()) > 0
	case loseBetween:
		return !n.stage().holds(topology.Input) && n.w.begun() < len(n.w.clients)
	case restoreAll:
		return slices.ContainsFunc(n.w.clients, (*client).uploads)
	case drainBusy:
		return n.job != nil || n.core().Sendable()
	}
	return n.core().Sessions() > 0 && slices.ContainsFunc(n.w.clients, func(c *client) bool { return c.begun && !c.over })
}
