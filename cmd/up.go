package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"posta/cmd/internal/local"
	"posta/cmd/internal/screen"
	"posta/medic"
	"posta/topology"
)

func (x *command) upCommand() *cli.Command {
	return &cli.Command{
		Name:  "up",
		Usage: "start this machine's nodes of the topology, and keep them alive",
		Description: `Starts a keeper in the background, which starts a process for each node and starts it again when it dies. Returns when all nodes
are heard. What runs already is left alone, so up may be said again: after a crash of the machine, or of the keeper.

Logs are in log/ and pids in pids/ of the cluster's data directory.

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), hostFlag(),
			&cli.DurationFlag{Name: flagTimeout, Value: readyTime, Usage: "wait at most this `TIME` for the nodes"}},
		Action: x.up,
	}
}

func (x *command) up(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	crew, t, err := x.crewOf(c)
	if err != nil {
		return err
	}
	defer func() { _ = crew.Close() }()
	lock, err := local.TakeLock(below(t, "up.lock"))
	if err != nil {
		return fmt.Errorf("up: %w; somebody else is starting or stopping this cluster", err)
	}
	defer func() { _ = lock.Release() }()
	began := time.Now()
	fresh, err := x.startKeeper(c.Context, crew, t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, c.Duration(flagTimeout))
	defer cancel()
	if err := whileKept(ctx, crew, crew.Ready); err != nil {
		return fmt.Errorf("up: %w; it is still being tried, posta down ends that", err)
	}
	what := "is up already"
	if fresh {
		what = "is up after " + screen.Span(time.Since(began))
	}
	x.notef("cluster %s %s: %s; logs in %s", t.Name, what, screen.Plural(len(crew.IDs()), "node"), below(t, "log"))
	return nil
}

// startKeeper makes sure that there is a keeper, for the topology as it is now.
func (x *command) startKeeper(ctx context.Context, crew *local.Crew, t *topology.Topology) (fresh bool, err error) {
	err = crew.Start(ctx, local.Keeper)
	if !errors.Is(err, medic.ErrRunning) {
		return true, err
	}
	now, err := os.ReadFile(t.File)
	if err != nil {
		return false, fmt.Errorf("read the topology: %w", err)
	}
	then, err := os.ReadFile(below(t, keeperTopology))
	if err == nil && !bytes.Equal(now, then) {
		return false, fmt.Errorf("up: the cluster runs with an older text of %s; say posta down, then posta up", t.File)
	}
	return false, nil // without the note it has only just begun
}

var errNoKeeper = errors.New("the keeper ended")

// whileKept does something that is in vain when the keeper ends.
func whileKept(ctx context.Context, crew *local.Crew, do func(context.Context) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if death, err := crew.Wait(inner, local.Keeper); err == nil {
			cancel(fmt.Errorf("%w (%s): %s", errNoKeeper, death, crew.LastWords(local.Keeper)))
		}
	}()
	err := do(inner)
	cancel(nil)
	<-watched
	return err
}
