//go:build postgres

package cmd

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/postgrestest"
)

// TestPostgres_PrivilegesAreCheckedFirst: what the user of the URL may not do is said before the work begins: no file is read. An answer
// that is refused only at the end is kept in a file that the message names.
func TestPostgres_PrivilegesAreCheckedFirst(t *testing.T) {
	server := postgrestest.Start(t)
	t.Setenv("PGPASSWORD", postgrestest.Password)
	conn, err := pgx.Connect(t.Context(), strings.Replace(server.URL(""), "/postgres/?", "/postgres?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	say := func(statement string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	dir := table(t, "t.csv", "n\n1\n2\n")
	write := func(user, to string) result {
		return posta(t, "sql", "SELECT sum(n) AS n FROM t", "--data", dir, "--to", strings.Replace(server.URL(to), "posta@", user+"@", 1))
	}
	if r := write("posta", "mine"); r.code != exit.OK { // makes posta_sessions
		t.Fatalf("exit code %d, %s", r.code, r.err)
	}
	say("create role clerk login password '" + postgrestest.Password + "'")
	say("revoke create on schema public from public")
	for _, c := range []struct{ grant, to, want string }{
		{"select 1", "mine", "user clerk may not write to table posta_sessions"},
		{"grant insert, select on posta_sessions to clerk", "mine", "user clerk may not write to table mine"},
		{"select 1", "other", "there is no table other, and user clerk may not make tables in schema public"},
		{"select 1", "nowhere.other", "schema"},
	} {
		say(c.grant)
		if r := write("clerk", c.to); r.code == exit.OK || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "answered in") ||
			strings.Contains(r.err, "the nodes' logs") {
			t.Errorf("%s: exit code %d, %s", c.to, r.code, r.err)
		}
	}
	say("grant insert on mine to clerk")
	if r := write("clerk", "mine"); r.code != exit.OK {
		t.Errorf("with what it needs: exit code %d, %s", r.code, r.err)
	}

	say("create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not today'; end $$")
	say("create trigger refuse before insert on mine for each row execute function refuse()")
	t.Chdir(t.TempDir())
	r := write("clerk", "mine")
	kept := regexp.MustCompile(`the answer is kept as parquet in (\S+)\n`).FindStringSubmatch(r.err)
	if r.code != exit.Failed || kept == nil || strings.Contains(r.err, "the nodes' logs") {
		t.Fatalf("exit code %d, %s", r.code, r.err)
	}
	if again := posta(t, "sql", "SELECT n FROM t", "--file", "t="+kept[1]+"/*.parquet"); !strings.Contains(again.out, "3") {
		t.Errorf("the answer that was kept: %s%s", again.out, again.err)
	}
}
