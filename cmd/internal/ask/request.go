package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/web"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/rejects"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/query"
)

// sqlRequest is the request of a posta sql command.
type sqlRequest struct {
	*upload.Request
	x       *call.Call
	db      *query.DB
	script  *query.Script
	csv     bool
	show    *display.Progress // nil until statements are answered that read tables
	journal *sqlJournal
}

// close releases what the request holds.
func (r *sqlRequest) close() error { return errors.Join(r.script.Close(), r.db.Close()) }

// asking says how a command asks.
type asking struct {
	now      func() time.Time
	roots    []string // in place of --data and --file
	json     bool     // how answers are printed
	csv      bool
	keep     int // rows of each answer; 0 is all
	noWait   bool
	patience time.Duration
	journal  *sqlJournal
}

// readSQL reads the flags and the statements, and reports every mistake that can be found without a cluster.
func readSQL(x *call.Call, ctx context.Context, c *cli.Context, text string, how asking) (_ *sqlRequest, err error) {
	r := &sqlRequest{Request: &upload.Request{Quiet: c.Bool(call.FlagQuiet), Forks: true}, x: x, csv: how.csv, journal: how.journal}
	cfg, err := r.config(c, how)
	if err != nil {
		return nil, err
	}
	if r.Out, err = deliver.ReadOutput(x, c); err != nil {
		return nil, err
	}
	if r.Out.Json = how.json; r.csv && r.Out.Json {
		return nil, exit.Usagef("sql: --csv and --json say how to print the answer; give one of the two")
	}
	given, err := upload.Params(c)
	if err != nil {
		return nil, err
	}
	var params []any
	for name, value := range given {
		params = append(params, query.Named(name, value))
	}
	if r.db, err = query.Open(ctx, cfg); err != nil {
		return nil, err
	}
	if r.script, err = r.db.Prepare(ctx, text, params...); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	var shapes []client.Table
	for _, st := range r.script.Statements() {
		shapes = append(shapes, shapeOf(st))
	}
	if r.csv && len(shapes) > 1 {
		return nil, exit.Usagef("sql: --csv prints one answer, and there are %d; give --out DIR", len(shapes))
	}
	if r.Out.To.Standard() && (r.csv || r.Out.Json) {
		return nil, exit.Usagef("sql: --out - and --csv or --json both print the answer; give one of them")
	}
	if err := r.Out.Prepare(ctx, split.Name, shapes); err != nil {
		return nil, err
	}
	return r, r.listRejected(ctx, c.String(rejects.FlagRejects))
}

// tablesOf returns the names of the tables that files make.
func tablesOf(files query.Config) []string {
	db, err := query.Open(context.Background(), files)
	if err != nil {
		return nil // the statement that names a table says why
	}
	return db.Tables() // nothing was started that Close would end
}

// config reads the flags that say what is asked, and how.
func (r *sqlRequest) config(c *cli.Context, how asking) (cfg query.Config, err error) {
	if timeout := c.Duration(call.FlagTimeout); timeout < 0 {
		return cfg, exit.Usagef("--timeout %v: give a time like 10m", timeout)
	}
	if cfg.MaxRejected, err = rejects.Limit(c); err != nil {
		return cfg, err
	}
	if cfg.Data, cfg.Files, err = sqlFiles(c); err != nil {
		return cfg, err
	}
	r.Cfg.Dir, r.Cfg.Named = cfg.Data, cfg.Files
	cfg.Roots, cfg.Stdin, cfg.Now = how.roots, sqlStdin(r.x, c), how.now
	cfg.Session = client.Config{Lanes: c.Int(call.FlagLanes), Send: c.Bool(call.FlagSend), Keep: how.keep, NoWait: how.noWait,
		GiveUpAfter: how.patience}
	if cfg.Session.Chunk, err = upload.Chunk(c); err != nil {
		return cfg, err
	}
	if cfg.Comma, err = upload.Delimiter(c); err != nil {
		return cfg, err
	}
	if n := cfg.Session.Lanes; n < 0 || c.IsSet(call.FlagLanes) && n == 0 {
		return cfg, exit.Usagef("--lanes %d: give 1 to 1024", n)
	}
	if r.journal != nil {
		cfg.Journal = r.journal
	}
	cfg.Reach = func(context.Context) (query.Entrance, error) {
		return query.Entrance{Entries: r.Cfg.Entries, Keys: r.Cfg.Keys, Ask: r.Cfg.Ask}, nil
	}
	cfg.Watch = query.Watch{Notice: r.notice, Doing: func(what string) { r.show.Of(what) }, Ended: func(a *client.Answer) {
		r.show.Done()
		if a != nil {
			r.Out.Html.Ran(a)
		}
	}}
	if !r.Quiet {
		cfg.Watch.Progress = func(p client.Progress) { r.show.Update(p) }
	}
	return cfg, nil
}

// notice shows a notice of the package query.
func (r *sqlRequest) notice(n query.Notice) {
	line := display.Escape(n.Text)
	if n.Err != nil {
		line += ": " + display.Escape(firstLine(exit.Text(n.Err)))
	}
	switch n.Kind {
	case query.Warning:
		line = "warning: " + line
	case query.Note, query.Form:
		line = "note: " + line
	}
	switch {
	case r.Quiet && (n.Kind == query.Form || n.Kind == query.Pass):
	case r.show != nil:
		r.show.Say(line)
	default:
		r.x.Notef("%s", line)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// listRejected makes the file of --rejects.
func (r *sqlRequest) listRejected(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	if err := r.script.NotOfTables(ctx, name); err != nil {
		return err
	}
	file, err := rejects.Create(name)
	if err != nil {
		return err
	}
	return r.script.ListRejected(file)
}

// sqlFiles reads --data and --file. dir is a directory, or ""; named are files that were named.
func sqlFiles(c *cli.Context) (dir string, named []client.Named, err error) {
	if named, err = upload.NamedFiles(c); err != nil {
		return "", nil, err
	}
	for _, n := range named {
		if strings.ContainsAny(n.As, "*?[\\{}") {
			return "", nil, exit.Usagef("--file %s=%s: a table's name has no wildcards; write them after the =", n.As, shownPath(n.Path))
		}
	}
	dir = c.String(call.FlagData)
	if dir == "" {
		return "", named, nil
	}
	if dir == "-" {
		return "", nil, exit.Usagef("--data -: standard input is a table of its own, FROM '-'; or name it with --file TABLE=-")
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("look for the data: %w; give the directory that holds the files with --data", err)
	case !info.IsDir():
		name := source.Says(filepath.Base(dir)).Plain
		return "", append(named, client.Named{As: strings.TrimSuffix(name, filepath.Ext(name)), Path: dir}), nil
	}
	return dir, named, nil
}

// shownPath returns a path as it may be shown: an address may have a password in it.
func shownPath(path string) string {
	if web.Is(path) {
		return web.Shown(path)
	}
	return path
}

// sqlStdin returns standard input as a table. If standard input contains the statements, reading the table fails.
func sqlStdin(x *call.Call, c *cli.Context) io.Reader {
	if c.String(FlagQuestions) == "-" {
		return taken{"holds the statements"}
	}
	if c.NArg() == 0 && c.String(FlagQuestions) == "" {
		return taken{"is where you type statements"}
	}
	return x.In
}

// taken is a standard input that cannot be a table; why says what it is used for.
type taken struct{ why string }

func (t taken) Read([]byte) (int, error) {
	return 0, exit.Usagef("standard input %s, and cannot be a table; give a file, like --file t=PATH", t.why)
}

// readText reads statements from a file, - for standard input.
func readText(x *call.Call, file string) (string, error) {
	var in io.Reader = x.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("read the statements: %w", err)
		}
		defer func() { _ = f.Close() }() // read only
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, syntax.MaxText+1)) // the parser refuses a longer text
	if err != nil {
		return "", fmt.Errorf("read the statements: %w", err)
	}
	return string(text), nil
}

// printSQL prints the answers.
func printSQL(x *call.Call, a *client.Answer, r *sqlRequest) error {
	if r.Out.Told != nil {
		return r.Out.Told.Answer(a, typesOf(r.script.Statements()))
	}
	if r.csv {
		deliver.PrintRejected(x.Err, a.Rejected)
		if len(a.Queries) == 0 {
			return nil // the text had only declarations
		}
		return out.CSV(x.Out, &a.Queries[0])
	}
	return deliver.PrintAnswer(x, a, r.Out)
}

// shapeOf returns the columns of a statement's answer, with their types. Statements that list something have only texts.
func shapeOf(st query.Statement) client.Table {
	t := client.Table{Name: st.Name}
	if st.Lists {
		return t
	}
	for _, c := range st.Columns {
		t.Columns, t.Types = append(t.Columns, c.Name), append(t.Types, c.Type)
	}
	return t
}

func checkSQL(x *call.Call, r *sqlRequest) error {
	if err := r.script.Check(); err != nil {
		return err
	}
	for _, st := range r.script.Statements() {
		x.Printf("%s: %s\n", st.Name, columnsOfStatement(st))
	}
	return nil
}

// typesOf returns the names of the types of the columns of each statement that reads tables or computes.
func typesOf(all []query.Statement) map[string][]string {
	names := map[string][]string{}
	for _, st := range all {
		for _, t := range shapeOf(st).Types {
			names[st.Name] = append(names[st.Name], t.String())
		}
	}
	return names
}

func columnsOfStatement(st query.Statement) string {
	if st.Columns == nil {
		return "the tables"
	}
	var columns []string
	for _, c := range st.Columns {
		columns = append(columns, c.Name+" "+c.Type.String())
	}
	return strings.Join(columns, ", ")
}

func explainSQL(ctx context.Context, x *call.Call, r *sqlRequest) error {
	texts, err := r.script.Explain(ctx)
	if err != nil {
		return err
	}
	for i, st := range r.script.Statements() {
		x.Printf("%s\n%s", st.Name, texts[i])
	}
	return nil
}

// command is posta sql, posta submit FILE.sql, and the statements of a console.
type command struct {
	*call.Call
}

// FlagJournal names the file that remembers what statements have answered.
const FlagJournal = "journal"

// JournalFlag names the file that remembers what statements have answered.
func JournalFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagJournal, Usage: "for a file of statements: note in the new `FILE` what is answered, so that --resume " +
		"FILE continues if this command is killed. FILE is removed when all answers are printed"}
}

// FlagQuestions names a file of statements.
const FlagQuestions = "questions"
