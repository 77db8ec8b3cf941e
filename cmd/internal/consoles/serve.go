package consoles

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/ask"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/traces"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// serve serves a console until the command ends.
func (x *command) serve(c *cli.Context, h *host) error {
	var l listeners
	var err error
	if l.nodes, err = monitor.ListenToNodes(h.topology.Nodes(), h.keys); err != nil {
		return err
	}
	defer func() { _ = l.nodes.Close() }()
	if l.medics, err = monitor.ListenToMedics(h.topology.MedicNodes(), h.keys); err != nil {
		return err
	}
	defer func() { _ = l.medics.Close() }()
	if err := h.heard(c.Context, &l); err != nil {
		return err
	}
	cfg := h.cfg
	if h.from != nil {
		if cfg.Ask, err = ask.NewConsoleAsker(x.Call, c, *h.from, h.roots); err != nil {
			return err
		}
		cfg.Answers = func(ctx context.Context, id session.ID) (*client.Answer, error) {
			return deliver.AnswersOf(ctx, h.cluster, id)
		}
	}
	if h.breaks {
		var undo func()
		if cfg.Break, undo, err = x.newBreaker(c, h); err != nil {
			return err
		}
		defer undo()
	}
	cfg.Topology, cfg.Nodes, cfg.Medics = h.topology, l.nodes.View, l.medics.View
	cfg.Trouble = func() []string { return h.refused(l.refused()) }
	cfg.Sessions = func(ctx context.Context) ([]protocol.SessionInfo, error) { return reach.SessionsOf(ctx, h.cluster) }
	cfg.Trace = func(ctx context.Context, id session.ID) (tracing.View, error) {
		return traces.Of(ctx, h.topology, h.keys, id)
	}
	cfg.Lines = func(ctx context.Context, node topology.NodeID) monitor.Lines {
		return monitor.AskForLines(ctx, l.nodes, node)
	}
	if h.own == "" {
		x.Notef("the console of cluster %s: open the link in a browser on this machine; it works once. Ctrl-C ends the console", h.topology.Name)
	}
	s, err := console.Listen(h.at, cfg)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; %s", err, h.taken)
	}
	if err != nil {
		return err
	}
	return s.Run(c.Context)
}
