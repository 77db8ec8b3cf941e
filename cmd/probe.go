package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/deploy"
	"posta.dev/posta/medic"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// probeCommand is what posta deploy has containers do: it reaches engines only, and nodes may be in networks that it cannot see. Each
// prints one line.
func (x *command) probeCommand() *cli.Command {
	within := &cli.DurationFlag{Name: "within", Value: 2 * time.Second, Usage: "listen for `TIME`"}
	return &cli.Command{
		Name: "probe", Hidden: true, Usage: "what posta deploy asks of containers",
		Subcommands: []*cli.Command{
			{Name: "room", ArgsUsage: "DIR", Usage: "bytes on the disk of a directory", Action: x.probeRoom},
			{Name: "beat", ArgsUsage: "NAME", Usage: "whether a node or medic is up", Action: x.probeBeat, Flags: []cli.Flag{topologyFlag(), addressFlag(), within}},
			{Name: "lead", Usage: "whether a medic leads", Action: x.probeLead, Flags: []cli.Flag{topologyFlag(), addressFlag(), within}},
			{Name: "hold", Usage: "keep new sessions out, and tell who runs", Action: x.probeHold, Flags: []cli.Flag{topologyFlag(), addressFlag(), within,
				&cli.DurationFlag{Name: "lease", Usage: "for `TIME`; 0 lets them in"},
				&cli.BoolFlag{Name: "cancel", Usage: "cancel those that run"}}},
		},
	}
}

func (x *command) printLine(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		x.printf("%s\n", b)
	}
	return err
}

func (x *command) probeRoom(c *cli.Context) error {
	dir, err := oneArgument(c, "directory", "/")
	if err != nil {
		return err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return x.printLine(deploy.DiskSpace{Free: int64(s.Bavail) * s.Bsize, Total: int64(s.Blocks) * s.Bsize})
}

func (x *command) probeBeat(c *cli.Context) error {
	name, err := oneArgument(c, "node", "joiner-1")
	if err != nil {
		return err
	}
	t, err := loadTopology(c)
	if err != nil {
		return err
	}
	n, err := placed(t, medic.NodeID(name))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("within"))
	defer cancel()
	state := deploy.Silent
	if _, err := t.Medic(n.ID); err == nil {
		state, err = medicBeat(ctx, n)
		return errors.Join(err, x.printLine(state))
	}
	l, err := monitor.Listen([]topology.Node{n})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	view, err := l.Until(ctx, func(view []monitor.Status) (bool, error) { return view[0].Up(silentFor), nil })
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch {
	case view[0].Up(silentFor):
		state = deploy.Up
	case view[0].Heard && view[0].Beat.State == heartbeat.Recovering:
		state = deploy.Recovering
	}
	return x.printLine(state)
}

func medicBeat(ctx context.Context, n topology.Node) (string, error) {
	w, err := monitor.Watch([]topology.Node{n})
	if err != nil {
		return "", err
	}
	defer func() { _ = w.Close() }()
	m, err := w.Until(ctx, func(m monitor.Medics) bool { return len(m.All) > 0 && m.All[0].Heard })
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return "", err
	}
	if len(m.All) > 0 && m.All[0].Heard {
		return deploy.Up, nil
	}
	return deploy.Silent, nil
}

func (x *command) probeLead(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	t, err := loadTopology(c)
	if err != nil {
		return err
	}
	w, err := monitor.Watch(t.MedicNodes())
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("within"))
	defer cancel()
	state := deploy.Up
	if _, err := w.Until(ctx, func(m monitor.Medics) bool { return m.Led }); err != nil {
		state = deploy.Silent
	}
	return x.printLine(state)
}

// probeHold speaks to the first input as whoever changes the cluster, and to the others as anybody may.
func (x *command) probeHold(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	t, err := loadTopology(c)
	if err != nil {
		return err
	}
	var r deploy.Running
	first := true
	var inputs []topology.Node
	for _, n := range t.Nodes() {
		if !n.Holds(topology.Input) {
			continue
		}
		q := protocol.Request{Type: protocol.Sessions}
		if first { // it decides who is admitted
			q = protocol.Request{Type: protocol.Hold, Lease: c.Duration("lease")}
		}
		first = false
		inputs = append(inputs, n)
		reply, err := client.RequestOnce(c.Context, t.ClientInside(n), q, c.Duration("within"))
		if err != nil {
			r.Silent = append(r.Silent, string(n.ID))
			continue
		}
		for _, s := range reply.Sessions {
			if !slices.ContainsFunc(r.Sessions, func(have deploy.Session) bool { return have.ID == s.Session }) && s.State == session.Running {
				r.Sessions = append(r.Sessions, deploy.Session{ID: s.Session, Analysis: s.Analysis, Age: s.Age})
			}
		}
	}
	if c.Bool("cancel") {
		x.cancelAll(c, t, inputs, r.Sessions)
	} else if r.Rest, err = restOf(c.Context, t, c.Duration("within")); err != nil {
		return err
	}
	return x.printLine(r)
}

// cancelAll asks every input; whether it helped shows the next time.
func (x *command) cancelAll(c *cli.Context, t *topology.Topology, inputs []topology.Node, sessions []deploy.Session) {
	for _, s := range sessions {
		for _, n := range inputs {
			_, err := client.RequestOnce(c.Context, t.ClientInside(n), protocol.Request{Type: protocol.Cancel, Session: s.ID}, c.Duration("within"))
			if err != nil {
				x.notef("cancel %s at %s: %v", s.ID, n.ID, err)
			}
		}
	}
}

// restOf is what nodes still have of sessions. Outputs keep results, which is no reason to wait.
func restOf(ctx context.Context, t *topology.Topology, within time.Duration) (map[string]int, error) {
	nodes := slices.DeleteFunc(t.Nodes(), func(n topology.Node) bool { return n.Holds(topology.Output) })
	l, err := monitor.Listen(nodes)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	view, err := l.Until(ctx, func(view []monitor.Status) (bool, error) {
		return !slices.ContainsFunc(view, func(s monitor.Status) bool { return !s.Heard }), nil
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	rest := map[string]int{}
	for _, s := range view {
		if s.Heard && s.Beat.Sessions > 0 {
			rest[string(s.Node.ID)] = s.Beat.Sessions
		}
	}
	return rest, nil
}
