package query

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/client/inspect"
	"posta.dev/posta/query/internal/question"
)

// ErrRejected is wrapped by the error of a statement that rejects more rows than Config.MaxRejected allows.
var ErrRejected = inspect.ErrRejected

// ErrStatement is wrapped, beside client.ErrInput, by the error of a statement that cannot be carried out.
var ErrStatement = errors.New("the statement cannot be carried out")

// statementError is the error of such a statement. Its text is that of the reason alone.
type statementError struct{ error }

func badStatement(err error) error {
	if err == nil {
		return nil
	}
	return &statementError{err}
}

func (e *statementError) Unwrap() []error { return []error{ErrStatement, client.ErrInput, e.error} }

// Script is statements that were read together with the tables that they name. It is used by one goroutine at a time.
type Script struct {
	db       *DB
	q        *question.Question
	input    *client.Input
	rejects  *inspect.Rejects // nil unless ListRejected was called
	prepared []Statement
}

// Column is a column of an answer.
type Column struct {
	Name string
	Type types.Type
}

// Statement is a statement of a script. CREATE TABLE and CREATE VIEW have no answer, and are not listed.
type Statement struct {
	// Name is the one that a line -- name: NAME in front of the statement gives, else q1, q2 and so on.
	Name string

	// Columns are those of the answer, or those of the table that DESCRIBE describes; nil for SHOW TABLES.
	Columns []Column

	// Lists says that the answer lists tables or columns: it has texts alone.
	Lists bool
}

// Prepare reads statements and samples of the files that they read, and reports every mistake that can be found without a cluster. Errors
// about the text are of the type *syntax.Error, and wrap client.ErrInput. args are the values of $1, $2 and so on, or Named values. The
// caller must close the script.
func (db *DB) Prepare(ctx context.Context, text string, args ...any) (_ *Script, err error) {
	if db == nil {
		return nil, ErrClosed
	}
	params, err := paramsOf(args)
	if err != nil {
		return nil, err
	}
	now := db.cfg.Now
	if now == nil {
		now = time.Now
	}
	in := db.files()
	in.OnWarning = func(w client.Warning) { db.cfg.Watch.notice(Warning, w.String()) }
	s := &Script{db: db, input: in}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	s.q, err = question.Read(ctx, question.Config{Text: text, Input: in, Params: params, Now: now})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, badStatement(err)
	}
	for _, told := range s.q.Notes() {
		db.cfg.Watch.notice(Note, told)
	}
	for i, st := range s.q.Statements() {
		if _, err := s.q.Kind(i); err != nil {
			return nil, badStatement(err)
		}
		s.prepared = append(s.prepared, statementOf(&st))
	}
	return s, nil
}

// ListRejected lists all rows that cannot be used in a file, as CSV: stream, file, line, reason, row. Close closes the file. It has to be
// called before Run.
func (s *Script) ListRejected(file *os.File) (err error) {
	s.rejects, err = inspect.NewRejects(file)
	return err
}

func statementOf(st *bind.Statement) Statement {
	s := Statement{Name: st.Name, Lists: st.Kind == bind.Tables || st.Kind == bind.Description}
	if st.Plan != nil {
		for _, f := range st.Plan.Fields() {
			s.Columns = append(s.Columns, Column{f.Name, f.Type})
		}
	}
	return s
}

// Close releases what the script holds. Rows of its answers can still be read.
func (s *Script) Close() error { return errors.Join(s.input.Close(), s.rejects.Close()) }

// Statements returns the statements that have answers, in their order.
func (s *Script) Statements() []Statement { return s.prepared }

// NeedsCluster reports whether a statement reads a table.
func (s *Script) NeedsCluster() bool {
	return slices.ContainsFunc(s.kinds(), func(k question.Kind) bool { return k == question.OverTables })
}

// Reads estimates how many bytes the statements read, all together: those of their files, and of Parquet those of the columns that they
// need, in row groups that WHERE does not exclude. known is false if that is not known before, as of a pipe.
func (s *Script) Reads(ctx context.Context) (bytes int64, known bool) { return s.q.Reads(ctx) }

func (s *Script) kinds() []question.Kind {
	kinds := make([]question.Kind, len(s.prepared))
	for i := range kinds {
		kinds[i], _ = s.q.Kind(i) // Prepare has asked already
	}
	return kinds
}

// Check compiles all statements as a cluster would.
func (s *Script) Check() error {
	for i, kind := range s.kinds() {
		if kind == question.OverTables {
			if _, err := split.Analysis(s.q.Plan(i)); err != nil {
				return badStatement(err)
			}
		}
	}
	return nil
}

// Explain returns, for each statement, what would be read for it and where each step would be computed, in lines.
func (s *Script) Explain(ctx context.Context) ([]string, error) {
	beside := s.sharers()
	texts := make([]string, len(s.prepared))
	for i := range texts {
		text, err := s.q.Explain(ctx, i)
		if err != nil {
			return nil, badStatement(err)
		}
		texts[i] = text + beside[i]
	}
	return texts, nil
}

// sharers says of each statement with which others its first session shares the scan.
func (s *Script) sharers() map[int]string {
	told := map[int]string{}
	for _, steps := range s.q.Sessions(s.q.Firsts()) {
		for k, step := range steps {
			var names []string
			for _, other := range append(slices.Clone(steps[:k]), steps[k+1:]...) {
				names = append(names, s.prepared[other.Statement].Name)
			}
			what := "shares"
			if !step.Last() {
				what = "pass 1 shares"
			}
			if n := len(names); n > 0 {
				told[step.Statement] = fmt.Sprintf("  %s its scan with %s\n", what,
					strings.TrimPrefix(strings.Join(names[:n-1], ", ")+" and "+names[n-1], " and "))
			}
		}
	}
	return told
}

// Unused returns those of Config.Files that no statement reads.
func (s *Script) Unused() []client.Named { return s.q.Unused() }

// NotOfTables returns an error if a file that is about to be written belongs to a table, or would belong to one.
func (s *Script) NotOfTables(ctx context.Context, file string) error { return s.q.NoTable(ctx, file) }

// ReadByOthers returns an error unless another process could read all files again, and see whether they have changed.
func (s *Script) ReadByOthers(ctx context.Context) error { return s.q.ReadByOthers(ctx) }

// Answered reports whether an error of a session leads to another try, with a changed plan.
func Answered(err error) bool { return question.Mends(err) }
