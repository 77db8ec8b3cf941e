package sim

import (
	"time"

	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/test/simulator/eventqueue"
)

// A slow batch occupies the loop of a node for up to 20 seconds, longer than a client's silence may last. Meanwhile heartbeats continue
// (N9), sockets queue what arrives, the disk finishes its job, and the node reads nothing. No session may fail because of it.

// step is one turn of the node's loop.
func (n *node) step() {
	n.awake = false
	if n.crashes("before a step") {
		return
	}
	fed := n.fed
	n.fed = false
	if n.w.loopsWork() {
		n.shell.Worked(time.Second)
	}
	n.askForTraces()
	o := n.shell.Step(n.now())
	n.checkReports(&o)
	n.mayRetire()
	n.checker.measure()
	if n.w.At >= n.w.faults.end || !fed || n.suspect || n.drains || !n.w.Chance(n.w.faults.slowBatch) {
		n.act(&o)
		return
	}
	n.work(&o)
}

// work makes the current step take long. Its output is carried out when the step is over.
func (n *node) work(o *shell.Output) {
	w := n.w
	w.injected("slow batch")
	d := eventqueue.OneOf(w.Queue, w.Between(100*time.Millisecond, time.Second), w.Between(time.Second, 20*time.Second))
	w.tracef("%s works on a batch for %v", n.id, d)
	n.stopped = true
	life := n.life
	done := w.At + d
	var beat func()
	beat = func() {
		if n.life == life && n.up && w.At < done && n.lastBeat != nil {
			w.heartbeat(n, n.lastBeat)
			w.After(100*time.Millisecond, beat)
		}
	}
	beat()
	w.After(d, func() {
		if n.life != life {
			return
		}
		n.stopped = false
		n.ends = max(n.ends, w.At+time.Second)
		w.tracef("%s is through with it", n.id)
		if n.act(o); n.up {
			n.catchUp()
		}
	})
}

// loopsWork reports whether the loops of nodes are always busy, so that commits wait as long as they may. Otherwise loops seem idle, and
// commits wait only for the disk. It is not drawn, so that the other seeds keep their runs.
func (w *world) loopsWork() bool { return w.Seed%8 != 4 }
