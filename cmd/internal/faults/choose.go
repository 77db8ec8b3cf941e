package faults

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/docker"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// KeySource returns the keys with which a command listens to a cluster; nil without keys.
type KeySource func(*topology.Topology) (*security.Keys, error)

// InjectorOf returns the injector, and all nodes and medics that it may hit.
func InjectorOf(x *call.Call, c *cli.Context, keysFor KeySource) (injector Injector, all []medic.NodeID, t *topology.Topology,
	err error) {
	if !c.Bool(call.FlagDocker) {
		procs, t, err := reach.LocalProcesses(x, c)
		if err != nil {
			return nil, nil, nil, err
		}
		return Processes{Processes: procs}, append(procs.IDs(), procs.Medics()...), t, nil
	}
	if t, err = reach.LoadTopology(c); err != nil {
		return nil, nil, nil, err
	}
	hosts, err := reach.GivenHosts(c, t)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, n := range t.All() {
		if len(hosts) == 0 || slices.Contains(hosts, n.Host) {
			all = append(all, n.ID)
		}
	}
	keys, err := keysFor(t)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := docker.New(docker.Config{Cluster: t.Name})
	return Containers{Restarter: r, Nodes: t.Nodes(), Keys: keys}, all, t, err
}

// GivenUp reports whether a call was given up, so that its outcome is unknown.
func GivenUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// UndoTime limits how long the end of a lasting fault may take.
const UndoTime = 10 * time.Second
