package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/deploy/lock"
	"posta.dev/posta/topology"
)

// changingHosts takes the lock of the cluster on its hosts and calls do with what was observed under the lock. No other deploy or undeploy
// changes the cluster meanwhile. If the lock is lost, the context of do ends.
func (x *command) changingHosts(c *cli.Context, t *topology.Topology, do func(c *cli.Context, f *EngineSet) error) (err error) {
	first, err := connectEngines(c, t)
	if err != nil {
		return err
	}
	defer func() { _ = first.close() }()
	held, err := lock.Take(c.Context, first.lockable(), t.Name, lock.Describe(c.Command.Name), lock.DefaultTerms)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Command.Name, err)
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	f, err := connectEngines(c, t) // what was observed before the lock was taken may have changed
	if err != nil {
		return err
	}
	defer func() { _ = f.close() }()
	if !slices.Equal(f.ids(), first.ids()) {
		return fmt.Errorf("%s: the hosts of cluster %s have just changed; run the same command again", c.Command.Name, t.Name)
	}
	under := *c
	under.Context = held.Context()
	err = do(&under, f)
	if lost := context.Cause(held.Context()); errors.Is(lost, lock.ErrLost) {
		return fmt.Errorf("%s: stopped, because %w; run the same command again when the other one has ended", c.Command.Name, lost)
	}
	return err
}

// ids returns the identities of the engines, sorted: every deploy locks in this order.
func (f *EngineSet) ids() (all []string) {
	for i := range f.Observed.Engines {
		all = append(all, f.Observed.Engines[i].ID)
	}
	slices.Sort(all)
	return all
}

// lockable returns the engines in the order in which they are locked.
func (f *EngineSet) lockable() (hosts []lock.Host) {
	for _, id := range f.ids() {
		for i := range f.Observed.Engines {
			if o := &f.Observed.Engines[i]; o.ID == id {
				hosts = append(hosts, lock.Host{Name: strings.Join(o.Hosts, ", "), Store: f.engines[o.Name()]})
			}
		}
	}
	return hosts
}
