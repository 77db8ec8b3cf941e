package sim

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/simulator/eventqueue"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/topology"
)

// Options say what to simulate.
type Options struct {
	Seed  uint64
	Trace io.Writer // gets a line for each thing that happens; nil for none
}

// Report is what a run came to.
type Report struct {
	Events    uint64
	Simulated time.Duration
	Layout    string
	Faults    string
	Sessions  int
	Done      int            // with the right answer
	Failed    map[string]int // by code, each permitted by a fault
	Injected  map[string]int // faults by name
	Counters  map[string]uint64
	Hash      uint64 // of everything that happened: equal for equal runs
}

// Violation is a rule that did not hold.
type Violation struct {
	Seed uint64
	At   time.Duration
	What string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("seed %d, after %v: %s\nsee it again: go test ./test/sim -run TestSeeds -seed=%d -seeds=1 -v", v.Seed, v.At, v.What, v.Seed)
}

const (
	clientTimeout = 12 * time.Second
	healTime      = 2 * time.Minute // in which everything must come to its end when faults have stopped
	maxEvents     = 4_000_000       // a run that needs more goes round in circles
)

type world struct {
	Options
	*eventqueue.Queue
	err error

	layout  layout
	faults  faults
	known   analyses.Set
	nodes   map[link.NodeID]*node
	order   []*node
	wires   map[wireKey]*wire
	wireset []*wire
	blocked map[pair]bool
	clients []*client
	peers   map[role.Peer]*attempt
	peer    role.Peer
	report  Report

	lives      uint64
	losses     int           // disks that were lost, set back or retired
	wiped      time.Duration // when the last of them was
	inputWiped bool          // one of them was an input's
}

// Run simulates one seed. The error is a *Violation if a rule did not hold.
func Run(o Options) (report Report, err error) {
	w := &world{
		Options: o, Queue: eventqueue.New(o.Seed, 0x705), known: analyses.Set{newAnalysis()}, nodes: map[link.NodeID]*node{},
		wires: map[wireKey]*wire{}, blocked: map[pair]bool{}, peers: map[role.Peer]*attempt{},
		report: Report{Failed: map[string]int{}, Injected: map[string]int{}, Counters: map[string]uint64{}, Hash: 14695981039346656037},
	}
	defer func() {
		if p := recover(); p != nil {
			err = &Violation{w.Seed, w.At, fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	w.begin()
	for w.err == nil && !w.finished() {
		if w.Events > maxEvents || w.Empty() || w.At > w.faults.end+healTime {
			w.fail("liveness: not everything came to its end\n%s", w.diagnosis())
			break
		}
		w.Next()()
	}
	if w.err == nil {
		w.checkAtRest()
	}
	return w.summary(), w.err
}

func (w *world) begin() {
	w.faults = newFaults(w)
	w.layout = newLayout(w)
	w.report.Layout, w.report.Faults = w.layout.String(), w.faults.String()
	w.tracef("layout: %s", w.report.Layout)
	w.tracef("faults: %s", w.report.Faults)
	for s := range w.layout.stages {
		for i, id := range w.layout.stages[s].nodes() {
			n := newNode(w, id, s, i)
			w.nodes[id] = n
			w.order = append(w.order, n)
		}
	}
	w.layWires()
	for _, n := range w.order {
		w.After(w.Between(0, 500*time.Millisecond), n.start)
	}
	sessions := 1 + w.Rand.IntN(5)
	w.report.Sessions = sessions
	for range sessions {
		c := newClient(w)
		w.clients = append(w.clients, c)
		w.After(w.Between(0, w.faults.end/2), c.begin)
		if w.faults.rivals {
			w.injected("rival")
			r := newRival(w, c)
			w.clients = append(w.clients, r)
			w.report.Sessions++
			begins := w.Between(0, w.faults.end/2)
			w.After(begins, r.begin)
		}
	}
	w.faults.inject(w)
}

// nodesHolding returns the nodes with a role.
func (w *world) nodesHolding(r topology.Role) []*node {
	var all []*node
	for _, n := range w.order {
		if n.stage().holds(r) {
			all = append(all, n)
		}
	}
	return all
}

// finished reports whether everything has come to its end: clients, faults, and what nodes hold.
func (w *world) finished() bool {
	if w.At <= w.faults.end {
		return false
	}
	for _, c := range w.clients {
		if !c.over {
			return false
		}
	}
	for _, n := range w.order {
		if !n.drained() {
			return false
		}
	}
	return true
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = &Violation{w.Seed, w.At, fmt.Sprintf(format, args...)}
		w.tracef("VIOLATION %v", w.err)
	}
}

// tracef writes a line of the trace.
func (w *world) tracef(format string, args ...any) {
	if w.Trace != nil {
		fmt.Fprintf(w.Trace, "%12v  %s\n", w.At.Round(time.Microsecond), fmt.Sprintf(format, args...))
	}
}

// mix adds to the hash of the run.
func (w *world) mix(b ...byte) {
	for _, c := range b {
		w.report.Hash = (w.report.Hash ^ uint64(c)) * 1099511628211
	}
}

func (w *world) injected(name string) { w.report.Injected[name]++ }

func (w *world) summary() Report {
	w.report.Events, w.report.Simulated = w.Events, w.At
	for _, c := range w.clients {
		switch {
		case !c.over:
		case c.verdict == "":
			w.report.Done++
		default:
			w.report.Failed[c.verdict]++
		}
	}
	return w.report
}

// diagnosis tells what is left when nothing more happens.
func (w *world) diagnosis() string {
	var b strings.Builder
	for _, c := range w.clients {
		fmt.Fprintf(&b, "client %s: over %v, %s\n", c, c.over, c.doing)
	}
	for _, n := range w.order {
		fmt.Fprintf(&b, "node %s: up %v", n.id, n.up)
		if n.up {
			fmt.Fprintf(&b, ", sessions %d, running %d, idle %v, pending %v, storing %v", n.core.Sessions(), n.core.Running(), n.core.Idle(), n.core.Pending(), n.storing != nil)
			for _, l := range n.core.Links() {
				if l.Bytes > 0 {
					fmt.Fprintf(&b, ", %s→%s %d bytes", l.Edge, l.To, l.Bytes)
				}
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
