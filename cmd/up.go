package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

func (x *command) upCommand() *cli.Command {
	return &cli.Command{
		Name:  "up",
		Usage: "start this machine's nodes of the topology, and keep them alive",
		Description: `Starts a process for each node, and medics, which start again whatever dies from now on, each other included. Returns when all
of them are heard. What runs already is left alone, so up may be said again, for instance after a crash of the machine.
A node that has left the topology since the last time comes back as a new one: its data is set aside, in left/ of the cluster's data directory.

Logs are in log/ and pids in pids/ of the cluster's data directory.

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), hostFlag(),
			&cli.DurationFlag{Name: flagTimeout, Value: readyTime, Usage: "wait at most this `TIME` for the nodes"}},
		Action: x.changing(x.up),
	}
}

// changing is a command that starts or stops this machine's processes. One at a time does.
func (x *command) changing(do func(*cli.Context, *local.Processes, *topology.Topology) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		procs, t, err := x.localProcesses(c)
		if err != nil {
			return err
		}
		defer func() { _ = procs.Close() }()
		lock, err := local.TakeLock(below(t, "up.lock"))
		if err != nil {
			return fmt.Errorf("%s: %w; somebody else is starting or stopping this cluster", c.Command.Name, err)
		}
		defer func() { _ = lock.Release() }()
		return do(c, procs, t)
	}
}

func (x *command) up(c *cli.Context, procs *local.Processes, t *topology.Topology) error {
	began := time.Now()
	x.warnWithoutBroker(c.Context, t)
	ctx, cancel := context.WithTimeout(c.Context, c.Duration(flagTimeout))
	defer cancel()
	started, err := x.startAll(ctx, procs, t)
	if err == nil {
		err = procs.Ready(ctx)
	}
	if err == nil {
		err = leaderReady(ctx, t)
	}
	if err != nil {
		return fmt.Errorf("up: %w; posta status shows what is there, posta down ends it", err)
	}
	what := "is up already"
	if started > 0 {
		what = "is up after " + display.Span(time.Since(began))
	}
	x.notef("cluster %s %s: %s; logs in %s", t.Name, what, inventory(procs), below(t, "log"))
	return nil
}

// topologyNote is the text that the processes began with.
const topologyNote = "up.topology"

// startAll starts the processes that do not run: nodes before medics, which would otherwise find them missing.
func (x *command) startAll(ctx context.Context, procs *local.Processes, t *topology.Topology) (started int, err error) {
	if err := sameTopology(procs, t); err != nil {
		return 0, err
	}
	if err := x.moveDeparted(t); err != nil {
		return 0, err
	}
	if err := noteTopology(t.File, below(t, topologyNote)); err != nil {
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
			if n, err := nodeOrMedic(t, id); err == nil && n.Host == name {
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

// sameTopology refuses to add processes to those of another text.
func sameTopology(procs *local.Processes, t *topology.Topology) error {
	alive, err := procs.Nodes()
	if err != nil || len(alive) == 0 {
		return err
	}
	now, err := topology.ReadText(t.File)
	if err != nil {
		return err
	}
	then, err := os.ReadFile(below(t, topologyNote))
	if err == nil && !bytes.Equal(now, then) {
		return fmt.Errorf("the cluster runs with an older text of %s; say posta down, then posta up", t.File)
	}
	return nil // without the note it has only just begun
}

// nodeOrMedic finds a node or a medic.
func nodeOrMedic(t *topology.Topology, id medic.NodeID) (topology.Node, error) {
	n, err := t.Node(id)
	if err != nil {
		return t.Medic(id)
	}
	return n, nil
}

// noteTopology remembers the text, so that a later up can tell that the file was changed since.
func noteTopology(file, note string) error {
	text, err := topology.ReadText(file)
	if err == nil {
		err = os.WriteFile(note, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("remember the topology: %w", err)
	}
	return nil
}

// leaderReady waits until a medic leads: from then on the dead are started again.
func leaderReady(ctx context.Context, t *topology.Topology) error {
	medics := t.MedicNodes()
	if len(medics) == 0 {
		return nil
	}
	_, err := monitor.UntilClosed(ctx, monitor.HasLeader)(monitor.ListenToMedics(medics))
	if err != nil {
		return fmt.Errorf("no medic leads: %w; see their logs in %s", err, below(t, "log"))
	}
	return nil
}

// inventory says how many processes there are.
func inventory(procs *local.Processes) string {
	all := display.Plural(len(procs.IDs()), "node")
	if n := len(procs.Medics()); n > 0 {
		all += ", " + display.Plural(n, "medic")
	}
	return all
}
