package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/bench/rivals/cost"

	_ "github.com/duckdb/duckdb-go/v2"
)

// engine is a database in memory, for one run.
type engine struct {
	ctx  context.Context
	db   *sql.DB
	conn *sql.Conn // temporary tables and functions belong to this connection
	dir  string
	log  io.Writer
}

// errUnknown is what Answer returns for an analysis without SQL.
var errUnknown = errors.New("no such analysis; the choices are bikes, flights, movies, memes")

// Answer answers the queries of an analysis over the CSV files below dir. It does not return rejected rows: DuckDB
// skips rows that do not fit, and its reports about them cannot be compared.
func Answer(ctx context.Context, analysis, dir string, threads int, log io.Writer) (_ *answer.Answer, _ *cost.Cost, err error) {
	answers := map[string]func(*engine) ([]answer.Query, error){
		"bikes": bikes, "flights": flights, "movies": movies, "memes": memes,
	}[analysis]
	if answers == nil {
		return nil, nil, errUnknown
	}
	took := &cost.Cost{Threads: threads}
	begin := time.Now()
	e := &engine{ctx: ctx, dir: dir, log: log}
	if e.db, err = sql.Open("duckdb", fmt.Sprintf("?threads=%d", threads)); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, e.db.Close()) }()
	if e.conn, err = e.db.Conn(ctx); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, e.conn.Close()) }()
	if err := e.conn.QueryRowContext(ctx, "SELECT version()").Scan(&took.Version); err != nil {
		return nil, nil, err
	}
	if err := e.exec("settings", settings); err != nil {
		return nil, nil, err
	}
	queries, err := answers(e)
	if err != nil {
		return nil, nil, err
	}
	took.Stop(begin)
	return &answer.Answer{Analysis: analysis, Session: "duckdb", Queries: queries}, took, nil
}

// settings keep joins as they are written, with the small table, which is hashed, on the right. DuckDB does not know how many
// rows a CSV file has and takes it for small. It would hash millions of its rows to look up a few airports or days, which took
// half as much CPU time again, and three times the memory.
const settings = `SET disabled_optimizers = 'join_order,build_side_probe_side'`

func (e *engine) exec(what, text string) error {
	defer e.took(what, time.Now())
	if _, err := e.conn.ExecContext(e.ctx, text); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// rows calls row for each row of a query; row reads the row with scan.
func (e *engine) rows(what, text string, row func(scan func(...any) error) error) error {
	defer e.took(what, time.Now())
	rows, err := e.conn.QueryContext(e.ctx, text)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = rows.Close() }() // Err has the error
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (e *engine) took(what string, begin time.Time) {
	fmt.Fprintf(e.log, "%8.3f s  %s\n", time.Since(begin).Seconds(), what)
}
