package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// mayCreate refuses a table that the user may not make. Without this the refusal would come after the whole work, with the first row.
func (t *Target) mayCreate(ctx context.Context, conn *pgconn.PgConn, table string) error {
	rows, _, err := run(ctx, conn, "select n, has_schema_privilege(n, 'CREATE') from coalesce(nullif($1, ''), current_schema()) n where "+
		"to_regnamespace(quote_ident(n)) is not null", t.schema)
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return usef("there is no schema for table %s; create it, or give TABLE as SCHEMA.TABLE", table)
	case string(rows[0][1]) != "t":
		return usef("there is no table %s, and user %s may not make tables in schema %s; GRANT CREATE ON SCHEMA, or give another user", table,
			t.cfg.User, rows[0][0])
	}
	return nil
}

// mayInsert refuses an existing table into which the user may not write these columns.
func (t *Target) mayInsert(ctx context.Context, conn *pgconn.PgConn, table string, columns []string) error {
	rows, _, err := run(ctx, conn, "select attname::text from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not "+
		"attisdropped and not has_column_privilege(attrelid, attnum, 'INSERT')",
		t.name(table))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if slices.Contains(columns, string(r[0])) {
			return usef("user %s may not write to table %s; GRANT INSERT ON it, or give another user or table", t.cfg.User, table)
		}
	}
	return nil
}
