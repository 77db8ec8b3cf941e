package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// EngineSet is the connected engines of a topology's hosts, and what was observed on each.
type EngineSet struct {
	text     string                    // of the topology file
	engines  map[string]*engine.Engine // by host; hosts that share an engine have the same one
	Observed plan.Observed
	open     []*engine.Engine // closed at the end
}

func (f *EngineSet) close() error {
	var errs []error
	for _, e := range f.open {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

// withEngines returns the action of a command about what the hosts of the topology have.
func withEngines(do func(*cli.Context, *topology.Topology, *EngineSet) error) cli.ActionFunc {
	return reach.Reader(reach.ReadTopology).With(func(c *cli.Context, t *topology.Topology) error {
		f, err := connectEngines(c, t)
		if err != nil {
			return err
		}
		defer func() { _ = f.close() }()
		return do(c, t, f)
	})
}

// connectEngines connects to every host of the topology, and of the last good topology: its hosts may have objects that must be moved or
// removed.
func connectEngines(c *cli.Context, t *topology.Topology) (*EngineSet, error) {
	text, err := topology.ReadText(t.File)
	if err != nil {
		return nil, err
	}
	f := &EngineSet{text: string(text), engines: map[string]*engine.Engine{}}
	if err := f.connectAll(c.Context, t, c.StringSlice(FlagLost)); err != nil {
		return nil, fmt.Errorf("%s: %w", call.CommandName(c), errors.Join(err, f.close()))
	}
	return f, nil
}

func (f *EngineSet) connectAll(ctx context.Context, t *topology.Topology, lost []string) error {
	var hosts []topology.Host
	for _, h := range t.Hosts {
		if plan.UsesHost(t, h.Name) {
			hosts = append(hosts, h)
		}
	}
	if err := f.connect(ctx, t.Name, hosts); err != nil {
		return fmt.Errorf("%w; see [hosts.NAME] engine in %s", err, t.File)
	}
	good := f.Observed.Revisions()
	if len(good) == 0 {
		return nil
	}
	before, err := topology.ParseAt(t.File, []byte(good[0].File))
	if err != nil {
		return nil // an older program saved this text; hosts that only this text names stay unknown until the next deploy
	}
	var old []topology.Host
	for _, h := range before.Hosts {
		known := slices.ContainsFunc(hosts, func(x topology.Host) bool { return x.Name == h.Name && x.Deploy.Engine == h.Deploy.Engine })
		if known || !plan.UsesHost(before, h.Name) || slices.Contains(lost, h.Name) {
			continue
		}
		if f.engines[h.Name] != nil {
			h.Name += " (before)"
		}
		old = append(old, h)
	}
	if err := f.connect(ctx, t.Name, old); err != nil {
		return fmt.Errorf("%w; it was in the last topology, and may have data: start it, or continue without it with --%s HOST", err, FlagLost)
	}
	return nil
}

// connect connects to hosts, all at once.
func (f *EngineSet) connect(ctx context.Context, cluster string, hosts []topology.Host) error {
	type answer struct {
		engine *engine.Engine
		has    plan.Engine
		err    error
	}
	answers := make([]answer, len(hosts))
	var wg sync.WaitGroup
	for i, h := range hosts {
		wg.Go(func() {
			a := &answers[i]
			if a.engine, a.err = engine.Open(ctx, h.Name, h.Deploy); a.err == nil {
				a.has, a.err = a.engine.Observe(ctx, cluster)
			}
		})
	}
	wg.Wait()
	var errs []error
	for i, a := range answers {
		if a.engine != nil {
			f.open = append(f.open, a.engine)
		}
		if a.err != nil {
			errs = append(errs, a.err)
			continue
		}
		f.add(hosts[i].Name, a.engine, a.has)
	}
	return errors.Join(errs...)
}

func (f *EngineSet) add(host string, e *engine.Engine, has plan.Engine) {
	for i := range f.Observed.Engines {
		if o := &f.Observed.Engines[i]; o.ID == has.ID {
			o.Hosts = append(o.Hosts, host)
			f.engines[host] = f.engines[o.Name()]
			return
		}
	}
	has.Hosts = []string{host}
	f.Observed.Engines = append(f.Observed.Engines, has)
	f.engines[host] = e
}

// Container finds the container of a unit: the running one, else the newest.
func (f *EngineSet) Container(unit string) (*engine.Engine, plan.Container, error) {
	var best plan.Container
	var at *engine.Engine
	var names []string
	for i := range f.Observed.Engines {
		o := &f.Observed.Engines[i]
		for _, c := range o.Containers {
			names = append(names, c.Unit)
			if c.Unit == unit && (at == nil || c.Running && !best.Running || c.Running == best.Running && c.Created > best.Created) {
				best, at = c, f.engines[o.Name()]
			}
		}
	}
	if len(names) == 0 {
		return nil, best, fmt.Errorf("%w: no host has a container of %s, nor of any other node: nothing is deployed (posta deploy does it)",
			topology.ErrNoNode, unit)
	}
	if at == nil {
		slices.Sort(names)
		return nil, best, fmt.Errorf("%w: no host has a container of %s; the containers are those of %s", topology.ErrNoNode, unit,
			strings.Join(slices.Compact(names), ", "))
	}
	return at, best, nil
}
