package sqldiff

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/big"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/bench/rivals/sqlrows"
)

// Oracle is DuckDB in memory with the tables of a world.
type Oracle struct {
	connector *duckdb.Connector
	db        *sql.DB
}

// settings are those under which DuckDB's answers are the reference.
const settings = `SET threads = 1; SET TimeZone = 'UTC'; SET default_null_order = 'NULLS_LAST'; SET integer_division = false`

// NewOracle opens DuckDB.
func NewOracle() (*Oracle, error) {
	c, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, err
	}
	o := &Oracle{c, sql.OpenDB(c)}
	o.db.SetMaxOpenConns(1)
	if _, err := o.db.Exec(settings); err != nil {
		return nil, errors.Join(fmt.Errorf("settings: %w", err), o.Close())
	}
	return o, nil
}

// Close closes DuckDB.
func (o *Oracle) Close() error { return o.db.Close() }

// Load makes the tables of a world, with _file and _line.
func (o *Oracle) Load(w *World) error {
	for _, t := range w.Tables {
		text := "CREATE OR REPLACE TABLE " + t.Name + " ("
		for _, f := range t.Fields {
			text += f.Name + " " + f.Type.String() + ", "
		}
		if _, err := o.db.Exec(text + "_file TEXT, _line BIGINT)"); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if err := o.fill(&t, w.Source.Rows[t.Name]); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

func (o *Oracle) fill(t *plan.Table, rows *operators.Batch) (err error) {
	conn, err := o.db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(c any) error {
		a, err := duckdb.NewAppenderFromConn(c.(driver.Conn), "", t.Name)
		if err != nil {
			return err
		}
		kinds := append([]plan.Field{}, t.Fields...)
		kinds = append(kinds, plan.Field{Type: types.Of(types.Text)}, plan.Field{Type: types.Of(types.BigInt)})
		for i := range int32(rows.N) {
			var values []driver.Value
			for k, f := range kinds {
				values = append(values, given(rows.Columns[k], i, f.Type))
			}
			if err := a.AppendRow(values...); err != nil {
				return errors.Join(err, a.Close())
			}
		}
		return a.Close()
	})
}

// given returns a value in the form for DuckDB's appender.
func given(v *eval.Vector, row int32, t types.Type) driver.Value {
	if v.IsNull(row) {
		return nil
	}
	switch t.Kind {
	case types.Double:
		return v.Floats[row]
	case types.Bool:
		return v.Bools[row]
	case types.Text:
		return v.Texts[row]
	case types.Decimal:
		return duckdb.Decimal{Width: t.Precision, Scale: t.Scale, Value: big.NewInt(v.Ints[row])}
	case types.Date:
		return time.Unix(v.Ints[row]*86400, 0).UTC()
	case types.Timestamp:
		return time.UnixMicro(v.Ints[row]).UTC()
	case types.Interval:
		i := v.Intervals[row]
		return duckdb.Interval{Months: i.Months, Days: i.Days, Micros: i.Micros}
	case types.TextList:
		l := v.Lists[row]
		items := make([]any, len(l.Items))
		for k, s := range l.Items {
			if l.Nulls == nil || !l.Nulls[k] {
				items[k] = s
			}
		}
		return items
	}
	return v.Ints[row]
}

// Query returns the rows of a statement, as values of Go: nil, *big.Int, float64, string, bool, time.Time, …
func (o *Oracle) Query(text string) (out [][]any, err error) {
	rows, err := o.db.Query(text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return sqlrows.All(rows)
}

// wouldFail reports whether a statement fails if no part of it is optimized away.
func (o *Oracle) wouldFail(text string) bool {
	if _, err := o.db.Exec("PRAGMA disable_optimizer"); err != nil {
		return false
	}
	_, failed := o.Query(text)
	_, err := o.db.Exec("PRAGMA enable_optimizer")
	return failed != nil && err == nil
}
