package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/query/internal/question"
)

// mostWidened is how often a statement is tried again after samples did not show a column's type.
const mostWidened = 100

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

// run is one run of a script.
type run struct {
	*Script
	at      Entrance
	answers []*client.Answer // by statement; nil before it is answered, and if it has failed
	before  []passed         // by statement
	former  *former          // nil if sessions of other processes are not continued
}

// Run answers all statements, in rounds: a session of a round computes the next steps of statements over the same files, be they passes or
// answers. A statement that fails does not affect the others: then the answer has what the others gave, and the error joins what failed.
// After any other error there is no answer. When ctx ends, the session that runs is cancelled at the cluster.
func (s *Script) Run(ctx context.Context) (*client.Answer, error) {
	r := &run{Script: s, answers: make([]*client.Answer, len(s.prepared)), before: make([]passed, len(s.prepared))}
	if s.NeedsCluster() {
		at, within, done, err := s.db.reach(ctx, s)
		defer done()
		if err != nil {
			return nil, err
		}
		r.at, ctx = at, within
	}
	failed, err := r.rounds(ctx)
	if err != nil {
		return nil, because(ctx, err)
	}
	all := &client.Answer{Analysis: split.Name}
	for i, answer := range r.answers {
		if answer == nil {
			continue
		}
		if i == 0 || len(all.Queries) == 0 {
			all.Session = answer.Session
		}
		for _, q := range answer.Queries {
			q.Types = s.prepared[i].types() // whatever the values are
			all.Queries = append(all.Queries, q)
		}
		all.Rejected = append(all.Rejected, answer.Rejected...)
		all.Warnings = append(all.Warnings, answer.Warnings...)
	}
	return all, failed
}

// because adds to an error why the context has ended, if it has.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// rounds answers what it can. failed joins the errors of statements that have failed by themselves.
func (r *run) rounds(ctx context.Context) (failed, err error) {
	sessions := r.q.Sessions(r.q.Firsts())
	if err := r.q.Stamp(ctx, sessions); err != nil {
		return nil, err
	}
	if j := r.db.cfg.Journal; j != nil {
		if err := j.Begin(r.q.Stamps()); err != nil {
			return nil, err
		}
	}
	if s := r.db.cfg; s.Topology != "" || s.Reach != nil {
		if r.former, err = r.formerOf(ctx); err != nil {
			return nil, err
		}
	}
	one := func(i int, step *question.Step) error {
		answer, err := r.one(ctx, i, step)
		if r.answers[i] = answer; err == nil {
			return nil
		}
		if len(r.answers) > 1 {
			name := r.prepared[i].Name
			err = protocol.With(fmt.Errorf("%s: %w", name, err), protocol.Fields{protocol.FieldStatement: name})
		}
		if !errors.Is(err, protocol.ErrFailed) || ctx.Err() != nil {
			return err
		}
		failed = errors.Join(failed, err)
		return nil
	}
	for i, kind := range r.kinds() {
		if kind != question.OverTables {
			if err := one(i, nil); err != nil {
				return nil, err
			}
		}
	}
	for len(sessions) > 0 {
		var further []*question.Step
		for _, steps := range sessions {
			if len(steps) > 1 {
				next, apart, err := r.shared(ctx, steps)
				if err != nil {
					return nil, err
				}
				further, steps = append(further, next...), apart
			}
			for _, step := range steps {
				if err := one(step.Statement, step); err != nil {
					return nil, err
				}
			}
		}
		sessions = r.q.Sessions(further)
	}
	return failed, nil
}

// shared computes steps that share a scan. next are the steps that follow passes. apart are those that have to be computed one by one: if
// their common session fails, its error does not say which statement caused it.
func (r *run) shared(ctx context.Context, steps []*question.Step) (next, apart []*question.Step, err error) {
	var ran *ran
	what := "" // all statements together need no name
	if len(steps) < len(r.prepared) {
		what = fmt.Sprintf("%s and %d more", r.prepared[steps[0].Statement].Name, len(steps)-1)
	}
	r.db.cfg.Watch.doing(what)
	err = r.widened(ctx, func() (err error) {
		for k, s := range steps {
			steps[k] = r.q.Renewed(s)
			if s = steps[k]; !s.Last() || s.Passed > 0 {
				r.db.cfg.Watch.notice(Pass, r.prepared[s.Statement].Name+", "+passOf(s))
			}
		}
		ran, err = r.session(ctx, question.PlanOf(steps), nil)
		return err
	})
	switch {
	case errors.Is(err, split.ErrApart): // with other types of columns than before
		return nil, steps, r.q.SameFiles(ctx)
	case errors.Is(err, protocol.ErrFailed) && ctx.Err() == nil && r.q.Once() == "":
		r.db.cfg.Watch.failed("the statements over the same files are answered one by one, because together they failed", err)
		return nil, steps, r.q.SameFiles(ctx)
	case err == nil:
		err = r.same(ctx, steps...)
	}
	if err != nil {
		return nil, nil, err
	}
	r.leave(ran, steps)
	for k, s := range steps {
		if s.Last() {
			continue
		}
		after, err := r.after(s, &ran.answer.Queries[k])
		switch {
		case err != nil:
			return nil, nil, err
		case after == nil:
			apart = append(apart, s)
		default:
			next = append(next, after)
		}
	}
	if len(next)+len(apart) > 0 {
		return next, apart, r.q.SameFiles(ctx)
	}
	return nil, nil, nil
}

// leave gives the answer of a session to its statements. What a pass has rejected is shown with the answer of its statement. The rest of
// both lists belongs to the session, and is shown once.
func (r *run) leave(ran *ran, steps []*question.Step) {
	answer := ran.answer
	warnings, rejected := answer.Warnings, answer.Rejected
	for _, s := range steps {
		if s.Last() {
			continue
		}
		mine := func(of protocol.Rejected) bool { return ran.statementOf(of.Stream) == r.prepared[s.Statement].Name }
		p := &r.before[s.Statement]
		for _, of := range rejected {
			if mine(of) {
				p.rejected = append(p.rejected, of)
			}
		}
		rejected = slices.DeleteFunc(slices.Clone(rejected), mine)
		if !slices.ContainsFunc(steps, (*question.Step).Last) {
			p.warnings, warnings = append(p.warnings, warnings...), nil
		}
	}
	var left passed // by the passes of all statements that are answered now
	for _, s := range steps {
		if p := r.before[s.Statement]; s.Last() {
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
		r.answers[s.Statement], answer.Rejected, answer.Warnings = &one, nil, nil
	}
}

// after returns the step after a pass, nil if not all rows of the pass's answer were kept.
func (r *run) after(s *question.Step, answer *client.Table) (*question.Step, error) {
	var rows []string
	for row := range answer.All() {
		rows = append(rows, row[0].Text)
		if len(rows) > split.MaxPlan { // more than a plan takes
			break
		}
	}
	switch err := answer.Err(); {
	case err != nil:
		return nil, err
	case len(rows) < answer.Len() && len(rows) <= split.MaxPlan:
		return nil, nil
	}
	next, fits, err := s.After(rows)
	if err == nil && !fits {
		r.db.cfg.Watch.notice(Note, "the query that WHERE needs has more rows than a plan takes; the reducer compares them, in one pass")
	}
	return next, err
}

// one answers one statement, from a step on. step is nil if the statement reads no table.
func (r *run) one(ctx context.Context, statement int, step *question.Step) (answer *client.Answer, err error) {
	if step == nil {
		t, err := r.q.Local(statement)
		if err != nil {
			return nil, badStatement(err)
		}
		return &client.Answer{Analysis: split.Name, Queries: []client.Table{t}}, nil
	}
	mark, err := r.rejects.Mark()
	if err != nil {
		return nil, err
	}
	err = r.widened(ctx, func() (err error) {
		if err = r.rejects.Back(mark); err != nil { // drops the rejected rows of the attempt before
			return err
		}
		answer, err = r.inPasses(ctx, r.q.Renewed(step), r.before[statement])
		return err
	})
	return answer, err
}

// widened calls answer. If a session fails for a reason that a changed plan removes, it calls answer again: a column needs a wider type
// than samples showed.
func (r *run) widened(ctx context.Context, answer func() error) error {
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
			return badStatement(unbound)
		case told == "":
			return err
		}
		r.db.cfg.Watch.notice(Note, told)
		if err := r.q.SameFiles(ctx); err != nil {
			return err
		}
	}
}

// inPasses answers a statement from a step on, in one or more passes. Each pass is a session, and the plan of the next pass contains the
// answers of the earlier ones. before is what passes before this step have left.
func (r *run) inPasses(ctx context.Context, step *question.Step, before passed) (*client.Answer, error) {
	of := ""
	if len(r.prepared) > 1 {
		of = r.prepared[step.Statement].Name
	}
	for {
		doing := of
		if !step.Last() || step.Passed > 0 {
			doing = strings.TrimPrefix(fmt.Sprintf("%s, pass %d", of, 1+step.Passed), ", ")
			r.db.cfg.Watch.notice(Pass, passOf(step))
		}
		r.db.cfg.Watch.doing(doing)
		if step.Last() {
			answer, err := r.firstRows(ctx, step.Plan)
			if err == nil {
				err = r.same(ctx, step)
			}
			if err != nil {
				return nil, err
			}
			before.into(answer)
			return answer, nil
		}
		ran, err := r.session(ctx, step.Next, &sessionOptions{whole: true}) // the next pass needs all rows of this one
		if err != nil {
			return nil, fmt.Errorf("pass %d: %w", 1+step.Passed, err)
		}
		next, err := r.after(step, &ran.answer.Queries[0])
		if err := errors.Join(err, r.q.SameFiles(ctx)); err != nil {
			return nil, err
		}
		before.warnings = append(slices.Clip(before.warnings), ran.answer.Warnings...)
		before.rejected = append(slices.Clip(before.rejected), ran.answer.Rejected...)
		step = next
	}
}

// same returns an error if a step of a statement has read other files than the passes before it.
func (r *run) same(ctx context.Context, steps ...*question.Step) error {
	if !slices.ContainsFunc(steps, func(s *question.Step) bool { return s.Passed > 0 }) {
		return nil
	}
	return r.q.SameFiles(ctx)
}

// passOf describes a step of a statement that takes several passes.
func passOf(s *question.Step) string {
	if s.Last() {
		return fmt.Sprintf("pass %d, the last one", 1+s.Passed)
	}
	if s.Next.Pass == split.Late {
		return fmt.Sprintf("pass %d: which rows are the first", 1+s.Passed)
	}
	return fmt.Sprintf("pass %d: a query whose answer WHERE needs", 1+s.Passed)
}

// firstRows runs a session. If only few rows are asked for, it first reads only the beginning of a table, which may contain enough rows.
func (r *run) firstRows(ctx context.Context, plan *split.Plan) (*client.Answer, error) {
	before, err := r.rejects.Mark()
	if err != nil {
		return nil, err
	}
	stream, heads, rows := r.q.Heads(plan)
	for _, bytes := range heads {
		ran, err := r.session(ctx, plan, &sessionOptions{head: func(of string) int64 {
			if of == stream {
				return bytes
			}
			return 0
		}})
		if err != nil {
			return nil, err
		}
		if !ran.answer.Partial || ran.answer.Queries[0].Len() >= rows {
			return ran.answer, nil
		}
		if err := r.rejects.Back(before); err != nil {
			return nil, err
		}
	}
	ran, err := r.session(ctx, plan, nil)
	if err != nil {
		return nil, err
	}
	return ran.answer, nil
}
