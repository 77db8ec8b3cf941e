package cmd

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"posta/cmd/internal/local"
	"posta/medic"
)

// Files of the keeper, beside the nodes' data.
const (
	keeperLock     = "keeper.lock"     // held while it runs
	keeperTopology = "keeper.topology" // the text that it and its nodes began with
)

// keepCommand is the process that posta up leaves behind. It is hidden because it is of no use by itself.
func (x *command) keepCommand() *cli.Command {
	return &cli.Command{
		Name: "keep", Hidden: true,
		Usage: "start the nodes of this machine, and start them again when they die, until SIGTERM; the nodes run on then",
		Flags: []cli.Flag{topologyFlag(), hostFlag()}, Action: x.keep,
	}
}

func (x *command) keep(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	crew, t, err := x.crewOf(c)
	if err != nil {
		return err
	}
	defer func() { _ = crew.Close() }()
	lock, err := local.TakeLock(below(t, keeperLock))
	if err != nil {
		return fmt.Errorf("keep: %w; there is a keeper already", err)
	}
	defer func() { _ = lock.Release() }()
	if err := noteTopology(t.File, below(t, keeperTopology)); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(x.Err, nil))
	log.Info("keeping", "topology", t.File, "nodes", len(crew.IDs()), "process", os.Getpid())
	crew.Supervise(c.Context, func(e medic.Event) { logEvent(log, crew, e) })
	log.Info("letting go; the nodes run on until posta down stops them")
	return nil
}

// noteTopology remembers the text, so that posta up can tell that the file was changed since.
func noteTopology(file, note string) error {
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(note, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("remember the topology: %w", err)
	}
	return nil
}

func logEvent(log *slog.Logger, crew *local.Crew, e medic.Event) {
	log = log.With("node", e.Node)
	switch e.What {
	case medic.Started, medic.Adopted:
		pid, _ := crew.Pid(e.Node) // 0 if it is gone again
		log.Info(string(e.What), "process", pid, "start", e.Start)
	default:
		log.Warn(string(e.What), "cause", e.Cause, "in_a_row", e.InARow, "wait", e.Wait)
	}
}
