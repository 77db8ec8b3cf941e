// Command duckdbsql answers one statement with DuckDB 1.5 in memory and reports the costs, for comparison with Posta's SQL.
//
//	go run ./duckdbsql -costs FILE "SELECT count(*) FROM read_csv('data/trips.csv')"
//
// The time runs from opening the database to the last row of the answer, which is printed as JSON. Command duckdb is the counterpart for
// analyses.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"posta.dev/posta/bench/rivals/cost"
	"posta.dev/posta/bench/rivals/sqlrows"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "duckdbsql:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("duckdbsql", flag.ContinueOnError)
	costs := flags.String("costs", "", "a file for what the statement took, as JSON")
	threads := flags.Int("threads", runtime.NumCPU(), "threads of DuckDB's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give one statement")
	}
	c := &cost.Cost{Threads: *threads}
	begin := time.Now()
	rows, err := answer(ctx, flags.Arg(0), c)
	if err != nil {
		return err
	}
	c.Stop(begin)
	if *costs != "" {
		if err := c.Write(*costs); err != nil {
			return err
		}
	}
	return json.NewEncoder(out).Encode(rows)
}

// answer returns the rows of a statement, as values of Go.
func answer(ctx context.Context, text string, c *cost.Cost) (all [][]any, err error) {
	db, err := sql.Open("duckdb", fmt.Sprintf("?threads=%d", c.Threads))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&c.Version); err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return sqlrows.All(rows)
}
