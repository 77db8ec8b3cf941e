package topology

import (
	"fmt"
	"slices"
	"time"
)

// Topology is a whole system. Load and Parse return only topologies that passed every check; a Topology is immutable. (A variant is made as
// text, see Generate, because every process has to read the same text.)
type Topology struct {
	Name      string // of the cluster, a-z 0-9 -
	File      string // the file it came from; absolute when Load read it
	DataDir   string // directory that holds one directory per node; absolute when Load read it
	Transport string // how frames travel between nodes: one of Transports
	RabbitMQ  RabbitMQ
	NATS      NATS

	Hosts  []Host  // in file order
	Stages []Stage // in file order, which need not be the pipeline's
	Edges  []Edge  // in file order
	Medics Medics
	Limits Limits

	Security Security
	Clients  []Client // in file order
	Roots    []string // of [data]: directories below which inputs read files where they lie (S8); see RootsOf
	KeysDir  string   // Security.Keys; absolute when Load read it

	data string // cluster.data as written
}

// Stage is a step of the pipeline, or several in one process.
type Stage struct {
	Name     string
	Chain    []Role   // consecutive roles; default: the stage's name
	Replicas int      // number of nodes, 1 to 64, default 1
	Hosts    []string // replicas are placed round robin on them; default: all hosts
}

// holds reports whether the role is part of the stage's chain.
func (s Stage) holds(r Role) bool { return slices.Contains(s.Chain, r) }

// First is the role that takes what reaches the stage.
func (s Stage) First() Role { return s.Chain[0] }

// Last is the role whose result leaves the stage.
func (s Stage) Last() Role { return s.Chain[len(s.Chain)-1] }

// Edge feeds one stage from another.
type Edge struct {
	From, To string
	Streams  Streams // default AllStreams
	Socket   Socket  // default Push
	Route    Route
	Key      Key // for a Hash route, else ""
}

// Name is unique in a topology and stable over runs: "input-joiner-facts", "joiner-aggregator-all".
func (e Edge) Name() string { return e.From + "-" + e.To + "-" + string(e.Streams) }

// String returns the edge for people: "input → joiner facts push any".
func (e Edge) String() string {
	s := fmt.Sprintf("%s → %s %s %s %s", e.From, e.To, e.Streams, e.Socket, e.Route)
	if e.Key != "" {
		s += " " + string(e.Key)
	}
	return s
}

// Medics are the processes that watch nodes and restart dead ones.
type Medics struct {
	// Replicas is the number of medics, 0 to 16, default 3. With 0, no dead process is started again; one medic restarts all processes but
	// itself; each further medic survives one more loss and costs one subscription per node.
	Replicas int
	// Heartbeat is the time between two signs of life, 10ms to 1m, default 100ms. If it is short, dead processes are found sooner, at a cost
	// of (nodes + medics) × medics messages per Heartbeat.
	Heartbeat time.Duration
	// SuspectAfter is the silence that counts as death, 3 × Heartbeat to 10m, default 800ms. If it is short, healthy nodes that wait for a
	// disk or a processor are killed; if it is long, the pipeline stands still for that long after a real death.
	SuspectAfter time.Duration
	// StuckAfter is for how long the loop of an awake node may make no progress before the node ends itself and is started again, 3 ×
	// Heartbeat and at least 300ms to 24h, default 30s; medics end it after twice that time (N9). Rows, records of the log, messages and turns
	// of the node's loop count as progress; waiting for the disk does not. If it is short, sessions fail whose analysis works for that long on
	// a single row; if it is long, a session that hangs holds up the others for that long.
	StuckAfter time.Duration
	// Console is the IP:PORT at which medics serve the console, on the machine's own loopback; "", the default, means that they serve none.
	// See ConsoleAddress.
	Console string
}

// Stage returns the stage of that name; the error wraps ErrNoStage and lists the existing names.
func (t *Topology) Stage(name string) (Stage, error) {
	names := make([]string, len(t.Stages))
	for i, s := range t.Stages {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return Stage{}, fmt.Errorf("stage %q in %s: %w; %s", name, t.File, ErrNoStage, suggest(name, names))
}

// StagesInOrder returns the stages in the order in which records pass them.
func (t *Topology) StagesInOrder() []Stage {
	line := slices.Clone(t.Stages)
	slices.SortStableFunc(line, func(a, b Stage) int { return a.First().order() - b.First().order() })
	return line
}

// EdgesFrom returns the edges that leave a stage, in file order.
func (t *Topology) EdgesFrom(stage string) []Edge {
	return t.edges(func(e Edge) bool { return e.From == stage })
}

// EdgesTo returns the edges that reach a stage, in file order.
func (t *Topology) EdgesTo(stage string) []Edge {
	return t.edges(func(e Edge) bool { return e.To == stage })
}

func (t *Topology) edges(keep func(Edge) bool) []Edge {
	return slices.DeleteFunc(slices.Clone(t.Edges), func(e Edge) bool { return !keep(e) })
}
