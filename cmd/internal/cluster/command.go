package cluster

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// lockCluster keeps other commands from starting or stopping the cluster.
func lockCluster(c *cli.Context, t *topology.Topology) (*rundir.Lock, error) {
	if err := owned.Dir(t.DataDir); err != nil {
		return nil, fmt.Errorf("%s: make the data directory: %w", call.CommandName(c), err)
	}
	lock, err := rundir.TakeLock(reach.Below(t, "up.lock"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; somebody else is starting or stopping this cluster", call.CommandName(c), err)
	}
	return lock, nil
}

// command is posta up, posta down and posta topology.
type command struct {
	*call.Call
	json    bool
	timeout time.Duration
	queues  bool // delete them as well
	end     bool
	out     string
	image   string
	keys    bool // make them if there are none
	sockets string
}

// changing returns the action of a command that starts or stops this machine's processes. Only one such command runs at a time.
func (x *command) changing(do func(*cli.Context, *local.Processes, *topology.Topology) error) cli.ActionFunc {
	return reach.Reader(reach.ReadTopology).With(func(c *cli.Context, t *topology.Topology) error {
		procs, err := reach.ProcessesOf(c, t)
		if err != nil {
			return err
		}
		defer func() { _ = procs.Close() }()
		lock, err := lockCluster(c, t)
		if err != nil {
			return err
		}
		defer func() { _ = lock.Release() }()
		return do(c, procs, t)
	})
}
