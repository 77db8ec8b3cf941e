// Package driver answers SQL over files for programs that use database/sql:
//
//	import _ "posta.dev/posta/query/driver"
//
//	db, err := sql.Open("posta", "data")
//	err = db.QueryRow("SELECT count(*) FROM trips WHERE city = ?", "Halifax").Scan(&n)
//
// The name of a data source is a directory of files, whose statements are answered by nodes within this process; or, for a running cluster,
// its topology file and the directory of the files: "topology.toml?data=data". NewConnector takes any query.Config. The nodes start with
// the first statement that reads a table, and end when the sql.DB is closed.
//
// A text with several statements has several sets of rows (sql.Rows.NextResultSet). Nothing can be changed: Exec and Begin return
// ErrReadOnly.
package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/query"
)

// ErrReadOnly is returned by Exec and Begin.
var ErrReadOnly = errors.New("posta answers questions, and changes no files")

// Name is the name of the driver.
const Name = "posta"

func init() { sql.Register(Name, drv{}) }

type drv struct{}

// Open is what database/sql calls only for drivers without OpenConnector.
func (d drv) Open(source string) (driver.Conn, error) {
	c, err := d.OpenConnector(source)
	if err != nil {
		return nil, err
	}
	return &conn{c.(*Connector).db, true}, nil
}

// OpenConnector reads the name of a data source.
func (drv) OpenConnector(source string) (driver.Connector, error) {
	file, settings, cluster := strings.Cut(source, "?")
	if !cluster && !strings.HasSuffix(source, ".toml") {
		return NewConnector(query.Local(source))
	}
	cfg := query.Cluster(file)
	values, err := url.ParseQuery(settings)
	if err != nil {
		return nil, fmt.Errorf("the data source %q: %w", source, err)
	}
	for name := range values {
		switch name {
		case "data":
			cfg.Data = values.Get(name)
		case "key":
			cfg.Key = values.Get(name)
		default:
			return nil, fmt.Errorf("the data source %q has the setting %s; there are data=DIR and key=DIR", source, name)
		}
	}
	return NewConnector(cfg)
}

// Connector is for sql.OpenDB. Its connections share one query.DB.
type Connector struct{ db *query.DB }

// NewConnector opens a connector, for sql.OpenDB. Closing the sql.DB closes it.
func NewConnector(cfg query.Config) (*Connector, error) {
	db, err := query.Open(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	return &Connector{db}, nil
}

// Connect returns a connection.
func (c *Connector) Connect(context.Context) (driver.Conn, error) { return &conn{c.db, false}, nil }

// Driver returns the driver.
func (c *Connector) Driver() driver.Driver { return drv{} }

// Close closes the query.DB.
func (c *Connector) Close() error { return c.db.Close() }

type conn struct {
	db   *query.DB
	owns bool // the connection has a query.DB of its own
}

func (c *conn) Close() error {
	if c.owns {
		return c.db.Close()
	}
	return nil
}

func (c *conn) Begin() (driver.Tx, error)                                    { return nil, ErrReadOnly }
func (c *conn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return nil, ErrReadOnly }
func (c *conn) Prepare(text string) (driver.Stmt, error)                     { return &stmt{c, text}, nil }
func (c *conn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, ErrReadOnly
}

// QueryContext answers all statements of a text.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (_ driver.Rows, err error) {
	given := make([]any, len(args))
	for i, a := range args {
		if given[i] = a.Value; a.Name != "" {
			given[i] = query.Named(a.Name, a.Value)
		}
	}
	s, err := c.db.Prepare(ctx, text, given...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	answer, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	r := &rows{}
	for i := range s.Statements() {
		r.sets = append(r.sets, s.Rows(answer, i))
	}
	if len(r.sets) == 0 {
		return nil, fmt.Errorf("%w: %w: there is only CREATE", client.ErrInput, query.ErrStatements)
	}
	return r, nil
}

// stmt is a statement that is read again whenever it is asked: the files may have changed.
type stmt struct {
	conn *conn
	text string
}

func (s *stmt) Close() error                               { return nil }
func (s *stmt) NumInput() int                              { return -1 } // Prepare of package query says what is missing
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, ErrReadOnly }

// Query is what database/sql calls only for statements without QueryContext.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return s.QueryContext(context.Background(), named)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.text, args)
}

// rows are the answers of the statements of a text.
type rows struct{ sets []*query.Rows }

func (r *rows) Columns() (names []string) {
	for _, c := range r.sets[0].Columns() {
		names = append(names, c.Name)
	}
	return names
}

func (r *rows) Close() (err error) {
	for _, s := range r.sets {
		err = errors.Join(err, s.Close())
	}
	return err
}

func (r *rows) Next(dest []driver.Value) error {
	set := r.sets[0]
	if !set.Next() {
		if err := set.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i := range dest {
		dest[i] = set.Value(i)
	}
	return nil
}

func (r *rows) HasNextResultSet() bool { return len(r.sets) > 1 }

func (r *rows) NextResultSet() error {
	if len(r.sets) < 2 {
		return io.EOF
	}
	err := r.sets[0].Close()
	r.sets = r.sets[1:]
	return err
}

func (r *rows) typeOf(column int) types.Type { return r.sets[0].Columns()[column].Type }

func (r *rows) ColumnTypeDatabaseTypeName(column int) string { return r.typeOf(column).Kind.String() }

func (r *rows) ColumnTypeNullable(int) (nullable, known bool) { return true, true }

func (r *rows) ColumnTypePrecisionScale(column int) (precision, scale int64, is bool) {
	t := r.typeOf(column)
	return int64(t.Precision), int64(t.Scale), t.Kind == types.Decimal
}

func (r *rows) ColumnTypeScanType(column int) reflect.Type {
	switch r.typeOf(column).Kind {
	case types.BigInt:
		return reflect.TypeFor[int64]()
	case types.Double:
		return reflect.TypeFor[float64]()
	case types.Bool:
		return reflect.TypeFor[bool]()
	case types.Date, types.Timestamp:
		return reflect.TypeFor[time.Time]()
	}
	return reflect.TypeFor[string]()
}
