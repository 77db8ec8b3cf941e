package cmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// reorder puts the flags of a command before its arguments. The flag package stops at the first argument, but people write `posta run bikes
// --data DIR`. Words behind "--" stay arguments.
func reorder(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	if args[1] == "help" { // people also write: posta help run
		return append(append(args[:1:1], args[2:]...), "--help")
	}
	command, depth := find(app.Commands, args[1:])
	if command == nil {
		return args
	}
	head, rest := args[:1+depth], args[1+depth:]
	var flags, plain []string
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		if arg == "--" {
			plain = append(plain, rest[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			plain = append(plain, arg)
			continue
		}
		flags = append(flags, arg)
		if takesValue(command, arg) && i+1 < len(rest) {
			i++
			flags = append(flags, rest[i])
		}
	}
	out := slices.Concat(head, flags)
	if slices.ContainsFunc(plain, func(s string) bool { return strings.HasPrefix(s, "-") && s != "-" }) {
		out = append(out, "--")
	}
	return append(out, plain...)
}

// find returns the command that args name. depth is how many of the names led to it.
func find(commands []*cli.Command, args []string) (found *cli.Command, depth int) {
	for depth < len(args) {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[depth]) })
		if i < 0 {
			break
		}
		found = commands[i]
		commands = found.Subcommands
		depth++
	}
	return found, depth
}

// takesValue reports whether the argument behind a flag is its value. An unknown flag is left for the parser to refuse.
func takesValue(c *cli.Command, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false
}
