package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// UpCommand returns posta up.
func UpCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name:  "up",
		Usage: "start this machine's nodes of the topology, and keep them alive",
		Description: `Starts a process for each node, and medics, which from then on restart every process that dies, each other included. Returns when all
of them are heard. Processes that run already are left alone, so up may be run again, for instance after a crash of the machine.
A node that has left the topology since the last time comes back as a new one: its data is set aside, in left/ of the cluster's data directory.

Logs are in log/ and pids in pids/ of the cluster's data directory. Each process has two logs of 16 MiB at most, the second with .1 behind its name;
POSTA_LOG_SIZE in the environment of posta up is another size, like 64MiB.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.HostFlag(), call.JSONFlag(&x.json),
			&cli.DurationFlag{Name: call.FlagTimeout, Destination: &x.timeout, Value: reach.ReadyTime,
				Usage: "wait at most this `TIME` for the nodes"}},
		Action: x.changing(x.up),
	}
}

func (x *command) up(c *cli.Context, procs *local.Processes, t *topology.Topology) error {
	began := time.Now()
	if err := rundir.CheckSocketDirs(t); err != nil {
		return fmt.Errorf("up: %w", err)
	}
	if err := owned.Path(t.DataDir); err != nil { // posta down does not check this, because it has to work with any directory
		return fmt.Errorf("up: use the data directory: %w", err)
	}
	if err := x.upKeys(t, procs); err != nil {
		return fmt.Errorf("up: %w", err)
	}
	reach.WarnWithoutBroker(x.Call, c.Context, t)
	x.warnOfFewFiles(t)
	ctx, cancel := context.WithTimeout(c.Context, x.timeout)
	defer cancel()
	if err := x.sameTopology(ctx, procs, t); err != nil {
		return fmt.Errorf("up: %w", err)
	}
	procs, t, err := x.haveSockets(c, procs, t)
	if err != nil {
		return fmt.Errorf("up: %w", err)
	}
	defer func() { _ = procs.Close() }()
	started, err := x.startAll(ctx, procs, t)
	if err == nil {
		err = procs.Ready(ctx)
	}
	if err == nil {
		err = leaderReady(ctx, t, procs)
	}
	if err != nil {
		return fmt.Errorf("up: %w; posta status shows what is there, posta down ends it", err)
	}
	what := "is up already"
	if started > 0 {
		what = "is up after " + display.Span(time.Since(began))
	}
	x.Notef("cluster %s %s: %s; logs in %s", t.Name, what, inventory(procs), reach.Below(t, "log"))
	taken, err := takenConsoles(ctx, t, procs)
	if err != nil {
		return fmt.Errorf("up: %w", err)
	}
	if len(taken) > 0 {
		x.Notef("warning: another program answers at %s, where this cluster's medics serve the console: do not open it in a browser; end that "+
			"program, or write another port for console below [medics]", strings.Join(taken, ", "))
	} else if t.Medics.Console != "" {
		x.Notef("its medics serve the console at http://%s: posta console --login prints a link that lets a browser in", t.Medics.Console)
	}
	if !x.json {
		return nil
	}
	return x.PrintJSON(UpJSON{
		Cluster: t.Name, Nodes: append([]topology.NodeID{}, procs.IDs()...), Medics: append([]topology.NodeID{}, procs.Medics()...),
		Started: started,
		Logs:    reach.Below(t, "log"), TookMS: time.Since(began).Milliseconds(),
	})
}

// haveSockets makes the directory for unix sockets if the topology needs one and it is missing, and returns the topology with that
// directory. It may be missing while processes still run, after a crash or because somebody cleared the temporary files. Nothing can reach
// the sockets of such processes, so haveSockets stops the processes first. Their work continues from their logs when they start again.
func (x *command) haveSockets(c *cli.Context, procs *local.Processes, t *topology.Topology) (*local.Processes, *topology.Topology, error) {
	if rundir.HasLocal(t) {
		address, err := rundir.Address(t.DataDir)
		switch {
		case errors.Is(err, rundir.ErrNotUp):
			if err = x.stopUnreachable(c.Context, procs); err == nil {
				err = rundir.MakeSockets(t)
			}
		case address == topology.Published:
			err = fmt.Errorf(
				"containers have the cluster of %s; end them with make down, or run `posta topology published --end` if there are none", t.File)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return reach.LocalProcesses(x.Call, c)
}

func (x *command) stopUnreachable(ctx context.Context, procs *local.Processes) error {
	alive, err := procs.Nodes()
	if err != nil || len(alive) == 0 {
		return err
	}
	x.Notef("the directory of the unix sockets is gone, so no client reaches what still runs: %s; they are started again",
		display.Joined(alive))
	if err := x.closeHosts(ctx, procs); err != nil {
		return err
	}
	return reach.StopErrors(procs.Stop(ctx, alive))
}

// startAll starts the processes that do not run, nodes before medics, because medics would otherwise find the nodes missing.
func (x *command) startAll(ctx context.Context, procs *local.Processes, t *topology.Topology) (started int, err error) {
	if err := x.moveDeparted(t); err != nil {
		return 0, err
	}
	if err := noteTopology(t); err != nil {
		return 0, err
	}
	targets := append(procs.IDs(), procs.Medics()...)
	for i, name := range procs.Hosts() {
		h, err := procs.Fence(name)
		if err != nil {
			return started, err
		}
		var mine []medic.NodeID
		for _, id := range targets {
			if n, err := reach.NodeOrMedic(t, id); err == nil && n.Host == name {
				mine = append(mine, id)
			}
		}
		now, err := h.Up(ctx, mine)
		started += len(now)
		if err != nil {
			return started, fmt.Errorf("start host %d, %s: %w", i+1, name, err)
		}
	}
	return started, nil
}

// sameTopology refuses to add processes to those of another topology. If only [clients] or the keys have changed, it makes the running
// processes read them again.
func (x *command) sameTopology(ctx context.Context, procs *local.Processes, t *topology.Topology) error {
	alive, err := procs.Nodes()
	if err != nil || len(alive) == 0 {
		return err
	}
	now, err := topology.ReadText(t.File)
	if err != nil {
		return err
	}
	then, err := readNote(t)
	switch {
	case err != nil || then.digest == readAgainDigest(t, now): // without a note, the cluster has only just been started
		return nil
	case then.started != textDigest([]byte(t.ReadAtStart())) || !keyring.Keyed(t) || !t.OverTCP():
		return fmt.Errorf("the cluster runs with an older text of %s; run posta down, then posta up", t.File)
	}
	if missed := reach.ReadAgain(ctx, procs, alive); len(missed) > 0 {
		return fmt.Errorf("have nodes and medics read [clients] and their keys again: %s cannot be reached", display.Joined(missed))
	}
	x.Notef("[clients] of %s or the keys have changed, and all running nodes and medics read them again", t.File)
	return noteTopology(t)
}

// leaderReady waits until a medic leads: from then on medics restart dead nodes.
func leaderReady(ctx context.Context, t *topology.Topology, procs *local.Processes) error {
	medics := t.MedicNodes()
	if len(medics) == 0 {
		return nil
	}
	keys, err := procs.Keys()
	if err != nil {
		return err
	}
	_, err = monitor.UntilClosed(ctx, monitor.HasLeader)(monitor.ListenToMedics(medics, keys))
	if err != nil {
		return fmt.Errorf("no medic leads: %w; see their logs in %s", err, reach.Below(t, "log"))
	}
	return nil
}

// inventory returns how many processes there are, in words.
func inventory(procs *local.Processes) string {
	all := units.Plural(len(procs.IDs()), "node")
	if n := len(procs.Medics()); n > 0 {
		all += ", " + units.Plural(n, "medic")
	}
	return all
}

// upKeys makes keys for the processes that posta up is about to start with TCP sockets on this machine, and checks that each has its own.
// It makes none while any process runs, because that process would not know the new keys.
func (x *command) upKeys(t *topology.Topology, procs *local.Processes) error {
	alive, err := procs.Nodes()
	if err != nil {
		return err
	}
	if len(alive) == 0 {
		if err := keyring.LocalKeys(x.Call, t); err != nil {
			return err
		}
	}
	if t.Security.Insecure || !t.OverTCP() {
		return nil
	}
	for _, id := range append(procs.IDs(), procs.Medics()...) {
		n, err := reach.NodeOrMedic(t, id)
		own := ""
		if err == nil {
			own, err = keyring.OwnKeys(t, n)
		}
		if err == nil {
			err = reach.DemandKeys(t, own != "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
