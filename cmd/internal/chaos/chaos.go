package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// command is posta chaos.
type command struct {
	*call.Call
	duration time.Duration
	every    time.Duration // mean time between two faults
	patience time.Duration
	seed     uint64
	kinds    cli.StringSlice
	json     bool
}

// Command returns posta chaos.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "chaos", ArgsUsage: "[NAME...]",
		Usage: "kill and stop nodes and medics of a running cluster, and show how they come back",
		Description: `Injects faults into nodes and medics of this machine, one after the other, and prints what the medics' journal reports about each. Without names
all nodes and medics are targets. Sessions continue meanwhile, and their answers stay the same to the last bit.

   posta chaos --duration 1m
   posta chaos --every 5s --fault kill joiner-1 medic-3
   posta chaos --docker --fault cut

With --docker the targets are containers, and can be cut off the network as well; posta medic --help says how it finds containers.

Lines are in the order of events; indented lines come from the journal. The last line says how many targets came back. The exit
code is 1 if one of them did not come back within the time of --patience. With --json the lines are on standard error.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.KeyFlag(), call.AddressFlag(), call.HostFlag(), call.DockerFlag(), call.JSONFlag(&x.json),
			&cli.DurationFlag{Name: "duration", Destination: &x.duration, Value: 30 * time.Second, Usage: "continue for this `TIME`"},
			&cli.DurationFlag{Name: "every", Destination: &x.every, Value: 2 * time.Second,
				Usage: "mean `TIME` between two faults; each is between half and one and a half of it"},
			&cli.StringSliceFlag{Name: "fault", Destination: &x.kinds,
				Usage: "only `KIND`: kill (SIGKILL), hang (SIGSTOP for good: medics have to kill it), pause " +
					"(SIGSTOP for less or more than a suspicion takes), and with --docker cut (off the network for as long as a pause); may be repeated"},
			&cli.Uint64Flag{Name: "seed", Destination: &x.seed, DefaultText: "another each time",
				Usage: "`NUMBER` from which targets, faults and times are drawn"},
			&cli.DurationFlag{Name: "patience", Destination: &x.patience, Value: 30 * time.Second,
				Usage: "at the end, wait at most this `TIME` until all targets are back"},
		},
		Action: x.run,
	}
}

func (x *command) run(c *cli.Context) error {
	r, w, err := x.newFaultInjector(c)
	if err != nil {
		return err
	}
	defer func() { _, _ = w.Close(), r.injector.Close() }()
	soon, cancel := context.WithTimeout(c.Context, 5*time.Second)
	defer cancel()
	if _, err := w.Until(soon, monitor.HasLeader); err != nil {
		return fmt.Errorf("%w: no medic leads; start the cluster with `posta up`", exit.ErrNothingAnswers)
	}
	began := time.Now()
	over, cancel := context.WithTimeout(c.Context, x.duration)
	defer cancel()
	lines := x.Out
	if x.json {
		lines = x.Err
	}
	journal := journalReader{since: began, known: map[core.EntryID]bool{}}
	look := func(before time.Time) {
		journal.read(w.View().Entries, &r.told)
		for _, h := range r.told.until(before) {
			fmt.Fprintf(lines, "%s  %s\n", h.at.Format("15:04:05.000"), h.text)
		}
	}
	r.injectUntilDone(over, x.every, func() { look(time.Now().Add(-journalLag)) })
	for _, undo := range r.undos {
		undo()
	}
	waiting, cancel := context.WithTimeout(c.Context, x.patience)
	defer cancel()
	view, err := r.allBack(waiting, w)
	look(time.Now())
	look(time.Now().Add(time.Hour)) // an hour ahead, because the clocks of other hosts may be ahead
	done, unanswered := r.counts()
	line := summary(core.Incidents(view.Entries), began, done, unanswered)
	if x.json {
		return errors.Join(x.PrintJSON(r.AsJSON(view, began)), err)
	}
	x.Printf("%s\n", line)
	return err
}

// journalLag is how long the journal takes to report what happened, unless the leading medic has just died.
const journalLag = time.Second

func (x *command) newFaultInjector(c *cli.Context) (_ *FaultInjector, _ *monitor.Listener[monitor.Medics], err error) {
	if x.every <= 0 {
		return nil, nil, exit.Usagef("--every %v: give a time above 0", x.every)
	}
	injector, all, t, err := faults.InjectorOf(x.Call, c, func(t *topology.Topology) (*security.Keys, error) {
		return reach.ClientKeys(x.Call, c, t)
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = injector.Close()
		}
	}()
	kinds, err := kindsOf(x.kinds.Value(), injector)
	if err != nil {
		return nil, nil, err
	}
	targets := all
	if c.NArg() > 0 {
		targets = nil
	}
	for _, name := range c.Args().Slice() {
		if !slices.Contains(all, medic.NodeID(name)) {
			return nil, nil, exit.Usagef("chaos: unknown name %q; the choices are %s", name, display.Joined(all))
		}
		targets = append(targets, medic.NodeID(name))
	}
	seed := x.seed
	if !c.IsSet("seed") {
		seed = rand.Uint64() >> 32
	}
	x.Notef("chaos with --seed %d", seed)
	keys, err := reach.ClientKeys(x.Call, c, t)
	if err != nil {
		return nil, nil, err
	}
	w, err := monitor.ListenToMedics(t.MedicNodes(), keys)
	return &FaultInjector{seed: seed, injector: injector, rand: rand.New(rand.NewPCG(seed, 0xca05)), targets: targets, kinds: kinds,
		suspect: t.Medics.SuspectAfter}, w, err
}

// kindsOf returns the faults that --fault names. Without the flag it returns all kinds, and kills twice, so that a kill is drawn twice as
// often.
func kindsOf(names []string, m faults.Injector) (kinds []faults.Kind, err error) {
	for _, name := range names {
		if !slices.Contains(m.Kinds(), faults.Kind(name)) {
			return nil, exit.Usagef("--fault %s: the choices are %s", name, display.Joined(m.Kinds()))
		}
		kinds = append(kinds, faults.Kind(name))
	}
	if len(kinds) == 0 {
		kinds = append([]faults.Kind{faults.Kill}, m.Kinds()...)
	}
	return kinds, nil
}
