package consoles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/member"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/traces"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// command is posta console.
type command struct {
	*call.Call
	asks Asking
}

// Command returns posta console.
func Command(base *call.Call, asks Asking) *cli.Command {
	x := &command{Call: base, asks: asks}
	return &cli.Command{
		Name: "console", Usage: "show the cluster in a browser: nodes, sessions and incidents, live",
		Description: `Prints a link and serves the pages until Ctrl-C. The link lets one browser in, once; then the next link is printed. The console only listens to the
cluster: nothing depends on it, and several may run.

   posta console
   posta console --data DIR              answers SQL over the files below DIR
   posta console --listen 127.0.0.1:0

Where the topology has console = "127.0.0.1:8080" below [medics], medics serve the same pages, as long as one of them lives. A link to them, which lets in
one browser within a minute:

   posta console --login

It proves who you are with your key, or in a cluster without keys by a file that only the user of the cluster can read.

Users who may operate the cluster can also kill and stop its nodes and medics from the pages, as posta chaos does; --watch leaves that out.

It serves /metrics of all nodes for Prometheus (docs/metrics.md), with --metrics-token also to scrapers.

The link and that token are its only protection, so it listens only where no other machine reaches it. To see it from elsewhere: ssh -L 8080:127.0.0.1:8080 HOST

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.KeyFlag(), call.AddressFlag(), call.HostFlag(), call.DockerFlag(),
			&cli.StringFlag{Name: call.FlagData, Usage: "answer statements over the files below `DIR`, or over one file"},
			&cli.StringSliceFlag{Name: call.FlagFile,
				Usage: "`TABLE=PATH`: the files of a table; a pattern in quotes, or an address (https://..., s3://...); may be repeated"},
			&cli.BoolFlag{Name: "watch", Usage: "show no button that kills or stops anything"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8080",
				Usage: "serve at this `ADDRESS` of this machine; port 0 takes any that is free"},
			&cli.BoolFlag{Name: flagLogin, Usage: "print a link to the console that medics serve, and end"},
			&cli.StringFlag{Name: member.FlagOf, Hidden: true, Usage: "serve the console of this `MEDIC`, which has started this process"},
			&cli.BoolFlag{Name: flagAlone, Hidden: true, Usage: "with --of: in a container of its own, and not beside the medic"},
			&cli.StringFlag{Name: flagConsoleBind, Hidden: true,
				Usage: "with --of: serve at this `IP` of a container, where published ports lead, like 0.0.0.0"},
			call.Hidden(member.KeysFlag()), member.LocalClientFlag(), call.Hidden(call.SystemdFlag()), call.Hidden(member.LogFlag()),
			&cli.StringFlag{Name: "metrics-token",
				Usage: "let in scrapers of /metrics that bring the token in this `FILE`, which only you can read"}},
		Action: x.console,
	}
}

func (x *command) console(c *cli.Context) error {
	switch {
	case c.String(member.FlagOf) != "":
		return x.medicConsole(c)
	case c.Bool(flagLogin):
		return x.consoleLogin(c)
	}
	at := c.String("listen")
	if _, err := console.Address(at); errors.Is(err, console.ErrExposed) {
		return exit.Usagef("console: --listen %v; give one like 127.0.0.1:8080, and reach it from elsewhere with ssh -L 8080:127.0.0.1:8080 HOST", err)
	} else if err != nil {
		return exit.Usagef("console: --listen %v", err)
	}
	token, err := scrapeToken(c.String("metrics-token"))
	if err != nil {
		return err
	}
	t, err := reach.LoadTopology(c)
	if err != nil {
		return err
	}
	keys, err := reach.ClientKeys(x.Call, c, t)
	if err != nil {
		return err
	}
	nodes, err := monitor.ListenToNodes(t.Nodes(), keys)
	if err != nil {
		return err
	}
	defer func() { _ = nodes.Close() }()
	medics, err := monitor.ListenToMedics(t.MedicNodes(), keys)
	if err != nil {
		return err
	}
	defer func() { _ = medics.Close() }()
	soon, cancel := context.WithTimeout(c.Context, monitor.LookAtMost) // wait a little, so that the first page shows rates
	defer cancel()
	if _, err := nodes.Until(soon, monitor.HeardEnough); c.Context.Err() != nil {
		return err
	}
	if refused := errors.Join(nodes.Refused(), medics.Refused()); refused != nil &&
		!slices.ContainsFunc(nodes.View(), func(s monitor.Status) bool { return s.Heard }) {
		if c.String(call.FlagData) == "" && len(c.StringSlice(call.FlagFile)) == 0 {
			return fmt.Errorf("%w: %s; or name another key with --%s DIR or POSTA_KEY", exit.ErrNothingAnswers, reach.ExplainRefused(t, keys, refused), call.FlagKey)
		}
		x.Notef("warning: the pages show no nodes: %s", reach.ExplainRefused(t, keys, refused))
	}
	from := reach.Entrance{At: reach.EntryPoints(t, keys != nil), Keys: keys}
	cfg := reach.AskConfig(c, from, session.ID{})
	ask, err := x.asks.Asker(c, from, nil)
	if err != nil {
		return err
	}
	var breaks *console.Breaker
	if !c.Bool("watch") && (keys == nil || reach.RoleOf(t, keys) == security.Operate) {
		var undo func()
		if breaks, undo, err = x.newConsoleBreaker(c, func(*topology.Topology) (*security.Keys, error) { return keys, nil }, ""); err != nil {
			return err
		}
		defer undo()
	}
	x.Notef("the console of cluster %s: open the link in a browser on this machine; it works once. Ctrl-C ends the console", t.Name)
	s, err := console.Listen(at, console.Config{
		Topology: t, Nodes: nodes.View, Medics: medics.View,
		Trouble: func() []string {
			if refused := errors.Join(nodes.Refused(), medics.Refused()); refused != nil {
				return []string{reach.ExplainRefused(t, keys, refused)}
			}
			return nil
		},
		Sessions: func(ctx context.Context) ([]protocol.SessionInfo, error) { return reach.SessionsOf(ctx, cfg) },
		Answers:  func(ctx context.Context, id session.ID) (*client.Answer, error) { return x.asks.Answers(ctx, cfg, id) },
		Trace:    func(ctx context.Context, id session.ID) (tracing.View, error) { return traces.Of(ctx, t, keys, id) },
		Lines: func(ctx context.Context, node topology.NodeID) monitor.Lines {
			return monitor.AskForLines(ctx, nodes, node)
		},
		Ask: ask, Break: breaks,
		ScrapeToken: token,
		Announce:    func(link string) { x.Printf("%s\n", link) },
	})
	if errors.Is(err, syscall.EADDRINUSE) {
		if t.Medics.Console != "" {
			return fmt.Errorf("%w; medics serve a console, and posta console --login prints a link to it; or name another port with --listen", err)
		}
		return fmt.Errorf("%w; name another port with --listen, or 127.0.0.1:0 for any that is free", err)
	}
	if err != nil {
		return err
	}
	return s.Run(c.Context)
}

// Flags of consoles that medics serve.
const (
	flagLogin       = "login"
	flagAlone       = "alone"
	flagConsoleBind = "console-bind"
)

// Asking answers the statements of a console's users, and fetches the answers of sessions.
type Asking struct {
	Asker   func(c *cli.Context, from reach.Entrance, roots []string) (*console.Asker, error)
	Answers func(ctx context.Context, cfg client.Config, id session.ID) (*client.Answer, error)
}
