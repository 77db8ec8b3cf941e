package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"posta.dev/posta/client"
)

// ErrUse is returned if a database or a table can never take these answers.
var ErrUse = errors.New("the database cannot take these answers")

func usef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUse, fmt.Errorf(format, args...))
}

// connectTime limits the wait for a server that does not answer, unless connect_timeout or PGCONNECT_TIMEOUT sets another limit.
const connectTime = 15 * time.Second

// Target is a database, and the names of the tables there.
type Target struct {
	cfg    *pgconn.Config
	schema string // "" for the first schema of the search path
	table  string // "" for the name of the analysis
	shown  string // the URL, without its password
	secret []string
}

// Parse reads postgres://USER@HOST/DATABASE/TABLE, or with ?table=TABLE. TABLE may be SCHEMA.TABLE, or may be left out. libpq's rules hold
// for everything else, such as a service, a password and TLS.
func Parse(text string) (*Target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, usef("give a URL like postgres://user@host/database/table") // the text may hold a password
	}
	t := &Target{}
	q := u.Query()
	name := q.Get("table")
	q.Del("table")
	for _, key := range []string{"password", "sslpassword"} {
		t.secret = append(t.secret, q.Get(key))
	}
	if p, ok := u.User.Password(); ok {
		t.secret = append(t.secret, p)
	}
	database, last, more := strings.Cut(strings.Trim(u.Path, "/"), "/")
	switch {
	case more && (name != "" || strings.Contains(last, "/")):
		return nil, usef("the URL names a database and one table, as /DATABASE/TABLE or as /DATABASE?table=TABLE")
	case more:
		name = last
	}
	if t.schema, t.table, more = strings.Cut(name, "."); !more {
		t.schema, t.table = "", name
	}
	if name != "" && (t.table == "" || more && t.schema == "") {
		return nil, usef("%q names no table; write TABLE or SCHEMA.TABLE", name)
	}
	u.Path, u.RawPath, u.RawQuery = "/"+database, "", q.Encode()
	if t.cfg, err = pgconn.ParseConfig(u.String()); err != nil {
		return nil, t.hide(usef("read the URL and the environment of libpq: %w", err))
	}
	t.secret = append(t.secret, t.cfg.Password)
	if t.cfg.ConnectTimeout == 0 || t.cfg.ConnectTimeout == 2*time.Minute { // pgconn's default
		t.cfg.ConnectTimeout = connectTime
	}
	t.cfg.RuntimeParams["application_name"] = "posta"
	t.cfg.RuntimeParams["client_encoding"] = "UTF8" // else it is that of the database
	t.shown = fmt.Sprintf("postgres://%s@%s/%s", t.cfg.User, t.cfg.Host, t.cfg.Database)
	return t, nil
}

// String returns the URL without a password.
func (t *Target) String() string { return t.shown }

// HasPassword reports whether the URL itself holds a password, which other users of the machine can see.
func HasPassword(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return strings.Contains(text, "@")
	}
	_, inUser := u.User.Password()
	return inUser || u.Query().Has("password")
}

// hidden is an error whose text shows no password.
type hidden struct {
	error
	text string
}

func (e *hidden) Error() string { return e.text }
func (e *hidden) Unwrap() error { return e.error }

func (t *Target) hide(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, s := range t.secret {
		if s == "" {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
			text = strings.ReplaceAll(text, form, "xxxxx")
		}
	}
	return &hidden{err, text}
}

// connect returns a connection, which the caller must close.
func (t *Target) connect(ctx context.Context) (*pgconn.PgConn, error) {
	conn, err := pgconn.ConnectConfig(ctx, t.cfg.Copy())
	if err != nil {
		return nil, fmt.Errorf("%w; is the server up, and may you connect?", err)
	}
	return conn, nil
}

// closeTime limits the wait for a server that does not answer when a connection is closed.
const closeTime = 2 * time.Second

func closeConn(ctx context.Context, conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	_ = conn.Close(ctx) // everything that had to be committed is committed by now
}

// Prepare checks that the database can be reached and written to, and that tables that exist can take an answer. The answer has no rows
// yet: only the names of its queries, and their columns with types, as far as they are known.
func (t *Target) Prepare(ctx context.Context, a *client.Answer) (err error) {
	defer func() { err = t.hide(wrap(t, "connect to", err)) }()
	conn, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(ctx, conn)
	readOnly, _, err := run(ctx, conn, "show transaction_read_only")
	if err != nil {
		return err
	}
	if len(readOnly) != 1 || string(readOnly[0][0]) != "off" {
		return usef("the server is read-only; give the primary, or another user")
	}
	if err := t.keepSessions(ctx, conn); err != nil {
		return err
	}
	if err := t.mayInsert(ctx, conn, sessionsTable, []string{"session_id", "query", "table_name", "rows"}); err != nil || len(a.Queries) == 0 {
		return err
	}
	all, err := t.copyings(a)
	if err != nil {
		return err
	}
	for i := range all {
		if err := t.fit(ctx, conn, &all[i], true); err != nil {
			return err
		}
	}
	return nil
}

func wrap(t *Target, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, t.shown, err)
}
