package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/medic"
)

// keyRenew replaces the certificates that end soon. No session fails: running processes keep their connections, because the former
// certificates are still valid, and use the new ones for the next.
func (x *command) keyRenew(c *cli.Context, k keyring) error {
	if err := call.NoArguments(c); err != nil {
		return err
	}
	if c.Duration(flagWithin) <= 0 {
		return exit.Usagef("key renew: --%s %s is no time to come", flagWithin, c.Duration(flagWithin))
	}
	if err := k.isThere(); err != nil {
		return fmt.Errorf("key renew: %w", err)
	}
	lock, err := k.open()
	if err != nil {
		return fmt.Errorf("key renew: %w", err)
	}
	defer func() { _ = lock.Release() }()
	ca, err := k.ca(caDir)
	var made int
	if err == nil {
		made, err = x.issue(k, ca, time.Now(), c.Duration(flagWithin))
		err = errors.Join(err, k.share())
	}
	if made > 0 {
		x.Notef("made %s in %s", display.Plural(made, "certificate"), k.dir)
		x.tellProcesses(c, k)
	}
	if err != nil {
		return fmt.Errorf("key renew: %w", err)
	}
	if made == 0 {
		x.Notef("no certificate of cluster %s ends within %s", k.t.Name, display.Span(c.Duration(flagWithin)))
	}
	return nil
}

// tellProcesses has the processes of this machine's posta up read their keys again, and says which nodes and medics it did not reach. Those
// read the keys when they start.
func (x *command) tellProcesses(c *cli.Context, k keyring) {
	var told []medic.NodeID
	if procs, _, err := x.localProcesses(c); err == nil {
		defer func() { _ = procs.Close() }()
		alive, err := procs.Nodes()
		if err != nil {
			x.Notef("warning: %v", err)
		}
		missed := readAgain(c.Context, procs, alive)
		told = slices.DeleteFunc(alive, func(id medic.NodeID) bool { return slices.Contains(missed, id) })
	}
	var missed []medic.NodeID
	for _, id := range k.processes() {
		if node := medic.NodeID(id.Name); !slices.Contains(told, node) {
			missed = append(missed, node)
		}
	}
	switch {
	case len(missed) == 0:
		x.Notef("all %d nodes and medics read it now", len(told))
	case len(told) == 0:
		x.Notef("no node or medic of cluster %s runs on this machine: say posta deploy, or make up for containers of compose, or bring the "+
			"directories in %s to all processes and send them SIGHUP; those that are down read them when they start", k.t.Name, k.dir)
	default:
		x.Notef("%s read it now; not reached: %s. Say posta deploy, or make up, if they are containers; those that are down read it when they "+
			"start", fmt.Sprintf("%d of %d nodes and medics", len(told), len(k.processes())), joined(missed))
	}
}

// readAgain has running processes read their keys and [clients] again, and returns those that cannot be told.
func readAgain(ctx context.Context, procs *local.Processes, alive []medic.NodeID) (missed []medic.NodeID) {
	for _, id := range alive {
		if err := procs.Signal(ctx, id, syscall.SIGHUP); err != nil {
			missed = append(missed, id)
		}
	}
	return missed
}
