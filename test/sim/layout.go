package sim

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/test/simulator/eventqueue"
	"posta.dev/posta/topology"
)

// layout is a cluster as a seed drew it: the chains of roles, the replicas, and the limits.
type layout struct {
	stages []stage
	edges  []edge
	window int
	commit int
	memory int // limits.memory, of reference data; 0: no bound
	tables int // limits.tables; 0: no bound
	frame  int // limits.frame: a few rows if windows are small and no raw chunk travels
	limits topology.Limits

	file    int    // bytes of an answer that become a file in an output; 0 for the default
	page    int    // rows of a table that leave an aggregator at once; 0 for the default
	wiring  string // the name that topology.Wiring gives; empty if the topology never changes, so that those seeds keep their runs
	segment int    // limits.segment, if the log is the real one
}

type stage struct {
	name     string
	chain    []topology.Role
	replicas int
}

type edge struct {
	core.OutEdge // To is filled in later
	from, to     int
	senders      []link.NodeID
}

func (s *stage) holds(r topology.Role) bool { return slices.Contains(s.chain, r) }

func (s *stage) nodes() []link.NodeID {
	var all []link.NodeID
	for i := range s.replicas {
		all = append(all, link.NodeID(fmt.Sprintf("%s-%d", s.name, i+1)))
	}
	return all
}

// inputNodes returns the nodes that hold an input.
func (l *layout) inputNodes() (all []link.NodeID) {
	for i := range l.stages {
		if s := &l.stages[i]; s.holds(topology.Input) {
			all = append(all, s.nodes()...)
		}
	}
	return all
}

// newLayout draws a cluster that the checks of package topology accept.
func newLayout(w *world) layout {
	l := layout{
		window: eventqueue.OneOf(w.Queue, 200, 1000, 4000, 64<<10, 1<<20),
		commit: eventqueue.OneOf(w.Queue, 1, 500, 4000, 64<<10, 1<<20),
		limits: topology.Limits{
			Sessions: 1 + w.Rand.IntN(4), Chunk: 4 << 10, RetryAfter: 200 * time.Millisecond,
			ClientTimeout: clientTimeout, ResultsTTL: 10 * time.Minute, ClientShare: 50,
		},
	}
	if r := w.faults.files; r != nil {
		l.limits.Chunk = []topology.Size{1, 64, 300, 4 << 10}[r.IntN(4)]
	}
	l.segment = []int{1 << 10, 8 << 10, 1 << 20}[w.Seed/16%3]
	cut := eventqueue.OneOf(w.Queue, 1.0, 0.8, 0.5)
	for i, r := range topology.Roles() {
		if i > 0 && !w.Chance(cut) && !(i == 1 && cut == 1) {
			last := &l.stages[len(l.stages)-1]
			last.chain = append(last.chain, r)
			continue
		}
		l.stages = append(l.stages, stage{name: string(r), chain: []topology.Role{r}})
	}
	for i := range l.stages {
		s := &l.stages[i]
		s.replicas = 1 + w.Rand.IntN(eventqueue.OneOf(w.Queue, 1, 2, 2, 3, 4))
		if s.single() {
			s.replicas = 1
		}
	}
	if l.frame = 1 << 20; l.window <= 4000 && l.stages[0].holds(topology.Parser) {
		l.frame = 8 << 10
	}
	if w.faults.largeRows > 0 {
		if l.frame = eventqueue.OneOf(w.Queue, 4<<10, 8<<10, 64<<10); w.faults.longKeys {
			l.frame = 64 << 10 // otherwise every row would be a chunk, and the run would not end in time
		}
	}
	if r := w.faults.atTheEnds; r != nil {
		w.injected("limits at the ends")
		l.extremes(r, w.faults.largeRows > 0)
	}
	l.page = w.drawPage()
	l.file = w.drawFile()
	l.tables = w.drawTables()
	l.limits.Frame, l.limits.Memory = topology.Size(l.frame), topology.Size(l.memory)
	for i := 1; i < len(l.stages); i++ {
		l.hop(w, i-1, i)
	}
	return l
}

// hop adds the edges between two stages.
func (l *layout) hop(w *world, from, to int) {
	next := &l.stages[to]
	add := func(streams topology.Streams, route topology.Route, key topology.Key) {
		l.edges = append(l.edges, edge{
			OutEdge: core.OutEdge{
				Name: fmt.Sprintf("%s-%s-%s", l.stages[from].name, next.name, streams), To: next.nodes(),
				Streams: streams, Route: route, Key: key, Broadcast: route == topology.All && w.Chance(0.6),
			},
			from: from, to: to, senders: l.stages[from].nodes(),
		})
	}
	switch {
	case next.holds(topology.Joiner):
		add(topology.Facts, topology.Any, "")
		add(topology.Reference, topology.All, "")
	case next.holds(topology.Reducer):
		add(topology.AllStreams, topology.Hash, topology.SessionKey)
	case next.holds(topology.Aggregator):
		add(topology.AllStreams, topology.Hash, eventqueue.OneOf(w.Queue, topology.GroupKey, topology.GroupKey, topology.SessionKey))
	case next.holds(topology.Output):
		add(topology.AllStreams, topology.All, "")
	default: // a parser: reference rows must not wait behind facts that wait for other reference rows (R11)
		add(topology.Facts, topology.Any, "")
		add(topology.Reference, topology.Any, "")
	}
}

func (l *layout) String() string {
	text := ""
	for _, s := range l.stages {
		text += fmt.Sprintf("%v×%d ", s.chain, s.replicas)
	}
	for _, e := range l.edges {
		if e.Broadcast {
			text += e.Name + "=pub "
		}
	}
	return fmt.Sprintf("%swindow %d commit %d frame %d memory %d sessions %d", text, l.window, l.commit, l.frame, l.memory, l.limits.Sessions)
}
