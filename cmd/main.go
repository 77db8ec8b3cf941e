package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Program describes what the command can do.
type Program struct {
	Analyses   analyses.Set
	Generators map[string]Generator // by analysis, or by the kind of data
	RunNode    NodeRunner           // nil means the nodes of package nodes
	Version    string               // "" means the version that the program was built from
	More       []*cli.Command       // further commands, beside those that every program has
}

// Generator makes data for an analysis.
type Generator = func(dir gen.Dir, rows int, seed uint64) error

// NodeRunner runs a node until ctx ends, and then drains it and returns nil. keys are the node's own; nil if the node speaks plain ZMTP.
type NodeRunner = func(ctx context.Context, t *topology.Topology, node topology.NodeID, keys *security.Keys, log *slog.Logger) error

// Console is where a command reads and writes. It recognises terminals if they are *os.File.
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

// Run does what args (in the form of os.Args) say and returns the exit code. It handles SIGINT and SIGTERM.
func Run(p Program, args []string, c Console) int {
	drains := len(args) > 1 && (args[1] == "node" || args[1] == "medic")
	sig := listenToSignals(drains)
	defer sig.stop()
	if drains { // a node or medic drains after the first signal; further signals do not shorten that
		if args[1] == "medic" && os.Getenv("GOMAXPROCS") == "" {
			// A medic works for a moment, hundreds of times a second. With more processors, the Go runtime wakes a second thread each time, which
			// finds no work. That costs a quarter more processor time.
			runtime.GOMAXPROCS(1)
		}
		return runWith(sig, p, args, c)
	}
	return runUntil(sig.forced, c, func() int { return runWith(sig, p, args, c) })
}

// forcedTime is how long a command may clean up after the second Ctrl-C.
const forcedTime = time.Second

// runUntil runs do. It returns soon after forced has ended even if do does not return, because a read of a file or a write to a pipe may
// hang for ever. The process is expected to end then, and do with it.
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
		_, _ = io.WriteString(c.Err, "posta: interrupted\n") // a write to standard error may hang, too
		return exit.Interrupted
	}
}

// run is Run without signals. The command ends in order when graceful ends, and at once when forced ends.
func run(graceful, forced context.Context, p Program, args []string, c Console) int {
	return runWith(&signals{graceful: graceful, forced: forced, interrupts: &call.Interrupts{}}, p, args, c)
}

func runWith(sig *signals, p Program, args []string, c Console) int {
	c.Err = &call.LockedWriter{W: c.Err}
	x := newCommand(p, c, sig)
	if err := p.Analyses.Check(); err != nil {
		x.sayError(err)
		return exit.Failed
	}
	if len(args) > 2 {
		x.Arguments = args[2:]
	}
	app := x.app()
	giveHelp(app, args)
	if n := len(args) - 1; n > 0 && args[n] == completionFlag {
		x.complete(app, args[1:n])
		return exit.OK
	}
	err := app.RunContext(sig.graceful, reorder(app, args))
	if err == nil {
		return exit.OK
	}
	err = reach.ExplainMissingKey(x.Call, sig.graceful, err)
	x.sayError(err)
	return exit.Code(err)
}

// sayError prints an error in one line. Mistakes in a topology get a line each, in the form that editors jump to. A mistake in a statement
// is shown within the statement.
func (x *command) sayError(err error) {
	if x.Events != nil {
		x.Events.Failed(err)
	}
	var quiet *exit.SaidError
	if errors.As(err, &quiet) {
		return
	}
	var mistakes topology.Errors
	each := exit.Code(err) != exit.Interrupted && errors.As(err, &mistakes)
	for i, line := range exit.Lines(err) {
		if i == 0 || each {
			line = "posta: " + line
		}
		fmt.Fprintln(x.Err, line)
	}
}

// command is one call of posta.
type command struct {
	*call.Call
	program Program
}

func newCommand(p Program, c Console, sig *signals) *command {
	p = p.withDefaults()
	return &command{program: p, Call: &call.Call{
		Analyses: p.Analyses, Generators: p.Generators, RunNode: p.RunNode, Version: p.Version,
		In: c.In, Out: c.Out, Err: c.Err, Forced: sig.forced, Interrupts: sig.interrupts,
	}}
}
