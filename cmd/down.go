package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta/cmd/internal/local"
	"posta/cmd/internal/screen"
	"posta/medic"
)

func (x *command) downCommand() *cli.Command {
	return &cli.Command{
		Name:  "down",
		Usage: "stop the nodes that up has started on this machine",
		Description: `Nodes get limits.drain to send what they committed; who is there a second later is killed. Nothing is lost either way: sessions go on
after the next posta up. Returns when all are gone.

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), hostFlag()}, Action: x.down,
	}
}

func (x *command) down(c *cli.Context) error {
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
		return fmt.Errorf("down: %w; somebody else is starting or stopping this cluster", err)
	}
	defer func() { _ = lock.Release() }()
	began := time.Now()
	// The keeper first, or it would start again what is stopped.
	keeper := medic.Stop(x.hurry, crew, []medic.NodeID{local.Keeper}, 2*time.Second)
	if err := stopErrors(keeper); err != nil {
		return fmt.Errorf("down: %w", err)
	}
	alive, err := crew.Nodes() // also those that an older text of the topology had
	if err != nil {
		return fmt.Errorf("down: %w", err)
	}
	stopped := crew.Stop(c.Context, alive) // a Ctrl-C is impatience, and kills
	x.sayStopped(t.Name, keeper[0].Was, stopped, time.Since(began))
	if err := stopErrors(stopped); err != nil {
		return fmt.Errorf("down: %w", err)
	}
	return nil
}

// sayStopped says what was done.
func (x *command) sayStopped(name string, keeper bool, all []medic.Stopped, took time.Duration) {
	if len(all) == 0 && !keeper {
		x.notef("cluster %s: nothing was running", name)
		return
	}
	var killed []string
	for _, s := range all {
		if s.Killed && s.Err == nil {
			killed = append(killed, string(s.Node))
		}
	}
	slices.Sort(killed)
	line := fmt.Sprintf("cluster %s is down after %s: stopped %s", name, screen.Span(took), screen.Plural(len(all), "node"))
	if len(killed) > 0 {
		line += fmt.Sprintf(", of which %s had to be killed", strings.Join(killed, ", "))
	}
	if !keeper {
		line += "; there was no keeper any more"
	}
	x.notef("%s", line)
}
