package sim

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/test/simulator/eventqueue"
	"posta.dev/posta/test/simulator/violation"
	"posta.dev/posta/topology"
)

// Options say what to simulate.
type Options struct {
	Seed  uint64
	Trace io.Writer // gets a line for each event; nil for none
	SQL   bool      // most sessions are of SQL, as in half of the seeds from firstSQL on

	rightClocks bool // jumps of wall clocks have no effect
}

// Report is the result of a run.
type Report struct {
	Events    uint64
	Simulated time.Duration
	Layout    string
	Faults    string
	Sessions  int
	Done      int            // clients with the right answer
	Failed    map[string]int // failed clients by code; a fault permits each of these failures
	Injected  map[string]int // faults by name
	Counters  map[string]uint64
	Hash      uint64 // a hash of all events: equal for equal runs
}

const (
	inPackage     = "./test/sim"
	clientTimeout = 12 * time.Second
	healTime      = 2 * time.Minute // after faults have stopped, everything must end within this time
	maxEvents     = 4_000_000       // a run that needs more events makes no progress
)

type world struct {
	Options
	*eventqueue.Queue
	err error

	layout   layout
	faults   faults
	disk     map[string]*inode // files that inputs read
	inodes   uint64            // all clients that were ever made
	damage   damage
	rewiring rewiring
	known    analyses.Set
	nodes    map[link.NodeID]*node
	order    []*node
	wires    map[wireKey]*wire
	wireset  []*wire
	blocked  map[pair]bool
	clients  []*client
	peers    map[role.Peer]*attempt
	peer     role.Peer
	report   Report

	lives      uint64
	realDisks  uint64
	over       bool          // the run is over: the nodes are inspected
	sealed     uint64        // commits that all nodes have sealed
	movedAt    time.Duration // when the last hwm moved
	gates      gates
	losses     int           // disks that were lost, set back or retired
	wiped      time.Duration // when the last of these disks was lost
	inputWiped bool          // one of these disks was an input's
}

// Run simulates one seed. The error is a *violation.Violation if a rule did not hold.
func Run(o Options) (report Report, err error) {
	report, err = run1(o)
	var v *violation.Violation
	if report.Injected["clock jump"] > 0 && errors.As(err, &v) {
		// If the same run with right clocks is correct, some code has trusted a wall clock.
		if _, without := run1(Options{Seed: o.Seed, SQL: o.SQL, rightClocks: true}); without == nil {
			v.Rule, v.What = "M10", "with wall clocks that are right it does not happen: "+v.Rule+": "+v.What
		}
	}
	return report, err
}

func run1(o Options) (report Report, err error) {
	w := &world{
		Options: o, Queue: eventqueue.New(o.Seed, 0x705), nodes: map[link.NodeID]*node{},
		wires: map[wireKey]*wire{}, blocked: map[pair]bool{}, peers: map[role.Peer]*attempt{},
		report: Report{Failed: map[string]int{}, Injected: map[string]int{}, Counters: map[string]uint64{}, Hash: 14695981039346656037},
	}
	w.known, w.gates = analyses.Set{newAnalysis(w), split.New()}, newGates(w)
	defer func() {
		if p := recover(); p != nil {
			report = w.report
			text := fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
			if p == poisonPanic {
				text = "N6: the panic of a role takes its node down"
			}
			err = violation.New(inPackage, w.Seed, w.At, text)
		}
	}()
	w.begin()
	for w.err == nil && !w.finished() {
		if w.Events > maxEvents || w.Empty() || w.late() {
			rule, why := w.hung()
			w.fail("%s: not everything came to its end: %s\n%s", rule, why, w.diagnosis())
			break
		}
		w.Next()()
	}
	if w.err == nil {
		w.checkAtRest()
	}
	return w.summary(), w.err
}

// late reports whether a run has failed to end: its time is over, and no frame has had its effect for a while. A run with minimal limits is
// slow, and gets ten times as much time.
func (w *world) late() bool {
	over := w.At - w.faults.end - healTime
	return over > 0 && w.At-w.movedAt > healTime/4 || over > 9*healTime
}

func (w *world) begin() {
	w.faults, w.damage = newFaults(w), newDamage(w.Seed)
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

// endpoints returns the endpoints of the nodes with a role: simulated nodes are reached by their names.
func (w *world) endpoints(r topology.Role) (all []string) {
	for _, n := range w.nodesHolding(r) {
		all = append(all, string(n.id))
	}
	return all
}

// finished reports whether everything has ended: clients, faults, and the state in nodes.
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

// fail ends the run. The text begins with the rule that did not hold: "R5: …".
func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = violation.New(inPackage, w.Seed, w.At, fmt.Sprintf(format, args...))
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
		case c.verdict == "" && (c.former == nil || !c.former.over || c.former.verdict != ""):
			// a session counts once, however many clients it has
			w.report.Done++
		case c.verdict == "":
		default:
			w.report.Failed[c.verdict]++
		}
	}
	return w.report
}

// diagnosis describes what is left when nothing more happens.
func (w *world) diagnosis() string {
	var b strings.Builder
	for _, c := range w.clients {
		fmt.Fprintf(&b, "client %s: over %v, last said %s\n", c, c.over, c.asked)
	}
	for _, n := range w.order {
		fmt.Fprintf(&b, "node %s: up %v", n.id, n.up)
		if n.up {
			fmt.Fprintf(&b, ", sessions %d, running %d, idle %v, pending %v, storing %v", n.core().Sessions(), n.core().Running(), n.core().Idle(),
				n.core().Pending(), n.job != nil)
			for _, l := range n.core().Links() {
				if l.Bytes > 0 {
					fmt.Fprintf(&b, ", %s→%s %d bytes", l.Edge, l.To, l.Bytes)
				}
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
