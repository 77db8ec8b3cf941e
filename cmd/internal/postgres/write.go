package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

// The columns that every table has in addition to those of the query. Rows of many sessions share a table, and a table has no order.
const (
	sessionColumn = "session_id"
	rowColumn     = "row_number"
	sessionsTable = "posta_sessions" // lists the sessions that were written
)

// Written is the outcome of a Write.
type Written struct {
	Tables  []string
	Rows    int64
	Changed int64 // texts with NUL characters, which PostgreSQL cannot hold; U+FFFD is written in their place
	Already bool  // an earlier Write of the session was committed, so nothing was added
}

// longestName is how many bytes of a name the server keeps; it would cut off the rest without an error.
const longestName = 63

// ddlLock is an advisory lock that is held while tables are made. Without it, two sessions that make the same table at the same time would
// make each other fail, even with "if not exists". The number is "posta" in ASCII.
const ddlLock = 0x706f737461

// keepSessions makes the table that lists the sessions that were written.
func (t *Target) keepSessions(ctx context.Context, conn *pgconn.PgConn) error {
	name := t.name(sessionsTable)
	if there, err := columnsOf(ctx, conn, name); err != nil || there != nil {
		return err
	}
	return t.ddl(ctx, conn, "create table if not exists "+name+` (session_id uuid not null, query text not null, table_name text not null,
		rows bigint not null, written_at timestamptz not null default now(), primary key (session_id, query, table_name))`)
}

func (t *Target) ddl(ctx context.Context, conn *pgconn.PgConn, statement string) error {
	return inTransaction(ctx, conn, func() error {
		if _, _, err := run(ctx, conn, "select pg_advisory_xact_lock($1)", strconv.Itoa(ddlLock)); err != nil {
			return err
		}
		_, _, err := run(ctx, conn, statement)
		return err
	})
}

// name returns the name of a table in the form that SQL takes.
func (t *Target) name(table string) string {
	if t.schema == "" {
		return quoted(table)
	}
	return quoted(t.schema, table)
}

// tableOf returns the name of a query's table: TABLE or, if there are several queries, TABLE_QUERY.
func (t *Target) tableOf(a *client.Answer, q *client.Table) (string, error) {
	name := t.table
	if name == "" {
		name = a.Analysis
	}
	if name == "" {
		return "", usef("the name of the analysis is not known any more; name a table, as /DATABASE/TABLE")
	}
	if len(a.Queries) > 1 {
		name += "_" + q.Name
	}
	for _, n := range append([]string{name}, q.Columns...) {
		if n == "" || len(n) > longestName || strings.ContainsRune(n, 0) {
			return "", usef("%q can be no name in PostgreSQL: 1 to %d bytes", n, longestName)
		}
	}
	sorted := slices.Sorted(slices.Values(append([]string{sessionColumn, rowColumn}, q.Columns...)))
	if len(slices.Compact(slices.Clone(sorted))) < len(sorted) {
		return "", usef("query %s has two columns of one name, or one called %s or %s", q.Name, sessionColumn, rowColumn)
	}
	return name, nil
}

// copying is a query that is being copied to its table.
type copying struct {
	query   *client.Table
	table   string
	types   []string // of the table's columns, by column of the query
	changed int64
}

// copyings returns the tables of an answer, which need not have rows yet.
func (t *Target) copyings(a *client.Answer) (all []copying, err error) {
	for i := range a.Queries {
		c := copying{query: &a.Queries[i]}
		if c.table, err = t.tableOf(a, c.query); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Write writes an answer, unless it is there already. After an error all of it may be there, or nothing; calling Write again is safe.
func (t *Target) Write(ctx context.Context, a *client.Answer) (w Written, err error) {
	defer func() { err = t.hide(wrap(t, "write answers to", err)) }()
	all, err := t.copyings(a)
	if err != nil {
		return w, err
	}
	for i := range all {
		if err := all[i].query.Err(); err != nil {
			return w, err
		}
		w.Tables = append(w.Tables, all[i].table)
	}
	conn, err := t.connect(ctx)
	if err != nil {
		return w, err
	}
	defer closeConn(ctx, conn)
	if err := t.keepSessions(ctx, conn); err != nil {
		return w, err
	}
	for i := range all {
		if err := t.fit(ctx, conn, &all[i], false); err != nil {
			return w, err
		}
	}
	err = inTransaction(ctx, conn, func() error {
		for i := range all {
			n, err := t.copy(ctx, conn, a, &all[i])
			if err != nil {
				return fmt.Errorf("table %s: %w", all[i].table, err)
			}
			w.Rows += n
			w.Changed += all[i].changed
		}
		return nil
	})
	if errors.Is(err, errAlready) {
		w.Rows, w.Changed, w.Already, err = 0, 0, true, nil
	}
	return w, err
}

// errAlready ends a transaction whose answer was written before.
var errAlready = errors.New("written already")

// copy notes a query as written and copies its rows. The note comes first, because another transaction that writes the same session then
// waits for this one.
func (t *Target) copy(ctx context.Context, conn *pgconn.PgConn, a *client.Answer, c *copying) (int64, error) {
	_, noted, err := run(ctx, conn, "insert into "+t.name(
		sessionsTable)+" (session_id, query, table_name, rows) values ($1, $2, $3, $4) on conflict do nothing",
		a.Session.String(), c.query.Name, c.table, strconv.Itoa(c.query.Len()))
	switch {
	case err != nil:
		return 0, err
	case noted.RowsAffected() == 0:
		return 0, errAlready
	case c.query.Len() == 0:
		return 0, nil
	}
	rows := newCopyStream(c, a.Session)
	defer rows.Close()
	columns := append([]string{sessionColumn, rowColumn}, c.query.Columns...)
	done, err := conn.CopyFrom(ctx, rows, "copy "+t.name(c.table)+" ("+quotedList(columns)+") from stdin binary")
	if wrong := rows.notHeld(); wrong != nil {
		return 0, wrong
	}
	n := done.RowsAffected()
	if err == nil && n != int64(c.query.Len()) {
		err = fmt.Errorf("%d of %d rows were copied", n, c.query.Len())
	}
	return n, err
}

// fitText returns a text in a form that PostgreSQL can hold.
func fitText(s string) string {
	return protocol.UTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"))
}

// fit makes the table of a query, or checks whether an existing table can hold its rows. It makes no table for an answer without rows whose
// types are not known, nor if only checking.
func (t *Target) fit(ctx context.Context, conn *pgconn.PgConn, c *copying, check bool) error {
	if len(c.query.Columns) == 0 || c.query.Types == nil && c.query.Len() == 0 {
		return nil
	}
	of := c.query.ColumnTypes()
	name := t.name(c.table)
	there, err := columnsOf(ctx, conn, name)
	if err == nil && there == nil {
		if check {
			return t.mayCreate(ctx, conn, c.table)
		}
		make := "create table if not exists " + name + " (" + sessionColumn + " uuid not null, " + rowColumn + " bigint not null"
		for i, column := range c.query.Columns {
			make += ", " + quoted(column) + " " + made(of[i])
		}
		if err = t.ddl(ctx, conn, make+", primary key ("+sessionColumn+", "+rowColumn+"))"); err == nil {
			there, err = columnsOf(ctx, conn, name) // another process may have made it first
		}
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", c.table, err)
	}
	needed := func(name, needs string, takes func(column) bool) error {
		is, ok := there[name]
		switch {
		case !ok:
			return usef("table %s has no column %q of type %s; add it, or give another table", c.table, name, needs)
		case !takes(is):
			return usef("table %s has column %q of type %s, and the answer needs %s; change it, or give another table", c.table, name, is.digits,
				needs)
		}
		return nil
	}
	for _, own := range [][2]string{{sessionColumn, "uuid"}, {rowColumn, bigint}} {
		if err := needed(own[0], own[1], func(is column) bool { return is.typ == own[1] }); err != nil {
			return err
		}
	}
	c.types = nil
	for i, name := range c.query.Columns {
		if err := needed(name, made(of[i]), func(is column) bool { return is.takes(of[i]) }); err != nil {
			return err
		}
		c.types = append(c.types, there[name].typ)
	}
	if !check {
		return nil
	}
	return t.mayInsert(ctx, conn, c.table, append([]string{sessionColumn, rowColumn}, c.query.Columns...))
}

// columnsOf returns the columns of a table; nil if there is no table.
func columnsOf(ctx context.Context, conn *pgconn.PgConn, name string) (map[string]column, error) {
	rows, _, err := run(ctx, conn, `select attname::text, format_type(atttypid, null), format_type(atttypid, atttypmod) from pg_attribute
		where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`, name)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	columns := map[string]column{}
	for _, r := range rows {
		columns[string(r[0])] = column{typ: string(r[1]), digits: string(r[2])}
	}
	return columns, nil
}
