package member

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// FlagOf names the medic whose console a process serves.
const FlagOf = "of"

// A medic serves the console in a process of its own, the companion. So a panic, a flood of requests or a leak in the console does not
// affect the medic. The medic starts the companion again when it ends, and kills it when it hangs.
const (
	ConsoleBeat    = 5 * time.Second  // between two signs of life
	ConsoleSilence = 60 * time.Second // a console without a sign of life for this long counts as hung; a busy machine may delay one
	consolePause   = time.Second      // pause before it is started again
	ConsoleMemory  = 256 << 20        // soft limit of the Go runtime, in bytes
	ConsoleMost    = 1 << 30          // limit of the data segment, in bytes: the system refuses more
	ConsoleVictim  = 500              // of 1000: if memory is short, the kernel ends the console and not the medic
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
	argv = append(argv, "console", "--"+FlagOf, string(n.ID), "-f", c.String(call.FlagTopology))
	for _, name := range []string{call.FlagAddress, FlagKeys, flagLocalClient} {
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
	return &process.Companion{Name: "console", Command: argv, Silence: ConsoleSilence, Pause: consolePause}, nil
}

// beside runs a medic's companion until the medic ends. When the medic reads its keys again, it makes the companion do the same.
func beside(ctx context.Context, p *process.Companion, keys *security.Keys) (stop func()) {
	if p == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	forget := keys.OnReload(func() { p.Signal(syscall.SIGHUP) })
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	return func() {
		forget()
		cancel()
		running.Wait()
	}
}
