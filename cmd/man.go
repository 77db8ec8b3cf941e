package cmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/exit"
)

// manCommand is hidden: packages install what it prints, and people find the same text in --help.
func (x *command) manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Hidden: true,
		Usage:       "print the manual page, for packages: posta man > posta.1",
		Description: exit.Help,
		Action: func(c *cli.Context) error {
			x.Printf("%s", manual(c.App))
			return nil
		},
	}
}

// manual writes the help of all commands as one page in the language of troff's man macros. cli's own ToMan goes through Markdown, which
// would fold the columns and examples of the descriptions into paragraphs. manual keeps them as they are.
func manual(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH POSTA 1 \"\" \"posta %s\" \"User Commands\"\n", roff(app.Version))
	fmt.Fprintf(&b, ".SH NAME\nposta \\- %s\n", roff(app.Usage))
	b.WriteString(".SH SYNOPSIS\n.B posta\n.I COMMAND\n[\\fIFLAGS\\fR] [\\fIARGUMENTS\\fR]\n")
	asIs(&b, ".SH DESCRIPTION", reflow(app.Description))
	b.WriteString(".SH COMMANDS\n")
	manualOf(&b, "posta", app.Commands)
	return b.String()
}

func manualOf(b *strings.Builder, parent string, commands []*cli.Command) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		name := parent + " " + c.Name
		fmt.Fprintf(b, ".SS \"%s\"\n%s\n", roff(strings.TrimSpace(name+" "+c.ArgsUsage)), roff(c.Usage))
		asIs(b, ".PP", reflow(strings.ReplaceAll(c.Description, exit.Help, "")))
		for _, f := range c.Flags {
			documented, ok := f.(cli.DocGenerationFlag)
			if !ok || !isTold(f) {
				continue
			}
			var names []string
			for _, n := range f.Names() {
				names = append(names, dashed(n))
			}
			value, usage := placeholder(documented.GetUsage())
			if !documented.TakesValue() {
				value = ""
			}
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", strings.TrimSpace(roff(strings.Join(names, ", ")+" "+value)), roff(usage))
		}
		manualOf(b, name, c.Subcommands)
	}
}

// asIs writes text and keeps its lines and columns.
func asIs(b *strings.Builder, macro, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	fmt.Fprintf(b, "%s\n.nf\n%s\n.fi\n", macro, roff(text))
}

// roff escapes what troff would take for a command: backslashes, and dots and apostrophes at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, `"`, `\(dq`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
