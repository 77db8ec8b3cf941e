package deliver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"posta.dev/posta/internal/units"

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

// Output says where answers go.
type Output struct {
	Json bool
	Told *call.Events     // nil without --events
	To   *out.Target      // nil for none
	db   *postgres.Target // nil for none
	Html *Reporter        // nil for none
}

const (
	FlagTo   = "to"
	FlagHTML = "html"
)

// OutFlags say where to write answers beside standard output.
func OutFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: call.FlagOut, Usage: "write the answers to `PLACE`: a directory, with one file for each query, a file like " +
			"answers.json or answers.csv.gz, or - for standard output"},
		&cli.StringFlag{Name: call.FlagFormat, DefaultText: "what the file's name says, else csv",
			Usage: "`FORMAT` of --out: csv, tsv, json, jsonl or parquet"},
		&cli.StringFlag{Name: FlagHTML,
			Usage: "write a report to `FILE`: answers with charts, rejected rows, times and the cluster, as one page of HTML"},
		&cli.StringFlag{Name: FlagTo, Usage: "write the answers to tables of PostgreSQL at this `URL`, like " +
			"postgres://USER@HOST/DATABASE/TABLE, once for each session. The password comes from ~/.pgpass or PGPASSWORD, as for psql"},
	}
}

// ReadOutput reads the flags that say where the answers go.
func ReadOutput(x *call.Call, c *cli.Context) (o Output, err error) {
	o.Json, o.Told = c.Bool(call.FlagJSON), x.Events
	if o.To, err = out.Parse(c.String(call.FlagOut), c.String(call.FlagFormat), x.Out); err != nil {
		return o, fmt.Errorf("--%s: %w", call.FlagOut, err)
	}
	if o.To.Standard() && o.Json {
		return o, exit.Usagef("--%s - and --%s both print the answers; give one of the two", call.FlagOut, call.FlagJSON)
	}
	if name := c.String(FlagHTML); name != "" {
		o.Html = newReporter(x, c, name)
	}
	url := c.String(FlagTo)
	if url == "" {
		return o, nil
	}
	if o.db, err = postgres.Parse(url); err != nil {
		return o, fmt.Errorf("--%s: %w", FlagTo, err)
	}
	if postgres.HasPassword(url) {
		x.Notef("warning: the password in --%s can be seen by every user of this machine; give it in PGPASSWORD or ~/.pgpass", FlagTo)
	}
	return o, nil
}

// Somewhere reports whether all rows of answers go anywhere besides standard output.
func (o *Output) Somewhere() bool { return o.To != nil || o.db != nil }

// Keep returns how many rows of each query this command needs; 0 means all.
func (o *Output) Keep() int {
	if o.Json || o.Told != nil || o.Somewhere() {
		return 0
	}
	if o.Html != nil {
		return report.KeptRows
	}
	return ShownRows
}

// Prepare refuses a destination that cannot take the answers, before the session begins. queries are those of the analysis, with their
// columns and types, as far as this program knows them.
func (o *Output) Prepare(ctx context.Context, analysis string, queries []client.Table) error {
	if o.To != nil {
		var names []string
		for i := range queries {
			names = append(names, queries[i].Name)
			if err := o.To.Takes(queries[i].Columns); err != nil {
				return fmt.Errorf("--%s: %w", call.FlagOut, err)
			}
		}
		if err := o.To.Prepare(names); err != nil {
			return fmt.Errorf("--%s: %w", call.FlagOut, err)
		}
	}
	if o.db != nil {
		if err := o.db.Prepare(ctx, &client.Answer{Analysis: analysis, Queries: queries}); err != nil {
			return exit.Undelivered(fmt.Errorf("--%s: %w", FlagTo, err))
		}
	}
	if o.Html != nil {
		if err := o.Html.file.Prepare(); err != nil {
			return fmt.Errorf("--%s: %w", FlagHTML, err)
		}
	}
	return nil
}

// Deliver writes an answer to all its destinations except standard output.
func Deliver(x *call.Call, ctx context.Context, a *client.Answer, o Output) error {
	if o.To != nil {
		n, err := o.To.Write(a)
		if err != nil {
			return Kept(x, a, err)
		}
		if !o.To.Standard() {
			x.Notef("%s written to %s", units.Plural(n, "file"), o.To)
		}
	}
	if o.db != nil {
		if err := deliverTo(x, ctx, a, o.db); err != nil {
			return Kept(x, a, err)
		}
	}
	return writeReport(x, ctx, a, o.Html)
}

// deliverTo writes an answer to a database.
func deliverTo(x *call.Call, ctx context.Context, a *client.Answer, db *postgres.Target) error {
	w, err := db.Write(ctx, a)
	switch {
	case err != nil && postgres.Advice(err) != "":
		return fmt.Errorf("%w; nothing was written, and the same would happen again: %s", err, postgres.Advice(err))
	case err != nil:
		return fmt.Errorf("%w; either all of session %s was written or nothing: the same command may be run again", err, a.Session)
	case w.Already:
		x.Notef("session %s was written to %s already", a.Session, db)
	default:
		x.Notef("%s of session %s written to %s: %s", units.Rows(uint64(w.Rows)), a.Session, db, strings.Join(w.Tables, ", "))
	}
	if w.Changed > 0 {
		x.Notef("warning: %s written with U+FFFD in the place of NUL characters, which PostgreSQL cannot hold; --out writes them as they are",
			units.Plural(int(w.Changed), "text"))
	}
	return nil
}

// Kept writes an answer that could not be delivered to a directory of its own, with its types, and adds to the error where it is. Computing
// it may have taken hours.
func Kept(x *call.Call, a *client.Answer, why error) error {
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
			return exit.Undelivered(fmt.Errorf("%w; the answer is kept as %s in %s", why, format, here))
		}
		if !errors.Is(err, out.ErrUse) {
			break
		}
		err = nil
	}
	return exit.Undelivered(fmt.Errorf("%w; and the answer could not be kept: %w", why, err))
}

// QueriesOf names the queries of an analysis that this program knows.
func QueriesOf(x *call.Call, analysis string) (queries []client.Table) {
	a, err := x.Analyses.Find(analysis)
	if err != nil {
		return nil // the cluster may know the analysis; writing the answer then reports what does not fit
	}
	for _, q := range a.Queries {
		queries = append(queries, client.Table{Name: q.Name, Columns: q.Columns})
	}
	return queries
}

// ShownRows is how many rows of a query are shown as a table.
const ShownRows = 20

// PrintAnswer prints an answer.
func PrintAnswer(x *call.Call, a *client.Answer, o Output) error {
	if o.Told != nil {
		return o.Told.Answer(a, nil)
	}
	PrintRejected(x.Err, a.Rejected)
	if o.To.Standard() {
		return nil // deliver has printed it
	}
	if o.Json {
		return a.WriteJSON(x.Out)
	}
	w := bufio.NewWriter(x.Out)
	for i := range a.Queries {
		printTable(w, &a.Queries[i])
	}
	for _, r := range a.Rejected {
		if r.Rows > 0 {
			fmt.Fprintf(w, "%s: %s rejected\n", display.Escape(r.Stream), units.Rows(r.Rows))
		}
	}
	return w.Flush()
}

// printTable shows the first rows. Only here are fractions rounded, to three digits.
func printTable(w io.Writer, t *client.Table) {
	table := display.Table{Head: t.Columns, Right: make([]bool, len(t.Columns))}
	for row := range t.All() {
		if len(table.Rows) == ShownRows {
			break
		}
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
			table.Right[i] = v.Kind != protocol.Text
		}
		table.Rows = append(table.Rows, cells)
	}
	fmt.Fprintf(w, "%s: %s\n", display.Escape(t.Name), units.Plural(t.Len(), "row"))
	table.Print(w, "  ")
	if more := t.Len() - len(table.Rows); more > 0 {
		fmt.Fprintf(w, "  … and %s more; --out PLACE or --json gives all\n", units.Count(uint64(more)))
	}
	fmt.Fprintln(w)
}

func cell(v protocol.Value) string {
	if v.Kind == protocol.Float {
		return strconv.FormatFloat(v.Float, 'f', 3, 64)
	}
	return v.String()
}

// PrintRejected prints which rows were rejected (N7), and nothing if there are none.
func PrintRejected(w io.Writer, all []protocol.Rejected) {
	for _, r := range all {
		if r.Rows == 0 {
			continue
		}
		fmt.Fprintf(w, "%s: %s rejected\n", display.Escape(r.Stream), units.Rows(r.Rows))
		table := display.Table{Head: []string{"file", "line", "reason"}, Right: []bool{false, true}, Most: 200}
		for _, row := range r.First {
			table.Rows = append(table.Rows, []string{row.File, strconv.FormatUint(row.Line, 10), row.Reason})
		}
		table.Print(w, "  ")
		if more := r.Rows - min(r.Rows, uint64(len(r.First))); more > 0 {
			fmt.Fprintf(w, "  … and %s more\n", units.Count(more))
		}
	}
}
