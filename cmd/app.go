package cmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/about"
	"posta.dev/posta/cmd/internal/ask"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/chaos"
	"posta.dev/posta/cmd/internal/cluster"
	"posta.dev/posta/cmd/internal/connect"
	"posta.dev/posta/cmd/internal/consoles"
	"posta.dev/posta/cmd/internal/deploy"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/key"
	"posta.dev/posta/cmd/internal/logs"
	"posta.dev/posta/cmd/internal/member"
	"posta.dev/posta/cmd/internal/run"
	"posta.dev/posta/cmd/internal/sessions"
	"posta.dev/posta/cmd/internal/status"
	"posta.dev/posta/cmd/internal/submit"
	"posta.dev/posta/cmd/internal/traces"
)

const description = `Posta answers SQL and runs analyses over large files with several processes, on one host or many, without a broker. Every
record counts exactly once, whatever is killed or restarted on the way.

Without a cluster:

   posta sql --data DIR 'SELECT count(*) FROM trips'
   posta run bikes --data DIR

With a cluster that stays:

   posta up
   posta submit bikes --data DIR
   posta status
   posta down

Without data of your own:

   posta gen bikes --rows 1000000 --out DIR

Results go to standard output, everything else to standard error; with --json standard output is JSON alone.

` + exit.Help

func (x *command) app() *cli.App {
	app := &cli.App{
		Name: "posta", Usage: "exactly-once analyses without a broker", Description: description, Version: x.Version,
		Writer: x.Out, ErrWriter: x.Err, Reader: x.In,
		HideHelpCommand: true, DisableSliceFlagSeparator: true,
		// Main decides the exit code: nothing below it ends the process or prints an error.
		ExitErrHandler: func(*cli.Context, error) {},
		Action:         x.unknownCommand,
		Commands: []*cli.Command{
			run.Command(x.Call), ask.Command(x.Call), about.GenCommand(x.Call), about.AnalysesCommand(x.Call),
			cluster.UpCommand(x.Call), cluster.DownCommand(x.Call), status.Command(x.Call), traces.Command(x.Call),
			consoles.Command(x.Call), chaos.Command(x.Call),
			deploy.Command(x.Call), deploy.UndeployCommand(x.Call),
			submit.Command(x.Call), sessions.Command(x.Call), sessions.ResultsCommand(x.Call), sessions.CancelCommand(x.Call),
			connect.Command(x.Call),
			cluster.TopologyCommand(x.Call), key.Command(x.Call), logs.Command(x.Call), member.NodeCommand(x.Call), member.MedicCommand(x.Call),
			x.completionCommand(), about.VersionCommand(x.Call), x.manCommand(), member.ProbeCommand(x.Call),
		},
	}
	refuseArguments(app.Commands)
	app.Commands = append(app.Commands, x.program.More...)
	app.OnUsageError = usage
	strict(app.Commands)
	return app
}

// refuseArguments makes commands without ArgsUsage refuse arguments, which they would otherwise ignore.
func refuseArguments(commands []*cli.Command) {
	for _, c := range commands {
		if do := c.Action; do != nil && c.ArgsUsage == "" {
			c.Action = func(ctx *cli.Context) error {
				if err := call.NoArguments(ctx); err != nil {
					return err
				}
				return do(ctx)
			}
		}
		refuseArguments(c.Subcommands)
	}
}

// strict makes every command report wrong use as an error instead of printing its help to standard output.
func strict(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usage
		c.HideHelpCommand = true
		if len(c.Subcommands) > 0 && c.Action == nil {
			c.Action = func(ctx *cli.Context) error { return noSuchCommand(ctx, c.Name+" ", c.Subcommands) }
		}
		for _, f := range c.Flags {
			if b, ok := f.(*cli.BoolFlag); ok {
				b.DisableDefaultText = true
			}
		}
		strict(c.Subcommands)
	}
}

func usage(c *cli.Context, err error, _ bool) error {
	name := call.CommandName(c)
	// Package flag has no error of its own for an unknown flag; with another text the message has no suggestion.
	flag, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return exit.Usagef("%s%s; %s --help lists its flags", colon(name), err, strings.TrimSpace("posta "+name))
	}
	for _, f := range c.Command.Flags {
		for _, known := range f.Names() {
			if isTold(f) && closeTo(known, flag) {
				return exit.Usagef("%sunknown flag %s; did you mean %s?", colon(name), dashed(flag), dashed(known))
			}
		}
	}
	return exit.Usagef("%sunknown flag %s; %s --help lists the flags", colon(name), dashed(flag), strings.TrimSpace("posta "+name))
}

func colon(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

func (x *command) unknownCommand(c *cli.Context) error {
	if c.NArg() == 0 {
		return cli.ShowAppHelp(c)
	}
	return noSuchCommand(c, "", c.App.Commands)
}

// noSuchCommand lists the commands that exist, the likely one first.
func noSuchCommand(c *cli.Context, group string, commands []*cli.Command) error {
	var names []string
	for _, known := range commands {
		if !known.Hidden {
			names = append(names, known.Name)
		}
	}
	list := strings.Join(names, ", ")
	if c.NArg() == 0 {
		return exit.Usagef("%s: which command? The commands are %s", strings.TrimSpace(group), list)
	}
	given := c.Args().First()
	if near := slices.IndexFunc(names, func(n string) bool { return closeTo(n, given) }); near >= 0 {
		return exit.Usagef("unknown command %q; did you mean posta %s%s?", group+given, group, names[near])
	}
	return exit.Usagef("unknown command %q; the commands are %s", group+given, list)
}

// closeTo reports whether given probably means name: one letter is wrong, missing or added, two letters are exchanged, or name begins with
// given.
func closeTo(name, given string) bool {
	if len(given) >= 2 && strings.HasPrefix(name, given) {
		return true
	}
	a, b := name, given
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return len(name) > 2 && (max(len(a), len(b)) <= 1 || swapped)
}
