package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"posta.dev/posta/bench/rivals/sqlrows"
)

// oracle is DuckDB in memory, with one connection.
type oracle struct{ db *sql.DB }

func newOracle(ctx context.Context) (*oracle, error) {
	db, err := sql.Open("duckdb", "?threads=1&memory_limit=2GB")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "SET TimeZone = 'UTC'"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &oracle{db}, nil
}

// do carries out a statement. Scripts contain statements that must fail, and those that only work in DuckDB's own test program, so an error
// is nothing special.
func (o *oracle) do(ctx context.Context, text string) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	_, err := o.db.ExecContext(ctx, text)
	return err
}

// ask returns the answer of a query as texts; a NULL is nil.
func (o *oracle) ask(ctx context.Context, text string) (rows [][]any, err error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	r, err := o.db.QueryContext(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ("+text+"\n)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return sqlrows.All(r)
}

// askFile returns the rows of a Parquet file as posta says that it reads them: a group is its fields, a time of day or a TIMESTAMP has no
// zone, and bytes that are not UTF-8 become U+FFFD in JSON.
func (o *oracle) askFile(ctx context.Context, file string) (rows [][]any, err error) {
	from := "'" + strings.ReplaceAll(file, "'", "''") + "'"
	r, err := o.db.QueryContext(ctx, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "+from+")")
	if err != nil {
		return nil, err
	}
	columns, err := sqlrows.All(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	var items []string
	for _, c := range columns {
		name, item := `"`+strings.ReplaceAll(fmt.Sprint(c[0]), `"`, `""`)+`"`, "CAST(%s AS VARCHAR)"
		switch kind := fmt.Sprint(c[1]); {
		case strings.HasPrefix(kind, "STRUCT(") && strings.HasSuffix(kind, ")"):
			item = "unnest(%s, recursive := true)"
		case kind == "TIMESTAMP WITH TIME ZONE":
			item = "CAST(CAST(%s AS TIMESTAMP) AS VARCHAR)"
		case kind == "TIME WITH TIME ZONE":
			item = "left(CAST(%s AS VARCHAR), -3)"
		case kind == "BLOB":
			item = "%s"
		}
		items = append(items, fmt.Sprintf(item, name))
	}
	if r, err = o.db.QueryContext(ctx, "SELECT "+strings.Join(items, ", ")+" FROM "+from); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	rows, err = sqlrows.All(r)
	for _, row := range rows {
		for i, v := range row {
			switch v := v.(type) {
			case nil:
			case []byte:
				row[i] = string([]rune(string(v)))
			case time.Time: // within a group
				row[i] = v.UTC().Format("2006-01-02 15:04:05.999999")
			default:
				row[i] = fmt.Sprint(v)
			}
		}
	}
	return rows, err
}

// export writes each table and view to a file that posta finds by its name, and returns how many there are.
func (o *oracle) export(ctx context.Context, dir string) (n int, err error) {
	r, err := o.db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1")
	if err != nil {
		return 0, err
	}
	names, err := sqlrows.All(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return 0, err
	}
	for _, row := range names {
		name := fmt.Sprint(row[0])
		if strings.ContainsAny(name, "/\x00'") || strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(dir, name+".parquet")
		if err := o.do(ctx, fmt.Sprintf(`COPY (SELECT * FROM "%s") TO '%s' (FORMAT parquet)`, strings.ReplaceAll(name, `"`, `""`),
			strings.ReplaceAll(path, "'", "''"))); err != nil {
			_ = os.Remove(path) // Parquet does not have the type: posta will not find the table
			continue
		}
		n++
	}
	return n, nil
}
