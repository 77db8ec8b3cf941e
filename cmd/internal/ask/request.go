package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/compile"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/client/inspect"
	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/web"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/question"
	"posta.dev/posta/cmd/internal/rejects"
	"posta.dev/posta/cmd/internal/upload"
)

// sqlRequest is the request of a posta sql command.
type sqlRequest struct {
	*upload.Request
	q        *question.Question
	csv      bool
	rejected *inspect.Inspector // what limits rejected rows, and lists them
	journal  *sqlJournal
}

// close releases what the request holds.
func (r *sqlRequest) close() error {
	return errors.Join(r.Cfg.Input.Close(), r.rejected.Close())
}

// readSQLAs reads the flags and the statements, and reports every mistake that can be found without a cluster. Its caller decides how
// answers are printed, and may give directories in place of --data and --file.
func readSQLAs(x *call.Call, ctx context.Context, c *cli.Context, text string, now func() time.Time, roots []string, asJSON,
	asCSV bool) (_ *sqlRequest, err error) {
	r := &sqlRequest{Request: &upload.Request{Quiet: c.Bool(call.FlagQuiet)}, csv: asCSV, rejected: &inspect.Inspector{}}
	if err := rejects.Limit(r.rejected, c); err != nil {
		return nil, err
	}
	if timeout := c.Duration(call.FlagTimeout); timeout < 0 {
		return nil, exit.Usagef("--timeout %v: give a time like 10m", timeout)
	}
	dir, named, err := sqlFiles(c)
	if err != nil {
		return nil, err
	}
	if r.Out, err = deliver.ReadOutput(x, c); err != nil {
		return nil, err
	}
	if r.Out.Json = asJSON; r.csv && r.Out.Json {
		return nil, exit.Usagef("sql: --csv and --json say how to print the answer; give one of the two")
	}
	r.Forks = true
	r.Cfg = client.Config{Analysis: compile.Name, Dir: dir, Named: named, Lanes: c.Int(call.FlagLanes), Send: c.Bool(call.FlagSend)}
	if r.Cfg.Chunk, err = upload.Chunk(c); err != nil {
		return nil, err
	}
	if r.Cfg.Comma, err = upload.Delimiter(c); err != nil {
		return nil, err
	}
	if r.Cfg.Lanes < 0 || c.IsSet(call.FlagLanes) && r.Cfg.Lanes == 0 {
		return nil, exit.Usagef("--lanes %d: give 1 to 1024", r.Cfg.Lanes)
	}
	given, err := upload.Params(c)
	if err != nil {
		return nil, err
	}
	in := client.NewInput(dir, named, sqlStdin(x, c), r.Cfg.Comma)
	in.Roots = roots
	in.OnWarning = upload.WarnInput(x, func(line string) { x.Notef("%s", line) })
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	r.Cfg.Input = in
	if r.q, err = question.Read(ctx, question.Config{Text: text, Input: in, Params: given, Now: now}); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, exit.BadStatement(err)
	}
	for _, told := range r.q.Notes() {
		x.Notef("note: %s", display.Escape(told))
	}
	var shapes []client.Table
	for i := range r.q.Statements() {
		shapes = append(shapes, shapeOf(&r.q.Statements()[i]))
		if _, err := r.q.Kind(i); err != nil {
			return nil, exit.BadStatement(err)
		}
	}
	if r.csv && len(shapes) > 1 {
		return nil, exit.Usagef("sql: --csv prints one answer, and there are %d; give --out DIR", len(shapes))
	}
	if r.Out.To.Standard() && (r.csv || r.Out.Json) {
		return nil, exit.Usagef("sql: --out - and --csv or --json both print the answer; give one of them")
	}
	if err := r.Out.Prepare(ctx, compile.Name, shapes); err != nil {
		return nil, err
	}
	if name := c.String(rejects.FlagRejects); name != "" {
		if err := r.q.NoTable(ctx, name); err != nil {
			return nil, err
		}
		r.rejected.Out, err = rejects.Create(name)
	}
	return r, err
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
		return taken{"is where statements are typed"}
	}
	return x.In
}

// taken is a standard input that cannot be a table; why says for what it is used.
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

// needsCluster reports whether a statement reads a table.
func (r *sqlRequest) needsCluster() bool {
	for i := range r.q.Statements() {
		if kind, err := r.q.Kind(i); err != nil || kind == question.OverTables {
			return true
		}
	}
	return false
}

// printSQL prints the answers.
func printSQL(x *call.Call, a *client.Answer, r *sqlRequest) error {
	if r.Out.Told != nil {
		return r.Out.Told.Answer(a, typesOf(r.q.Statements()))
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
func shapeOf(st *bind.Statement) client.Table {
	t := client.Table{Name: st.Name}
	if st.Plan == nil || st.Kind == bind.Tables || st.Kind == bind.Description {
		return t
	}
	for _, f := range st.Plan.Fields() {
		t.Columns, t.Types = append(t.Columns, f.Name), append(t.Types, f.Type)
	}
	return t
}

func checkSQL(x *call.Call, r *sqlRequest) error {
	for i, st := range r.q.Statements() {
		if kind, err := r.q.Kind(i); err == nil && kind == question.OverTables {
			if _, err := compile.Analysis(r.q.Plan(i)); err != nil {
				return exit.BadStatement(err)
			}
		}
		x.Printf("%s: %s\n", st.Name, columnsOfStatement(st))
	}
	return nil
}

// typesOf returns the names of the types of the columns of each statement that reads tables or computes.
func typesOf(all []bind.Statement) map[string][]string {
	names := map[string][]string{}
	for i := range all {
		for _, t := range shapeOf(&all[i]).Types {
			names[all[i].Name] = append(names[all[i].Name], t.String())
		}
	}
	return names
}

func columnsOfStatement(st bind.Statement) string {
	if st.Plan == nil {
		return "the tables"
	}
	var columns []string
	for _, f := range st.Plan.Fields() {
		columns = append(columns, f.Name+" "+f.Type.String())
	}
	return strings.Join(columns, ", ")
}

func explainSQL(x *call.Call, r *sqlRequest) error {
	beside := sharers(r.q)
	for i, st := range r.q.Statements() {
		text, err := r.q.Explain(i)
		if err != nil {
			return exit.BadStatement(err)
		}
		x.Printf("%s\n%s%s", st.Name, text, beside[i])
	}
	return nil
}

// sharers says of each statement with which others its first session shares the scan.
func sharers(q *question.Question) map[int]string {
	told := map[int]string{}
	for _, steps := range q.Sessions(q.Firsts()) {
		for k, s := range steps {
			var names []string
			for _, other := range append(slices.Clone(steps[:k]), steps[k+1:]...) {
				names = append(names, q.Statements()[other.Statement].Name)
			}
			what := "shares"
			if !s.Last() {
				what = "pass 1 shares"
			}
			if n := len(names); n > 0 {
				told[s.Statement] = fmt.Sprintf("  %s its scan with %s\n", what, strings.TrimPrefix(strings.Join(names[:n-1], ", ")+" and "+names[n-1],
					" and "))
			}
		}
	}
	return told
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
