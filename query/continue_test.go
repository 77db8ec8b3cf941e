package query

import (
	"context"
	"errors"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

// undelivered is a Journal whose process dies when its session is answered, as far as the cluster can tell.
type undelivered struct {
	run  *run
	t    *testing.T
	died error
}

var errDied = errors.New("died")

func (u *undelivered) Begin(map[string]map[string]protocol.Stamp) error { return nil }

func (u *undelivered) Run(ctx context.Context, cfg client.Config, _ *analyses.Analysis) (*client.Answer, error) {
	cfg.Session = u.run.former.id(cfg.Plan)
	cfg.Deliver = func(context.Context, *client.Answer) error { return errDied }
	_, u.died = client.Run(ctx, cfg)
	return nil, errDied
}

// LeaveAnswer asks under a name, and leaves the answer with the cluster.
func LeaveAnswer(t *testing.T, db *DB, text string) {
	t.Helper()
	s, err := db.Prepare(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	r := &run{Script: s, answers: make([]*client.Answer, 1), before: make([]passed, 1)}
	u := &undelivered{run: r, t: t}
	db.cfg.Journal = u
	defer func() { db.cfg.Journal = nil }()
	at, ctx, done, err := db.reach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	r.at = at
	if _, err := r.rounds(ctx); !errors.Is(err, errDied) || !errors.Is(u.died, client.ErrNotDelivered) {
		t.Fatalf("the answer was not left: %v, %v", err, u.died)
	}
}
