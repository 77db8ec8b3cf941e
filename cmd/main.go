package cmd

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Program is what the command can do.
type Program struct {
	Analyses   analyses.Set
	Generators map[string]Generator // by analysis
	RunNode    NodeRunner           // nil runs the nodes of package nodes
	Version    string               // "" is what the program was built from
	More       []*cli.Command       // further commands, beside those that every program has
}

// Generator makes data for an analysis.
type Generator func(dir gen.Dir, rows int, seed uint64) error

// NodeRunner runs a node until ctx ends and drains it; nil after that. keys are the node's own, and nil for one that speaks plain ZMTP.
type NodeRunner func(ctx context.Context, t *topology.Topology, node topology.NodeID, keys *security.Keys, log *slog.Logger) error

// Console is where a command reads and writes. Terminals are recognised when they are *os.File.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main is the main of a program: it does what os.Args say, and ends the process. A program's own main is this one call:
//
//	func main() { cmd.Main(cmd.Program{Analyses: analyses.Set{bikes.New()}}) }
//
// Nodes are the same program started again, so they know the same analyses.
func Main(p Program) {
	os.Exit(Run(p, os.Args, Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// Run does what args (as os.Args) say and returns the exit code. It listens to SIGINT and SIGTERM.
func Run(p Program, args []string, c Console) int {
	sig := listenToSignals()
	defer sig.stop()
	if len(args) > 1 && (args[1] == "node" || args[1] == "medic") { // they drain, however often they are told to
		return run(sig.graceful, sig.forced, p, args, c)
	}
	return runUntil(sig.forced, c, func() int { return run(sig.graceful, sig.forced, p, args, c) })
}

// forcedTime is how long a command may tidy up after the second Ctrl-C.
const forcedTime = time.Second

// runUntil runs do, and returns soon after forced has ended even if do does not: a read of a file or a write to a pipe may hang for ever.
// The process is expected to end then, and do with it.
func runUntil(forced context.Context, c Console, do func() int) int {
	done := make(chan int, 1)
	go func() { done <- do() }()
	select {
	case code := <-done:
		return code
	case <-forced.Done():
	}
	select {
	case code := <-done:
		return code
	case <-time.After(forcedTime):
		_, _ = io.WriteString(c.Err, "posta: interrupted\n") // whoever reads standard error may hang, too
		return exitInterrupted
	}
}

// run is Run without signals: graceful ends when the command is to end in order, forced when at once.
func run(graceful, forced context.Context, p Program, args []string, c Console) int {
	c.Err = &lockedWriter{w: c.Err}
	x := &command{Program: p.withDefaults(), Console: c, forced: forced}
	if err := p.Analyses.Check(); err != nil {
		x.sayError(err)
		return exitFailed
	}
	app := x.app()
	if n := len(args) - 1; n > 0 && args[n] == completionFlag {
		x.complete(app, args[1:n])
		return exitOK
	}
	err := app.RunContext(graceful, reorder(app, args))
	if err == nil {
		return exitOK
	}
	x.sayError(err)
	return exitCode(err)
}

// command is one call of posta.
type command struct {
	Program
	Console
	forced context.Context
}
