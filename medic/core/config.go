package core

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

// NodeID names what is watched: a node ("joiner-1") or a medic ("medic-2").
type NodeID = topology.NodeID

// Generation counts elections. It only grows, on every disk and in every message of a medic (M3).
type Generation uint64

// Term is the outcome of an election: the generation, the medic that leads in it, and which start of that medic (Life). A medic whose log
// was set back may lead a second time in the same generation. Then only Life tells the two terms apart (R14). The zero Term means that no
// term is known.
type Term struct {
	Gen    Generation
	Leader NodeID
	Life   uint64
}

// String is for people: "7 medic-3".
func (t Term) String() string { return fmt.Sprintf("%d %s", t.Gen, t.Leader) }

// Identity is one incarnation of a node or medic.
type Identity struct {
	LogID       [16]byte // of the data directory; a medic's is new each time it opens its log (R14)
	Incarnation uint64   // how many times the data directory has been opened
	PID         int      // of the process that has it open
}

// Member is a node or medic that is watched.
type Member struct {
	ID   NodeID
	Host string
}

// Config is the static configuration of a medic.
type Config struct {
	Self   NodeID
	ID     Identity
	Life   uint64   // random, drawn at this start; part of the terms in which this medic leads (R14)
	Reach  []string // hosts on which this medic can carry out orders
	Medics []Member // by rank: the later one wins (M2)
	Nodes  []Member

	// Wall converts this medic's time into the time of day, which people read in the journal. nil: they are the same.
	Wall func(now time.Time) time.Time

	Heartbeat    time.Duration // between two signs of life
	SuspectAfter time.Duration // silence that counts as death
	// StuckAfter is how long a node's mark may stay the same before the node ends itself. If it stays the same for twice as long, the node
	// could not end itself, and medics restart it (N9). Default 30s.
	StuckAfter time.Duration

	Backoff medic.Backoff // of restarts
	// StartTimeout is how long a process may be silent after its start before the start counts as failed. It doubles with each failed start in
	// a row, up to eight times, so that a long recovery can finish at some point. Default 5 × SuspectAfter. If it is short, nodes that start
	// slowly are killed; if it is long, a start that hangs is noticed late. If the process ends, the start fails sooner.
	StartTimeout time.Duration
	// IsolationTimeout: a medic that hears nobody at all considers itself isolated until SuspectAfter + IsolationTimeout have passed. While it
	// is isolated it restarts only processes that are known to have ended. Default 4 × SuspectAfter. If it is short, a medic that lost its
	// network kills processes that work; if it is long, the last living medic waits long before it restarts targets that hang.
	IsolationTimeout time.Duration
}

func (c Config) withDefaults() Config {
	c.Backoff = c.Backoff.Filled()
	if c.StartTimeout <= 0 {
		c.StartTimeout = 5 * c.SuspectAfter
	}
	if c.IsolationTimeout <= 0 {
		c.IsolationTimeout = 4 * c.SuspectAfter
	}
	if c.StuckAfter <= 0 {
		c.StuckAfter = 30 * time.Second
	}
	if c.Wall == nil {
		c.Wall = func(now time.Time) time.Time { return now }
	}
	return c
}

// members is all nodes and medics.
func (c *Config) members() []Member { return slices.Concat(c.Nodes, c.Medics) }

// hintTimeout is the silence that counts as death once a process was seen to end. A hint only shortens the wait: without silence it has no
// effect.
func (c *Config) hintTimeout() time.Duration { return min(2*c.Heartbeat, c.SuspectAfter) }

// freshTimeout: a sender that was heard within this time is certainly alive.
func (c *Config) freshTimeout() time.Duration { return min(3*c.Heartbeat, c.SuspectAfter/2) }

// answerTimeout is how long a candidate waits for higher medics to object.
func (c *Config) answerTimeout() time.Duration { return min(3*c.Heartbeat, c.SuspectAfter) }
