package plan

import (
	"slices"
	"time"
)

// Observed is the observed state of a cluster on its hosts.
type Observed struct {
	Engines []Engine // each engine once
}

// Engine is a Docker Engine and the objects of the cluster on it. Several hosts may share one.
type Engine struct {
	ID          string        // equal for hosts that share an engine
	Hosts       []string      // names in the topology; steps name the first
	Version     string        // of the engine, for people
	OS          string        // "linux", or the plan is refused
	Arch        string        // as GOARCH
	Offset      time.Duration // of its clock against ours
	OffsetError time.Duration // half of the round trip in which Offset was measured

	Images     []string    // references of Posta's images
	Networks   []string    // of the cluster
	Volumes    []Volume    // of the cluster, without those that compose created
	Containers []Container // of the cluster's units, whatever their state
	Revisions  []Revision  // topologies that worked
	DrainMarks []DrainMark // at most one, except after interrupted runs
	Helpers    []string    // containers that an interrupted run left behind
	Keys       []KeysNote  // which keys are in which volumes
	Plain      bool        // the connection to the engine is not encrypted
	Strangers  []string    // volumes whose names begin like the cluster's, but that have no mark of it
}

// Name returns the host that steps name for the engine.
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
	Chain string // the roles to which the data belongs; "" for a medic and for a fence
	Fence string // the host whose medics, or consoles, share it; "" for a unit's data
	// Partial reports whether the volume was created for a copy (LabelArriving) that may be incomplete: no container of the unit has run here,
	// and there is no note of its completion (LabelArrived), which is made after the last byte.
	Partial bool
}

// Container is a container of a unit. Most fields come from its labels.
type Container struct {
	Name        string
	Unit        string
	Host        string   // for which it was made
	Role        string   // topology.RoleNode, RoleMedic or RoleConsole
	Chain       string   // roles of a node, "" of a medic
	Spec        string   // digest of its Spec
	Shape       string   // digest of the topology's shape
	Image       string   // reference
	Mounts      []string // its volumes
	Ports       []int    // of the host, in use while it runs
	Running     bool
	EverStarted bool
	Created     int64 // unix time in ns; medics start the newest
}

// DrainMark says that no session of a shape is unfinished: all had finished when the inputs were stopped.
type DrainMark struct {
	Name  string
	Shape string
}

// KeysNote says which keys are in a volume. It is made after a running unit was told to read them.
type KeysNote struct {
	Volume string
	Digest string
}

// Revision is a topology that worked, saved in a container that is never started.
type Revision struct {
	Name   string
	Number int    // counts the topologies that worked
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
