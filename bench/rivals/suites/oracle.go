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

// do carries out a statement. Scripts contain statements that must fail, and those that only work in DuckDB's own test program, so an error is nothing special.
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
		if err := o.do(ctx, fmt.Sprintf(`COPY (SELECT * FROM "%s") TO '%s' (FORMAT parquet)`, strings.ReplaceAll(name, `"`, `""`), strings.ReplaceAll(path, "'", "''"))); err != nil {
			_ = os.Remove(path) // Parquet does not have the type: posta will not find the table
			continue
		}
		n++
	}
	return n, nil
}
