package cmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/topology"
)

func (x *command) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", ArgsUsage: "bash|zsh",
		Usage: "print what makes the shell complete posta's commands, flags and names",
		Description: `   bash:  source <(posta completion bash)     in ~/.bashrc
   zsh:   source <(posta completion zsh)      in ~/.zshrc, behind compinit

` + exitHelp,
		Action: x.completion,
	}
}

// completionFlag is what the scripts put behind the line that is being typed, its last word included.
const completionFlag = "--generate-completion"

// The scripts ask posta itself, which prints one word per line; where it has none, the shell offers files.
const (
	bashCompletion = `# posta completion for bash
_posta() {
    local cur="${COMP_WORDS[COMP_CWORD]}" IFS=$'\n'
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[@]:0:COMP_CWORD}" "$cur" %[1]s 2>/dev/null)" -- "$cur"))
}
complete -o bashdefault -o default -F _posta posta
`
	zshCompletion = `#compdef posta
# posta completion for zsh
_posta() {
    local -a options
    options=("${(@f)$("${(@)words[1,CURRENT]}" %[1]s 2>/dev/null)}")
    if [[ -n "${options[1]}" ]]; then
        compadd -- "${options[@]}"
    else
        _files
    fi
}
compdef _posta posta
`
)

func (x *command) completion(c *cli.Context) error {
	shell, err := oneArgument(c, "shell", "bash")
	if err != nil {
		return err
	}
	switch shell {
	case "bash":
		x.printf(bashCompletion, completionFlag)
	case "zsh":
		x.printf(zshCompletion, completionFlag)
	default:
		return usagef("completion: no script for %q; there is bash and zsh", shell)
	}
	return nil
}

// complete prints the words that could stand in place of the last one; the others come before it.
func (x *command) complete(app *cli.App, words []string) {
	if len(words) == 0 {
		return
	}
	before, current := words[:len(words)-1], words[len(words)-1]
	command, depth := find(app.Commands, before)
	commands, flags := app.Commands, app.Flags
	if command != nil {
		commands, flags = command.Subcommands, command.Flags
	}
	switch {
	case strings.HasPrefix(current, "-"):
		for _, f := range flags {
			if isTold(f) {
				x.printf("--%s\n", f.Names()[0])
			}
		}
		x.printf("--help\n")
	case command != nil && len(before) > depth && takesValue(command, before[len(before)-1]):
	case len(commands) > 0:
		for _, c := range commands {
			if !c.Hidden {
				x.printf("%s\n", c.Name)
			}
		}
	case !hasArgument(command, before[depth:]):
		for _, word := range x.argumentsOf(command, before) {
			x.printf("%s\n", word)
		}
	}
}

// hasArgument says whether there is one among the words, which are flags and their values otherwise.
func hasArgument(c *cli.Command, words []string) bool {
	for i := 0; i < len(words); i++ {
		switch {
		case !strings.HasPrefix(words[i], "-"):
			return true
		case takesValue(c, words[i]):
			i++
		}
	}
	return false
}

// argumentsOf is what a command may be about.
func (x *command) argumentsOf(c *cli.Command, words []string) (all []string) {
	switch c.Name {
	case "run", "submit":
		for _, a := range x.Analyses {
			all = append(all, a.Name)
		}
	case "gen":
		all = slices.Sorted(maps.Keys(x.Generators))
	case "completion":
		all = []string{"bash", "zsh"}
	case "node", "medic", "chaos":
		file := "topology.toml"
		if i := slices.IndexFunc(words, func(w string) bool { return w == "-f" || w == "--topology" }); i >= 0 && i+1 < len(words) {
			file = words[i+1]
		}
		t, err := topology.Load(file)
		if err != nil {
			return nil
		}
		for _, n := range t.All() {
			if medic := len(n.Chain) == 0; c.Name == "chaos" || medic == (c.Name == "medic") {
				all = append(all, string(n.ID))
			}
		}
	}
	return all
}
