package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/compile"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/question"
	"posta.dev/posta/protocol"
)

// mostWidened is how often a statement is tried again after samples did not show a column's type.
const mostWidened = 100

// answerSQL answers all statements and prints the answers.
func (x *command) answerSQL(ctx context.Context, r *sqlRequest, show *display.Progress) error {
	began := time.Now()
	all, failed, err := x.computeSQL(ctx, r, show)
	if err != nil {
		return err
	}
	if failed != nil && len(all.Queries) == 0 {
		return failed
	}
	to := r.out
	if failed != nil {
		to.html = nil // a report would look as if it had all answers
	}
	if err := x.deliver(ctx, all, to); err != nil {
		return errors.Join(failed, err)
	}
	if !r.quiet && x.events == nil && show != nil {
		x.notef("answered in %s", display.Span(time.Since(began)))
	}
	return errors.Join(x.printSQL(all, r), failed)
}

// computeSQL answers all statements. Statements over the same files share a session. A statement that fails does not affect the others; failed joins
// the errors of all failed statements.
func (x *command) computeSQL(ctx context.Context, r *sqlRequest, show *display.Progress) (all *client.Answer, failed, err error) {
	sessions := r.q.Sessions()
	if err := r.q.Stamp(ctx, sessions); err != nil {
		return nil, nil, err
	}
	answers := make([]*client.Answer, len(r.q.Statements()))
	one := func(i int) error {
		answer, err := x.answerOne(ctx, r, i, show)
		if answers[i] = answer; err == nil {
			return nil
		}
		if len(answers) > 1 {
			err = fmt.Errorf("%s: %w", r.q.Statements()[i].Name, err)
		}
		if !errors.Is(err, protocol.ErrFailed) || ctx.Err() != nil {
			return err
		}
		failed = errors.Join(failed, err)
		return nil
	}
	for i := range answers {
		if kind, err := r.q.Kind(i); err != nil || kind != question.OverTables {
			if err := one(i); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, session := range sessions {
		if len(session) > 1 {
			apart, err := x.answerShared(ctx, r, session, answers, show)
			if err != nil {
				return nil, nil, err
			}
			if !apart {
				continue
			}
		}
		for _, i := range session {
			if err := one(i); err != nil {
				return nil, nil, err
			}
		}
	}
	all = &client.Answer{Analysis: compile.Name}
	for i, answer := range answers {
		if answer == nil {
			continue
		}
		if i == 0 || len(all.Queries) == 0 {
			all.Session = answer.Session
		}
		all.Queries = append(all.Queries, answer.Queries...)
		all.Rejected = append(all.Rejected, answer.Rejected...)
		all.Warnings = append(all.Warnings, answer.Warnings...)
	}
	return all, failed, nil
}

// answerShared answers statements that share a scan. apart reports that they have to be answered one by one: an error of their common session does not say
// which statement caused it.
func (x *command) answerShared(ctx context.Context, r *sqlRequest, statements []int, answers []*client.Answer, show *display.Progress) (apart bool, err error) {
	var answer *client.Answer
	show.Of(shared(r.q, statements))
	err = x.widened(ctx, r, func() (err error) {
		answer, err = x.session(ctx, r, r.q.PlanOf(statements), nil, show)
		return err
	})
	switch {
	case errors.Is(err, protocol.ErrFailed) && ctx.Err() == nil && r.q.Once() == "":
		x.notef("note: the statements over the same files are answered one by one, because together they failed: %s", display.Escape(firstLine(failedStatement(err.Error()))))
		return true, r.q.SameFiles(ctx)
	case err != nil:
		return false, err
	}
	for k, i := range statements {
		one := *answer
		if one.Queries = answer.Queries[k : k+1]; k > 0 {
			one.Rejected, one.Warnings = nil, nil // both lists belong to the shared session, so only its first statement shows them
		}
		answers[i] = &one
	}
	return false, nil
}

// answerOne answers one statement.
func (x *command) answerOne(ctx context.Context, r *sqlRequest, statement int, show *display.Progress) (answer *client.Answer, err error) {
	if kind, err := r.q.Kind(statement); err != nil || kind != question.OverTables {
		if err != nil {
			return nil, badSQL(err)
		}
		t, err := r.q.Local(statement)
		if err != nil {
			return nil, badSQL(err)
		}
		return &client.Answer{Analysis: compile.Name, Queries: []client.Table{t}}, nil
	}
	before, err := r.rejects.mark()
	if err != nil {
		return nil, err
	}
	err = x.widened(ctx, r, func() (err error) {
		if err = r.rejects.back(before); err != nil { // drops the rejected rows of the attempt before
			return err
		}
		of := ""
		if len(r.q.Statements()) > 1 {
			of = r.q.Statements()[statement].Name
		}
		answer, err = x.inPasses(ctx, r, r.q.Plan(statement), of, show)
		return err
	})
	return answer, err
}

// widened calls answer. If a session fails for a reason that a changed plan removes, it calls answer again: a column needs a wider type than samples showed.
func (x *command) widened(ctx context.Context, r *sqlRequest, answer func() error) error {
	for again := 0; ; again++ {
		err := answer()
		failed := errors.Is(err, protocol.ErrFailed) || errors.Is(err, client.ErrInput) // ErrInput, because this program itself parses the rows, too
		if !failed || again == mostWidened || ctx.Err() != nil {
			return err
		}
		if r.q.Once() != "" {
			if declare := r.q.Declaration(err); declare != "" {
				return fmt.Errorf("%w; declare the columns, since this can be read once: %s", err, declare)
			}
			return err
		}
		told, unbound := r.q.Mend(err)
		switch {
		case unbound != nil:
			return badSQL(unbound)
		case told == "":
			return err
		}
		x.notef("note: %s", display.Escape(told))
		if err := r.q.SameFiles(ctx); err != nil {
			return err
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// shared returns a short name for the statements that share a session.
func shared(q *question.Question, statements []int) string {
	if len(statements) == len(q.Statements()) {
		return "" // all statements together need no name
	}
	return fmt.Sprintf("%s and %d more", q.Statements()[statements[0]].Name, len(statements)-1)
}

// inPasses answers a plan in one or more passes. Each pass is a session, and the plan of the next pass contains the answers of the earlier ones. of
// is the name of the statement; "" if there is only one.
func (x *command) inPasses(ctx context.Context, r *sqlRequest, plan *compile.Plan, of string, show *display.Progress) (*client.Answer, error) {
	var warnings []client.Warning
	var rejected []protocol.Rejected // rows rejected by earlier passes
	r.rejects.firstPass(plan.NextPass() != nil)
	for n := 1; ; n++ {
		pass := plan.NextPass()
		if show.Of(of); pass != nil || n > 1 {
			show.Of(strings.TrimPrefix(fmt.Sprintf("%s, pass %d", of, n), ", "))
		}
		if pass == nil {
			if n > 1 {
				x.sayPass(r, show, "pass %d, the last one", n)
			}
			answer, err := x.firstRows(ctx, r, plan, show)
			if answer != nil {
				answer.Warnings = append(warnings, answer.Warnings...)
				for _, r := range rejected {
					if !slices.ContainsFunc(answer.Rejected, func(own protocol.Rejected) bool { return own.Stream == r.Stream }) {
						answer.Rejected = append(answer.Rejected, r) // the rejected rows of a stream are listed only once
					}
				}
			}
			return answer, err
		}
		x.sayPass(r, show, "pass %d: a query whose answer WHERE needs", n)
		inner, request := *r, *r.request
		request.cfg.Keep, inner.request = 0, &request // the next pass needs all rows of this one
		answer, err := x.session(ctx, &inner, pass, nil, show)
		if err != nil {
			return nil, fmt.Errorf("pass %d: %w", n, err)
		}
		var rows []string
		for row := range answer.Queries[0].All() {
			rows = append(rows, row[0].Text)
			if len(rows) > compile.MaxPlan { // more than a plan takes
				break
			}
		}
		if err := errors.Join(answer.Queries[0].Err(), r.q.SameFiles(ctx)); err != nil {
			return nil, err
		}
		next, err := plan.Answered(pass, rows)
		if err != nil {
			return nil, err
		}
		if len(next.Encode()) > compile.MaxPlan {
			x.notef("note: the query that WHERE needs has more rows than a plan takes; the reducer compares them, in one pass")
			return x.session(ctx, r, plan, nil, show)
		}
		r.rejects.nextPass()
		plan, warnings, rejected = next, append(warnings, answer.Warnings...), append(rejected, answer.Rejected...)
	}
}

func (x *command) sayPass(r *sqlRequest, show *display.Progress, format string, args ...any) {
	if !r.quiet {
		show.Say(fmt.Sprintf(format, args...))
	}
}

// firstRows runs a session. If only few rows are asked for, it first reads only the beginning of a table, which may contain enough rows.
func (x *command) firstRows(ctx context.Context, r *sqlRequest, plan *compile.Plan, show *display.Progress) (*client.Answer, error) {
	before, err := r.rejects.mark()
	if err != nil {
		return nil, err
	}
	stream, heads, rows := r.q.Heads(plan)
	for _, bytes := range heads {
		answer, err := x.session(ctx, r, plan, func(of string) int64 {
			if of == stream {
				return bytes
			}
			return 0
		}, show)
		if err != nil || !answer.Partial || answer.Queries[0].Len() >= rows {
			return answer, err
		}
		if err := r.rejects.back(before); err != nil {
			return nil, err
		}
	}
	return x.session(ctx, r, plan, nil, show)
}

// session runs one session.
func (x *command) session(ctx context.Context, r *sqlRequest, plan *compile.Plan, head func(stream string) int64, show *display.Progress) (*client.Answer, error) {
	a, err := compile.Analysis(plan)
	if err != nil {
		return nil, badSQL(err)
	}
	cfg := r.cfg
	if cfg.Plan = plan.Encode(); len(cfg.Plan) > compile.MaxPlan {
		return nil, usagef("sql: the plan of the statement has %d bytes, at most %d are taken: declare the columns that are needed with CREATE TABLE", len(cfg.Plan), compile.MaxPlan)
	}
	in := &inspector{analysis: a, limited: r.limited, max: r.maxRejected, out: r.rejects}
	if all := r.q.Statements(); len(all) > 1 && len(plan.Also) == 0 {
		in.of = all[plan.Statement].Name
	}
	before, err := r.rejects.mark()
	if err != nil {
		return nil, err
	}
	cfg.Inspect, cfg.Columns, cfg.Forms, cfg.Skips, cfg.Head = in.inspect, in.columns, in.forms, in.skips, head
	cfg.OnWarning, cfg.OnNote = x.warnInput(show.Say), r.noteInput(show.Say)
	if !r.quiet {
		cfg.OnProgress = show.Update
	}
	answer, err := client.Run(ctx, cfg)
	show.Done()
	if errors.Is(err, errTimeout) {
		return nil, explainLate(ctx, r.cluster, r.cfg.Keys, err)
	}
	if err != nil {
		return answer, errors.Join(err, r.rejects.back(before)) // the session may be run again
	}
	err = in.check(answer, show.Say)
	for i := range answer.Rejected {
		answer.Rejected[i].Stream = in.counted(answer.Rejected[i].Stream)
	}
	r.out.html.ran(answer)
	return answer, err
}
