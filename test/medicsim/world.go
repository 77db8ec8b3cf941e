package medicsim

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/simulator/eventqueue"
	"posta.dev/posta/test/simulator/violation"
)

// Options say what to simulate.
type Options struct {
	Seed    uint64
	Plain   bool      // no node's loop is busy or hangs, and no node recovers slowly: so seeds from before N9 keep their runs
	Unaimed bool      // no faults are aimed: so seeds from before aims keep their runs
	Steady  bool      // medics tick as often while all is well as at other times: so seeds from before core.Pause keep their runs
	Trace   io.Writer // nil for none
}

// Report is the result of a run.
type Report struct {
	Events      uint64
	Simulated   time.Duration
	Layout      string
	Faults      string
	Elections   uint64
	Kills       int // processes that faults killed or stopped
	Orders      int // orders that were carried out
	Refused     int
	NotBelieved int // implausible messages that medics reported
	Injected    map[string]int
}

const (
	inPackage    = "./test/medicsim"
	heartbeat    = 100 * time.Millisecond
	suspectAfter = 800 * time.Millisecond
	hinted       = 2 * heartbeat    // the silence that counts as death once the process was seen to end
	cutOff       = 4 * suspectAfter // how much longer a medic that hears nobody gives no orders
	tickEvery    = heartbeat / 4
	latency      = 5 * time.Millisecond // longest delay of the network while nothing is wrong with it
	healTime     = 4 * time.Minute      // longer than a crash loop of five starts whose ends nobody sees
	maxEvents    = 2_000_000
	calmTime     = 6 * time.Second // after everything has recovered, nothing may happen for this long
)

type world struct {
	Options
	*eventqueue.Queue
	err error

	hosts         []*host
	order         []*target // all, nodes first
	targets       map[core.NodeID]*target
	medics        []core.Member
	nodes         []core.Member
	fine          bool // nothing goes wrong with the network in this run
	unreliable    bool // something may go wrong between any two processes
	misledByHints bool // there are wrong hints
	lateSigns     bool // signs of ended incarnations arrive
	reach         bool // every medic reaches every host
	hints         bool
	faults        faults
	blocked       map[[2]core.NodeID]bool
	cut           map[core.NodeID]time.Duration // medics without a network, with the time since when
	checker       checker
	// called when a leader begins to store a suspicion; returns how long the store takes at least; nil: not called
	suspected func(*process, core.Entry) (storing time.Duration)
	report    Report
	pids      int
	wellSince time.Duration // since when all is well; 0: something is not
}

// Run simulates one seed. The error is a *violation.Violation if a rule did not hold.
func Run(o Options) (report Report, err error) {
	w := &world{
		Options: o, Queue: eventqueue.New(o.Seed, 0xed1c), targets: map[core.NodeID]*target{}, blocked: map[[2]core.NodeID]bool{},
		cut:    map[core.NodeID]time.Duration{},
		report: Report{Injected: map[string]int{}},
	}
	w.checker = newChecker(w)
	defer func() {
		if p := recover(); p != nil {
			err = violation.New(inPackage, w.Seed, w.At, fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	w.begin()
	for w.err == nil && !w.finished() {
		if w.At > w.faults.end+healTime || w.Events > maxEvents {
			rule, what := w.missing()
			w.fail(rule, "%s\n%s", what, w.diagnosis())
			break
		}
		w.Next()()
	}
	if w.err == nil {
		w.checker.end()
	}
	w.report.Events, w.report.Simulated = w.Events, w.At
	for _, t := range w.order {
		w.report.Elections = max(w.report.Elections, uint64(t.disk.term.Gen))
	}
	return w.report, w.err
}

func (w *world) begin() {
	w.reach, w.hints = w.Chance(0.6), w.Chance(0.7)
	for i := range 1 + w.Rand.IntN(3) {
		w.hosts = append(w.hosts, &host{name: fmt.Sprintf("host-%d", i+1), started: map[core.NodeID]core.Started{}})
	}
	for i := range 1 + w.Rand.IntN(5) {
		w.add(fmt.Sprintf("node-%d", i+1), i, false)
	}
	for i := range 1 + w.Rand.IntN(5) {
		w.add(fmt.Sprintf("medic-%d", i+1), i, true)
	}
	w.faults = newFaults(w)
	w.faults.takeAim(w)
	w.fine, w.unreliable = w.faults.networkIsFine(), w.faults.networkIsUnreliable()
	w.misledByHints, w.lateSigns = w.faults.wrongHints > 0, w.faults.lateSigns > 0
	w.report.Layout = fmt.Sprintf("%d hosts, %d nodes, %d medics, reach all %v, hints %v", len(w.hosts), len(w.nodes), len(w.medics), w.reach,
		w.hints)
	w.report.Faults = w.faults.String()
	w.tracef("%s; %s", w.report.Layout, w.report.Faults)
	for _, t := range w.order {
		w.After(w.Between(0, 200*time.Millisecond), func() { t.start(core.Started{}) })
	}
	w.After(w.Between(0, tickEvery), w.poll)
	w.faults.inject(w)
	w.After(time.Second, w.check)
}

// moment returns what Now returned at that time.
func (w *world) moment(at time.Duration) time.Time { return w.Now().Add(at - w.At) }

func (w *world) add(name string, i int, medic bool) {
	h := w.hosts[i%len(w.hosts)]
	t := &target{w: w, Member: core.Member{ID: core.NodeID(name), Host: h.name}, host: h, medic: medic}
	w.order = append(w.order, t)
	w.targets[t.ID] = t
	if medic {
		w.medics = append(w.medics, t.Member)
	} else {
		w.nodes = append(w.nodes, t.Member)
	}
}

func (w *world) host(name string) *host {
	return w.hosts[slices.IndexFunc(w.hosts, func(h *host) bool { return h.name == name })]
}

// check looks once a second whether everything has recovered.
func (w *world) check() {
	w.checker.fences.keepUp()
	switch {
	case w.At <= w.faults.end || !w.well():
		if w.wellSince > 0 {
			w.fail("M5", "all was well since %v, and now it is not\n%s", w.wellSince, w.diagnosis())
		}
	case w.wellSince == 0:
		w.wellSince = w.At
	}
	w.After(time.Second, w.check)
}

func (w *world) finished() bool { return w.wellSince > 0 && w.At > w.wellSince+calmTime }

// well reports whether all processes live, one medic leads, and all have the same journal.
func (w *world) well() bool {
	rule, _ := w.missing()
	return rule == ""
}

// missing returns what is not well, and the rule that demands it; "" if all is well.
func (w *world) missing() (rule, what string) {
	leaders := 0
	var medics []*target
	for _, t := range w.order {
		if t.p != nil && (t.p.loop.hangs || t.p.overdue()) {
			return "N9", "the loop of " + string(t.ID) + " hangs"
		}
		if !t.healthy() || !t.medic && t.p.recovering() {
			return "M7", "not everything came back"
		}
		if !t.medic {
			continue
		}
		medics = append(medics, t)
		if _, leads := t.p.core.Term(); leads {
			leaders++
		}
	}
	switch {
	case leaders == 0:
		return "M2", "nobody leads"
	case leaders > 1:
		return "M3", fmt.Sprintf("%d medics lead", leaders)
	}
	first := medics[0]
	for _, t := range medics {
		switch {
		case t.disk.term != first.disk.term:
			return "M3", "not all have stored the same term"
		case !slices.Equal(t.p.core.Journal(), first.p.core.Journal()):
			return "M8", "not all have the same journal"
		}
	}
	if slices.ContainsFunc(core.Incidents(first.p.core.Journal()), func(i core.Incident) bool { return i.Open }) {
		return "M8", "an incident stays open"
	}
	return "", ""
}

func (w *world) fail(rule, format string, args ...any) {
	if w.err == nil {
		w.err = violation.New(inPackage, w.Seed, w.At, rule+": "+fmt.Sprintf(format, args...))
		w.tracef("VIOLATION %v", w.err)
	}
}

func (w *world) tracef(format string, args ...any) {
	if w.Trace != nil {
		fmt.Fprintf(w.Trace, "%12v  %s\n", w.At.Round(100*time.Microsecond), fmt.Sprintf(format, args...))
	}
}

func (w *world) diagnosis() string {
	var b strings.Builder
	for _, t := range w.order {
		fmt.Fprintf(&b, "%s on %s: healthy %v", t.ID, t.Host, t.healthy())
		if t.medic && t.p != nil {
			term, leads := t.p.core.Term()
			fmt.Fprintf(&b, ", stopped %v, term %v, leads %v, %d entries", t.p.stopped, term, leads, len(t.p.core.Journal()))
			for _, i := range core.Incidents(t.p.core.Journal()) {
				if i.Open {
					fmt.Fprintf(&b, ", open: %s", i.Node)
				}
			}
		}
		b.WriteString("\n")
	}
	for _, h := range w.hosts {
		fmt.Fprintf(&b, "%s: fence %v\n", h.name, h.fence.Term)
	}
	return b.String()
}
