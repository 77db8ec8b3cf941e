package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/medic"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

func (x *command) runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", ArgsUsage: "ANALYSIS",
		Usage: "run an analysis on a private cluster of processes, print the answers, clean up",
		Description: `Starts a cluster for this one run: a process for each node, in a temporary directory, on unix sockets. A node that dies is
started again at once and goes on where its log ends. The answers are the same for every number of replicas.

   posta run bikes --data data/bikes
   posta run bikes --data data/bikes --replicas joiner=3,aggregator=2 --json > answers.json

On failure the directory with the logs is kept, and named. Tables show the first ` + fmt.Sprint(shownRows) + ` rows of each query with fractions rounded
to three digits; --json and --out PLACE give all of them, exact (docs/data.md).

` + exitHelp,
		Flags: append(uploadFlags(),
			&cli.StringFlag{Name: "replicas", Usage: "`STAGE=N,...` or all=N: processes of a stage, 1 to 64 (default input 1, joiner 2, aggregator 2, reducer 1, output 1)"},
			&cli.BoolFlag{Name: "split-parsers", Usage: "parsers as processes of their own; raw CSV then goes over sockets and to disk"},
			&cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE` of the topology file, like limits.window=1MiB; may be repeated"},
			&cli.StringFlag{Name: flagTopology, Aliases: []string{"f"}, Usage: "the topology of `FILE`, instead of a generated one"},
			&cli.StringFlag{Name: "sockets", Value: "ipc", Usage: "`KIND` of sockets: ipc for unix sockets, tcp for free ports of 127.0.0.1, with keys of their own"},
			// The former name of --sockets. The transport of a topology is what carries the frames.
			&cli.StringFlag{Name: "transport", Hidden: true, Usage: "`KIND`, as --sockets"},
			&cli.StringFlag{Name: "dir", Usage: "keep logs and the nodes' data in `DIR`, instead of a temporary directory"},
			&cli.BoolFlag{Name: "keep", Usage: "do not remove the temporary directory"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "tell the directory, and the process of each node"},
		),
		Action: x.run,
	}
}

func (x *command) run(c *cli.Context) (err error) {
	r, err := x.readRequest(c)
	if err != nil {
		return err
	}
	defer r.limit(c)()
	a, err := x.Analyses.Find(r.cfg.Analysis)
	if err != nil {
		return err
	}
	if _, err := a.Args(r.cfg.Params); err != nil {
		return err
	}
	plan, err := runDirConfig(c)
	if err != nil {
		return err
	}
	runDir, err := local.NewRunDir(plan)
	if err != nil {
		if plan.File != "" {
			err = noTopology(plan.File, err)
		}
		return err
	}
	if plan.TCP {
		if r.cfg.Keys, err = x.makeRunKeys(runDir); err != nil {
			return errors.Join(err, runDir.Close(true))
		}
	}
	if err := checkExposure(runDir.Topology); err != nil {
		return errors.Join(err, runDir.Close(true))
	}
	warnInsecure(c, runDir.Topology)
	if err := checkBroker(c.Context, runDir.Topology); err != nil {
		return errors.Join(fmt.Errorf("run: no frame would get through between the nodes: %w", err), runDir.Close(true))
	}
	if plan.File == "" {
		defer x.removeFromBroker(runDir.Topology)
	}
	defer func() { err = errors.Join(err, x.closeRunDir(runDir, c.Bool("keep"), err)) }()
	return x.runOn(c.Context, runDir, r, c.Bool("verbose"))
}

// runWindow is the window of a run's own links, unless a setting says otherwise. All nodes share one machine and receivers are near: with the
// default more waits for them when the disk is slow, which takes memory and saves no time.
const runWindow = "8MiB"

// own adds to a cluster's settings what one for a single run on one machine does better with than with the defaults.
func own(settings map[string]string) {
	given := func(key string) bool { _, is := settings[key]; return is }
	if !given("medics.replicas") {
		settings["medics.replicas"] = "0" // this command itself starts nodes again
	}
	if !given("limits.window") && !given("limits.chunk") { // a window has to hold a chunk
		settings["limits.window"] = runWindow
	}
}

// runDirConfig reads the flags that shape the cluster.
func runDirConfig(c *cli.Context) (local.RunDirConfig, error) {
	p := local.RunDirConfig{Dir: c.String("dir"), File: c.String(flagTopology)}
	if p.File != "" {
		for _, shape := range []string{"replicas", "split-parsers", "set", "sockets", "transport"} {
			if c.IsSet(shape) {
				return p, usagef("run: --%s shapes a generated topology, --topology %s names one; give one of the two", shape, p.File)
			}
		}
		return p, nil
	}
	name := "sockets"
	if c.IsSet("transport") {
		if name = "transport"; c.IsSet("sockets") {
			return p, usagef("run: --transport is a former name of --sockets; give one of the two")
		}
	}
	switch kind := c.String(name); kind {
	case "ipc":
	case "tcp":
		p.TCP = true
	default:
		return p, usagef("--%s %s: there is ipc and tcp", name, kind)
	}
	var err error
	if p.Variant, err = variant(c); err != nil {
		return p, err
	}
	own(p.Variant.Settings)
	_, err = topology.Generate(p.Variant)
	return p, asUsage(err)
}

// closeRunDir removes what was temporary, unless the run failed in a way that its logs explain, or keep is set.
func (x *command) closeRunDir(runDir *local.RunDir, keep bool, failed error) error {
	asked := keep
	keep = keep || failed != nil && exitCode(failed) != exitInterrupted && exitCode(failed) != exitUsage
	if keep {
		x.notef("the nodes' logs are in %s", runDir.Dir+"/log")
	}
	if keep && !asked {
		return errors.Join(runDir.MarkFailed(), runDir.Close(false))
	}
	return runDir.Close(!keep)
}

// removeFromBroker removes the queues of a cluster that was made for this run. Without a broker, and with one that is not there, there is
// nothing to do.
func (x *command) removeFromBroker(t *topology.Topology) {
	ctx, cancel := context.WithTimeout(x.forced, 10*time.Second)
	defer cancel()
	if err := nodes.RemoveFromBroker(ctx, t); err != nil {
		x.notef("%v; what is left there has %s in its name", err, t.Name)
	}
}

// runOn starts the nodes, runs the request, and stops the nodes whatever became of it.
func (x *command) runOn(ctx context.Context, runDir *local.RunDir, r *request, verbose bool) (err error) {
	program, err := self()
	if err != nil {
		return err
	}
	t := runDir.Topology
	procs, err := local.NewProcesses(local.Config{
		Topology: t, Nodes: t.Nodes(), Dir: runDir.Dir, Program: program, Tied: true,
		Keys: func() (*security.Keys, error) { return memberKeys(t, t.Nodes()[0]) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, procs.Close()) }()
	show := x.newProgress()
	stop := procs.Supervise(func(e medic.Event) { show.Say(describeEvent(e, procs, verbose)) })
	defer func() {
		stop()
		err = errors.Join(err, stopErrors(procs.Stop(x.forced, procs.IDs())))
	}()
	began := time.Now()
	soon, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if err := procs.Ready(soon); err != nil {
		return err
	}
	if verbose {
		show.Say(fmt.Sprintf("cluster in %s ready after %s", runDir.Dir, display.Span(time.Since(began))))
	}
	r.cfg.Entries = entryPoints(t, r.cfg.Keys != nil)
	r.cluster = t
	return x.upload(ctx, r, show)
}

// readyTime bounds the wait for a cluster: a node that reads a long log back needs its time, and one that hangs must not
// hang its user.
const readyTime = time.Minute

// describeEvent is what a user should know of a node: "" for a first start, unless verbose is set.
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

// stopErrors is what went wrong when nodes were stopped. One that had to be killed is no error: what counts is on disk.
func stopErrors(all []medic.Stopped) error {
	var errs []error
	for _, s := range all {
		if s.Err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.Node, s.Err))
		}
	}
	return errors.Join(errs...)
}
