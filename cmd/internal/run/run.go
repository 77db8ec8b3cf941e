package run

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/medic"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
)

// command is posta run.
type command struct {
	*call.Call
}

// Command returns posta run.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "run", ArgsUsage: "ANALYSIS",
		Usage: "run an analysis on a private cluster, print the answers, clean up",
		Description: `Starts a cluster for this one run: a process for each node, in a temporary directory, on unix sockets. A node that dies is
started again at once and continues where its log ends. The answers are the same for every number of replicas. Small data (--in-process)
is read by a node within this process.

   posta run bikes --data data/bikes
   posta run bikes --data data/bikes --replicas joiner=3,aggregator=2 \
         --json > answers.json

On failure the directory with the logs is kept, and named. Tables show the first ` + fmt.Sprint(deliver.ShownRows) + ` rows of each query with fractions rounded
to three digits; --json and --out PLACE give all of them, exact (docs/data.md).

` + exit.Help,
		Flags: append(append(upload.UploadFlags(), ClusterFlags()...),
			&cli.StringFlag{Name: call.FlagTopology, Aliases: []string{"f"}, Usage: "use the topology in `FILE` instead of a generated one"}),
		Action: x.WithEvents(x.run),
	}
}

// ClusterFlags describe the private cluster of one command.
func ClusterFlags() []cli.Flag {
	return []cli.Flag{
		inProcessFlag(),
		&cli.StringFlag{Name: "replicas", Usage: "`STAGE=N,...` or all=N: processes of a stage, 1 to 64 (default input 1, aggregator 2, " +
			"reducer 1, output 1, and joiner 2 or, where facts are folded in the input, none; from 12 cores on input 2 and joiner 2, if the " +
			"facts of an analysis are in several files)"},
		&cli.BoolFlag{Name: "split-parsers", Usage: "run parsers as processes of their own; raw CSV then goes over sockets and to disk"},
		&cli.StringSliceFlag{Name: "set", Usage: "set `KEY=VALUE` in the generated topology, like limits.window=1MiB; may be repeated"},
		&cli.StringFlag{Name: "sockets", Value: "ipc",
			Usage: "`KIND` of sockets: ipc for unix sockets, tcp for free ports of 127.0.0.1, with keys of their own"},
		// --transport is the former name of --sockets. The transport of a topology is something else: it carries the frames.
		&cli.StringFlag{Name: "transport", Hidden: true, Usage: "`KIND`, as --sockets"},
		&cli.StringFlag{Name: "dir", Usage: "keep logs and the nodes' data in `DIR`, instead of a temporary directory"},
		&cli.BoolFlag{Name: "keep", Usage: "do not remove the temporary directory"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print the directory, and the process of each node"},
	}
}

func (x *command) run(c *cli.Context) (err error) {
	r, err := upload.ReadRequest(x.Call, c)
	if err != nil {
		return err
	}
	defer r.Limit(c)()
	a, err := x.Analyses.Find(r.Cfg.Analysis)
	if err != nil {
		return err
	}
	if a.Compile != nil {
		return exit.Usagef("run: %s has a command of its own: posta sql", a.Name)
	}
	args, err := a.Args(r.Cfg.Params)
	if err != nil {
		return err
	}
	limit, err := Limit(c)
	if err != nil {
		return err
	}
	if bytes, known := reads(c.Context, &r.Cfg, a); known && bytes <= limit {
		return InProcess(x.Call, c.Context, r, func(ctx context.Context, show *display.Progress) error {
			return upload.Upload(x.Call, ctx, r, show)
		})
	}
	r.Forks, r.Inputs = forks(a, args), inputsFor(c.Context, Cores(), &r.Cfg, a)
	return Privately(x.Call, c, r, func(ctx context.Context, t *topology.Topology, keys *security.Keys, show *display.Progress) error {
		r.Cfg.Keys, r.Cfg.Entries, r.Cluster = keys, reach.EntryPoints(t, keys != nil), t
		r.Out.Html.On(t, keys, true)
		return upload.Upload(x.Call, ctx, r, show)
	})
}

// forks reports whether the input can fold the facts of an analysis in several goroutines. A joiner in a process of its own would then only
// add the cost of sending the facts to it. It is false for an analysis that cannot be opened: the session of such an analysis reports the
// error.
func forks(a *analyses.Analysis, args analyses.Args) bool {
	j, err := a.NewJoiner(args, analyses.Replica{Of: 1})
	_, ok := j.(analyses.Forker)
	return err == nil && ok
}

// work is the work of a command on its running cluster.
type work func(ctx context.Context, t *topology.Topology, keys *security.Keys, show *display.Progress) error

// Privately starts a cluster for one command and calls ask. It stops the cluster even if ask fails.
func Privately(x *call.Call, c *cli.Context, r *upload.Request, ask work) (err error) {
	plan, err := RunDirConfig(c, r)
	if err != nil {
		return err
	}
	var keys *security.Keys
	runDir, err := rundir.NewRunDir(plan)
	if err != nil {
		if plan.File != "" {
			err = reach.NoTopology(plan.File, err)
		}
		return err
	}
	if keys, err = runKeys(x, c, runDir.Topology); err != nil {
		return errors.Join(err, runDir.Close(true))
	}
	reach.WarnInsecure(c, runDir.Topology)
	if err := reach.CheckBroker(c.Context, runDir.Topology); err != nil {
		return errors.Join(fmt.Errorf("run: no frame would get through between the nodes: %w", err), runDir.Close(true))
	}
	if plan.File == "" {
		defer removeFromBroker(x, runDir.Topology)
	}
	var died atomic.Bool
	defer func() { err = errors.Join(err, closeRunDir(x, runDir, c.Bool("keep"), died.Load(), err)) }()
	return runOn(x, c.Context, runDir, keys, c.Bool("verbose"), &died, ask)
}

// joinsInInput reports whether the joiner can run in the input's process: there is one input, and the flags ask neither for joiners nor for
// separate parsers.
func joinsInInput(v *topology.Variant) bool {
	_, joiners := v.Replicas[string(topology.Joiner)]
	return !joiners && v.Replicas[string(topology.Input)] <= 1 && !v.SplitParsers
}

// RunDirConfig reads the flags that shape the cluster.
func RunDirConfig(c *cli.Context, r *upload.Request) (rundir.RunDirConfig, error) {
	p := rundir.RunDirConfig{Dir: c.String("dir"), File: c.String(call.FlagTopology)}
	if p.File != "" {
		for _, shape := range []string{"replicas", "split-parsers", "set", "sockets", "transport"} {
			if c.IsSet(shape) {
				return p, exit.Usagef("run: --%s shapes a generated topology, --topology %s names one; give one of the two", shape, p.File)
			}
		}
		return p, nil
	}
	name := "sockets"
	if c.IsSet("transport") {
		if name = "transport"; c.IsSet("sockets") {
			return p, exit.Usagef("run: --transport is a former name of --sockets; give one of the two")
		}
	}
	switch kind := c.String(name); kind {
	case "ipc":
	case "tcp":
		p.TCP = true
	default:
		return p, exit.Usagef("--%s %s: the choices are ipc and tcp", name, kind)
	}
	var err error
	if p.Variant, err = reach.Variant(c); err != nil {
		return p, err
	}
	rundir.Own(p.Variant.Settings)
	widen(&p.Variant, r.Inputs)
	p.Variant.JoinInInput = r.Forks && joinsInInput(&p.Variant)
	if p.Variant.Roots, err = runRoots(r); err != nil {
		return p, err
	}
	_, err = topology.Generate(p.Variant)
	return p, reach.AsUsage(err)
}

// runRoots returns the directories of the data.
func runRoots(r *upload.Request) ([]string, error) {
	files := make([]string, len(r.Cfg.Named))
	for i, n := range r.Cfg.Named {
		files[i] = n.Path
	}
	return rundir.Roots([]string{r.Cfg.Dir}, files)
}

// closeRunDir removes what was temporary, unless keep is set. The nodes' logs stay if they may explain a failure: they say nothing of a
// session that has failed by itself, or of an answer that could not be written, unless a node has died.
func closeRunDir(x *call.Call, runDir *rundir.RunDir, keep, died bool, failed error) error {
	if keep {
		if err := runDir.Keep(); err != nil {
			return errors.Join(err, runDir.Close(false))
		}
	}
	if failed != nil && !keep {
		switch code := exit.Code(failed); {
		case code == exit.Interrupted || code == exit.Usage || !died && (code == exit.Session || errors.As(failed, new(exit.UndeliveredError))) ||
			errors.Is(failed, local.ErrNoRoom):
		default:
			keep = true
			if err := runDir.Prune(); err != nil {
				return errors.Join(err, runDir.Close(false))
			}
		}
	}
	if keep {
		x.Notef("the nodes' logs are in %s", runDir.Dir+"/log")
	}
	return runDir.Close(!keep)
}

// removeFromBroker removes the queues of a cluster that was made for this run. Without a broker there is nothing to do. If the removal
// fails, a note names what is left.
func removeFromBroker(x *call.Call, t *topology.Topology) {
	ctx, cancel := context.WithTimeout(x.Forced, 10*time.Second)
	defer cancel()
	if err := nodes.RemoveFromBroker(ctx, t); err != nil {
		x.Notef("%v; what is left there has %s in its name", err, t.Name)
	}
}

// runOn starts the nodes and calls ask. It stops the nodes even if ask fails. If the disk is full and stays so, it ends ask. died is set if
// a node dies.
func runOn(x *call.Call, ctx context.Context, runDir *rundir.RunDir, keys *security.Keys, verbose bool, died *atomic.Bool,
	ask work) (err error) {
	program, err := reach.Self()
	if err != nil {
		return err
	}
	t := runDir.Topology
	procs, err := local.NewProcesses(local.Config{
		Topology: t, Nodes: t.Nodes(), Dir: runDir.Dir, Program: program, Tied: true,
		Keys: func() (*security.Keys, error) { return reach.MemberKeys(t, t.Nodes()[0]) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, procs.Close()) }()
	show := x.NewProgress()
	stop := procs.Supervise(func(e medic.Event) {
		if e.Kind == medic.Died {
			died.Store(true)
		}
		show.Say(describeEvent(e, procs, verbose))
	})
	defer func() {
		stop()
		err = errors.Join(err, reach.StopErrors(procs.Stop(x.Forced, procs.IDs())))
	}()
	ctx, room := endWithoutRoom(ctx, procs)
	defer func() { err = room(err) }()
	began := time.Now()
	soon, cancel := context.WithTimeout(ctx, reach.ReadyTime)
	defer cancel()
	if err := procs.Ready(soon); err != nil {
		return err
	}
	if verbose {
		show.Say(fmt.Sprintf("cluster in %s ready after %s", runDir.Dir, display.Span(time.Since(began))))
	}
	return ask(ctx, t, keys, show)
}

// endWithoutRoom returns a context that ends when the disk of the nodes stays full. room ends the watch, and returns the error to report in
// place of the given one.
func endWithoutRoom(ctx context.Context, procs *local.Processes) (_ context.Context, room func(error) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := procs.NoRoom(ctx); err != nil {
			cancel(err)
		}
	}()
	return ctx, func(err error) error {
		cause := context.Cause(ctx)
		cancel(nil)
		<-done
		if err != nil && errors.Is(cause, local.ErrNoRoom) {
			return cause
		}
		return err
	}
}

// describeEvent returns what a user should know of an event of a node; "" for a first start, unless verbose is set.
func describeEvent(e medic.Event, procs *local.Processes, verbose bool) string {
	switch e.Kind {
	case medic.Started, medic.Adopted:
		pid, err := procs.Pid(e.Node)
		if err == nil && pid != 0 && (verbose || e.Start > 1) {
			again := ""
			if e.Start > 1 {
				again = fmt.Sprintf(", start %d", e.Start)
			}
			return fmt.Sprintf("%s %s, process %d%s", e.Node, e.Kind, pid, again)
		}
	case medic.Died, medic.Failed:
		when := "starting it again at once"
		if e.Wait > 0 {
			when = fmt.Sprintf("died %d times in a row, starting it again in %s", e.InARow, display.Span(e.Wait))
		}
		return fmt.Sprintf("%s %s: %s; %s", e.Node, e.Kind, e.Cause, when)
	}
	return ""
}

// runKeys makes the keys of a cluster for one run, and returns the run's own keys; nil if it needs none. The keys are removed with the
// run's directory, unless the topology names another place.
func runKeys(x *call.Call, c *cli.Context, t *topology.Topology) (keys *security.Keys, err error) {
	_, err = keyring.MakeLocalKeys(x, t)
	k := keyring.Of(t)
	switch {
	case err != nil:
	case t.OverTCP() && !t.Security.Insecure && k.HasLocal():
		keys, err = reach.LoadKey(x, c, k.LocalHome(), t.Name)
	default: // an operator's keys
		keys, err = reach.ClientKeys(x, c, t)
	}
	if err == nil {
		err = reach.CheckExposure(t)
	}
	return keys, err
}
