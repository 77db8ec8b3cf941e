package cmd

import (
	"context"
	"io"
	"os"
	"runtime"
	"time"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
)

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
	collectLater()
	boundMemory()
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

// runWithin is Run without signals. The command ends in order when graceful ends, and at once when forced ends.
func runWithin(graceful, forced context.Context, p Program, args []string, c Console) int {
	return runWith(&signals{graceful: graceful, forced: forced, interrupts: &call.Interrupts{}}, p, args, c)
}

func runWith(sig *signals, p Program, args []string, c Console) int {
	c.Err = &call.LockedWriter{W: c.Err}
	x := newCommand(p, c, sig)
	if err := p.Analyses.Check(); err != nil {
		x.SayError(err)
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
	x.SayError(err)
	return exit.Code(err)
}
