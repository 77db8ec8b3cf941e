package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/incidents"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
)

// Command returns posta status.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name:  "status",
		Usage: "show all nodes and medics on one screen: state, speed, backlog, sessions, the last incidents",
		Description: `Listens to the nodes' heartbeats for a moment. A node that sends none is silent: it is dead, hung, or cut off from this machine. Of running sessions it
shows what they ask, and for statements of SQL their pass.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.KeyFlag(), call.AddressFlag(), call.JSONFlag(&x.json),
			&cli.BoolFlag{Name: "watch", Destination: &x.watch, Aliases: []string{"w"},
				Usage: "refresh until Ctrl-C; on a terminal as a full screen, where h shows the keys"}},
		Action: reach.WithTopology(x.run),
	}
}

func (x *command) run(c *cli.Context, t *topology.Topology) error {
	keys, err := reach.ClientKeys(x.Call, c, t)
	if err != nil {
		return err
	}
	l, err := monitor.ListenToNodes(t.Nodes(), keys)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	w, err := monitor.ListenToMedics(t.MedicNodes(), keys)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithTimeout(c.Context, max(monitor.LookAtMost, 10*t.Medics.Heartbeat))
	defer cancel()
	view, err := l.Until(ctx, monitor.HeardEnough)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, err := w.Until(ctx, medicsHeard); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	print := x.printStatus
	if x.json {
		print = func(t *topology.Topology, view []monitor.Status, running []monitor.Session, medics monitor.Medics) error {
			return x.printStatusJSON(t, view, running, medics, func(n topology.Node) (time.Time, bool) {
				if end, known := l.Ends(n.Identity()); known {
					return end, known
				}
				return w.Ends(n.Identity())
			})
		}
	}
	from := client.Config{Entries: reach.EntryPoints(t, keys != nil), Keys: keys, Force: true, GiveUpAfter: reach.AskedFor,
		Timeout: reach.AskedFor}
	show := func(view []monitor.Status) error {
		sessions, _ := x.running(c.Context, from, view) // the line of a silent node shows what is wrong with it
		return print(t, view, sessions, w.View())
	}
	refused := func() string {
		if refused := errors.Join(l.Refused(), w.Refused()); refused != nil {
			return reach.ExplainRefused(t, keys, refused)
		}
		return ""
	}
	if x.watch {
		if in, out := x.screen(); in != nil && !x.json {
			return x.showBoard(c.Context, in, out, t, l, w, from)
		}
		return x.showAgain(c.Context, l, show, refused)
	}
	if err := show(view); err != nil {
		return err
	}
	x.warnOfExpiry(l, w)
	if !slices.ContainsFunc(view, func(s monitor.Status) bool { return s.Heard }) {
		if l.Refused() != nil {
			return fmt.Errorf("%w: %s; or name another key with --%s DIR or POSTA_KEY", exit.ErrNothingAnswers, refused(), call.FlagKey)
		}
		return fmt.Errorf("%w: no node of %s is heard; start them with `posta up`, or name another topology with -f", exit.ErrNothingAnswers,
			t.File)
	}
	if why := refused(); why != "" {
		x.Notef("posta: %s", why)
	}
	return nil
}

// showAgain shows the status until the context ends. Why somebody refuses to be listened to is said once.
func (x *command) showAgain(ctx context.Context, l *monitor.Listener[[]monitor.Status], show func([]monitor.Status) error,
	refused func() string) error {
	said := ""
	return x.again(ctx, l, func(view []monitor.Status) error {
		if err := show(view); err != nil {
			return err
		}
		now := refused()
		if now != said && now != "" {
			x.Notef("posta: %s", now)
		}
		said = now
		return nil
	})
}

// warnOfExpiry warns of certificates that end soon.
func (x *command) warnOfExpiry(l *monitor.Listener[[]monitor.Status], w *monitor.Listener[monitor.Medics]) {
	now := time.Now()
	for _, expiring := range []func(time.Time) ([]string, time.Time){l.Expiring, w.Expiring} {
		if names, first := expiring(now); len(names) > 0 {
			x.Notef("warning: the certificates of %s end soon, the first one on %s: run posta key renew, and posta deploy where they are "+
				"containers; posta key list shows what ends when",
				strings.Join(names, ", "), first.UTC().Format(time.DateOnly))
		}
	}
}

// medicsHeard reports whether all medics are heard, and their leader and journal are known.
func medicsHeard(m monitor.Medics) (bool, error) {
	return len(m.All) == 0 || m.Led && len(m.Entries) > 0 && !slices.ContainsFunc(m.All, func(x monitor.Medic) bool { return !x.Heard }), nil
}

// again prints the status every second.
func (x *command) again(ctx context.Context, l *monitor.Listener[[]monitor.Status], show func([]monitor.Status) error) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := show(l.View()); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil // Ctrl-C is how a user ends it
		}
	}
}

func (x *command) printStatus(t *topology.Topology, view []monitor.Status, running []monitor.Session, medics monitor.Medics) error {
	table := display.Table{
		Head:  []string{"node", "state", "inc", "pid", "heard", "up", "in/s", "out/s", "backlog", "log", "sessions"},
		Right: []bool{false, false, true, true, true, true, true, true, true, true, true},
		Least: []int{3, 2, 4, 5, 10},
	}
	if width, isTerminal := call.Terminal(x.Out); isTerminal {
		table.Width = width()
	}
	up := 0
	for i := range view {
		if view[i].Up(monitor.SilentFor) {
			up++
		}
		table.Rows = append(table.Rows, statusRow(&view[i]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %s up\n", t.Name, up, units.Plural(len(view), "node"))
	for _, line := range table.Lines() {
		b.WriteString(line + "\n")
	}
	for _, line := range monitor.Remarks(view) {
		b.WriteString(line + "\n")
	}
	for _, line := range slices.Concat(sessionLines(running), incidents.MedicLines(medics)) {
		b.WriteString(line + "\n")
	}
	_, err := x.Out.Write([]byte(b.String()))
	return err
}

func statusRow(s *monitor.Status) []string {
	if !s.Heard {
		return []string{string(s.Node.ID), "silent", "", "", "never", "", "", "", "", "", ""}
	}
	b := &s.Beat
	return []string{
		string(s.Node.ID), s.State(), fmt.Sprint(b.ID.Incarnation), fmt.Sprint(b.PID), display.Span(s.Age) + " ago", display.Span(b.Uptime),
		units.Bytes(int64(s.InRate)), units.Bytes(int64(s.OutRate)), units.Bytes(int64(s.Backlog())), units.Bytes(int64(b.LogBytes)),
		fmt.Sprint(b.Sessions),
	}
}
