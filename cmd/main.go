package cmd

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/gen"
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

// NodeRunner runs a node until ctx ends and drains it; nil after that.
type NodeRunner func(ctx context.Context, t *topology.Topology, node topology.NodeID, log *slog.Logger) error

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
	return run(sig.graceful, sig.forced, p, args, c)
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
