package cmd

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/protocol"
)

// output says where answers go.
type output struct {
	json bool
	dir  string // "" for none
}

// shownRows is how many rows of a query are shown as a table.
const shownRows = 20

// printAnswer prints an answer, and writes it to files when asked to.
func (x *command) printAnswer(a *client.Answer, o output) error {
	if o.dir != "" {
		if err := writeCSVs(a, o.dir); err != nil {
			return err
		}
		x.notef("%s written to %s", display.Plural(len(a.Queries), "file"), o.dir)
	}
	printRejected(x.Err, a.Rejected)
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

// printTable shows the first rows. Fractions are rounded to three digits here, and here only.
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
		fmt.Fprintf(w, "  … and %s more; --out DIR or --json gives all\n", display.Count(uint64(more)))
	}
	fmt.Fprintln(w)
}

func cell(v protocol.Value) string {
	if v.Kind == protocol.Float {
		return strconv.FormatFloat(v.Float, 'f', 3, 64)
	}
	return v.String()
}

// printRejected tells which rows were passed over (N7); nothing when there are none.
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

// writeCSVs writes a file for each query. Numbers are written so that they read back to the same bits.
func writeCSVs(a *client.Answer, dir string) error {
	if err := makeDir(dir, flagOut); err != nil {
		return err
	}
	for i := range a.Queries {
		t := &a.Queries[i]
		if !filepath.IsLocal(t.Name) || filepath.Base(t.Name) != t.Name {
			return fmt.Errorf("write answers: the cluster names a query %q, which can be no file name", t.Name)
		}
		if err := writeCSV(t, filepath.Join(dir, t.Name+".csv")); err != nil {
			return fmt.Errorf("write answers to %s: %w", dir, err)
		}
	}
	return nil
}

// createFile opens a file for writing that a flag names. A pipe that nobody reads is an error, and is not waited for.
func createFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|syscall.O_NONBLOCK, 0o644)
}

func writeCSV(t *client.Table, name string) (err error) {
	f, err := createFile(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := csv.NewWriter(f)
	_ = w.Write(t.Columns) // Error returns the first error of all
	cells := make([]string, len(t.Columns))
	for row := range t.All() {
		for i, v := range row {
			cells[i] = v.String()
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return w.Error()
}
