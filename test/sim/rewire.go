package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// rewiring is the state of a run whose topology changes. Between two runs of the cluster, stages get other numbers of replicas. The
// directories of nodes that stay are kept. The directories of nodes that left are kept as well, or set aside, as `posta up` does: then a
// node that is added again is a new node.
type rewiring struct {
	under  bool          // all nodes have been told to end, and none is started
	at     time.Duration // when the nodes were last told; 0 for never
	times  int
	afresh bool // a node that is added again starts with an empty directory
}

// drawRewirings decides whether the topology changes: in one seed of sixteen. It is not drawn, so that other seeds keep
// their runs.
func (f *faults) drawRewirings(w *world) {
	if w.Seed%16 == 15 {
		f.rewirings = 1 + int(w.Seed/16%3)
		w.rewiring.afresh = w.Seed/16%4 == 3
	}
}

// planRewirings plans the changes. Two in a row often undo each other.
func (f *faults) planRewirings(w *world) {
	if f.rewirings == 0 {
		return
	}
	w.layout.name()
	former := w.layout.replicas()
	at := time.Duration(0)
	for range f.rewirings {
		at += w.Between(500*time.Millisecond, f.end*3/4)
		w.After(at, func() {
			now, next := w.layout.replicas(), slices.Clone(former)
			if former = now; slices.Equal(next, now) || w.Chance(0.4) {
				next = w.layout.drawReplicas(w)
			}
			w.rewire(next)
		})
	}
}

// replicas returns the number of replicas of each stage.
func (l *layout) replicas() (all []int) {
	for i := range l.stages {
		all = append(all, l.stages[i].replicas)
	}
	return all
}

// drawReplicas draws other numbers of replicas for one or two stages. It returns the same numbers if no stage may have others.
func (l *layout) drawReplicas(w *world) []int {
	all := l.replicas()
	for range 1 + w.Rand.IntN(2) {
		if i := w.Rand.IntN(len(all)); !l.stages[i].single() {
			all[i] = 1 + (all[i]+w.Rand.IntN(3))%4
		}
	}
	return all
}

// with returns the layout with other numbers of replicas.
func (l *layout) with(replicas []int) layout {
	n := *l
	n.stages, n.edges = slices.Clone(l.stages), slices.Clone(l.edges)
	for i := range n.stages {
		n.stages[i].replicas = replicas[i]
	}
	for i := range n.edges {
		e := &n.edges[i]
		e.To, e.senders = n.stages[e.to].nodes(), n.stages[e.from].nodes()
	}
	n.name()
	return n
}

// name sets the wiring of a layout. As in a topology, equal replicas have equal wiring, whenever they are used.
func (l *layout) name() { l.wiring = fmt.Sprint(l.replicas()) }

// rewire ends all nodes, by a drain or at once, and starts the nodes of the next topology.
func (w *world) rewire(next []int) {
	if w.rewiring.under || w.err != nil {
		return
	}
	w.injected("topology changed")
	w.tracef("the topology changes from %v to %v", w.layout.replicas(), next)
	w.rewiring.under, w.rewiring.at = true, w.At
	ended := time.Duration(0)
	if w.Chance(0.5) {
		ended = drainTime + 2*time.Second
		for _, n := range w.order {
			w.drain(n)
		}
	}
	w.After(ended, func() {
		for _, n := range w.order {
			n.crash("as the topology changes")
		}
		w.layout = w.layout.with(next)
		w.rewiring.under = false
		w.rewiring.times++
		w.populate()
	})
}

// populate gives the world the nodes and the wires of its layout, and starts the nodes.
func (w *world) populate() {
	was := w.order
	w.order = nil
	for s := range w.layout.stages {
		for i, id := range w.layout.stages[s].nodes() {
			w.order = append(w.order, w.settle(id, s, i, was))
		}
	}
	for _, n := range was {
		if !slices.Contains(w.order, n) {
			n.away = true
			w.injected("node removed")
			w.tracef("%s is in the topology no more", n.id)
		}
	}
	for _, n := range w.order {
		if n.checker != nil {
			n.checker.rewired()
		}
	}
	w.layWires()
	for _, c := range w.clients {
		if c.begun {
			c.rewire()
		}
	}
	for _, n := range w.order {
		w.restart(n)
	}
}

// settle returns the node of a topology: one that stays, one that comes back, or a new one.
func (w *world) settle(id link.NodeID, place, index int, was []*node) *node {
	n := w.nodes[id]
	switch {
	case n == nil:
		n = newNode(w, id, place, index)
		n.checker = newChecker(n)
		w.nodes[id] = n
		w.injected("node added")
	case !slices.Contains(was, n):
		n.away = false
		w.injected("node is back")
		if w.rewiring.afresh {
			w.lost(n)
			n.disk, n.left, n.fixed = w.blankDisk(), false, false
		}
	}
	return n
}

// rewired notes which outboxes the new topology does not have. Their frames are given up, and one more number.
func (c *checker) rewired() {
	for k := range c.last {
		if k.to != "" && !slices.Contains(c.n.w.order, c.n.w.nodes[k.to]) {
			c.givenUp[k]++
		}
	}
	if n := len(c.kept); n > 0 {
		c.before = c.kept[n-1].at
	}
}

// follows reports whether a number may follow the last one of its outbox: it is the next one, or all numbers in between were given up.
func (c *checker) follows(k outKey, seq link.Seq) bool {
	return seq > c.last[k] && seq <= c.last[k]+1+c.givenUp[k]
}

// floored reports whether the hwms of a record may move without frames: a link that was away continues after the numbers that were given up
// (R8).
func (c *checker) floored(rec *record.Record) bool {
	return slices.ContainsFunc(rec.Hwms, func(h link.Hwm) bool { return c.n.w.wires[wireKey{h.Edge, h.From, c.n.id}].relaid })
}

// rewire tells the checks of a client that the topology has changed since the client began. A client that knows the
// present inputs need not speak to an input that has left. If all its entry points have left, or an input of its
// session, it may ask for ever without an answer: then its user gives up.
func (c *client) rewire() {
	w := c.w
	c.rewired = true
	maps.DeleteFunc(c.speech.alive, func(in *node, _ time.Duration) bool { return in.away })
	if !slices.ContainsFunc(slices.Concat(c.entries, c.inputs), func(n *node) bool { return n.away }) {
		return
	}
	w.After(20*time.Second, func() {
		if !c.over {
			w.injected("given up by its user")
			if c.vanish(); !c.over { // another client continues with its session
				c.over, c.dead, c.verdict = true, true, "given up"
			}
		}
	})
}

// rewiredPermits reports whether a change of the topology allows such an end: nodes refuse a session of another wiring,
// or miss frames of it that were given up.
func (c *client) rewiredPermits(code protocol.Code, reason string) bool {
	return c.rewired && code == protocol.ErrFailed && (strings.Contains(reason, "joins stages otherwise") ||
		strings.Contains(reason, "start the session again"))
}

// single reports whether a stage has one replica in every topology.
func (s *stage) single() bool {
	return s.holds(topology.Input) && s.holds(topology.Joiner) || s.holds(topology.Joiner) && s.holds(topology.Aggregator) ||
		s.holds(topology.Reducer) && s.holds(topology.Output)
}
