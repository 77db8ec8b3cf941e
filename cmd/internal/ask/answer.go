package ask

import (
	"context"
	"errors"
	"time"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/upload"
)

// answerSQL answers all statements and prints the answers. show is nil if no statement reads a table.
func answerSQL(x *call.Call, ctx context.Context, r *sqlRequest, show *display.Progress) error {
	began := time.Now()
	r.show = show
	all, failed := r.script.Run(ctx)
	if errors.Is(failed, exit.ErrTimeout) {
		failed = upload.ExplainLate(ctx, r.Cluster, r.Cfg.Keys, failed)
	}
	if all == nil {
		return failed
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
