package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/postgres"
	"posta.dev/posta/cmd/internal/report"
	"posta.dev/posta/protocol"
)

// output says where answers go.
type output struct {
	json bool
	told *call.Events     // nil without --events
	to   *out.Target      // nil for none
	db   *postgres.Target // nil for none
	html *reporter        // nil for none
}

const (
	flagTo   = "to"
	flagHTML = "html"
)

// outFlags say where to write answers beside standard output.
func outFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: call.FlagOut, Usage: "write the answers to `PLACE`: a directory, with one file for each query, a file like " +
			"answers.json or answers.csv.gz, or - for standard output"},
		&cli.StringFlag{Name: call.FlagFormat, DefaultText: "what the file's name says, else csv",
			Usage: "`FORMAT` of --out: csv, tsv, json, jsonl or parquet"},
		&cli.StringFlag{Name: flagHTML,
			Usage: "write a report to `FILE`: answers with charts, rejected rows, times and the cluster, as one page of HTML"},
		&cli.StringFlag{Name: flagTo, Usage: "write the answers to tables of PostgreSQL at this `URL`, like " +
			"postgres://USER@HOST/DATABASE/TABLE, once for each session. The password comes from ~/.pgpass or PGPASSWORD, as for psql"},
	}
}

// readOutput reads the flags that say where the answers go.
func (x *command) readOutput(c *cli.Context) (o output, err error) {
	o.json, o.told = c.Bool(call.FlagJSON), x.Events
	if o.to, err = out.Parse(c.String(call.FlagOut), c.String(call.FlagFormat), x.Out); err != nil {
		return o, fmt.Errorf("--%s: %w", call.FlagOut, err)
	}
	if o.to.Standard() && o.json {
		return o, exit.Usagef("--%s - and --%s both print the answers; give one of the two", call.FlagOut, call.FlagJSON)
	}
	if name := c.String(flagHTML); name != "" {
		o.html = x.newReporter(c, name)
	}
	url := c.String(flagTo)
	if url == "" {
		return o, nil
	}
	if o.db, err = postgres.Parse(url); err != nil {
		return o, fmt.Errorf("--%s: %w", flagTo, err)
	}
	if postgres.HasPassword(url) {
		x.Notef("warning: the password in --%s can be seen by every user of this machine; give it in PGPASSWORD or ~/.pgpass", flagTo)
	}
	return o, nil
}

// somewhere reports whether all rows of answers go anywhere besides standard output.
func (o *output) somewhere() bool { return o.to != nil || o.db != nil }

// keep returns how many rows of each query this command needs; 0 means all.
func (o *output) keep() int {
	if o.json || o.told != nil || o.somewhere() {
		return 0
	}
	if o.html != nil {
		return report.KeptRows
	}
	return shownRows
}

// prepare refuses a destination that cannot take the answers, before the session begins. queries are those of the analysis, with their
// columns and types, as far as this program knows them.
func (o *output) prepare(ctx context.Context, analysis string, queries []client.Table) error {
	if o.to != nil {
		var names []string
		for i := range queries {
			names = append(names, queries[i].Name)
			if err := o.to.Takes(queries[i].Columns); err != nil {
				return fmt.Errorf("--%s: %w", call.FlagOut, err)
			}
		}
		if err := o.to.Prepare(names); err != nil {
			return fmt.Errorf("--%s: %w", call.FlagOut, err)
		}
	}
	if o.db != nil {
		if err := o.db.Prepare(ctx, &client.Answer{Analysis: analysis, Queries: queries}); err != nil {
			return undelivered{fmt.Errorf("--%s: %w", flagTo, err)}
		}
	}
	if o.html != nil {
		if err := o.html.file.Prepare(); err != nil {
			return fmt.Errorf("--%s: %w", flagHTML, err)
		}
	}
	return nil
}

// deliver writes an answer to all its destinations except standard output.
func (x *command) deliver(ctx context.Context, a *client.Answer, o output) error {
	if o.to != nil {
		n, err := o.to.Write(a)
		if err != nil {
			return x.kept(a, err)
		}
		if !o.to.Standard() {
			x.Notef("%s written to %s", display.Plural(n, "file"), o.to)
		}
	}
	if o.db != nil {
		if err := x.deliverTo(ctx, a, o.db); err != nil {
			return x.kept(a, err)
		}
	}
	return x.report(ctx, a, o.html)
}

// deliverTo writes an answer to a database.
func (x *command) deliverTo(ctx context.Context, a *client.Answer, db *postgres.Target) error {
	w, err := db.Write(ctx, a)
	switch {
	case err != nil && postgres.Advice(err) != "":
		return fmt.Errorf("%w; nothing was written, and the same would happen again: %s", err, postgres.Advice(err))
	case err != nil:
		return fmt.Errorf("%w; either all of session %s was written or nothing: the same command may be run again", err, a.Session)
	case w.Already:
		x.Notef("session %s was written to %s already", a.Session, db)
	default:
		x.Notef("%s of session %s written to %s: %s", rowsOf(uint64(w.Rows)), a.Session, db, strings.Join(w.Tables, ", "))
	}
	if w.Changed > 0 {
		x.Notef("warning: %s written with U+FFFD in the place of NUL characters, which PostgreSQL cannot hold; --out writes them as they are",
			display.Plural(int(w.Changed), "text"))
	}
	return nil
}

// undelivered is the error of an answer that is right and cannot be written where it is wanted. The nodes' logs say nothing of that.
type undelivered struct{ error }

func (u undelivered) Unwrap() error { return u.error }

// kept writes an answer that could not be delivered to a directory of its own, with its types, and adds to the error where it is. Computing
// it may have taken hours.
func (x *command) kept(a *client.Answer, why error) error {
	if a.Err() != nil {
		return why // its rows are gone, whatever is done
	}
	here, err := os.MkdirTemp(".", "posta-answer-")
	if err != nil {
		here, err = os.MkdirTemp("", "posta-answer-")
	}
	for _, format := range []string{"parquet", "csv"} { // Parquet has no two columns of one name
		var to *out.Target
		if err == nil {
			to, err = out.Parse(here+string(os.PathSeparator), format, nil)
		}
		if err == nil {
			_, err = to.Write(a)
		}
		if err == nil {
			return undelivered{fmt.Errorf("%w; the answer is kept as %s in %s", why, format, here)}
		}
		if !errors.Is(err, out.ErrUse) {
			break
		}
		err = nil
	}
	return undelivered{fmt.Errorf("%w; and the answer could not be kept: %w", why, err)}
}

// queriesOf names the queries of an analysis that this program knows.
func (x *command) queriesOf(analysis string) (queries []client.Table) {
	a, err := x.Analyses.Find(analysis)
	if err != nil {
		return nil // the cluster may know the analysis; writing the answer then reports what does not fit
	}
	for _, q := range a.Queries {
		queries = append(queries, client.Table{Name: q.Name, Columns: q.Columns})
	}
	return queries
}

// shownRows is how many rows of a query are shown as a table.
const shownRows = 20

// printAnswer prints an answer.
func (x *command) printAnswer(a *client.Answer, o output) error {
	if o.told != nil {
		return o.told.Answer(a, nil)
	}
	printRejected(x.Err, a.Rejected)
	if o.to.Standard() {
		return nil // deliver has printed it
	}
	if o.json {
		return a.WriteJSON(x.Out)
	}
	w := bufio.NewWriter(x.Out)
	for i := range a.Queries {
		printTable(w, &a.Queries[i])
	}
	for _, r := range a.Rejected {
		if r.Rows > 0 {
			fmt.Fprintf(w, "%s: %s rejected\n", display.Escape(r.Stream), rowsOf(r.Rows))
		}
	}
	return w.Flush()
}

// printTable shows the first rows. Only here are fractions rounded, to three digits.
func printTable(w io.Writer, t *client.Table) {
	table := display.Table{Head: t.Columns, Right: make([]bool, len(t.Columns))}
	for row := range t.All() {
		if len(table.Rows) == shownRows {
			break
		}
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
			table.Right[i] = v.Kind != protocol.Text
		}
		table.Rows = append(table.Rows, cells)
	}
	fmt.Fprintf(w, "%s: %s\n", display.Escape(t.Name), display.Plural(t.Len(), "row"))
	table.Print(w, "  ")
	if more := t.Len() - len(table.Rows); more > 0 {
		fmt.Fprintf(w, "  … and %s more; --out PLACE or --json gives all\n", display.Count(uint64(more)))
	}
	fmt.Fprintln(w)
}

func cell(v protocol.Value) string {
	if v.Kind == protocol.Float {
		return strconv.FormatFloat(v.Float, 'f', 3, 64)
	}
	return v.String()
}

// printRejected prints which rows were rejected (N7), and nothing if there are none.
func printRejected(w io.Writer, all []protocol.Rejected) {
	for _, r := range all {
		if r.Rows == 0 {
			continue
		}
		fmt.Fprintf(w, "%s: %s rejected\n", display.Escape(r.Stream), rowsOf(r.Rows))
		table := display.Table{Head: []string{"file", "line", "reason"}, Right: []bool{false, true}, Most: 200}
		for _, row := range r.First {
			table.Rows = append(table.Rows, []string{row.File, strconv.FormatUint(row.Line, 10), row.Reason})
		}
		table.Print(w, "  ")
		if more := r.Rows - min(r.Rows, uint64(len(r.First))); more > 0 {
			fmt.Fprintf(w, "  … and %s more\n", display.Count(more))
		}
	}
}

func rowsOf(n uint64) string {
	if n == 1 {
		return "1 row"
	}
	return display.Count(n) + " rows"
}
