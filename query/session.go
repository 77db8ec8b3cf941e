package query

import (
	"context"
	"errors"

	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/client/inspect"
)

// sessionOptions are how a session differs from others of its run.
type sessionOptions struct {
	head  func(stream string) int64 // client.Config.Head
	whole bool                      // keep all rows of the answer
}

// ran is a session that has ended.
type ran struct {
	answer      *client.Answer
	statementOf func(stream string) string // for which statement rows of a stream were rejected
}

// session runs one session.
func (r *run) session(ctx context.Context, plan *split.Plan, opts *sessionOptions) (*ran, error) {
	if opts == nil {
		opts = &sessionOptions{}
	}
	a, err := split.Analysis(plan)
	if err != nil {
		return nil, badStatement(err)
	}
	encoded, err := plan.Encode()
	if err != nil {
		return nil, badStatement(err)
	}
	c, watch := &r.db.cfg, &r.db.cfg.Watch
	in := &inspect.Inspector{Analysis: a, Out: r.rejects}
	if c.MaxRejected != nil {
		in.Limited, in.Max = true, *c.MaxRejected
	}
	if len(r.prepared) > 1 && len(plan.Also) == 0 {
		in.Of = r.prepared[plan.Statement].Name
	}
	for _, part := range plan.Parts() {
		if part.Pass != 0 {
			in.Passes = append(in.Passes, r.prepared[part.Statement].Name)
		}
	}
	before, err := r.rejects.Mark()
	if err != nil {
		return nil, err
	}
	cfg := client.Config{
		Entries: r.at.Entries, Keys: r.at.Keys, Ask: r.at.Ask, Analysis: split.Name, Plan: encoded, Input: r.input, Comma: c.Comma,
		Head:  opts.head,
		Lanes: c.Session.Lanes, Chunk: c.Session.Chunk, Send: c.Session.Send, Timeout: c.Session.Timeout, GiveUpAfter: c.Session.GiveUpAfter,
		NoWait: c.Session.NoWait, Keep: c.Session.Keep, OnProgress: watch.Progress,
		Inspect: in.Inspect, Columns: in.Columns, Forms: in.Forms, Skips: in.Skips, Tests: in.Tests,
		Lines:     in.Lines,
		OnWarning: func(w client.Warning) { watch.notice(Warning, w.String()) },
		OnNote:    func(w client.Warning) { watch.notice(Form, w.String()) },
	}
	if opts.whole {
		cfg.Keep = 0
	}
	var answer *client.Answer
	if c.Journal != nil {
		answer, err = c.Journal.Run(ctx, cfg, a)
	} else {
		answer, err = r.former.run(ctx, cfg, a, watch)
	}
	if watch.Ended != nil {
		watch.Ended(answer)
	}
	if err != nil {
		return nil, errors.Join(err, r.rejects.Back(before)) // the session may be run again
	}
	if err := in.Check(answer, func(line string) { watch.notice(Warning, line) }); err != nil {
		return nil, err
	}
	for i := range answer.Rejected {
		answer.Rejected[i].Stream = in.Counted(answer.Rejected[i].Stream)
	}
	return &ran{answer, in.StatementOf}, nil
}

// types returns the types of the answer's columns; nil for a statement that lists something.
func (s *Statement) types() (all []types.Type) {
	if s.Lists {
		return nil
	}
	for _, c := range s.Columns {
		all = append(all, c.Type)
	}
	return all
}
