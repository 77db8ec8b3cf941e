package cmd

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
)

func (x *command) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", ArgsUsage: "bash|fish|zsh",
		Usage: "print a script that lets the shell complete commands, flags and names",
		Description: `   bash:  source <(posta completion bash)     in ~/.bashrc
   zsh:   source <(posta completion zsh)      in ~/.zshrc, behind compinit
   fish:  posta completion fish | source      in ~/.config/fish/config.fish

It completes names of analyses, names of nodes and hosts in the topology, and ids of sessions, which it asks the cluster for.

` + exit.Help,
		Action: x.completion,
	}
}

// completionFlag is the word that the scripts append after the last, unfinished word of the line.
const completionFlag = "--generate-completion"

// The scripts ask posta itself, which prints one word per line. If it prints none, the shell offers files. Words hold names of files, which
// anybody may have chosen: no script expands a word, and each shell quotes what it inserts. zsh and fish do so by themselves; bash's
// compgen -W would run $(...) in a word.
const (
	bashCompletion = `# posta completion for bash
_posta() {
    local cur="${COMP_WORDS[COMP_CWORD]}" word
    COMPREPLY=()
    while IFS= read -r word; do
        if [[ "$word" == "$cur"* ]]; then
            printf -v word %%q "$word"
            COMPREPLY+=("$word")
        fi
    done < <("${COMP_WORDS[@]:0:COMP_CWORD}" "$cur" %[1]s 2>/dev/null)
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
	fishCompletion = `# posta completion for fish
function __posta_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found (command $words "$current" %[1]s 2>/dev/null)
    if test (count $found) -gt 0
        printf '%%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c posta -f -a '(__posta_complete)'
`
)

func (x *command) completion(c *cli.Context) error {
	shell, err := call.OneArgument(c, "shell", "bash")
	if err != nil {
		return err
	}
	switch shell {
	case "bash":
		x.Printf(bashCompletion, completionFlag)
	case "zsh":
		x.Printf(zshCompletion, completionFlag)
	case "fish":
		x.Printf(fishCompletion, completionFlag)
	default:
		return exit.Usagef("completion: no script for %q; the shells are bash, fish and zsh", shell)
	}
	return nil
}

// complete prints the words that could replace the last one of words. The words before it are the line so far.
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
				x.Printf("--%s\n", f.Names()[0])
			}
		}
		x.Printf("--help\n")
	case command != nil && len(before) > depth && takesValue(command, before[len(before)-1]):
		x.printWords(x.valuesOf(command, before[len(before)-1], before, current))
	case len(commands) > 0:
		for _, c := range commands {
			if !c.Hidden {
				x.Printf("%s\n", c.Name)
			}
		}
	case !hasArgument(command, before[depth:]):
		all := x.argumentsOf(command, before)
		if command != nil && command.Name == "submit" { // posta filters here, because the shell offers files only if no word is printed
			all = append(slices.DeleteFunc(all, func(word string) bool { return !strings.HasPrefix(word, current) }), statementFiles(current)...)
		}
		x.printWords(all)
	}
}

func (x *command) printWords(all []string) {
	for _, word := range all {
		x.Printf("%s\n", word)
	}
}

// statementFiles returns the files of statements that a path may become. It leaves out names that do not fit into a line, and those that a
// command would take for a flag.
func statementFiles(start string) (files []string) {
	dir, name := filepath.Split(start)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if !e.IsDir() && strings.HasPrefix(e.Name(), name) && strings.HasSuffix(e.Name(), ".sql") && display.Escape(e.Name()) == e.Name() &&
			!strings.HasPrefix(dir+e.Name(), "-") {
			files = append(files, dir+e.Name())
		}
	}
	return files
}

// hasArgument reports whether words hold an argument, besides flags and their values.
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

// argumentsOf returns the arguments that a command may have.
func (x *command) argumentsOf(c *cli.Command, words []string) (all []string) {
	switch c.Name {
	case "run", "submit":
		for _, a := range x.Analyses {
			all = append(all, a.Name)
		}
	case "gen":
		all = slices.Sorted(maps.Keys(x.Generators))
	case "completion":
		all = []string{"bash", "fish", "zsh"}
	case "results", "cancel", "trace":
		return x.sessionIDs(words)
	case "node", "medic", "chaos", "logs":
		t := topologyIn(c, words)
		if t == nil {
			return nil
		}
		for _, n := range t.All() {
			if medic := len(n.Chain) == 0; c.Name == "chaos" || c.Name == "logs" || medic == (c.Name == "medic") {
				all = append(all, string(n.ID))
			}
		}
	}
	return all
}
