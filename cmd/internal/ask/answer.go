package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/client/inspect"

	"posta.dev/posta/analyses/sql/compile"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/question"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/protocol"
)

// mostWidened is how often a statement is tried again after samples did not show a column's type.
const mostWidened = 100

// answerSQL answers all statements and prints the answers.
func answerSQL(x *call.Call, ctx context.Context, r *sqlRequest, show *display.Progress) error {
	began := time.Now()
	all, failed, err := computeSQL(x, ctx, r, show)
	if err != nil {
		return err
	}
	if failed != nil && len(all.Queries) == 0 {
		r.journal.finish()
		return failed
	}
	to := r.Out
	if failed != nil {
		to.Html = nil // a report would look as if it had all answers
	}
	if err := deliver.Deliver(x, ctx, all, to); err != nil {
		return errors.Join(failed, err)
	}
	if !r.Quiet && x.Events == nil && show != nil {
		x.Notef("answered in %s", display.Span(time.Since(began)))
	}
	if err := printSQL(x, all, r); err != nil {
		return errors.Join(err, failed)
	}
	r.journal.finish()
	return failed
}

// passed is what the passes of a statement have left for its answer.
type passed struct {
	warnings []client.Warning
	rejected []protocol.Rejected
}

// into adds to the answer what the passes have left. A stream is listed once, with the rejected rows of the pass that rejected most: the
// passes may have rejected the same rows.
func (p *passed) into(answer *client.Answer) {
	answer.Warnings = append(slices.Clip(p.warnings), answer.Warnings...)
	for _, r := range p.rejected {
		at := slices.IndexFunc(answer.Rejected, func(own protocol.Rejected) bool { return own.Stream == r.Stream })
		if at < 0 {
			answer.Rejected = append(slices.Clip(answer.Rejected), r)
		} else if answer.Rejected[at].Rows < r.Rows {
			answer.Rejected = slices.Clone(answer.Rejected)
			answer.Rejected[at] = r
		}
	}
}

// computeSQL answers all statements, in rounds: a session of a round computes the next steps of statements over the same files, be they
// passes or answers. A statement that fails does not affect the others; failed joins the errors of all failed statements.
func computeSQL(x *call.Call, ctx context.Context, r *sqlRequest, show *display.Progress) (all *client.Answer, failed, err error) {
	sessions := r.q.Sessions(r.q.Firsts())
	if err := r.q.Stamp(ctx, sessions); err != nil {
		return nil, nil, err
	}
	if err := r.journal.begin(r.q.Stamps()); err != nil {
		return nil, nil, err
	}
	answers := make([]*client.Answer, len(r.q.Statements()))
	before := make([]passed, len(answers))
	one := func(i int, step *question.Step) error {
		answer, err := answerOne(x, ctx, r, i, step, before[i], show)
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
			if err := one(i, nil); err != nil {
				return nil, nil, err
			}
		}
	}
	for len(sessions) > 0 {
		var further []*question.Step
		for _, steps := range sessions {
			if len(steps) > 1 {
				next, apart, err := answerShared(x, ctx, r, steps, answers, before, show)
				if err != nil {
					return nil, nil, err
				}
				further, steps = append(further, next...), apart
			}
			for _, step := range steps {
				if err := one(step.Statement, step); err != nil {
					return nil, nil, err
				}
			}
		}
		sessions = r.q.Sessions(further)
	}
	all = &client.Answer{Analysis: compile.Name}
	for i, answer := range answers {
		if answer == nil {
			continue
		}
		if i == 0 || len(all.Queries) == 0 {
			all.Session = answer.Session
		}
		for _, q := range answer.Queries {
			q.Types = shapeOf(&r.q.Statements()[i]).Types // whatever the values are
			all.Queries = append(all.Queries, q)
		}
		all.Rejected = append(all.Rejected, answer.Rejected...)
		all.Warnings = append(all.Warnings, answer.Warnings...)
	}
	return all, failed, nil
}

// answerShared computes steps that share a scan. next are the steps that follow passes. apart are those that have to be computed one by
// one: if their common session fails, its error does not say which statement caused it.
func answerShared(x *call.Call, ctx context.Context, r *sqlRequest, steps []*question.Step, answers []*client.Answer, before []passed,
	show *display.Progress) (next, apart []*question.Step, err error) {
	var answer *client.Answer
	var in *inspect.Inspector
	show.Of(shared(r.q, steps))
	err = widened(x, ctx, r, func() (err error) {
		for k, s := range steps {
			steps[k] = r.q.Renewed(s)
			if s = steps[k]; !s.Last() || s.Passed > 0 {
				sayPass(x, r, show, "%s, %s", r.q.Statements()[s.Statement].Name, passOf(s))
			}
		}
		answer, in, err = runSession(x, ctx, r, question.PlanOf(steps), nil, show)
		return err
	})
	switch {
	case errors.Is(err, compile.ErrApart): // with other types of columns than before
		return nil, steps, r.q.SameFiles(ctx)
	case errors.Is(err, protocol.ErrFailed) && ctx.Err() == nil && r.q.Once() == "":
		x.Notef("note: the statements over the same files are answered one by one, because together they failed: %s",
			display.Escape(firstLine(exit.FailedStatement(err.Error()))))
		return nil, steps, r.q.SameFiles(ctx)
	case err != nil:
		return nil, nil, err
	}
	warnings, rejected := answer.Warnings, answer.Rejected
	for k, s := range steps {
		if s.Last() {
			continue
		}
		// What a pass has rejected is shown with the answer of its statement. The rest of both lists is shown once.
		mine := func(of protocol.Rejected) bool {
			return in.StatementOf(of.Stream) == r.q.Statements()[s.Statement].Name
		}
		p := &before[s.Statement]
		for _, of := range rejected {
			if mine(of) {
				p.rejected = append(p.rejected, of)
			}
		}
		rejected = slices.DeleteFunc(slices.Clone(rejected), mine)
		if !slices.ContainsFunc(steps, (*question.Step).Last) {
			p.warnings, warnings = append(p.warnings, warnings...), nil
		}
		after, err := after(x, r, s, &answer.Queries[k])
		switch {
		case err != nil:
			return nil, nil, err
		case after == nil:
			apart = append(apart, s)
		default:
			next = append(next, after)
		}
	}
	var left passed // by the passes of all statements that are answered now
	for _, s := range steps {
		if p := before[s.Statement]; s.Last() {
			left.warnings, left.rejected = append(left.warnings, p.warnings...), append(left.rejected, p.rejected...)
		}
	}
	answer.Warnings, answer.Rejected = warnings, rejected
	left.into(answer)
	for k, s := range steps {
		if !s.Last() {
			continue
		}
		one := *answer
		one.Queries = answer.Queries[k : k+1]
		answers[s.Statement], answer.Rejected, answer.Warnings = &one, nil, nil // both lists belong to the session, so they are shown once
	}
	if len(next)+len(apart) > 0 {
		return next, apart, r.q.SameFiles(ctx)
	}
	return nil, nil, nil
}

// after returns the step after a pass, nil if not all rows of the pass's answer were kept.
func after(x *call.Call, r *sqlRequest, s *question.Step, answer *client.Table) (*question.Step, error) {
	var rows []string
	for row := range answer.All() {
		rows = append(rows, row[0].Text)
		if len(rows) > compile.MaxPlan { // more than a plan takes
			break
		}
	}
	switch err := answer.Err(); {
	case err != nil:
		return nil, err
	case len(rows) < answer.Len() && len(rows) <= compile.MaxPlan:
		return nil, nil
	}
	next, fits, err := s.After(rows)
	if err == nil && !fits {
		x.Notef("note: the query that WHERE needs has more rows than a plan takes; the reducer compares them, in one pass")
	}
	return next, err
}

// answerOne answers one statement, from a step on. step is nil if the statement reads no table.
func answerOne(x *call.Call, ctx context.Context, r *sqlRequest, statement int, step *question.Step, before passed,
	show *display.Progress) (answer *client.Answer, err error) {
	if step == nil {
		if _, err := r.q.Kind(statement); err != nil {
			return nil, exit.BadStatement(err)
		}
		t, err := r.q.Local(statement)
		if err != nil {
			return nil, exit.BadStatement(err)
		}
		return &client.Answer{Analysis: compile.Name, Queries: []client.Table{t}}, nil
	}
	mark, err := r.rejected.Out.Mark()
	if err != nil {
		return nil, err
	}
	err = widened(x, ctx, r, func() (err error) {
		if err = r.rejected.Out.Back(mark); err != nil { // drops the rejected rows of the attempt before
			return err
		}
		answer, err = inPasses(x, ctx, r, r.q.Renewed(step), before, show)
		return err
	})
	return answer, err
}

// widened calls answer. If a session fails for a reason that a changed plan removes, it calls answer again: a column needs a wider type
// than samples showed.
func widened(x *call.Call, ctx context.Context, r *sqlRequest, answer func() error) error {
	for again := 0; ; again++ {
		err := answer()
		// ErrInput, because this program itself parses the rows, too
		failed := errors.Is(err, protocol.ErrFailed) || errors.Is(err, client.ErrInput)
		if !failed || again == mostWidened || ctx.Err() != nil {
			return err
		}
		if r.q.Once() != "" {
			if declare := r.q.Declaration(err); declare != "" {
				return fmt.Errorf("%w; declare the columns, since this can be read once: %s", err, declare)
			}
			return err
		}
		told, unbound := r.q.Mend(ctx, err)
		switch {
		case unbound != nil:
			return exit.BadStatement(unbound)
		case told == "":
			return err
		}
		x.Notef("note: %s", display.Escape(told))
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
func shared(q *question.Question, steps []*question.Step) string {
	if len(steps) == len(q.Statements()) {
		return "" // all statements together need no name
	}
	return fmt.Sprintf("%s and %d more", q.Statements()[steps[0].Statement].Name, len(steps)-1)
}

// inPasses answers a statement from a step on, in one or more passes. Each pass is a session, and the plan of the next pass contains the
// answers of the earlier ones. before is what passes before this step have left.
func inPasses(x *call.Call, ctx context.Context, r *sqlRequest, step *question.Step, before passed, show *display.Progress) (*client.Answer,
	error) {
	of := ""
	if len(r.q.Statements()) > 1 {
		of = r.q.Statements()[step.Statement].Name
	}
	for {
		if show.Of(of); !step.Last() || step.Passed > 0 {
			show.Of(strings.TrimPrefix(fmt.Sprintf("%s, pass %d", of, 1+step.Passed), ", "))
			sayPass(x, r, show, "%s", passOf(step))
		}
		if step.Last() {
			answer, err := firstRows(x, ctx, r, step.Plan, show)
			if answer != nil {
				before.into(answer)
			}
			return answer, err
		}
		inner, request := *r, *r.Request
		request.Cfg.Keep, inner.Request = 0, &request // the next pass needs all rows of this one
		answer, _, err := runSession(x, ctx, &inner, step.Next, nil, show)
		if err != nil {
			return nil, fmt.Errorf("pass %d: %w", 1+step.Passed, err)
		}
		next, err := after(x, r, step, &answer.Queries[0])
		if err := errors.Join(err, r.q.SameFiles(ctx)); err != nil {
			return nil, err
		}
		before.warnings, before.rejected = append(slices.Clip(before.warnings), answer.Warnings...),
			append(slices.Clip(before.rejected), answer.Rejected...)
		step = next
	}
}

// passOf describes a step of a statement that takes several passes.
func passOf(s *question.Step) string {
	if s.Last() {
		return fmt.Sprintf("pass %d, the last one", 1+s.Passed)
	}
	return fmt.Sprintf("pass %d: a query whose answer WHERE needs", 1+s.Passed)
}

func sayPass(x *call.Call, r *sqlRequest, show *display.Progress, format string, args ...any) {
	if !r.Quiet {
		show.Say(fmt.Sprintf(format, args...))
	}
}

// firstRows runs a session. If only few rows are asked for, it first reads only the beginning of a table, which may contain enough rows.
func firstRows(x *call.Call, ctx context.Context, r *sqlRequest, plan *compile.Plan, show *display.Progress) (*client.Answer, error) {
	before, err := r.rejected.Out.Mark()
	if err != nil {
		return nil, err
	}
	stream, heads, rows := r.q.Heads(plan)
	for _, bytes := range heads {
		answer, _, err := runSession(x, ctx, r, plan, func(of string) int64 {
			if of == stream {
				return bytes
			}
			return 0
		}, show)
		if err != nil || !answer.Partial || answer.Queries[0].Len() >= rows {
			return answer, err
		}
		if err := r.rejected.Out.Back(before); err != nil {
			return nil, err
		}
	}
	answer, _, err := runSession(x, ctx, r, plan, nil, show)
	return answer, err
}

// runSession runs one session. The inspector knows for which statement a row was rejected.
func runSession(x *call.Call, ctx context.Context, r *sqlRequest, plan *compile.Plan, head func(stream string) int64,
	show *display.Progress) (*client.Answer, *inspect.Inspector, error) {
	a, err := compile.Analysis(plan)
	if err != nil {
		return nil, nil, exit.BadStatement(err)
	}
	cfg := r.Cfg
	if cfg.Plan = plan.Encode(); len(cfg.Plan) > compile.MaxPlan {
		return nil, nil, exit.Usagef(
			"sql: the plan of the statement has %d bytes, at most %d are taken: declare the columns that are needed with CREATE TABLE",
			len(cfg.Plan), compile.MaxPlan)
	}
	limit := r.rejected
	in := &inspect.Inspector{Analysis: a, Limited: limit.Limited, Max: limit.Max, By: limit.By, Out: limit.Out}
	all := r.q.Statements()
	if len(all) > 1 && len(plan.Also) == 0 {
		in.Of = all[plan.Statement].Name
	}
	for _, part := range plan.Parts() {
		if part.Pass > 0 {
			in.Passes = append(in.Passes, all[part.Statement].Name)
		}
	}
	before, err := r.rejected.Out.Mark()
	if err != nil {
		return nil, nil, err
	}
	cfg.Inspect, cfg.Columns, cfg.Forms, cfg.Skips, cfg.Head = in.Inspect, in.Columns, in.Forms, in.Skips, head
	cfg.OnWarning, cfg.OnNote = upload.WarnInput(x, show.Say), r.NoteInput(show.Say)
	if !r.Quiet {
		cfg.OnProgress = show.Update
	}
	answer, err := r.journal.run(ctx, cfg, a)
	show.Done()
	if errors.Is(err, exit.ErrTimeout) {
		return nil, nil, upload.ExplainLate(ctx, r.Cluster, r.Cfg.Keys, err)
	}
	if err != nil {
		return answer, in, errors.Join(err, r.rejected.Out.Back(before)) // the session may be run again
	}
	err = in.Check(answer, show.Say)
	for i := range answer.Rejected {
		answer.Rejected[i].Stream = in.Counted(answer.Rejected[i].Stream)
	}
	r.Out.Html.Ran(answer)
	return answer, in, err
}
