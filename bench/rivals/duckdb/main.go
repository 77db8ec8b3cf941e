package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"text/tabwriter"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/bench/rivals/cost"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	flags := flag.NewFlagSet("duckdb", flag.ContinueOnError)
	flags.SetOutput(errs)
	name := flags.String("analysis", "", "what to answer: bikes, flights, movies or memes")
	data := flags.String("data", "", "the directory of the CSV files, laid out as `posta gen` does")
	asJSON := flags.Bool("json", false, "print the answers as JSON, as `posta results --json` does")
	costs := flags.String("costs", "", "a file for what the run took, as JSON")
	threads := flags.Int("threads", runtime.NumCPU(), "threads of DuckDB's")
	trace := flags.Bool("trace", false, "say how long each statement took")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name == "" || *data == "" || flags.NArg() > 0 {
		flags.Usage()
		return errors.New("duckdb: say -analysis and -data, and nothing else")
	}
	var log io.Writer = io.Discard
	if *trace {
		log = errs
	}
	a, took, err := Answer(ctx, *name, *data, *threads, log)
	if err != nil {
		return fmt.Errorf("duckdb: %s over %s: %w", *name, *data, err)
	}
	if *costs != "" {
		if err := took.Write(*costs); err != nil {
			return fmt.Errorf("duckdb: %w", err)
		}
	}
	if *asJSON {
		b, err := a.AppendJSON(nil)
		if err == nil {
			_, err = out.Write(b)
		}
		return err
	}
	return show(out, a, took)
}

func show(out io.Writer, a *answer.Answer, c *cost.Cost) error {
	for _, q := range a.Queries {
		fmt.Fprintf(out, "%s: %d rows\n", q.Name, len(q.Rows))
		t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		for _, row := range append([][]any{texts(q.Columns)}, q.Rows[:min(len(q.Rows), 10)]...) {
			for _, v := range row {
				fmt.Fprintf(t, "  %v\t", v)
			}
			fmt.Fprintln(t)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	b, err := json.Marshal(c)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", b)
	}
	return err
}

func texts(names []string) []any {
	all := make([]any, len(names))
	for i, n := range names {
		all[i] = n
	}
	return all
}
