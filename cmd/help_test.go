package cmd

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
)

// every calls do for each command, with the words that select it.
func every(commands []*cli.Command, words []string, do func(c *cli.Command, words []string)) {
	for _, c := range commands {
		path := append(words[:len(words):len(words)], c.Name)
		do(c, path)
		every(c.Subcommands, path, do)
	}
}

func TestEveryCommandHelps(t *testing.T) {
	app := newCommand(program(), Console{}, &signals{}).app()
	every(app.Commands, nil, func(c *cli.Command, words []string) {
		r := must(t, append(words, "--help")...)
		if c.Usage == "" || !strings.Contains(unbroken(r.out), unbroken(c.Usage)) || r.err != "" {
			t.Errorf("posta %s --help prints %q, and %q on standard error", strings.Join(words, " "), r.out, r.err)
		}
		for i, line := range strings.Split(r.out, "\n") {
			if display.Width(line) > helpWidth || strings.HasSuffix(line, " ") || strings.Contains(line, "\t") {
				t.Errorf("posta %s --help, line %d is %d wide, or ends in a blank: %q", strings.Join(words, " "), i+1, display.Width(line), line)
			}
		}
		for _, f := range c.Flags {
			if doc, ok := f.(cli.DocGenerationFlag); !ok || doc.GetUsage() == "" {
				t.Errorf("posta %s: --%s is not explained", strings.Join(words, " "), f.Names()[0])
			}
		}
	})
}

// unbroken replaces line breaks and runs of blanks by one blank.
func unbroken(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestHelpListsExitCodes(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"--help"}} {
		r := must(t, args...)
		if !strings.Contains(unbroken(r.out), "130 interrupted") {
			t.Errorf("posta %v prints %s", args, r.out)
		}
		for i, line := range strings.Split(r.out, "\n") {
			if display.Width(line) > helpWidth {
				t.Errorf("posta %v, line %d is %d wide: %q", args, i+1, display.Width(line), line)
			}
		}
	}
	if r := must(t, "run", "--help"); !strings.Contains(unbroken(r.out), "130 interrupted") {
		t.Errorf("posta run --help prints %s", r.out)
	}
}

func TestCompletionScriptsAskWithTheRightFlag(t *testing.T) {
	for _, shell := range []string{"bash", "fish", "zsh"} {
		if r := must(t, "completion", shell); !strings.Contains(r.out, completionFlag) || strings.Contains(r.out, "%!") {
			t.Errorf("the script for %s is %s", shell, r.out)
		}
	}
}
