package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/host"
	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// DownCommand returns posta down.
func DownCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name:  "down",
		Usage: "stop the nodes that up has started on this machine",
		Description: `Nodes get limits.drain to send what they committed; a node that still runs a second later is killed. Nothing is lost either way: sessions continue
after the next posta up. Returns when all have ended. What the cluster has on a broker stays there, unless --queues is given: its frames
are in the nodes' logs as well.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.HostFlag(), call.JSONFlag(&x.json),
			&cli.BoolFlag{Name: flagQueues, Destination: &x.queues,
				Usage: "delete the cluster's queues or streams on its broker as well; no node may run, on any host"}},
		Action: x.changing(x.down),
	}
}

func (x *command) down(c *cli.Context, procs *local.Processes, t *topology.Topology) error {
	began := time.Now()
	if err := x.closeHosts(c.Context, procs); err != nil {
		return fmt.Errorf("down: %w", err)
	}
	alive, err := procs.Nodes() // including nodes that only an older version of the topology had
	if err != nil {
		return fmt.Errorf("down: %w", err)
	}
	stopped := procs.Stop(c.Context, alive) // after a Ctrl-C, Stop kills
	x.sayStopped(t, stopped, time.Since(began))
	err = reach.StopErrors(stopped)
	if err == nil && rundir.HasLocal(t) {
		err = removeSockets(t)
	}
	if err == nil {
		err = console.ForgetSecret(t)
	}
	if err != nil {
		return fmt.Errorf("down: %w", err)
	}
	if err := x.leaveBroker(c, t); err != nil || !x.json {
		return err
	}
	return x.PrintJSON(StoppedAsJSON(t, stopped, time.Since(began)))
}

// removeSockets removes the sockets that posta up has made. It leaves a note that `posta topology published` has made, because containers
// still run.
func removeSockets(t *topology.Topology) error {
	if address, err := rundir.Address(t.DataDir); err == nil && address == topology.Published {
		return nil
	}
	return rundir.RemoveSockets(t.DataDir)
}

const flagQueues = "queues"

// leaveBroker deletes what the cluster has on its broker, or reports that it stays there.
func (x *command) leaveBroker(c *cli.Context, t *topology.Topology) error {
	switch {
	case t.Transport == topology.ZMQ:
		return nil
	case !x.queues:
		x.Notef("what the cluster has on its broker stays there for the next posta up; posta down --%s deletes it", flagQueues)
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Context, reach.BrokerTime)
	defer cancel()
	if err := nodes.RemoveFromBroker(ctx, t); err != nil {
		return fmt.Errorf("down: %w", err)
	}
	x.Notef("cluster %s has nothing on its broker any more", t.Name)
	return nil
}

// closeHosts keeps medics from restarting the nodes that are about to be stopped.
func (x *command) closeHosts(ctx context.Context, procs *local.Processes) error {
	for _, name := range procs.Hosts() {
		h, err := procs.Fence(name)
		if err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, lockTime)
		err = h.Down(waiting)
		cancel()
		if errors.Is(err, host.ErrBusy) { // a medic is stuck in a restart
			if err := x.killMedics(ctx, procs); err != nil {
				return err
			}
			err = h.Down(x.Forced)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lockTime is how long a restart that has begun may take.
const lockTime = 5 * time.Second

func (x *command) killMedics(ctx context.Context, procs *local.Processes) error {
	for _, m := range procs.Medics() {
		if err := procs.Kill(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// sayStopped reports what was done.
func (x *command) sayStopped(t *topology.Topology, all []medic.Stopped, took time.Duration) {
	if len(all) == 0 {
		x.Notef("cluster %s: nothing was running", t.Name)
		return
	}
	var killed []string
	medics := 0
	for _, s := range all {
		if _, err := t.Medic(s.Node); err == nil {
			medics++
		}
		if s.Killed && s.Err == nil {
			killed = append(killed, string(s.Node))
		}
	}
	slices.Sort(killed)
	line := fmt.Sprintf("cluster %s is down after %s: stopped %s", t.Name, display.Span(took), units.Plural(len(all)-medics, "node"))
	if medics > 0 {
		line += " and " + units.Plural(medics, "medic")
	}
	if len(killed) > 0 {
		line += fmt.Sprintf(", of which %s had to be killed", strings.Join(killed, ", "))
	}
	x.Notef("%s", line)
}
