package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
)

// helpWidth is the greatest width of help, in columns: the width of the narrowest usual terminal.
const helpWidth = 80

// wordColumn is the column where the explanations of flags and commands begin. A flag whose names reach it gets a line of its own.
const wordColumn = 22

// giveHelp lays out the help of the program and of each command. cli's own layout makes the column of flags as wide as the widest flag, and
// breaks no line. cli takes a template, so giveHelp passes a text without a template action. Only the commands that args name get one, and
// only if a flag may ask for it, because laying out all of them would take a quarter of the time in which a process starts.
func giveHelp(app *cli.App, args []string) {
	if slices.ContainsFunc(args, mayAskForHelp) {
		giveCommandsHelp("posta", app.Commands, args)
	}
	if len(args) > 1 && app.Command(args[1]) != nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: posta COMMAND [FLAGS] [ARGUMENTS]\n\n%s\n", reflow("posta: "+app.Usage), reflow(app.Description))
	writeCommands(&b, app.Commands)
	b.WriteString("\nposta COMMAND --help lists the flags of a command.\n")
	app.CustomAppHelpTemplate = noTemplate(b.String())
}

// mayAskForHelp reports whether an argument may be a form of --help or -h. A longer flag with the same first letter costs only time.
func mayAskForHelp(arg string) bool {
	name := strings.TrimLeft(arg, "-")
	return name != arg && strings.HasPrefix(name, "h")
}

func giveCommandsHelp(parent string, commands []*cli.Command, args []string) {
	for _, c := range commands {
		if !slices.ContainsFunc(args, c.HasName) {
			continue
		}
		name := parent + " " + c.Name
		c.CustomHelpTemplate = noTemplate(commandHelp(name, c))
		giveCommandsHelp(name, c.Subcommands, args)
	}
}

func commandHelp(name string, c *cli.Command) string {
	var b strings.Builder
	b.WriteString(reflow(name+": "+c.Usage) + "\n\n")
	if len(c.Subcommands) > 0 {
		fmt.Fprintf(&b, "Usage: %s COMMAND [FLAGS] [ARGUMENTS]\n", name)
	}
	if len(c.Subcommands) == 0 || c.ArgsUsage != "" || len(c.Flags) > 0 {
		b.WriteString(strings.TrimSpace("Usage: "+name+" [FLAGS] "+c.ArgsUsage) + "\n")
	}
	if c.Description != "" {
		b.WriteString("\n" + reflow(c.Description) + "\n")
	}
	if len(c.Subcommands) > 0 {
		writeCommands(&b, c.Subcommands)
	}
	b.WriteString("\nFlags:\n")
	for _, f := range c.Flags {
		if documented, ok := f.(cli.DocGenerationFlag); ok && isTold(f) {
			names, usage := flagHelp(documented)
			writeWord(&b, names, usage)
		}
	}
	writeWord(&b, "--help, -h", "show this")
	return b.String()
}

func writeCommands(b *strings.Builder, commands []*cli.Command) {
	b.WriteString("\nCommands:\n")
	for _, c := range commands {
		if !c.Hidden {
			writeWord(b, c.Name, c.Usage)
		}
	}
}

// flagHelp returns the names of a flag with the placeholder of its value, and what the flag does, with its default.
func flagHelp(f cli.DocGenerationFlag) (names, usage string) {
	_, usage, _ = strings.Cut(f.String(), "\t") // cli adds default and environment to it
	var all []string
	for _, n := range f.Names() {
		all = append(all, dashed(n))
	}
	names = strings.Join(all, ", ")
	if f.TakesValue() {
		value, _ := placeholder(f.GetUsage())
		names += " " + value
	}
	return names, usage
}

func writeWord(b *strings.Builder, word, text string) {
	lines := wrap(text, helpWidth-wordColumn)
	head := "  " + word
	if display.Width(head) > wordColumn-2 || len(lines) == 0 {
		b.WriteString(head + "\n")
	} else {
		b.WriteString(head + strings.Repeat(" ", wordColumn-display.Width(head)) + lines[0] + "\n")
		lines = lines[1:]
	}
	for _, line := range lines {
		b.WriteString(strings.Repeat(" ", wordColumn) + line + "\n")
	}
}

// reflow breaks paragraphs into lines of helpWidth. Lines that begin with a blank are examples, and stay as they are.
func reflow(text string) string {
	var lines []string
	var paragraph []string
	flush := func() {
		lines = append(lines, wrap(strings.Join(paragraph, " "), helpWidth)...)
		paragraph = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line == "" || line[0] == ' ' {
			flush()
			lines = append(lines, strings.TrimRight(line, " "))
			continue
		}
		paragraph = append(paragraph, line)
	}
	flush()
	return strings.Join(lines, "\n")
}

// wrap breaks a text between words. A word that is wider than a line has one of its own.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && display.Width(line)+1+display.Width(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// noTemplate escapes a text so that, as a template, it yields the text.
func noTemplate(text string) string { return strings.ReplaceAll(text, "{{", `{{"{{"}}`) }
