package plan

import (
	"slices"
	"time"
)

// Observed is what the hosts have of a cluster.
type Observed struct {
	Engines []Engine // each engine once
}

// Engine is a Docker Engine, and what it has of the cluster. Several hosts may share one.
type Engine struct {
	ID          string        // by which hosts that share an engine are found
	Hosts       []string      // names in the topology; steps name the first
	Version     string        // of the engine, for people
	OS          string        // "linux", or the plan is refused
	Arch        string        // as Go calls it
	Offset      time.Duration // of its clock against ours
	OffsetError time.Duration // half of the round trip in which Offset was measured

	Images     []string    // references of Posta's images
	Networks   []string    // of the cluster
	Volumes    []Volume    // of the cluster, without those that compose has made
	Containers []Container // of the cluster's units, whatever their state
	Revisions  []Revision  // topologies that were good
	DrainMarks []DrainMark // at most one, but for interrupted runs
	Helpers    []string    // containers that an interrupted run left behind
	Keys       []KeysNote  // which keys are in which volumes
	Plain      bool        // whoever is on the way to the engine can read what is sent there
	Strangers  []string    // volumes whose names begin like the cluster's, and of which nothing says that they are
}

// Name is the host that stands for the engine.
func (e *Engine) Name() string {
	if len(e.Hosts) == 0 {
		return e.ID
	}
	return e.Hosts[0]
}

// Volume holds the data of a unit, or the fence of a host.
type Volume struct {
	Name  string
	Node  string // the unit; "" of a fence
	Chain string // the roles whose data it is; "" of a medic and of a fence
	Fence string // the host whose medics share it; "" of a unit's data
	// Partial says that it was made for a copy (LabelArriving) and nothing says that the copy is whole: neither a container of the unit
	// that has run here, nor the note that is made behind the last byte (LabelArrived).
	Partial bool
}

// Container is a unit's. Most of it is from its labels.
type Container struct {
	Name        string
	Unit        string
	Host        string   // for which it was made
	Role        string   // topology.RoleNode or RoleMedic
	Chain       string   // roles of a node, "" of a medic
	Spec        string   // digest of its Spec
	Shape       string   // digest of the topology's shape
	Image       string   // reference
	Mounts      []string // volumes that it has
	Ports       []int    // of the host, which it has while it runs
	Running     bool
	EverStarted bool
	Created     int64 // unix time in ns; medics start the newest
}

// DrainMark says that no session of a shape is unfinished: all had come to their end when the inputs were stopped.
type DrainMark struct {
	Name  string
	Shape string
}

// KeysNote says which keys are in a volume, and that its unit, if it ran, was told to read them.
type KeysNote struct {
	Volume string
	Digest string
}

// Revision keeps a topology that was good, in a container that is never started.
type Revision struct {
	Name   string
	Number int    // counts up with every topology that was good
	Digest string // of File and Image
	Image  string
	Shape  string // digest
	File   string // text of the topology file
}

// Engine returns the engine of a host, nil if it was not asked.
func (o *Observed) Engine(host string) *Engine {
	i := slices.IndexFunc(o.Engines, func(e Engine) bool { return slices.Contains(e.Hosts, host) })
	if i < 0 {
		return nil
	}
	return &o.Engines[i]
}

// Revisions returns the revisions of the cluster, the newest first, each digest once in a row.
func (o *Observed) Revisions() []Revision {
	var all []Revision
	for _, e := range o.Engines {
		all = append(all, e.Revisions...)
	}
	slices.SortStableFunc(all, func(a, b Revision) int { return b.Number - a.Number })
	return slices.CompactFunc(all, func(a, b Revision) bool { return a.Digest == b.Digest })
}
