package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// run executes one statement, whose arguments are texts, and returns the rows as texts.
func run(ctx context.Context, conn *pgconn.PgConn, statement string, args ...string) ([][][]byte, pgconn.CommandTag, error) {
	texts := make([][]byte, len(args))
	for i, a := range args {
		texts[i] = []byte(a)
	}
	r := conn.ExecParams(ctx, statement, texts, nil, nil, nil).Read()
	return r.Rows, r.CommandTag, r.Err
}

// inTransaction commits what do has done, unless it returns an error. Then the caller has to close the connection, which rolls the
// transaction back.
func inTransaction(ctx context.Context, conn *pgconn.PgConn, do func() error) error {
	if _, _, err := run(ctx, conn, "begin"); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	_, _, err := run(ctx, conn, "commit")
	return err
}

// quoted returns a name in the form that SQL takes, such as "schema"."table". No name may have a NUL character.
func quoted(names ...string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = `"` + strings.ReplaceAll(strings.ReplaceAll(n, "\x00", ""), `"`, `""`) + `"`
	}
	return strings.Join(all, ".")
}

func quotedList(names []string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = quoted(n)
	}
	return strings.Join(all, ", ")
}
