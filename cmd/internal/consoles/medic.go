package consoles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
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

// beModest makes this process the first that the kernel ends if memory is short. Settings that the system does not permit stay as they are.
func beModest() {
	debug.SetMemoryLimit(member.ConsoleMemory)
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(member.ConsoleVictim)), 0)
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) == nil && now.Cur > member.ConsoleMost {
		now.Cur = member.ConsoleMost
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &now)
	}
}

// medicConsole serves the console of a medic, as its companion, or in a container of its own. There it injects no faults.
func (x *command) medicConsole(c *cli.Context) error {
	beModest()
	t, err := reach.LoadTopology(c)
	if err != nil {
		return err
	}
	n, err := t.Medic(topology.NodeID(c.String(member.FlagOf)))
	if err != nil {
		return err
	}
	at := t.ConsoleAddress(n)
	if at == "" {
		return exit.Usagef("console: the medics of %s serve none", t.File)
	}
	log, err := member.Logger(x.Call, c)
	if err != nil {
		return err
	}
	keys, err := member.ProcessKeys(c, t, n, log)
	if err != nil {
		return err
	}
	defer member.ReloadKeys(member.Hangups(), keys, log)()
	trust, err := console.Own(t, keys)
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
	var breaks *console.Breaker
	alive := x.alive()
	if c.Bool(flagAlone) {
		var calm func()
		alive, calm = endIfHung(log)
		defer calm()
	} else {
		var undo func()
		if breaks, undo, err = x.newConsoleBreaker(c, func(*topology.Topology) (*security.Keys, error) { return keys, nil }, n.ID); err != nil {
			return err
		}
		defer undo()
	}
	about := &console.Medic{Name: string(n.ID), Trust: trust, Bind: c.String(flagConsoleBind), Peers: map[string]int{}, Alive: alive}
	for _, m := range t.MedicNodes() {
		if m.ID != n.ID {
			about.Peers[string(m.ID)] = t.ConsolePort(m)
		}
	}
	cfg := client.Config{Entries: innerEntryPoints(t, keys != nil), Keys: keys, Force: true, GiveUpAfter: reach.AskedFor, Timeout: reach.AskedFor}
	served := console.Config{
		Topology: t, Nodes: nodes.View, Medics: medics.View, Trouble: func() []string { return nil },
		Sessions: func(ctx context.Context) ([]protocol.SessionInfo, error) { return reach.SessionsOf(ctx, cfg) },
		Trace:    func(ctx context.Context, id session.ID) (tracing.View, error) { return traces.Of(ctx, t, keys, id) },
		Lines: func(ctx context.Context, node topology.NodeID) monitor.Lines {
			return monitor.AskForLines(ctx, nodes, node)
		},
		Break: breaks, Medic: about,
	}
	switch roots := t.RootsOf(n.Host); {
	case keys != nil: // a medic's key opens no session, and may read no answers
		served.NoAsk = "This cluster has keys, and the key of a medic may open no session, so this console answers no statements. Use your " +
			"own key: posta console --key DIR --data DIR."
	case len(roots) == 0:
		served.NoAsk = fmt.Sprintf("The topology names no directory with files on host %s, so this console answers no statements. Write roots "+
			"= [\"/srv/data\"] below [data], then posta down and posta up; or start posta console --data DIR.", n.Host)
	}
	if keys == nil {
		if served.Ask, err = x.asks.Asker(c, reach.Entrance{At: cfg.Entries}, t.RootsOf(n.Host)); err != nil {
			return err
		}
		served.Answers = func(ctx context.Context, id session.ID) (*client.Answer, error) { return x.asks.Answers(ctx, cfg, id) }
	}
	s, err := console.Listen(at, served)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; end what listens there, or write another port for console below [medics]", err)
	}
	if err != nil {
		return err
	}
	return s.Run(c.Context)
}

// alive returns a function that writes signs of life for the medic.
func (x *command) alive() func(time.Time) {
	var last time.Time
	return func(now time.Time) {
		if now.Sub(last) >= member.ConsoleBeat {
			last = now
			x.Printf(".\n")
		}
	}
}

// endIfHung returns a function for signs of life. Without one for ConsoleSilence it ends the process, which the engine then starts again.
func endIfHung(log *slog.Logger) (alive func(time.Time), calm func()) {
	late := time.AfterFunc(member.ConsoleSilence, func() {
		log.Error("the console hangs, and ends", "silent", member.ConsoleSilence)
		os.Exit(1)
	})
	return func(time.Time) { late.Reset(member.ConsoleSilence) }, func() { late.Stop() }
}

// innerEntryPoints is EntryPoints for a process beside the nodes, which may be in the same network of containers.
func innerEntryPoints(t *topology.Topology, named bool) (all []string) {
	for _, r := range []topology.Role{topology.Input, topology.Output} {
		for _, n := range t.Holding(r) {
			at := t.InternalClient(n)
			if named {
				at = client.NamedEndpoint(at, string(n.ID))
			}
			all = append(all, at)
		}
	}
	return all
}
