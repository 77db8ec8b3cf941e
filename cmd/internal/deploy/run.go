package deploy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/deploy/apply"
	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/image"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

func (x *command) deploy(c *cli.Context) error {
	if c.IsSet(call.FlagRender) {
		if x.json {
			return exit.Usagef("deploy: --%s writes files and deploys nothing, so --%s has no effect; leave it out", call.FlagRender, call.FlagJSON)
		}
		return x.render(c)
	}
	if err := call.NoArguments(c); err != nil {
		return err
	}
	began := time.Now()
	t, err := reach.ReadTopology(c)
	if err == nil {
		err = reach.DemandKeys(t, keyring.Keyed(t)) // before an engine is asked for anything
	}
	if err != nil {
		return err
	}
	source, err := x.imageSource(c)
	if err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	defer func() { _ = source.close() }()
	if x.plan {
		f, err := connectEngines(c, t)
		if err != nil {
			return err
		}
		defer func() { _ = f.close() }()
		d, _, p, err := x.planDeploy(t, source, f)
		switch {
		case err != nil:
			return err
		case x.json:
			return x.PrintJSON(PlanAsJSON(t.Name, p, false, began))
		}
		x.Printf("%s", p.Text(&d))
		return nil
	}
	return x.changingHosts(c, t, func(c *cli.Context, f *EngineSet) error {
		p, err := x.planAndCarryOut(c, t, source, f)
		if errors.Is(err, apply.ErrEnded) && !x.rollback { // a rollback that has begun would now mean another topology
			p, err = x.deployAgain(c, t, source)
		}
		if err != nil || !x.json {
			return err
		}
		return x.PrintJSON(PlanAsJSON(t.Name, p, true, began))
	})
}

func (x *command) planAndCarryOut(c *cli.Context, t *topology.Topology, source ImageSource, f *EngineSet) (plan.Plan, error) {
	d, keys, p, err := x.planDeploy(t, source, f)
	if err == nil {
		err = x.carryOut(c, d, f, &source.Image, keys, p, advice(x.rollback, &d, f.Observed.Revisions()))
	}
	return p, err
}

// advice says what to do if a deploy stops in the middle. A rollback to the revision before the last good one finds a cluster that is like
// neither when it is run again, and then goes to the last good one.
func advice(rollback bool, d *plan.Desired, good []plan.Revision) string {
	if rollback && len(good) > 0 && good[0].Digest != d.RevisionDigest() {
		return fmt.Sprintf(
			"posta deploy --%s now goes to the last good topology, where this command began, and once more from there to the one before",
			flagRollback)
	}
	return "run the same command again to continue, or posta deploy --" + flagRollback + " to go back"
}

// deployAgain plans from what is there now, since the plan before was outdated.
func (x *command) deployAgain(c *cli.Context, t *topology.Topology, source ImageSource) (plan.Plan, error) {
	x.Notef("an input of cluster %s has ended since the plan was made; the deploy is planned again", t.Name)
	f, err := connectEngines(c, t)
	if err != nil {
		return plan.Plan{}, err
	}
	defer func() { _ = f.close() }()
	return x.planAndCarryOut(c, t, source, f)
}

// planDeploy determines what deploy has to do.
func (x *command) planDeploy(t *topology.Topology, s ImageSource, f *EngineSet) (d plan.Desired,
	keys map[string]security.Bundle, p plan.Plan, err error) {
	if err = keyring.LocalKeys(x.Call, t); err == nil { // under the lock, unless the command only plans
		d, keys, err = Desired(t, s, f, x.rollback)
	}
	if err == nil {
		d.LoseResults, d.LoseSessions = x.lose, x.cancel
		p, err = plan.Make(d, f.Observed)
	}
	if err != nil {
		err = fmt.Errorf("deploy: %w", err)
	}
	return d, keys, p, err
}

// carryOut carries a plan out. advice says what to do if it stops in the middle.
func (x *command) carryOut(c *cli.Context, d plan.Desired, f *EngineSet, image *apply.Image, keys map[string]security.Bundle, p plan.Plan,
	advice string) error {
	if len(p.Steps) == 0 {
		return x.confirmUp(c, d, f)
	}
	x.Notef("%s", strings.TrimRight(p.Text(&d), "\n"))
	progress := x.newSteps(len(p.Steps))
	cfg := apply.Config{
		Desired: d, Observed: f.Observed, Engines: f.engines, Wait: x.wait, Cancel: x.cancel,
		Beat: x.beat, Report: progress.update, Image: image, Keys: keys,
	}
	err := apply.Run(c.Context, cfg, p)
	progress.screen.Clear()
	if err != nil {
		return fmt.Errorf("%w; posta deploy status shows what is where; %s", err, advice)
	}
	x.Notef("cluster %s: done, %s", d.Cluster, units.Plural(len(p.Steps), "step"))
	return nil
}

// confirmUp reports that nothing has to be done, once all nodes and medics are heard and stay up: containers that are right do not prove
// that.
func (x *command) confirmUp(c *cli.Context, d plan.Desired, f *EngineSet) error {
	cfg := apply.Config{Desired: d, Observed: f.Observed, Engines: f.engines, Beat: x.beat}
	if err := apply.Run(c.Context, cfg, plan.Confirm(d, f.Observed)); err != nil {
		return fmt.Errorf(
			"the containers of cluster %s are as the topology says, but the cluster does not work: %w; posta status shows what is heard", d.Cluster,
			err)
	}
	x.Notef("cluster %s is as the topology says, and all its nodes and medics are heard", d.Cluster)
	return nil
}

// Desired returns what the hosts should have, and the keys for it: what the topology says or, for a rollback, what a former revision said.
// In both cases the present keys of the operator are used.
func Desired(t *topology.Topology, s ImageSource, f *EngineSet, rollback bool) (plan.Desired, map[string]security.Bundle, error) {
	if !rollback {
		return DesiredWithKeys(t, f.text, s.Ref, s.arch)
	}
	good := f.Observed.Revisions()
	for i, l := range good {
		before, err := topology.ParseAt(t.File, []byte(l.File))
		if err != nil {
			return plan.Desired{}, nil, fmt.Errorf("read the topology that the hosts keep: %w", err)
		}
		if before.BrokerSecretIsElsewhere() { // its password is the present one, as for the keys
			if !before.SameBroker(t) {
				return plan.Desired{}, nil, fmt.Errorf("%w: the topology before used another broker, and the hosts do not keep its password; write "+
					"its url into [%s] of %s, and run posta deploy without --%s",
					plan.ErrRefused, before.Transport, t.File, flagRollback)
			}
			if before, err = before.WithBrokerAddress(t.BrokerAddress()); err != nil {
				return plan.Desired{}, nil, fmt.Errorf("read the topology that the hosts keep: %w", err)
			}
		}
		d, keys, err := DesiredWithKeys(before, l.File, l.Image, "")
		if err != nil {
			return d, nil, err
		}
		p, err := plan.Make(d, f.Observed)
		if err != nil || len(p.Steps) > 0 || i == len(good)-1 {
			return d, keys, nil // planDeploy makes the plan again, and reports its error
		}
		// The cluster already is as this revision says, so the rollback means the revision before it.
	}
	return plan.Desired{}, nil, fmt.Errorf("%w: the hosts keep no topology of cluster %s that was good", plan.ErrRefused, t.Name)
}

// DesiredWithKeys returns what the hosts should have for a topology, and the keys for it.
func DesiredWithKeys(t *topology.Topology, text, image, arch string) (d plan.Desired, keys map[string]security.Bundle, err error) {
	if keys, err = UnitKeys(t, t.BrokerSecret()); err == nil {
		t, err = withLocalClient(t)
	}
	if err == nil {
		d, err = plan.FromTopology(t, text, image, arch, Digests(keys))
	}
	return d, keys, err
}

// ImageSource names the image to deploy. It is empty for a rollback, whose revision names the image.
type ImageSource struct {
	apply.Image
	arch  string
	close func() error
}

// ImageSource makes the image of a program, or finds one that an engine here has.
func (x *command) imageSource(c *cli.Context) (s ImageSource, err error) {
	s.close = func() error { return nil }
	switch {
	case x.rollback && (c.IsSet(flagImage) || c.IsSet(flagProgram)):
		return s, exit.Usagef("--%s goes back to the image of that time; leave out --%s and --%s", flagRollback, flagImage, flagProgram)
	case x.rollback:
		return s, nil
	case c.IsSet(flagImage) && c.IsSet(flagProgram):
		return s, exit.Usagef("give --%s or --%s, not both", flagImage, flagProgram)
	case c.IsSet(flagImage):
		e, err := engine.Open(c.Context, "here", topology.Deploy{})
		if err != nil {
			return s, err
		}
		s.close, s.Open = e.Close, func(ctx context.Context) (io.ReadCloser, error) { return e.Save(ctx, s.Ref) }
		if s.Ref, s.arch, s.Size, err = e.Tag(c.Context, x.image, image.Ref); err != nil {
			return s, errors.Join(err, e.Close())
		}
		return s, nil
	}
	program := x.program
	if program == "" {
		self, err := reach.Self()
		if err != nil {
			return s, err
		}
		program = self[0]
	}
	m, err := image.FromProgram(program, x.Version)
	if err != nil {
		return s, err
	}
	s.Ref, s.arch, s.Size = m.Ref, m.Arch, m.Size
	s.Open = func(context.Context) (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { // this goroutine ends when all is read, or the reader is closed
			_, err := m.WriteTo(w)
			_ = w.CloseWithError(err)
		}()
		return r, nil
	}
	return s, nil
}

func (x *command) deployStatus(_ *cli.Context, _ *topology.Topology, f *EngineSet) error {
	for i := range f.Observed.Engines {
		o := &f.Observed.Engines[i]
		x.Printf("%s: Docker %s, %s, clock %+.1fs\n", strings.Join(o.Hosts, ", "), o.Version, o.Arch, o.Offset.Seconds())
		table := display.Table{Head: []string{"unit", "state", "image", "container"}, Right: []bool{false, false, false, false}}
		for _, k := range o.Containers {
			state := "stopped"
			switch {
			case k.Running:
				state = "running"
			case !k.EverStarted:
				state = "made"
			}
			table.Rows = append(table.Rows, []string{k.Unit, state, k.Image, k.Name})
		}
		table.Print(x.Out, "  ")
		x.Printf("  %s\n", units.Plural(len(o.Volumes), "volume"))
	}
	for i, l := range f.Observed.Revisions() {
		when := "last good topology"
		if i > 0 {
			when = "the one before"
		}
		x.Printf("%s: number %d, image %s\n", when, l.Number, l.Image)
	}
	return nil
}

func (x *command) deployLogs(c *cli.Context, t *topology.Topology, name string) error {
	f, err := connectEngines(c, t)
	if err != nil {
		return err
	}
	defer func() { _ = f.close() }()
	at, k, err := f.Container(name)
	if err != nil {
		return fmt.Errorf("deploy logs: %w", err)
	}
	return at.Logs(c.Context, k.Name, x.tail, x.follow, x.Out, x.Out)
}

func (x *command) undeploy(c *cli.Context, t *topology.Topology, f *EngineSet) error {
	d, err := plan.FromTopology(t, f.text, "", "", nil)
	if err != nil {
		return fmt.Errorf("undeploy: %w", err)
	}
	if p := plan.TakeDown(d, f.Observed, x.volumes); len(p.Steps) == 0 {
		x.Notef("cluster %s: nothing is there", t.Name)
		return nil
	}
	if !x.yes {
		if err := x.confirmDown(c, t.Name, f, x.volumes); err != nil {
			return err
		}
	}
	return x.changingHosts(c, t, func(c *cli.Context, f *EngineSet) error {
		p := plan.TakeDown(d, f.Observed, x.volumes)
		if len(p.Steps) == 0 {
			x.Notef("cluster %s: nothing is there", t.Name)
			return nil
		}
		return x.carryOut(c, d, f, nil, nil, p, "run posta undeploy again to continue, or posta deploy to have the cluster back")
	})
}

// confirmDown demands the answer yes, from a person or a pipe.
func (x *command) confirmDown(c *cli.Context, cluster string, f *EngineSet, volumes bool) error {
	containers, data := 0, 0
	for i := range f.Observed.Engines {
		containers += len(f.Observed.Engines[i].Containers)
		data += len(f.Observed.Engines[i].Volumes)
	}
	what := units.Plural(containers, "container") + " go, data stays"
	if volumes {
		what = fmt.Sprintf("%s and %s will be removed, with all data, logs and results", units.Plural(containers, "container"),
			units.Plural(data, "volume"))
	}
	fmt.Fprintf(x.Err, "take down cluster %s: %s. Yes? [y/N] ", cluster, what)
	line := make(chan string, 1)
	go func() { // this goroutine may outlive the call: a read of a terminal cannot be cancelled
		text, _ := bufio.NewReader(x.In).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		if answer := strings.ToLower(strings.TrimSpace(text)); answer == "y" || answer == "yes" {
			return nil
		}
	case <-c.Context.Done():
		return context.Cause(c.Context)
	}
	return exit.Usagef("undeploy: not taken down; answer y, or give --%s", flagYes)
}
