package key

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

const flagRotateCA = "rotate-ca"

// withRing returns the action of a command about the keys of a topology.
func withRing(do func(*cli.Context, keyring.Ring) error) cli.ActionFunc {
	return reach.Reader(reach.ReadTopology).With(func(c *cli.Context, t *topology.Topology) error {
		return do(c, keyring.Of(t))
	})
}

// tellProcesses has the processes of this machine's posta up read their keys again, and says which nodes and medics it did not reach. Those
// read the keys when they start.
func tellProcesses(x *call.Call, c *cli.Context, k keyring.Ring) {
	var told []medic.NodeID
	if procs, _, err := reach.LocalProcesses(x, c); err == nil {
		defer func() { _ = procs.Close() }()
		alive, err := procs.Nodes()
		if err != nil {
			x.Notef("warning: %v", err)
		}
		missed := reach.ReadAgain(c.Context, procs, alive)
		told = slices.DeleteFunc(alive, func(id medic.NodeID) bool { return slices.Contains(missed, id) })
	}
	var missed []medic.NodeID
	for _, id := range k.Processes() {
		if node := medic.NodeID(id.Name); !slices.Contains(told, node) {
			missed = append(missed, node)
		}
	}
	switch {
	case len(missed) == 0:
		x.Notef("all %d nodes and medics read it now", len(told))
	case len(told) == 0:
		x.Notef("no node or medic of cluster %s runs on this machine: run posta deploy, or make up for containers of compose, or bring the "+
			"directories in %s to all processes and send them SIGHUP; those that are down read them when they start", k.Topology.Name, k.Dir)
	default:
		x.Notef("%s read it now; not reached: %s. Run posta deploy, or make up, if they are containers; those that are down read it when they "+
			"start", fmt.Sprintf("%d of %d nodes and medics", len(told), len(k.Processes())), display.Joined(missed))
	}
}
