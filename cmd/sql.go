package cmd

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
	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/web"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/question"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

const flagQuestions = "questions"

func (x *command) sqlCommand() *cli.Command {
	return &cli.Command{
		Name: "sql", ArgsUsage: "[STATEMENT]",
		Usage: "answer SQL over CSV, JSON Lines and Parquet files, on a private cluster of processes",
		Description: `   posta sql --data data/bikes \
         "SELECT start_station_code, count(*) FROM '*/trips.csv' GROUP BY 1"
   posta sql --data DIR --questions questions.sql --json > answers.json
   posta sql --data DIR --explain 'SELECT count(*) FROM trips'
   posta sql --data DIR    # a prompt, on a terminal; .help tells its commands

FROM trips reads DIR/trips.csv, all of DIR/trips/*.csv, or DIR/trips.tsv; FROM 'pattern' the files below DIR that fit; FROM '-' standard input. --file trips=PATH says
which files trips is. Types of columns come from samples of the files (docs/sql.md).

` + exit.Help,
		Flags:  append(sqlFlags(), clusterFlags()...),
		Action: x.WithEvents(x.sql),
	}
}

// sqlFlags returns the flags of run that also apply to statements, and the flags for statements only.
func sqlFlags() (flags []cli.Flag) {
	without := map[string]bool{call.FlagDownload: true, call.FlagDownloadPrivate: true, call.FlagParam: true, call.FlagFile: true, call.FlagData: true}
	for _, f := range uploadFlags() {
		if !without[f.Names()[0]] {
			flags = append(flags, f)
		}
	}
	return append(flags,
		&cli.StringFlag{Name: call.FlagData, Value: ".", Usage: "the `DIR` with the files, or one file, which is then a table called like the file"},
		&cli.StringSliceFlag{Name: call.FlagFile, Usage: "`TABLE=PATH`: the files of a table; a pattern in quotes, an address (https://..., " +
			"s3://...), or - for standard input; may be repeated"},
		&cli.StringSliceFlag{Name: call.FlagParam, Aliases: []string{"p"},
			Usage: "set a parameter, `NAME=VALUE`, which the statement calls $NAME or :NAME; may be repeated"},
		&cli.StringFlag{Name: flagQuestions, Aliases: []string{"f"},
			Usage: "answer the statements in `FILE`; a line -- name: NAME in front of one names its answer"},
		&cli.BoolFlag{Name: "explain", Usage: "show what would be read and where each step would be computed, and read nothing"},
		&cli.BoolFlag{Name: "check", Usage: "only check the statements, and show the columns of their answers"},
		&cli.BoolFlag{Name: "csv", Usage: "print the answer as CSV"},
	)
}

// sqlRequest is the request of a posta sql command.
type sqlRequest struct {
	*request
	q           *question.Question
	csv         bool
	limited     bool // whether a session may reject no more than maxRejected rows
	maxRejected uint64
	rejects     *rejects // nil without --rejects
	journal     *sqlJournal
}

// close releases what the request holds.
func (r *sqlRequest) close() error {
	return errors.Join(r.cfg.Input.Close(), r.rejects.close())
}

func (x *command) sql(c *cli.Context) error {
	if c.NArg() == 0 && !c.IsSet(flagQuestions) && x.Events == nil {
		if in, out := x.terminals(); in != nil {
			return x.promptSQL(c, in, out)
		}
	}
	text, err := x.sqlText(c)
	if err != nil {
		return err
	}
	return x.withSQL(c, text, time.Now, func(r *sqlRequest) error {
		switch {
		case c.Bool("explain"):
			return x.explainSQL(r)
		case c.Bool("check"):
			return x.checkSQL(r)
		case !r.needsCluster():
			return x.answerSQL(c.Context, r, nil)
		}
		return x.privately(c, r.request, func(ctx context.Context, t *topology.Topology, keys *security.Keys, show *display.Progress) error {
			r.cfg.Keys, r.cfg.Entries, r.cluster = keys, reach.EntryPoints(t, keys != nil), t
			r.out.html.on(t, keys, true)
			return x.answerSQL(ctx, r, show)
		})
	})
}

// withSQL reads statements and calls do to answer them. --timeout counts from here, for all statements together.
func (x *command) withSQL(c *cli.Context, text string, now func() time.Time, do func(*sqlRequest) error) (err error) {
	ctx, cancel := limited(c.Context, c.Duration(call.FlagTimeout))
	defer cancel()
	c.Context = ctx
	r, err := x.readSQLAs(c.Context, c, text, now, nil, c.Bool(call.FlagJSON), c.Bool("csv"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for _, n := range r.q.Unused() {
		x.Notef("warning: no statement reads a table %s, which --file %s=%s names", display.Escape(n.As), display.Escape(n.As),
			display.Escape(shownPath(n.Path)))
	}
	return do(r)
}

// readSQLAs reads the flags and the statements, and reports every mistake that can be found without a cluster. Its caller decides how
// answers are printed, and may give directories in place of --data and --file.
func (x *command) readSQLAs(ctx context.Context, c *cli.Context, text string, now func() time.Time, roots []string, asJSON,
	asCSV bool) (_ *sqlRequest, err error) {
	r := &sqlRequest{request: &request{quiet: c.Bool(call.FlagQuiet)}, csv: asCSV, limited: c.Bool(flagStrict) || c.IsSet(flagMaxRejected),
		maxRejected: c.Uint64(flagMaxRejected)}
	if c.Bool(flagStrict) && r.maxRejected > 0 {
		return nil, exit.Usagef("--strict accepts no rejected row, --max-rejected %d some; give one of the two", r.maxRejected)
	}
	if timeout := c.Duration(call.FlagTimeout); timeout < 0 {
		return nil, exit.Usagef("--timeout %v: give a time like 10m", timeout)
	}
	dir, named, err := sqlFiles(c)
	if err != nil {
		return nil, err
	}
	if r.out, err = x.readOutput(c); err != nil {
		return nil, err
	}
	if r.out.json = asJSON; r.csv && r.out.json {
		return nil, exit.Usagef("sql: --csv and --json say how to print the answer; give one of the two")
	}
	r.forks = true
	r.cfg = client.Config{Analysis: compile.Name, Dir: dir, Named: named, Lanes: c.Int(call.FlagLanes), Send: c.Bool(call.FlagSend)}
	if r.cfg.Chunk, err = chunk(c); err != nil {
		return nil, err
	}
	if r.cfg.Comma, err = delimiter(c); err != nil {
		return nil, err
	}
	if r.cfg.Lanes < 0 || c.IsSet(call.FlagLanes) && r.cfg.Lanes == 0 {
		return nil, exit.Usagef("--lanes %d: give 1 to 1024", r.cfg.Lanes)
	}
	given, err := params(c)
	if err != nil {
		return nil, err
	}
	in := client.NewInput(dir, named, x.sqlStdin(c), r.cfg.Comma)
	in.Roots = roots
	in.OnWarning = x.warnInput(func(line string) { x.Notef("%s", line) })
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	r.cfg.Input = in
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
	if r.out.to.Standard() && (r.csv || r.out.json) {
		return nil, exit.Usagef("sql: --out - and --csv or --json both print the answer; give one of them")
	}
	if err := r.out.prepare(ctx, compile.Name, shapes); err != nil {
		return nil, err
	}
	if name := c.String(flagRejects); name != "" {
		if err := r.q.NoTable(ctx, name); err != nil {
			return nil, err
		}
		r.rejects, err = newRejects(name)
	}
	return r, err
}

// sqlFiles reads --data and --file. dir is a directory, or ""; named are files that were named.
func sqlFiles(c *cli.Context) (dir string, named []client.Named, err error) {
	if named, err = namedFiles(c); err != nil {
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
func (x *command) sqlStdin(c *cli.Context) io.Reader {
	if c.String(flagQuestions) == "-" {
		return taken{"holds the statements"}
	}
	if c.NArg() == 0 && c.String(flagQuestions) == "" {
		return taken{"is where statements are typed"}
	}
	return x.In
}

// taken is a standard input that cannot be a table; why says for what it is used.
type taken struct{ why string }

func (t taken) Read([]byte) (int, error) {
	return 0, exit.Usagef("standard input %s, and cannot be a table; give a file, like --file t=PATH", t.why)
}

// sqlText returns the statements: the argument, or what a file holds.
func (x *command) sqlText(c *cli.Context) (string, error) {
	file := c.String(flagQuestions)
	switch {
	case c.NArg() > 1:
		return "", exit.Usagef("sql: there are %d arguments; give the statement as one, in quotes", c.NArg())
	case c.NArg() == 1 && file != "":
		return "", exit.Usagef("sql: a statement and --%s %s exclude each other; give one of the two", flagQuestions, file)
	case c.NArg() == 1:
		return c.Args().First(), nil
	case file == "":
		return "", exit.Usagef("sql: which statement? Like posta sql --data DIR 'SELECT count(*) FROM trips', or --questions - for standard input; " +
			"a prompt needs a terminal")
	}
	return x.readText(file)
}

// readText reads statements from a file, - for standard input.
func (x *command) readText(file string) (string, error) {
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
func (x *command) printSQL(a *client.Answer, r *sqlRequest) error {
	if r.out.told != nil {
		return r.out.told.Answer(a, typesOf(r.q.Statements()))
	}
	if r.csv {
		printRejected(x.Err, a.Rejected)
		if len(a.Queries) == 0 {
			return nil // the text had only declarations
		}
		return out.CSV(x.Out, &a.Queries[0])
	}
	return x.printAnswer(a, r.out)
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

func (x *command) checkSQL(r *sqlRequest) error {
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

func (x *command) explainSQL(r *sqlRequest) error {
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
