package member

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/deploy"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/medic"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// ProbeCommand returns the command that posta deploy runs in containers. posta deploy itself reaches only engines: nodes may be in networks
// that it cannot reach. Each subcommand prints one line.
func ProbeCommand(base *call.Call) *cli.Command {
	x := &command{Call: base}
	flags := []cli.Flag{call.TopologyFlag(), call.AddressFlag(), KeysFlag(),
		&cli.DurationFlag{Name: "within", Value: 2 * time.Second, Usage: "listen for `TIME`"}}
	return &cli.Command{
		Name: "probe", Hidden: true, Usage: "what posta deploy asks of containers",
		Subcommands: []*cli.Command{
			{Name: "room", ArgsUsage: "DIR", Usage: "bytes on the disk of a directory", Action: x.probeRoom},
			{Name: "keys", ArgsUsage: "DIR", Usage: "write the keys on standard input, a tar archive, to a directory", Action: x.probeKeys},
			{Name: "own", ArgsUsage: "UID:GID DIR…", Usage: "give directories and what is in them to a user", Action: x.probeOwn},
			{Name: "ports", ArgsUsage: "[ADDRESS…]", Usage: "which of these addresses cannot be listened to", Action: x.probePorts},
			{Name: "beat", ArgsUsage: "NAME", Usage: "whether a node or medic is up",
				Action: reach.Reader(reach.LoadTopology).WithNode("joiner-1", x.probeBeat), Flags: flags},
			{Name: "lead", Usage: "whether a medic leads", Action: reach.WithTopology(x.probeLead), Flags: flags},
			{Name: "hold", Usage: "hold new sessions back, and list those that run", Action: reach.WithTopology(x.probeHold), Flags: append(flags,
				&cli.DurationFlag{Name: "lease", Usage: "for `TIME`; 0 lets them in"},
				&cli.BoolFlag{Name: "cancel", Usage: "cancel those that run"})},
		},
	}
}

// probesKeys returns the keys of the node or medic in whose container a probe runs; nil in a cluster without keys. With them, the control
// socket of this node or medic admits the probe. With the keys of an input, a probe may hold sessions at all inputs.
func probesKeys(c *cli.Context, t *topology.Topology) (*security.Keys, error) {
	dir := c.String(FlagKeys)
	if dir == "" {
		return nil, nil
	}
	keys, err := security.Load(dir, t.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	return keys, nil
}

// probed returns the endpoint at which a probe asks an input.
func probed(t *topology.Topology, n topology.Node) string {
	return client.NamedEndpoint(t.InternalClient(n), string(n.ID))
}

func (x *command) probeRoom(c *cli.Context) error {
	dir, err := call.OneArgument(c, "directory", "/")
	if err != nil {
		return err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return x.PrintJSON(deploy.DiskSpace{Free: int64(s.Bavail) * int64(s.Bsize), Total: int64(s.Blocks) * int64(s.Bsize)})
}

func (x *command) probeKeys(c *cli.Context) error {
	dir, err := call.OneArgument(c, "directory", "/posta/keys")
	if err != nil {
		return err
	}
	if err := owned.ActFor(filepath.Dir(dir)); err != nil { // whose processes will read them
		return fmt.Errorf("probe keys: %w", err)
	}
	return security.Install(dir, x.In)
}

func (x *command) probeOwn(c *cli.Context) error {
	var uid, gid int
	if n, err := fmt.Sscanf(c.Args().First(), "%d:%d", &uid, &gid); n != 2 || err != nil {
		return exit.Usagef("probe own: give a user and directories, such as %s /own", topology.NodeUser)
	}
	for _, dir := range c.Args().Tail() {
		if err := owned.Give(dir, uid, gid); err != nil {
			return fmt.Errorf("give %s to user %d: %w", dir, uid, err)
		}
	}
	return nil
}

func (x *command) probePorts(c *cli.Context) error {
	taken := []string{}
	for _, address := range c.Args().Slice() {
		l, err := new(net.ListenConfig).Listen(c.Context, "tcp", address)
		if err != nil {
			taken = append(taken, err.Error())
			continue
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return x.PrintJSON(taken)
}

func (x *command) probeBeat(c *cli.Context, t *topology.Topology, name string) error {
	if of, ok := topology.ConsoleOf(name); ok {
		return x.probeConsole(c, t, of)
	}
	n, err := reach.NodeOrMedic(t, medic.NodeID(name))
	if err != nil {
		return err
	}
	keys, err := probesKeys(c, t)
	if err != nil {
		return err
	}
	up, recovering := false, false
	if _, err = t.Medic(n.ID); err == nil {
		var m monitor.Medics
		m, err = within(c, func(m monitor.Medics) (bool, error) { return m.All[0].Heard, nil })(monitor.ListenToMedics([]topology.Node{n}, keys))
		up = err == nil && m.All[0].Heard
	} else {
		var view []monitor.Status
		view, err = within(c, func(view []monitor.Status) (bool, error) { return view[0].Up(monitor.SilentFor), nil })(
			monitor.ListenToNodes([]topology.Node{n}, keys))
		up = err == nil && view[0].Up(monitor.SilentFor)
		recovering = err == nil && view[0].Heard && view[0].Beat.State == heartbeat.Recovering
	}
	if err != nil {
		return err
	}
	return x.printState(up, recovering)
}

// probeConsole asks a console within its own container. One that does not answer yet is not up; one that is another's is an error.
func (x *command) probeConsole(c *cli.Context, t *topology.Topology, of topology.NodeID) error {
	n, err := t.Medic(of)
	if err != nil {
		return err
	}
	keys, err := probesKeys(c, t)
	if err != nil {
		return err
	}
	trust, err := console.Own(t, keys)
	if err != nil {
		return err
	}
	err = console.Check(c.Context, t.ConsoleAddress(n), trust)
	if errors.Is(err, console.ErrStranger) {
		return err
	}
	return x.printState(err == nil, false)
}

func (x *command) probeLead(c *cli.Context, t *topology.Topology) error {
	keys, err := probesKeys(c, t)
	if err != nil {
		return err
	}
	m, err := within(c, monitor.HasLeader)(monitor.ListenToMedics(t.MedicNodes(), keys))
	if err != nil {
		return err
	}
	return x.printState(m.Led, false)
}

func (x *command) printState(up, recovering bool) error {
	switch {
	case up:
		return x.PrintJSON(deploy.Up)
	case recovering:
		return x.PrintJSON(deploy.Recovering)
	}
	return x.PrintJSON(deploy.Silent)
}

// within is monitor.UntilClosed with --within as time limit. It is not an error if the time runs out.
func within[V any](c *cli.Context, enough func(V) (bool, error)) func(*monitor.Listener[V], error) (V, error) {
	return func(l *monitor.Listener[V], err error) (V, error) {
		ctx, cancel := context.WithTimeout(c.Context, c.Duration("within"))
		defer cancel()
		view, err := monitor.UntilClosed(ctx, enough)(l, err)
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
		return view, err
	}
}

// probeHold sets the hold at the first input, and only asks the other inputs for their sessions.
func (x *command) probeHold(c *cli.Context, t *topology.Topology) (err error) {
	keys, err := probesKeys(c, t)
	if err != nil {
		return err
	}
	var r deploy.Running
	inputs := t.Holding(topology.Input)
	for i, n := range inputs {
		q := protocol.Request{Type: protocol.Sessions}
		if i == 0 { // the first input admits sessions
			q = protocol.Request{Type: protocol.Hold, Lease: c.Duration("lease")}
		}
		reply, err := client.RequestOnce(c.Context, keys, probed(t, n), q, c.Duration("within"))
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
		x.cancelAll(c, t, keys, inputs, r.Sessions)
	} else if r.Rest, err = restOf(c, t, keys); err != nil {
		return err
	}
	return x.PrintJSON(r)
}

// cancelAll asks every input to cancel the sessions. The next probe shows whether that worked.
func (x *command) cancelAll(c *cli.Context, t *topology.Topology, keys *security.Keys, inputs []topology.Node, sessions []deploy.Session) {
	for _, s := range sessions {
		for _, n := range inputs {
			_, err := client.RequestOnce(c.Context, keys, probed(t, n), protocol.Request{Type: protocol.Cancel, Session: s.ID, Force: true},
				c.Duration("within"))
			if err != nil {
				x.Notef("cancel %s at %s: %v", s.ID, n.ID, err)
			}
		}
	}
}

// restOf returns how many sessions each node still has. It leaves out outputs: they keep results, and nothing has to wait for those.
func restOf(c *cli.Context, t *topology.Topology, keys *security.Keys) (map[string]int, error) {
	nodes := slices.DeleteFunc(t.Nodes(), func(n topology.Node) bool { return n.Holds(topology.Output) })
	view, err := within(c, func(view []monitor.Status) (bool, error) {
		return !slices.ContainsFunc(view, func(s monitor.Status) bool { return !s.Heard }), nil
	})(monitor.ListenToNodes(nodes, keys))
	if err != nil {
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
