package cluster

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

const flagEnd = "end"

// publishedTopology returns the topology for commands on the containers' machine, outside the containers: local hosts are at the published
// ports.
func publishedTopology(c *cli.Context) (*topology.Topology, error) {
	name := c.String(call.FlagTopology)
	t, err := topology.LoadWith(name, topology.Addresses{Local: topology.Published})
	if err != nil {
		return nil, reach.NoTopology(name, err)
	}
	reach.WarnInsecure(c, t)
	return t, nil
}

// topologyPublished notes where the local hosts are while containers run the cluster. The user calls it explicitly. Trying one address
// after the other was rejected: a command would send rows to any process that listens there.
func (x *command) topologyPublished(c *cli.Context, t *topology.Topology) error {
	if !rundir.HasLocal(t) {
		return nil // the file says where its hosts are
	}
	lock, err := lockCluster(c, t)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	address, err := rundir.Address(t.DataDir)
	up := err == nil && address != topology.Published
	switch {
	case err != nil && !errors.Is(err, rundir.ErrNotUp):
		return err
	case up && x.end:
		return nil // posta up has started the cluster since
	case up:
		return fmt.Errorf("the cluster of %s is up as processes of this machine; end them with `posta down -f %[1]s`", t.File)
	case x.end:
		return rundir.RemoveSockets(t.DataDir)
	}
	return rundir.NoteAddress(t.DataDir, topology.Published)
}
