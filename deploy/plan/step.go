package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Verb is what a step does.
type Verb string

// The verbs. Each is idempotent: it is not an error if its effect exists already.
const (
	ShipImage      Verb = "ship image"                // What: reference
	CreateNetwork  Verb = "create network"            // What: name
	CheckSpace     Verb = "check free space"          // on the disk that holds the volumes
	CheckPorts     Verb = "check ports"               // Ports: they must be free
	RemoveNetwork  Verb = "remove network"            // What: name
	RemoveHelper   Verb = "remove helper"             // What: container that an interrupted run left behind
	HoldSessions   Verb = "hold sessions"             // holds back new sessions; What: container of an input
	DrainSessions  Verb = "wait for running sessions" // What: container of the same input
	MarkDrained    Verb = "note that no session runs" // What: name of the mark; Shape: of the drained cluster; Image: the mark's image
	UnmarkDrained  Verb = "sessions may run again"    // What: name of the mark
	Stop           Verb = "stop"                      // What: container; it drains first
	StopMedics     Verb = "see that no medic runs"    // on any host, including those that another medic has restarted
	Remove         Verb = "remove"                    // What: container
	DeleteVolume   Verb = "delete data"               // What: volume
	CreateVolume   Verb = "create volume"             // What: name
	CopyVolume     Verb = "copy data"                 // What: volume; From: host
	CarryKeys      Verb = "bring keys"                // What: volume of the unit; the unit reads them if it runs
	Create         Verb = "create"                    // What: container
	Start          Verb = "start"                     // What: container
	AwaitHeartbeat Verb = "wait for heartbeat"        // What: container
	AwaitLeader    Verb = "wait for a leader"         // among the medics; What: container of one
	AwaitSteady    Verb = "see that it stays up"      // What: container
	SaveRevision   Verb = "keep topology"             // as the last good one; What: name of the revision
	DeleteRevision Verb = "forget old topology"       // What: name of the revision
)

// Step is one action on one host.
type Step struct {
	Stage  int           // set by Make and TakeDown: steps of one stage may run at the same time on different engines
	Do     Verb          // always set
	Host   string        // always set: the host whose engine does it
	Unit   string        // the unit that it concerns; "" if none
	What   string        // the object: see the verbs; "" only for CheckSpace and StopMedics
	From   string        // CopyVolume: the host with the data
	Chain  string        // CreateVolume: the roles to which its data will belong; "" for a medic and for a fence
	Copy   bool          // CreateVolume: a CopyVolume into it follows; until that is done its data is partial
	Number int           // SaveRevision: its number
	Shape  string        // MarkDrained
	Image  string        // MarkDrained
	Need   int64         // CheckSpace: bytes for new volumes
	Ports  []Port        // CheckPorts
	Bridge bool          // CheckPorts: they are published from Desired.Network, not opened in the host's own
	Grace  time.Duration // Stop: how long the container may take to end
}

// String renders the step for people.
func (s Step) String() string {
	words := []string{string(s.Do)}
	switch s.Do {
	case ShipImage, CreateNetwork, RemoveNetwork, SaveRevision, DeleteRevision, RemoveHelper, DeleteVolume, CreateVolume:
		words = append(words, s.What)
	case CopyVolume:
		words = append(words, s.What, "from", s.From)
	case CheckSpace:
		words = append(words, fmt.Sprintf("(%d MiB)", s.Need>>20))
	case CheckPorts:
		words = append(words, fmt.Sprintf("(%d)", len(s.Ports)))
	case AwaitSteady:
		return "see that " + s.Unit + " stays up"
	case AwaitHeartbeat:
		words = append(words, "of", s.Unit)
	case CarryKeys:
		words = append(words, "to", s.Unit)
	case Stop, Remove, Create, Start:
		words = append(words, s.Unit)
		if s.What != "" {
			words = append(words, "("+s.What+")")
		}
	}
	return strings.Join(words, " ")
}

// stage is steps that may be done at the same time on different engines; on each engine they are done in this order.
type stage []Step

// hostStep is a step about an object of a host that belongs to no unit: an image, a network, a helper, a mark, a revision.
func hostStep(do Verb, host, what string) Step { return Step{Do: do, Host: host, What: what} }

// step is a step about an existing container.
func (c container) step(do Verb) Step { return Step{Do: do, Host: c.at, Unit: c.Unit, What: c.Name} }

// step returns a step about the unit's desired container.
func (u *unitState) step(do Verb) Step {
	return Step{Do: do, Host: u.Host, Unit: u.Name, What: u.container}
}

// volumeStep returns a step about a volume; unit is "" for a fence.
func volumeStep(do Verb, host, unit, volume string) Step {
	return Step{Do: do, Host: host, Unit: unit, What: volume}
}

// each is one step for each container or unit, in their order.
func each[T interface{ step(Verb) Step }](all []T, do Verb) (s stage) {
	for _, x := range all {
		s = append(s, x.step(do))
	}
	return s
}

// contains reports whether a plan has a step of this verb about this object.
func contains(steps []Step, do Verb, what string) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Do == do && s.What == what })
}
