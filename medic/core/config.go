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

// Term is an election's outcome: the generation, the medic that leads in it, and in which of its lives. A medic whose log was set back may lead in
// a generation in which it led before; by its life the two terms are two (R14). The zero Term is that of a medic that has heard of none.
type Term struct {
	Gen    Generation
	Leader NodeID
	Life   uint64
}

// String is for people: "7 medic-3".
func (t Term) String() string { return fmt.Sprintf("%d %s", t.Gen, t.Leader) }

// Identity is one incarnation of a node or medic.
type Identity struct {
	LogID       [16]byte // which data directory; of a medic, which opening of it (R14)
	Incarnation uint64   // how many times it has been opened
	PID         int      // of the process that has it open
}

// Member is a node or medic that is watched.
type Member struct {
	ID   NodeID
	Host string
}

// Config is what a medic has to know.
type Config struct {
	Self   NodeID
	ID     Identity
	Life   uint64   // random, drawn at this start; part of the terms in which this medic leads (R14)
	Reach  []string // hosts on which this medic can carry out orders
	Medics []Member // by rank: the later one wins (M2)
	Nodes  []Member

	// Wall is the clock for people at a moment of this medic's own. nil: the moment itself says.
	Wall func(now time.Time) time.Time

	Heartbeat    time.Duration // between two signs of life
	SuspectAfter time.Duration // silence that counts as death
	// StuckAfter is for how long a node's mark may stand before the node ends itself. One whose mark has stood for twice as long could not, and is
	// restarted (N9). Default 30s.
	StuckAfter time.Duration

	Backoff medic.Backoff // of restarts
	// StartTimeout is the silence after a start that counts as a failed start; it doubles with each failed start in a row up to eight times
	// itself, so that a long recovery gets its time in the end. Default 5 × SuspectAfter. Short ones kill slow starters, long ones wait for
	// starters that hang; one that ends is seen sooner.
	StartTimeout time.Duration
	// IsolationTimeout is how much longer than SuspectAfter a medic that hears nobody at all takes itself for isolated. Meanwhile it orders only
	// starts of processes that are known to be gone. Default 4 × SuspectAfter. Short ones let a medic that lost its network kill what works;
	// long ones keep the last medic alive from helping targets that hang.
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

// members is everybody who is watched.
func (c *Config) members() []Member { return slices.Concat(c.Nodes, c.Medics) }

// hintTimeout is the silence that counts as death once a process was seen to end. A hint only shortens: without silence it is nothing.
func (c *Config) hintTimeout() time.Duration { return min(2*c.Heartbeat, c.SuspectAfter) }

// freshTimeout is the silence below which a sender is there for sure.
func (c *Config) freshTimeout() time.Duration { return min(3*c.Heartbeat, c.SuspectAfter/2) }

// answerTimeout is how long a candidate waits for higher medics to object.
func (c *Config) answerTimeout() time.Duration { return min(3*c.Heartbeat, c.SuspectAfter) }
