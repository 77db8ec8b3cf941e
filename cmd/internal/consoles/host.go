package consoles

import (
	"context"
	"errors"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// command is posta console.
type command struct {
	*call.Call
	listen, token string
	watch, login  bool
	of, bind      string // the medic whose console it is, and the address at which it listens in a container
	alone         bool
}

// host is what serves a console: a command of a person, or a medic.
type host struct {
	topology *topology.Topology
	keys     *security.Keys // nil: plain connections
	own      medic.NodeID   // the medic; "" for a person
	at       string         // the address of the pages
	taken    string         // what to do if another program has the address

	cfg     console.Config       // what differs between the two
	cluster client.Config        // how to ask the cluster
	from    *reach.Entrance      // where statements are answered; nil if none are, and no answers are shown
	roots   []string             // directories of this machine with files for statements; nil: those of the flags
	breaks  bool                 // the pages may inject faults
	refused func(error) []string // explains why nodes and medics do not let this process listen

	heard func(context.Context, *listeners) error // called before the pages are served
	end   func()
}

// listeners hear all nodes and medics of a cluster.
type listeners struct {
	nodes  *monitor.Listener[[]monitor.Status]
	medics *monitor.Listener[monitor.Medics]
}

// refused joins the errors of those that do not let this process listen.
func (l *listeners) refused() error { return errors.Join(l.nodes.Refused(), l.medics.Refused()) }
