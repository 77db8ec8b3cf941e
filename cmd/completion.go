package cmd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"posta/topology"
)

func (x *command) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", ArgsUsage: "bash|zsh",
		Usage: "print what makes the shell complete posta's commands, flags and names",
		Description: `   bash:  source <(posta completion bash)     in ~/.bashrc
   zsh:   source <(posta completion zsh)      in ~/.zshrc, behind compinit

` + exitHelp,
		BashComplete: func(c *cli.Context) { x.printf("bash\nzsh\n") },
		Action:       x.completion,
	}
}

// The scripts ask posta itself: it prints one word per line for a command line that ends in completionFlag.
const (
	bashCompletion = `# posta completion for bash
_posta() {
    local cur="${COMP_WORDS[COMP_CWORD]}" words
    COMPREPLY=()
    if [[ "$cur" == -* ]]; then
        words=$("${COMP_WORDS[@]:0:COMP_CWORD}" "$cur" %[1]s 2>/dev/null)
    else
        words=$("${COMP_WORDS[@]:0:COMP_CWORD}" %[1]s 2>/dev/null)
    fi
    local IFS=$'\n'
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _posta posta
`
	zshCompletion = `#compdef posta
# posta completion for zsh
_posta() {
    local -a options
    local current="${words[-1]}"
    if [[ "$current" == -* ]]; then
        options=("${(@f)$(${words[@]:0:#words[@]-1} ${current} %[1]s 2>/dev/null)}")
    else
        options=("${(@f)$(${words[@]:0:#words[@]-1} %[1]s 2>/dev/null)}")
    fi
    options=("${(@)options%%%%:*}")
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

func (x *command) completeAnalyses(c *cli.Context) {
	if c.NArg() > 0 {
		return
	}
	for _, a := range x.Analyses {
		fmt.Fprintln(x.Out, a.Name)
	}
}

func (x *command) completeGenerators(c *cli.Context) {
	if c.NArg() > 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(x.Generators)) {
		fmt.Fprintln(x.Out, name)
	}
}

// completeNodes reads the topology of the line that is typed, or the default one. If there is none there is nothing to complete.
func (x *command) completeNodes(c *cli.Context) {
	if c.NArg() > 0 {
		return
	}
	t, err := topology.Load(c.String(flagTopology))
	if err != nil {
		return
	}
	for _, n := range t.Nodes() {
		fmt.Fprintln(x.Out, n.ID)
	}
}
