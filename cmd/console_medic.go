package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// A medic serves the console in a process of its own, the companion. So a panic, a flood of requests or a leak in the console does not
// affect the medic. The medic starts the companion again when it ends, and kills it when it hangs.
const (
	consoleBeat    = 5 * time.Second  // between two signs of life
	consoleSilence = 60 * time.Second // a console without a sign of life for this long counts as hung; a busy machine may delay one
	consolePause   = time.Second      // pause before it is started again
	consoleMemory  = 256 << 20        // soft limit of the Go runtime, in bytes
	consoleMost    = 1 << 30          // limit of the data segment, in bytes: the system refuses more
	consoleVictim  = 500              // of 1000: if memory is short, the kernel ends the console and not the medic
)

// consoleCompanion returns the companion that serves the console of a medic; nil if the medic serves none. A medic with the socket of an
// engine serves none: the console of a cluster in containers has a container of its own, so that whoever breaks into it does not have the
// engine, and with it the machine.
func (x *command) consoleCompanion(c *cli.Context, t *topology.Topology, n topology.Node) (*process.Companion, error) {
	if t.ConsoleAddress(n) == "" || c.Bool(call.FlagDocker) {
		return nil, nil
	}
	argv, err := reach.Self()
	if err != nil {
		return nil, err
	}
	argv = append(argv, "console", "--"+flagOf, string(n.ID), "-f", c.String(call.FlagTopology))
	for _, name := range []string{call.FlagAddress, flagKeys, flagLocalClient} {
		if v := c.String(name); v != "" {
			argv = append(argv, "--"+name, v)
		}
	}
	for _, h := range c.StringSlice(call.FlagHost) {
		argv = append(argv, "--"+call.FlagHost, h)
	}
	if c.Bool(call.FlagSystemd) {
		argv = append(argv, "--"+call.FlagSystemd)
	}
	return &process.Companion{Name: "console", Command: argv, Silence: consoleSilence, Pause: consolePause}, nil
}

// beside runs a medic's companion until the medic ends. When the medic reads its keys again, it makes the companion do the same.
func beside(ctx context.Context, p *process.Companion, keys *security.Keys) (stop func()) {
	if p == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	forget := keys.OnReload(func() { p.Signal(syscall.SIGHUP) })
	var running sync.WaitGroup
	running.Add(1)
	go func() {
		defer running.Done()
		p.Run(ctx)
	}()
	return func() {
		forget()
		cancel()
		running.Wait()
	}
}

// beModest makes this process the first that the kernel ends if memory is short. Settings that the system does not permit stay as they are.
func beModest() {
	debug.SetMemoryLimit(consoleMemory)
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(consoleVictim)), 0)
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) == nil && now.Cur > consoleMost {
		now.Cur = consoleMost
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
	n, err := t.Medic(topology.NodeID(c.String(flagOf)))
	if err != nil {
		return err
	}
	at := t.ConsoleAddress(n)
	if at == "" {
		return exit.Usagef("console: the medics of %s serve none", t.File)
	}
	log, err := x.logger(c)
	if err != nil {
		return err
	}
	keys, err := processKeys(c, t, n, log)
	if err != nil {
		return err
	}
	defer reloadKeys(hangups(), keys, log)()
	trust, err := consoleTrust(t, keys)
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
	cfg := client.Config{Entries: innerEntryPoints(t, keys != nil), Keys: keys, Force: true, GiveUpAfter: askedFor, Timeout: askedFor}
	served := console.Config{
		Topology: t, Nodes: nodes.View, Medics: medics.View, Trouble: func() []string { return nil },
		Sessions: func(ctx context.Context) ([]protocol.SessionInfo, error) { return sessionsOf(ctx, cfg) },
		Trace:    func(ctx context.Context, id session.ID) (tracing.View, error) { return traceOf(ctx, t, keys, id) },
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
		if served.Ask, err = x.newConsoleAsker(c, reach.Entrance{At: cfg.Entries}, t.RootsOf(n.Host)); err != nil {
			return err
		}
		served.Answers = func(ctx context.Context, id session.ID) (*client.Answer, error) { return answersOf(ctx, cfg, id) }
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

func consoleTrust(t *topology.Topology, keys *security.Keys) (console.Trust, error) {
	if keys != nil {
		return console.WithKeys(keys), nil
	}
	secret, err := haveConsoleSecret(t)
	return console.WithSecret(secret), err
}

// alive returns a function that writes signs of life for the medic.
func (x *command) alive() func(time.Time) {
	var last time.Time
	return func(now time.Time) {
		if now.Sub(last) >= consoleBeat {
			last = now
			x.Printf(".\n")
		}
	}
}

// endIfHung returns a function for signs of life. Without one for consoleSilence it ends the process, which the engine then starts again.
func endIfHung(log *slog.Logger) (alive func(time.Time), calm func()) {
	late := time.AfterFunc(consoleSilence, func() {
		log.Error("the console hangs, and ends", "silent", consoleSilence)
		os.Exit(1)
	})
	return func(time.Time) { late.Reset(consoleSilence) }, func() { late.Stop() }
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
