package cmd

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// every calls do for each command, with the words that lead to it.
func every(commands []*cli.Command, words []string, do func(c *cli.Command, words []string)) {
	for _, c := range commands {
		path := append(words[:len(words):len(words)], c.Name)
		do(c, path)
		every(c.Subcommands, path, do)
	}
}

func TestEveryCommandHelps(t *testing.T) {
	app := (&command{Program: program()}).app()
	every(app.Commands, nil, func(c *cli.Command, words []string) {
		r := must(t, append(words, "--help")...)
		if c.Usage == "" || !strings.Contains(r.out, c.Usage) || r.err != "" {
			t.Errorf("posta %s --help prints %q, and %q on standard error", strings.Join(words, " "), r.out, r.err)
		}
		for _, f := range c.Flags {
			if doc, ok := f.(cli.DocGenerationFlag); !ok || doc.GetUsage() == "" {
				t.Errorf("posta %s: --%s is not explained", strings.Join(words, " "), f.Names()[0])
			}
		}
	})
}

func TestHelpTellsExitCodes(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"--help"}} {
		r := must(t, args...)
		if !strings.Contains(r.out, "130 interrupted") {
			t.Errorf("posta %v prints %s", args, r.out)
		}
	}
	if r := must(t, "run", "--help"); !strings.Contains(r.out, "130 interrupted") {
		t.Errorf("posta run --help prints %s", r.out)
	}
}

func TestCompletionScriptsAskWithTheRightFlag(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		if r := must(t, "completion", shell); !strings.Contains(r.out, completionFlag) || strings.Contains(r.out, "%!") {
			t.Errorf("the script for %s is %s", shell, r.out)
		}
	}
}
