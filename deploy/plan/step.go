package plan

import (
	"fmt"
	"strings"
	"time"
)

// Verb is what a step does.
type Verb string

// The verbs. Each can be done again: what is done already is no error.
const (
	Ship    Verb = "ship image"       // What: reference
	Network Verb = "create network"   // What: name
	Room    Verb = "check free space" // on the disk that holds the volumes
	Unnet   Verb = "remove network"
	Clear   Verb = "remove helper" // What: container that an interrupted run left behind
	Hold    Verb = "hold sessions" // back, new ones; What: container of an input
	Calm    Verb = "wait for running sessions"
	Mark    Verb = "note that no session runs" // What: the note; Shape: of whom; Image: to make it of
	Unmark  Verb = "sessions may run again"    // What: the note
	Stop    Verb = "stop"                      // What: container; it drains first
	Still   Verb = "see that no medic runs"    // anywhere: those that another one has started again are stopped, too
	Remove  Verb = "remove"                    // What: container
	Drop    Verb = "delete data"               // What: volume
	Vessel  Verb = "create volume"             // What: name
	Copy    Verb = "copy data"                 // What: volume; From: host
	Create  Verb = "create"                    // What: container
	Start   Verb = "start"                     // What: container
	Beat    Verb = "wait for heartbeat"        // What: container
	Lead    Verb = "wait for a leader"         // among the medics; What: container of one
	Note    Verb = "keep topology"             // as the last good one; What: its ledger
	Forget  Verb = "forget old topology"       // What: ledger
)

// Step is one thing to do on one host.
type Step struct {
	Stage int
	Do    Verb
	Host  string
	Unit  string // of whom, "" of nobody
	What  string
	From  string // of Copy
	Chain string // of Vessel: the roles whose data it is for
	Copy  bool   // of Vessel: something is to be copied into it
	Turn  int    // of Note
	Shape string // of Mark
	Image string // of Mark
	Need  int64  // of Room: bytes for what is new there
	Grace time.Duration
}

// String tells the step to people.
func (s Step) String() string {
	words := []string{string(s.Do)}
	switch s.Do {
	case Ship, Network, Unnet, Note, Forget, Clear:
		words = append(words, s.What)
	case Drop, Vessel:
		words = append(words, s.What)
	case Copy:
		words = append(words, s.What, "from", s.From)
	case Room:
		words = append(words, fmt.Sprintf("(%d MiB)", s.Need>>20))
	case Hold, Calm, Lead, Mark, Unmark, Still:
	case Beat:
		words = append(words, "of", s.Unit)
	case Stop, Remove, Create, Start:
		words = append(words, s.Unit)
		if s.What != "" {
			words = append(words, "("+s.What+")")
		}
	}
	return strings.Join(words, " ")
}

// Kind is which of the ways a plan goes.
type Kind string

// The kinds.
const (
	Nothing Kind = "nothing to do"
	First   Kind = "first deploy"
	Repair  Kind = "what is missing"
	Roll    Kind = "roll, sessions run on"
	Down    Kind = "take down"
	Reshape Kind = "reshape, sessions wait"
)

// Plan is what is to be done.
type Plan struct {
	Kind     Kind
	Steps    []Step
	Warnings []string
}

// Text is the plan for people.
func (p *Plan) Text(d *Desired) string {
	var b strings.Builder
	nodes, medics := 0, 0
	for i := range d.Units {
		if d.Units[i].Medic() {
			medics++
		} else {
			nodes++
		}
	}
	fmt.Fprintf(&b, "cluster %s on %d host(s): %d node(s), %d medic(s), image %s: %s\n", d.Cluster, len(d.Hosts), nodes, medics, d.Image, p.Kind)
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "  note: %s\n", w)
	}
	width := 0
	for _, s := range p.Steps {
		width = max(width, len(s.Host))
	}
	stage := -1
	for i, s := range p.Steps {
		mark := " "
		if s.Stage != stage {
			mark, stage = "-", s.Stage
		}
		fmt.Fprintf(&b, "%3d %s %-*s  %s\n", i+1, mark, width, s.Host, s)
	}
	return b.String()
}
