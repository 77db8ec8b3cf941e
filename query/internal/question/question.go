// Package question turns the text of SQL statements into plans that a cluster can carry out: it finds the files that the tables' names
// mean, takes samples of them, and says what is wrong with a statement before anything is started.
//
//	q, err := question.Read(ctx, question.Config{Text: "SELECT …", Input: client.NewInput("data", nil, nil, 0)})
//	for i, st := range q.Statements() {  plan := q.Plan(i)
//		…
//	}
//	told, err := q.Mend(ctx, reason)     a session failed because samples did not show a column's type, or tables did not fit
package question

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/rows/csv"
)

// today is the parameter that holds the value of current_date. As a parameter it is fixed when the session opens.
const today = "current_date"

// Config holds the statements and their input. Now is the clock. If a statement reads FROM '-', Input names standard input.
type Config struct {
	Text   string
	Input  *client.Input
	Params bind.Params
	Now    func() time.Time
}

// StandardInput is the name of the table that standard input becomes.
const StandardInput = "-"

// Question is statements, and the tables that they read.
type Question struct {
	cfg     Config
	script  *syntax.Script
	tables  []*table
	program *bind.Program
	plans   []*split.Plan // by statement, of the bound text; bind makes them
	kinds   []kindOf      // by statement
	known   []plan.Node   // by statement, its plan with what the footers of files say; nil if tables have to be read
	small   int64         // how many bytes of tables joiners may hold as a whole, if more did not fit before (split.Plan)
}

// usesToday reports whether a text may call current_date. It looks only for the name, so it may report a text without a call, but it never
// misses one.
func usesToday(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{today, "today"}, func(name string) bool { return strings.Contains(text, name) })
}

// Read parses the text, finds its tables, and binds the text to them. Errors about the text are *syntax.Error.
func Read(ctx context.Context, cfg Config) (*Question, error) {
	script, err := syntax.Parse(cfg.Text)
	if err != nil {
		return nil, err
	}
	if _, given := cfg.Params[today]; !given && usesToday(cfg.Text) {
		cfg.Params = maps.Clone(cfg.Params)
		if cfg.Params == nil {
			cfg.Params = bind.Params{}
		}
		cfg.Params[today] = bind.Param{Kind: types.Text, Text: cfg.Now().UTC().Format(time.DateOnly)}
	}
	q := &Question{cfg: cfg, script: script}
	views := map[string]bool{}
	for _, st := range script.Statements {
		switch n := st.Node.(type) {
		case *syntax.CreateTable:
			if err := q.declare(ctx, n); err != nil {
				return nil, err
			}
		case *syntax.CreateView:
			views[strings.ToLower(n.Name.Name)] = true
		}
	}
	for _, t := range syntax.Tables(script) {
		if !t.File && views[strings.ToLower(t.Name.Name)] {
			continue // the name means a view, not the file of that name
		}
		if err := q.find(ctx, t); err != nil {
			return nil, err
		}
	}
	if err := q.stdinOnce(); err != nil {
		return nil, err
	}
	return q, q.bind(ctx)
}

func (q *Question) bind(ctx context.Context) (err error) {
	asked := q.asked()
	if q.program, err = asked.Bind(); err == nil {
		q.plans, q.kinds, q.known = nil, make([]kindOf, len(q.program.Statements)), make([]plan.Node, len(q.program.Statements))
		for i := range q.program.Statements {
			q.plans = append(q.plans, asked.Of(i))
			q.known[i] = q.plans[i].FromFooters(func(table int, columns []csv.Column) *split.Known { return q.knows(ctx, table, columns) })
		}
	}
	e := (*syntax.Error)(nil)
	if errors.As(err, &e) {
		q.explainText(ctx, e)
		q.explainUnread(e)
	}
	if e == nil || e.Hint != "" {
		return err
	}
	if name := e.Table; name != "" {
		e.Hint = q.hint()
		if q.checkPattern(name, 0) == nil && q.cfg.Input.Has(name) {
			e.Hint = "The name of a file stands in single quotes: '" + name + "'."
		} else if near := syntax.Nearest(name, Names(q.cfg.Input)); near != "" {
			e.Hint = "Did you mean " + syntax.PrintName(near) + "?"
		}
	}
	return err
}

func (q *Question) fail(at syntax.Pos, message, hint string) error {
	return syntax.NewError(q.cfg.Text, at, message, hint)
}

// stdinName is the name of standard input for nodes.
const stdinName = "stdin"

// asked returns the text with what is known of its tables.
func (q *Question) asked() *split.Plan {
	p := &split.Plan{Text: q.cfg.Text, Params: q.cfg.Params, Small: q.small}
	for _, t := range q.tables {
		table := t.Table
		table.Columns = slices.Clone(t.Columns)
		for i := range table.Columns {
			table.Columns[i].Missing = t.missing
		}
		table.Bytes, table.Rows = t.estimate, t.rows()
		if t.sampled != nil {
			for _, c := range t.sampled.Columns() {
				table.Columns = append(table.Columns, catalog.Column{
					Name: c.Name, Type: c.Type, Inferred: !c.Declared, Typed: c.Declared, Missing: t.loose || t.missing, Key: c.Key, Keyed: c.Keyed,
				})
			}
		}
		p.Tables = append(p.Tables, table)
	}
	return p
}

// Statements returns the statements that have answers.
func (q *Question) Statements() []bind.Statement { return q.program.Statements }

// Plan returns the plan of a statement. It is compiled once, unless Mend changes it.
func (q *Question) Plan(statement int) *split.Plan { return q.plans[statement] }

// mostDeclared is how many columns Declaration lists.
const mostDeclared = 50
