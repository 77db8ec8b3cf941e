//go:build postgres

package cmd

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/postgrestest"
)

// TestPostgres_RunWritesTables: --to writes the rows that --json prints, and neither output shows the password in the URL.
func TestPostgres_RunWritesTables(t *testing.T) {
	server := postgrestest.Start(t)
	t.Setenv("PGPASSWORD", postgrestest.Password)
	from := data(t, "2000")
	r := must(t, "run", "bikes", "--data", from, "--json", "--to", server.URL("trips"))
	want := parse(t, r.out)
	if !strings.Contains(r.err, " of session "+want.Session+" written to postgres://posta@") ||
		!strings.Contains(r.err, ": trips_rain, trips_doubled, trips_far") {
		t.Errorf("standard error: %s", r.err)
	}
	conn, err := pgx.Connect(t.Context(), strings.Replace(server.URL(""), "/postgres/?", "/postgres?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for name, q := range want.Queries {
		var rows int
		if err := conn.QueryRow(t.Context(), "select rows from posta_sessions where session_id = $1 and query = $2", want.Session,
			name).Scan(&rows); err != nil || rows != len(q.Rows) {
			t.Errorf("%s: %d rows noted, %v; want %d", name, rows, err, len(q.Rows))
		}
		if len(q.Rows) == 0 {
			continue
		}
		if err := conn.QueryRow(t.Context(), "select count(*) from trips_"+name+" where session_id = $1",
			want.Session).Scan(&rows); err != nil || rows != len(q.Rows) {
			t.Errorf("%s: %d rows, %v; want %d", name, rows, err, len(q.Rows))
		}
	}
	const secret = "wr0ng"
	t.Setenv("PGPASSWORD", "")
	t.Setenv("PGPASSFILE", "/nonexistent")
	bad := strings.Replace(server.URL("trips"), "posta@", "posta:"+secret+"@", 1)
	if r := posta(t, "run", "bikes", "--data", from, "--to", bad); r.code != exit.Failed || strings.Contains(r.err, secret) ||
		!strings.Contains(r.err, "can be seen by every user") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}
