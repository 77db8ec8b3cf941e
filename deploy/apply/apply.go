package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Image says where the image comes from.
type Image struct {
	Ref  string // reference
	Size int64  // bytes, about; 0 is not known
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Config is what Run needs to carry out a plan.
type Config struct {
	Desired  plan.Desired               // the state from which the plan was made
	Observed plan.Observed              // the state from which the plan was made; Run does not update it
	Engines  map[string]*engine.Engine  // by host; hosts that share an engine have the same one
	Image    *Image                     // nil: the image is on some engine already
	Keys     map[string]security.Bundle // by unit
	Wait     time.Duration              // how long sessions may take to finish
	Cancel   bool                       // cancel sessions instead of waiting for them
	Beat     time.Duration              // how long to wait for a heartbeat, unless the node recovers its log
	Report   func(Event)                // called by several goroutines, one at a time; may be nil

	MedicsWait time.Duration // how long to continue stopping medics that are started again; 0 is medicsWait
}

// Event is progress of a step. The first event of a step has neither Done nor Text nor Bytes.
type Event struct {
	Step  plan.Step
	N, Of int    // which step, of how many
	Done  bool   // the step is over: this is its last event
	Err   error  // with Done: why it failed
	Text  string // what the step waits for
	Bytes int64  // bytes copied so far
	Size  int64  // with Bytes: how many in all, about; 0 is not known
}

// errStep is wrapped by the error of a plan that was not carried out completely.
var errStep = errors.New("the deploy stopped")

// runner carries out one plan.
type runner struct {
	Config
	of    int         // number of steps in the plan
	held  sessionHold // begun by HoldSessions; kept when an input is about to stop, else released at the end
	mu    sync.Mutex  // guards begun, and the calls of Report
	begun int         // steps that have begun
}

// Run carries a plan out.
func Run(ctx context.Context, c Config, p plan.Plan) error {
	r := &runner{Config: c, of: len(p.Steps)}
	if r.Report == nil {
		r.Report = func(Event) {}
	}
	defer r.held.renewing.Wait()
	defer r.held.release()
	for from := 0; from < len(p.Steps); {
		to := from
		for to < len(p.Steps) && p.Steps[to].Stage == p.Steps[from].Stage {
			to++
		}
		if err := r.stage(ctx, p.Steps[from:to]); err != nil {
			return fmt.Errorf("%w: %w", errStep, err)
		}
		from = to
	}
	return nil
}

// stage does the steps of each engine one after the other, and those of different engines at the same time.
func (r *runner) stage(ctx context.Context, steps []plan.Step) error {
	var order []*engine.Engine
	by := map[*engine.Engine][]plan.Step{}
	for _, s := range steps {
		e := r.Engines[s.Host]
		if e == nil {
			return fmt.Errorf("%s: host %s has no engine", s, s.Host)
		}
		if by[e] == nil {
			order = append(order, e)
		}
		by[e] = append(by[e], s)
	}
	errs := make([]error, len(order))
	var wg sync.WaitGroup
	for i, e := range order {
		wg.Go(func() {
			for _, s := range by[e] {
				if errs[i] = r.step(ctx, e, s); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// tries is how often a step is tried whose outcome is unknown.
const tries = 4

func (r *runner) step(ctx context.Context, e *engine.Engine, s plan.Step) (err error) {
	r.mu.Lock()
	r.begun++
	n := r.begun
	r.mu.Unlock()
	report := func(ev Event) {
		ev.Step, ev.N, ev.Of = s, n, r.of
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Report(ev)
	}
	report(Event{})
	for try := range tries {
		if err = ctx.Err(); err == nil {
			err = r.do(ctx, e, s, report)
		}
		if err == nil || ctx.Err() != nil || !engine.OutcomeUnknown(err) {
			break
		}
		select {
		case <-time.After(time.Duration(try+1) * 500 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	if err != nil {
		err = fmt.Errorf("%s on host %s: %w", s, s.Host, err)
	}
	report(Event{Done: true, Err: err})
	return err
}

func (r *runner) do(ctx context.Context, e *engine.Engine, s plan.Step, report func(Event)) error {
	d := &r.Desired
	switch s.Do {
	case plan.ShipImage:
		return r.ship(ctx, e, s, report)
	case plan.CreateNetwork:
		return e.CreateNetwork(ctx, d.Cluster, s.What)
	case plan.RemoveNetwork:
		return e.RemoveNetwork(ctx, s.What)
	case plan.CheckSpace:
		return r.checkSpace(ctx, e, s)
	case plan.CheckPorts:
		network := ""
		if s.Bridge {
			network = d.Network
		}
		return e.CheckPorts(ctx, d.Cluster, d.Image, network, s.Ports)
	case plan.MarkDrained:
		return e.MarkDrained(ctx, d.Cluster, s.What, s.Shape, s.Image)
	case plan.RemoveHelper, plan.Remove, plan.DeleteRevision, plan.UnmarkDrained:
		return e.Remove(ctx, s.What)
	case plan.HoldSessions:
		return r.hold(ctx, e, s)
	case plan.DrainSessions:
		return r.drain(ctx, e, s, report)
	case plan.Stop:
		if u := r.container(s.What); u != nil && u.Role != topology.RoleMedic && strings.Contains(u.Chain, string(topology.Input)) {
			r.held.keep()
		}
		return e.Stop(ctx, s.What, s.Grace)
	case plan.StopMedics:
		return r.stopMedics(ctx)
	case plan.DeleteVolume:
		return e.DeleteVolume(ctx, d.Cluster, s.What)
	case plan.CreateVolume:
		return e.CreateVolume(ctx, s.What, volumeLabels(d.Cluster, s))
	case plan.CopyVolume:
		return r.copy(ctx, e, s, report)
	case plan.CarryKeys:
		return e.CarryKeys(ctx, d.Cluster, d.Image, s.What, r.unit(s.Unit), r.Keys[s.Unit])
	case plan.Create:
		return e.Create(ctx, s.What, r.unit(s.Unit))
	case plan.Start:
		u := r.unit(s.Unit)
		for _, m := range u.Spec.Mounts {
			if m.Volume != "" {
				if err := e.Own(ctx, d.Cluster, m.Volume, &u.Spec); err != nil {
					return err
				}
			}
		}
		return e.Start(ctx, s.What)
	case plan.AwaitHeartbeat:
		return r.awaitUp(ctx, e, s, report, "beat", s.Unit, "--within", "2s")
	case plan.AwaitLeader:
		return r.awaitUp(ctx, e, s, report, "lead", "--within", "5s")
	case plan.AwaitSteady:
		return r.awaitSteady(ctx, e, s)
	case plan.SaveRevision:
		return e.SaveRevision(ctx, d, s.What, s.Number)
	}
	return fmt.Errorf("step %q is not known", s.Do)
}

func (r *runner) unit(name string) *plan.Unit {
	i := slices.IndexFunc(r.Desired.Units, func(u plan.Unit) bool { return u.Name == name })
	return &r.Desired.Units[i] // a plan creates only desired units
}

// container returns a container that existed when the plan was made.
func (r *runner) container(name string) *plan.Container {
	for i := range r.Observed.Engines {
		for j := range r.Observed.Engines[i].Containers {
			if c := &r.Observed.Engines[i].Containers[j]; c.Name == name {
				return c
			}
		}
	}
	return nil
}

func volumeLabels(cluster string, s plan.Step) map[string]string {
	l := map[string]string{topology.LabelCluster: cluster}
	if s.Unit == "" {
		l[plan.LabelFence] = s.Host
		return l
	}
	l[topology.LabelNode], l[plan.LabelChain] = s.Unit, s.Chain
	if s.Copy {
		l[plan.LabelArriving] = "yes"
	}
	return l
}

// ship sends the image from this machine, or from another engine that has it.
func (r *runner) ship(ctx context.Context, e *engine.Engine, s plan.Step, report func(Event)) error {
	image := r.Image
	if image == nil || image.Ref != s.What {
		from := r.withImage(s.What, e)
		if from == nil {
			return fmt.Errorf("image %s is on no host any more; deploy the program it was made of, or name an image with --image", s.What)
		}
		image = &Image{Open: func(ctx context.Context) (io.ReadCloser, error) { return from.Save(ctx, s.What) }}
	}
	in, err := image.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	return e.Load(ctx, s.What, in, carried(image.Size, report))
}

// carried returns a function that reports how many bytes have been copied.
func carried(size int64, report func(Event)) func(n int) {
	var sent int64
	return func(n int) {
		sent += int64(n)
		report(Event{Bytes: sent, Size: size})
	}
}

// withImage returns an engine other than not that has the image.
func (r *runner) withImage(ref string, not *engine.Engine) *engine.Engine {
	for i := range r.Observed.Engines {
		o := &r.Observed.Engines[i]
		if e := r.Engines[o.Name()]; slices.Contains(o.Images, ref) && e != nil && e != not {
			return e
		}
	}
	return nil
}

func (r *runner) copy(ctx context.Context, e *engine.Engine, s plan.Step, report func(Event)) error {
	from := r.Engines[s.From]
	if from == nil {
		return fmt.Errorf("host %s has no engine", s.From)
	}
	image := r.Desired.Image
	if o := r.Observed.Engine(s.From); o != nil && !slices.Contains(o.Images, image) && !r.wants(s.From) {
		if len(o.Images) == 0 {
			return fmt.Errorf("host %s has no image to read the volume with; load one there with `docker load`", s.From)
		}
		image = o.Images[0]
	}
	return e.CopyVolume(ctx, r.Desired.Cluster, s.What, from, image, r.Desired.Image, carried(0, report))
}

// wants reports whether the host gets the image in this plan.
func (r *runner) wants(host string) bool {
	return slices.ContainsFunc(r.Desired.Hosts, func(h plan.Host) bool { return r.Engines[h.Name] == r.Engines[host] })
}
