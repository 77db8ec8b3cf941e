package query

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	at, ctx, done, err := db.reach(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	r.at = at
	if _, err := r.rounds(ctx); !errors.Is(err, errDied) || !errors.Is(u.died, client.ErrNotDelivered) {
		t.Fatalf("the answer was not left: %v, %v", err, u.died)
	}
}

// TestNodesThatCannotGoOnEndTheQuestion: somebody removes what the nodes within this process write. Each question is answered, or fails
// with a reason; none waits.
func TestNodesThatCannotGoOnEndTheQuestion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), Config{Data: dir, Small: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var n int
	if err := db.QueryRow(ctx, "SELECT sum(a) FROM t").Scan(&n); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	here := db.large
	if err := os.RemoveAll(here.Place()); err != nil {
		t.Fatal(err)
	}
	for !here.Ended() && ctx.Err() == nil {
		n = 0
		if err := db.QueryRow(ctx, "SELECT sum(a) FROM t").Scan(&n); err == nil && n != 3 {
			t.Error(n)
		}
	}
	if err := db.QueryRow(ctx, "SELECT sum(a) FROM t").Scan(&n); err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "node ") {
		t.Errorf("after the nodes have ended: %v", err)
	}
	if err := db.Close(); err == nil {
		t.Error("Close does not say why the nodes have ended")
	}
}
