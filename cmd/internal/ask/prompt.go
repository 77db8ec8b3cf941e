package ask

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/lineedit"
	"posta.dev/posta/cmd/internal/rejects"
	"posta.dev/posta/cmd/internal/run"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/nodes/inprocess"
	"posta.dev/posta/query"
)

const promptHelp = `A statement ends with ; and may have several lines. CREATE TABLE and CREATE VIEW hold until the prompt ends.

  .tables          the tables that the files of --data make, and those that were declared
  .schema TABLE    the columns of a table, with their types
  .explain QUERY   what would be read, and where it would be computed
  .mode FORM       how answers are printed: table, csv or json
  .read FILE       the statements of a file
  .help            this
  .quit            the end; so does Ctrl-D

Tab completes tables, columns, functions and keywords. Ctrl-C cancels the statement that runs, or drops what is typed.
`

const (
	promptFirst = "posta> "
	promptMore  = "   ..> "
)

// errOver ends the node within this process.
var errOver = errors.New("the prompt is over")

// prompt answers statements that a person types, one after the other, on one private cluster, and the small ones within this process.
type prompt struct {
	x     *call.Call
	c     *cli.Context
	edit  *lineedit.Editor
	past  *lineedit.History
	words *promptWords

	limit   int64            // of bytes that small statements read
	small   *inprocess.Nodes // answers them; nil before the first one
	cluster promptCluster    // answers the others

	running   context.CancelCauseFunc // cancels the statement that runs; nil if none does
	cancelled bool                    // whether Ctrl-C was typed while the statement ran
	mu        sync.Mutex              // guards running and cancelled

	declared []declared // in the order in which they were typed
	csv      bool
	json     bool

	dir   string // of the files; "" for none
	named []client.Named
}

// declared is a CREATE statement. It is appended to each later statement, so that positions in that statement stay as they were typed.
type declared struct{ name, text string }

// terminals returns the terminals that a prompt reads and writes; nil if there is no person to talk to.
func (x *command) terminals() (in, out *os.File) {
	in, isFile := x.In.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) {
		return nil, nil
	}
	for _, w := range []io.Writer{x.Err, x.Out} {
		if l, ok := w.(*call.LockedWriter); ok {
			w = l.W
		}
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return in, f
		}
	}
	return nil, nil
}

// promptSQL asks for statements until there are no more.
func (x *command) promptSQL(c *cli.Context, in, out *os.File) (err error) {
	for _, flag := range []string{call.FlagOut, call.FlagFormat, deliver.FlagTo, deliver.FlagHTML, rejects.FlagRejects, "explain", "check"} {
		if c.IsSet(flag) {
			return exit.Usagef("sql: --%s needs a statement; without one there is a prompt", flag)
		}
	}
	p := &prompt{x: x.Call, c: c, csv: c.Bool("csv"), json: c.Bool(call.FlagJSON)}
	if p.dir, p.named, err = sqlFiles(c); err != nil {
		return err
	}
	if _, err := run.RunDirConfig(c, p.shape()); err != nil {
		return err
	}
	if p.limit, err = run.Limit(c); err != nil {
		return err
	}
	if r, err := p.request(p.c.Context, "SELECT 1"); err != nil { // wrong flags are reported before anything is typed
		return err
	} else if err := r.close(); err != nil {
		return err
	}
	if p.past, err = lineedit.OpenHistory(historyFile()); err != nil {
		x.Notef("note: %s", exit.OneLine(err))
	}
	p.words = &promptWords{}
	p.edit = lineedit.Open(lineedit.Config{In: in, Out: out, History: p.past, Complete: p.complete})
	x.Progress = x.NewProgress()
	defer func() { err = errors.Join(err, p.cluster.stop(), p.small.Close(errOver)) }()
	if l, ok := x.Err.(*call.LockedWriter); ok { // messages of the supervisor appear above the line that is being typed
		defer l.Swap(l.Swap(p.edit))
	}
	return p.run(c.Context)
}

// historyFile returns the name of the file that remembers statements; "" for none.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "posta", "sql_history")
}

func (p *prompt) run(ctx context.Context) error {
	defer p.x.Interrupts.Claim(p.interrupt)()
	p.x.Notef("posta sql over the files of %s; .help lists the commands; a statement ends with ;", p.c.String(call.FlagData))
	for {
		text, err := p.read(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case text == ".quit" || text == ".exit":
			return nil
		}
		if err := p.do(ctx, text); err != nil {
			p.x.SayError(err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// read reads a statement, or a command that begins with a point.
func (p *prompt) read(ctx context.Context) (string, error) {
	text := ""
	for {
		ask := promptFirst
		if text != "" {
			ask = promptMore
		}
		p.words.Before = text
		line, err := p.edit.Line(ask)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		switch {
		case errors.Is(err, lineedit.ErrInterrupted):
			text = ""
			continue
		case errors.Is(err, lineedit.ErrLong):
			text = ""
			p.x.Notef("posta: %v; give the statement in a file, with .read FILE", lineedit.ErrLong)
			continue
		case errors.Is(err, io.EOF) && text != "":
			p.x.Notef("posta: the statement was not ended by ; and is dropped")
			return "", err
		case err != nil:
			return "", err
		}
		if text == "" {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
		}
		text += line
		if strings.HasPrefix(text, ".") || syntax.Ends(text) {
			break
		}
		if len(text) > syntax.MaxText {
			text = ""
			p.x.Notef("posta: a statement has at most %d bytes; this one is dropped", syntax.MaxText)
			continue
		}
		text += "\n"
	}
	if err := p.past.Keep(inOneLine(text)); err != nil {
		p.x.Notef("note: %s", exit.OneLine(err))
	}
	return text, nil
}

// inOneLine returns a statement as the history keeps it, in one line; "" if that would change its meaning.
func inOneLine(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	flat := strings.ReplaceAll(text, "\n", " ")
	was, err := syntax.Parse(text)
	now, bad := syntax.Parse(flat)
	if err != nil || bad != nil || syntax.Print(was) != syntax.Print(now) {
		return ""
	}
	return flat
}

// do carries out what was typed. Ctrl-C ends the statement, not the prompt.
func (p *prompt) do(ctx context.Context, text string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.runs(cancel)
	defer p.runs(nil)
	err := p.statement(ctx, text)
	if err != nil && errors.Is(context.Cause(ctx), exit.ErrInterrupted) {
		return exit.ErrInterrupted
	}
	return err
}

func (p *prompt) runs(cancel context.CancelCauseFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.cancelled = cancel, false
}

// interrupt handles Ctrl-C while no line is read: it cancels the statement that runs. If the statement does not end, a second Ctrl-C ends
// the prompt: then interrupt returns false.
func (p *prompt) interrupt() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return true // nothing runs, so there is nothing to end
	}
	if p.cancelled {
		return false
	}
	p.cancelled = true
	p.running(exit.ErrInterrupted)
	return true
}

func (p *prompt) statement(ctx context.Context, text string) error {
	if !strings.HasPrefix(text, ".") {
		return p.answer(ctx, text)
	}
	command, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSuffix(strings.TrimSpace(rest), ";")
	if needs := map[string]string{".schema": "TABLE", ".explain": "QUERY", ".mode": "table, csv or json",
		".read": "FILE"}[command]; needs != "" && rest == "" {
		return exit.Usagef("%s: write %[1]s %s", command, needs)
	}
	switch strings.TrimSuffix(command, ";") {
	case ".help":
		p.x.Notef("%s", strings.TrimSuffix(promptHelp, "\n"))
	case ".tables":
		for _, name := range p.tables() {
			p.x.Printf("%s\n", display.Escape(name))
		}
	case ".schema":
		return p.answer(ctx, "DESCRIBE "+rest+";")
	case ".explain":
		r, err := p.request(ctx, rest)
		if err != nil {
			return err
		}
		return errors.Join(explainSQL(ctx, p.x, r), r.close())
	case ".mode":
		if rest != "table" && rest != "csv" && rest != "json" {
			return exit.Usagef(".mode %s: the choices are table, csv and json", display.Escape(rest))
		}
		p.csv, p.json = rest == "csv", rest == "json"
	case ".read":
		text, err := readText(p.x, rest)
		if err != nil {
			return err
		}
		return p.answer(ctx, text)
	default:
		return exit.Usagef("unknown command %s; .help lists the commands", display.Escape(command))
	}
	return nil
}

func (p *prompt) tables() []string {
	names := tablesOf(query.Config{Data: p.dir, Files: p.named})
	for _, d := range p.declared {
		names = append(names, d.name)
	}
	return names
}

// request reads statements together with what was declared before. It returns an error if they are wrong.
func (p *prompt) request(ctx context.Context, text string) (*sqlRequest, error) {
	script, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	return p.requestOf(ctx, text, p.keep(script))
}

// requestOf reads statements with these declarations appended.
func (p *prompt) requestOf(ctx context.Context, text string, others []declared) (*sqlRequest, error) {
	for _, d := range others {
		text += "\n;" + d.text
	}
	return readSQL(p.x, ctx, p.c, text, asking{json: p.json, csv: p.csv})
}

// keep returns the earlier declarations that stay in force with those of a script: a new declaration replaces an earlier one of the same
// name.
func (p *prompt) keep(script *syntax.Script) []declared {
	again := map[string]bool{}
	for _, d := range declarations(script) {
		again[strings.ToLower(d.name)] = true
	}
	var kept []declared
	for _, d := range p.declared {
		if !again[strings.ToLower(d.name)] {
			kept = append(kept, d)
		}
	}
	return kept
}

// declarations returns the CREATE statements of a script.
func declarations(script *syntax.Script) (all []declared) {
	for _, st := range script.Statements {
		name := ""
		switch n := st.Node.(type) {
		case *syntax.CreateTable:
			name = n.Name.Name
		case *syntax.CreateView:
			name = n.Name.Name
		default:
			continue
		}
		one := &syntax.Script{Statements: []syntax.Statement{st}}
		all = append(all, declared{name, strings.TrimSuffix(strings.TrimSpace(syntax.Print(one)), ";")})
	}
	return all
}

// answer answers statements, and remembers what they declare.
func (p *prompt) answer(ctx context.Context, text string) (err error) {
	script, err := syntax.Parse(text)
	if err != nil {
		return err
	}
	kept := p.keep(script)
	ctx, cancel := upload.Limited(ctx, p.c.Duration(call.FlagTimeout))
	defer cancel()
	r, err := p.requestOf(ctx, text, kept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if more := declarations(script); len(more) > 0 {
		p.declared = append(kept, more...)
		p.words.forget()
		for _, d := range more {
			p.x.Notef("%s is declared", display.Escape(d.name))
		}
	}
	if len(r.script.Statements()) == 0 {
		return nil
	}
	if r.script.NeedsCluster() {
		within, done, err := p.nodesFor(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		ctx = within
	}
	return answerSQL(p.x, ctx, r, p.x.Progress)
}

// complete is lineedit.Config.Complete.
func (p *prompt) complete(before string) (string, []string) {
	return p.words.Complete(before, p.tables(), func(table string) []string {
		r, err := p.requestOf(p.c.Context, `DESCRIBE "`+strings.ReplaceAll(table, `"`, `""`)+`";`, p.declared)
		if err != nil {
			return nil
		}
		defer func() { _ = r.close() }() // nothing was written
		var columns []string
		for _, c := range r.script.Statements()[0].Columns {
			columns = append(columns, c.Name)
		}
		return columns
	})
}
