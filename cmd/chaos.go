package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/medic/docker"
	"posta.dev/posta/topology"
)

func (x *command) chaosCommand() *cli.Command {
	return &cli.Command{
		Name: "chaos", ArgsUsage: "[NAME...]",
		Usage: "kill and stop nodes and medics of a running cluster, and see it come back",
		Description: `Does something bad to a node or medic of this machine again and again, and says what the medics' journal tells of it. Without names
everybody is a target, medics included. Sessions go on meanwhile, and their answers stay the same to the last bit.

   posta chaos --duration 1m
   posta chaos --every 5s --fault kill joiner-1 medic-3
   posta chaos --docker --fault cut

With --docker they are containers, and may be cut off the network as well; see posta medic for how they are found.

The last line says how many came back; the exit code is 1 when somebody did not within the time given by --patience.

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), addressFlag(), hostFlag(), dockerFlag(),
			&cli.DurationFlag{Name: "duration", Value: 30 * time.Second, Usage: "go on for this `TIME`"},
			&cli.DurationFlag{Name: "every", Value: 2 * time.Second, Usage: "mean `TIME` between two faults; each is between half and one and a half of it"},
			&cli.StringSliceFlag{Name: "fault", Usage: "only `KIND`: kill (SIGKILL), hang (SIGSTOP for good: medics have to kill it), pause (SIGSTOP for less or more than a suspicion takes), and with --docker cut (off the network for as long as a pause); may be repeated"},
			&cli.Uint64Flag{Name: "seed", DefaultText: "another each time", Usage: "`NUMBER` that decides who, what and when"},
			&cli.DurationFlag{Name: "patience", Value: 30 * time.Second, Usage: "wait at most this `TIME` for all to be back when it is over"},
		},
		Action: x.chaos,
	}
}

// faultInjector is one run of `posta chaos`.
type faultInjector struct {
	x          *command
	injector   faults.Injector
	rand       *rand.Rand
	targets    []medic.NodeID
	kinds      []faults.Kind
	suspect    time.Duration
	done       int
	unanswered int      // of those: nobody said that it was done
	undos      []func() // ends what lasts
}

func (x *command) chaos(c *cli.Context) error {
	r, w, err := x.newFaultInjector(c)
	if err != nil {
		return err
	}
	defer func() { _, _ = w.Close(), r.injector.Close() }()
	if _, err := w.Until(withLeaderTimeout(c.Context), monitor.HasLeader); err != nil {
		return fmt.Errorf("%w: no medic leads; start the cluster with `posta up`", errNothingAnswers)
	}
	began := time.Now()
	over, cancel := context.WithTimeout(c.Context, c.Duration("duration"))
	defer cancel()
	told := journalPrinter{x: x, since: began}
	r.injectUntilDone(over, c.Duration("every"), func() { told.tell(w.View().Entries) })
	for _, resume := range r.undos {
		resume()
	}
	waiting, cancel := context.WithTimeout(c.Context, c.Duration("patience"))
	defer cancel()
	err = r.allBack(waiting, w)
	view := w.View()
	told.tell(view.Entries)
	x.printSummary(core.Incidents(view.Entries), began, r.done, r.unanswered)
	return err
}

func withLeaderTimeout(ctx context.Context) context.Context {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	context.AfterFunc(ctx, cancel)
	return ctx
}

func (x *command) newFaultInjector(c *cli.Context) (*faultInjector, *monitor.Listener[monitor.Medics], error) {
	if c.Duration("every") <= 0 {
		return nil, nil, usagef("--every %v: give a time above 0", c.Duration("every"))
	}
	injector, all, t, err := x.injectorOf(c)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := kindsOf(c, injector)
	targets := all
	if c.NArg() > 0 {
		targets = nil
	}
	for _, name := range c.Args().Slice() {
		if !slices.Contains(all, medic.NodeID(name)) && err == nil {
			err = usagef("chaos: there is no %q here; there is %s", name, joined(all))
		}
		targets = append(targets, medic.NodeID(name))
	}
	if err != nil {
		_ = injector.Close()
		return nil, nil, err
	}
	seed := c.Uint64("seed")
	if !c.IsSet("seed") {
		seed = rand.Uint64() >> 32
	}
	x.notef("chaos with --seed %d", seed)
	w, err := monitor.ListenToMedics(t.MedicNodes())
	if err != nil {
		_ = injector.Close()
		return nil, nil, err
	}
	return &faultInjector{x: x, injector: injector, rand: rand.New(rand.NewPCG(seed, 0xca05)), targets: targets, kinds: kinds, suspect: t.Medics.SuspectAfter}, w, nil
}

// injectorOf returns the injector, and everybody it may hit.
func (x *command) injectorOf(c *cli.Context) (injector faults.Injector, all []medic.NodeID, t *topology.Topology, err error) {
	if !c.Bool(flagDocker) {
		procs, t, err := x.localProcesses(c)
		if err != nil {
			return nil, nil, nil, err
		}
		return faults.Processes{Processes: procs}, append(procs.IDs(), procs.Medics()...), t, nil
	}
	if t, err = loadTopology(c); err != nil {
		return nil, nil, nil, err
	}
	hosts, err := givenHosts(c, t)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := docker.New(docker.Config{Cluster: t.Name})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, n := range append(t.Nodes(), t.MedicNodes()...) {
		if len(hosts) == 0 || slices.Contains(hosts, n.Host) {
			all = append(all, n.ID)
		}
	}
	return faults.Containers{Restarter: r, Nodes: t.Nodes()}, all, t, nil
}

// kindsOf is what --fault says, or everything, kills twice as often.
func kindsOf(c *cli.Context, m faults.Injector) (kinds []faults.Kind, err error) {
	for _, name := range c.StringSlice("fault") {
		if !slices.Contains(m.Kinds(), faults.Kind(name)) {
			return nil, usagef("--fault %s: there is %s", name, joined(m.Kinds()))
		}
		kinds = append(kinds, faults.Kind(name))
	}
	if len(kinds) == 0 {
		kinds = append([]faults.Kind{faults.Kill}, m.Kinds()...)
	}
	return kinds, nil
}

func joined[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}

// injectUntilDone injects faults until ctx ends. Between two faults it looks at the journal.
func (r *faultInjector) injectUntilDone(ctx context.Context, every time.Duration, look func()) {
	next := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if now := time.Now(); !now.Before(next) {
			r.inject(ctx)
			next = now.Add(every/2 + time.Duration(r.rand.Int64N(int64(every))))
		}
		select {
		case <-tick.C:
			look()
		case <-ctx.Done():
			return
		}
	}
}

// inject makes one fault happen. It draws target, kind and pause even if the target turns out to be dead: so a seed always means the same faults.
func (r *faultInjector) inject(ctx context.Context) {
	target, kind := r.targets[r.rand.IntN(len(r.targets))], r.kinds[r.rand.IntN(len(r.kinds))]
	pause := r.suspect/4 + time.Duration(r.rand.Int64N(int64(2*r.suspect)))
	pid, err := r.injector.Pid(target)
	switch {
	case err != nil:
		r.say("%s %s: %v", kind, target, err)
		return
	case pid == 0:
		r.say("%s %s: it is dead as it is", kind, target)
		return
	}
	what := fmt.Sprintf("%s %s, process %d", kind, target, pid)
	if kind.Lasts() {
		what += " for " + display.Span(pause)
	}
	err = r.injector.Do(ctx, kind, target)
	switch {
	case err == nil:
		r.say("%s", what)
	case givenUp(err): // then incidents may come of it that would otherwise have no fault, and what lasts has to be ended
		r.unanswered++
		r.say("%s, perhaps: %v", what, err)
	default:
		r.say("%s: %v", what, err)
		return
	}
	r.done++
	if !kind.Lasts() {
		return
	}
	undo := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		_ = r.injector.Undo(ctx, kind, target, pid) // it may be gone just now; and who is not back is told in the end
	}
	over := make(chan struct{})
	timer := time.AfterFunc(pause, func() { defer close(over); undo() })
	r.undos = append(r.undos, func() {
		if timer.Stop() {
			undo()
			return
		}
		<-over
	})
}

// givenUp says that a call was given up: nobody knows whether it was carried out.
func givenUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// undoTime bounds the end of what lasts.
const undoTime = 10 * time.Second

func (r *faultInjector) say(format string, args ...any) {
	r.x.printf("%s  %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}

// allBack waits until everybody is heard and no incident is open.
func (r *faultInjector) allBack(ctx context.Context, w *monitor.Listener[monitor.Medics]) error {
	if err := r.injector.Ready(ctx); err != nil {
		return err
	}
	view, err := w.Until(ctx, func(m monitor.Medics) (bool, error) {
		open := slices.ContainsFunc(core.Incidents(m.Entries), func(i core.Incident) bool { return i.Open })
		silent := slices.ContainsFunc(m.All, func(m monitor.Medic) bool { return !m.Heard || m.Age > 2*r.suspect })
		return m.Led && !open && !silent, nil
	})
	if err == nil {
		return nil
	}
	var missing []string
	for _, i := range core.Incidents(view.Entries) {
		if i.Open {
			missing = append(missing, string(i.Node))
		}
	}
	return fmt.Errorf("chaos: not all came back in time: %s: %w", strings.Join(missing, ", "), err)
}

// journalPrinter prints what is new in the journal.
type journalPrinter struct {
	x     *command
	since time.Time
	told  map[core.EntryID]bool
}

func (t *journalPrinter) tell(entries []core.Entry) {
	if t.told == nil {
		t.told = map[core.EntryID]bool{}
	}
	for i := range entries {
		e := &entries[i]
		if t.told[e.EntryID] || e.At.Before(t.since) {
			continue
		}
		t.told[e.EntryID] = true
		t.x.printf("%s    %s\n", e.At.Format("15:04:05.000"), entryText(e))
	}
}

// printSummary prints the last lines.
func (x *command) printSummary(incidents []core.Incident, since time.Time, done, unanswered int) {
	back, restarts := 0, 0
	var slowest time.Duration
	for _, i := range incidents {
		if i.At.Before(since) {
			continue
		}
		restarts += i.Restarts
		if !i.Open {
			back++
			slowest = max(slowest, i.Total())
		}
	}
	perhaps := ""
	if unanswered > 0 {
		perhaps = fmt.Sprintf(", %d without an answer", unanswered)
	}
	_, _ = io.WriteString(x.Out, fmt.Sprintf("%s%s; the journal tells of %s that ended well, with %s; the slowest took %s\n",
		display.Plural(done, "fault"), perhaps, display.Plural(back, "incident"), display.Plural(restarts, "restart"), display.Span(slowest)))
}
