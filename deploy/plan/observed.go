package plan

import (
	"slices"
	"time"
)

// Observed is what there is.
type Observed struct {
	Engines []Engine
}

// Engine is a Docker Engine. Several hosts may share one.
type Engine struct {
	ID      string
	Hosts   []string // what the topology calls it; the first is used in steps
	Version string
	OS      string
	Arch    string        // as Go calls it
	Offset  time.Duration // of its clock against ours
	Doubt   time.Duration // half of the round trip in which that was measured

	Images     []string // references
	Networks   []string // of the cluster
	Volumes    []Volume
	Containers []Container // of the cluster, whatever their state
	Ledgers    []Ledger
	Quiet      []Quiet
	Helpers    []string // containers that somebody left behind
}

// Name is the host that stands for the engine.
func (e *Engine) Name() string {
	if len(e.Hosts) == 0 {
		return e.ID
	}
	return e.Hosts[0]
}

// Volume is data.
type Volume struct {
	Name  string
	Node  string // "" of a fence
	Chain string
	Fence string // the host
	// Partial says that it was made for a copy (LabelArriving) and nothing says that the copy is whole: neither a container of the unit
	// that has run here, nor the note that is made behind the last byte (LabelArrived).
	Partial bool
}

// Container is a unit's.
type Container struct {
	Name    string
	Unit    string
	Host    string // label
	Role    string
	Chain   string
	Spec    string
	Shape   string
	Image   string
	Running bool
	Started bool // ever
	Made    int64
}

// Quiet says that no session of a shape is unfinished: all had come to their end when the inputs were stopped.
type Quiet struct {
	Name  string
	Shape string
}

// Ledger keeps a topology that was good.
type Ledger struct {
	Name   string
	Turn   int
	Digest string
	Image  string
	Shape  string
	File   string
}

// Engine is the one of a host, nil if it was not asked.
func (o *Observed) Engine(host string) *Engine {
	i := slices.IndexFunc(o.Engines, func(e Engine) bool { return slices.Contains(e.Hosts, host) })
	if i < 0 {
		return nil
	}
	return &o.Engines[i]
}

// Good is the ledgers of the cluster, the newest first, each digest once in a row.
func (o *Observed) Good() []Ledger {
	var all []Ledger
	for i := range o.Engines {
		all = append(all, o.Engines[i].Ledgers...)
	}
	slices.SortStableFunc(all, func(a, b Ledger) int { return b.Turn - a.Turn })
	return slices.CompactFunc(all, func(a, b Ledger) bool { return a.Digest == b.Digest })
}
