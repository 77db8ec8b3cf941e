package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Answer is the result of an analysis.
type Answer struct {
	Analysis string
	Session  session.ID
	Queries  []Table // in the order the analysis gives
	Rejected []protocol.Rejected
	Warnings []Warning // about the input, in the order in which they were found
	Partial  bool      // Config.Head left out some of the input

	// Streams says how Run has uploaded each stream, in their order. It is nil for an answer whose session was uploaded before.
	Streams []StreamProgress
}

// Table is the answer to one query.
type Table struct {
	Name    string
	Columns []string
	Types   []types.Type // of the columns, if the statement says them; nil for other analyses. See ColumnTypes
	chunks  []piece
	rows    int
	spool   *spool // holds the pieces that are not in memory; nil if all are in memory
	err     error
}

// NewTable returns a table of rows that are here already.
func NewTable(name string, columns []string, rows ...protocol.Rows) Table {
	t := Table{Name: name, Columns: columns}
	for _, r := range rows {
		t.chunks = append(t.chunks, piece{rows: r})
		t.rows += r.Len()
	}
	return t
}

// Len returns the number of rows, including those that were not kept (Config.StreamOnly, Config.Keep).
func (t *Table) Len() int { return t.rows }

// All yields the rows in their order; the slice is valid until the next one. Rows of a long answer are read from a file: Err tells whether
// this failed.
func (t *Table) All() iter.Seq[[]protocol.Value] {
	return func(yield func([]protocol.Value) bool) {
		for rows := range t.Parts() {
			for row := range rows.All() {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// Parts yields the rows in their order, some at a time, in wire form; they are valid until the next ones. Err tells whether this failed.
func (t *Table) Parts() iter.Seq[protocol.Rows] {
	return func(yield func(protocol.Rows) bool) {
		var memory []byte
		for i := range t.chunks {
			rows, err := t.chunks[i].read(t.spool, &memory)
			if err != nil {
				t.err = fmt.Errorf("query %s: rows of the answer: %w", t.Name, err)
				return
			}
			if !yield(rows) {
				return
			}
		}
	}
}

// Err returns why All or Parts could not yield all rows.
func (t *Table) Err() error { return t.err }

// Err returns the first error of its tables.
func (a *Answer) Err() error {
	for i := range a.Queries {
		if err := a.Queries[i].err; err != nil {
			return err
		}
	}
	return nil
}

// Query returns the answer to the query called name, nil if there is none.
func (a *Answer) Query(name string) *Table {
	for i := range a.Queries {
		if a.Queries[i].Name == name {
			return &a.Queries[i]
		}
	}
	return nil
}

// MarshalJSON returns what WriteJSON writes.
func (a *Answer) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	err := a.WriteJSON(&buf)
	return buf.Bytes(), err
}

// WriteJSON writes the answer as one object, row by row, with the queries in their order:
//
//	{"analysis": …, "session": …, "queries": {NAME: {"columns": […], "rows": [[…], …]}}, "rejected": {STREAM: {"rows": N, "first": […]}},
//	 "warnings": [{"path": …, "text": …}]}
func (a *Answer) WriteJSON(out io.Writer) error {
	w := &jsonWriter{Writer: bufio.NewWriterSize(out, 64<<10)}
	w.raw(`{"analysis": `).text(a.Analysis).raw(`, "session": `).text(a.Session.String()).raw(`, "queries": {`)
	for i := range a.Queries {
		w.comma(i).raw("\n  ").text(a.Queries[i].Name).raw(": ")
		w.table(&a.Queries[i])
	}
	w.raw(`}, "rejected": {`)
	for i := range a.Rejected {
		w.comma(i).raw("\n  ")
		w.rejected(&a.Rejected[i])
	}
	w.raw(`}, "warnings": `).marshalled(append([]Warning{}, a.Warnings...)) // never null
	w.raw("}\n")
	return errors.Join(w.Flush(), a.Err())
}

// WriteJSON writes the table as one object, in the form that it has in the answer: {"columns": […], "rows": [[…], …]}
func (t *Table) WriteJSON(out io.Writer) error {
	w := &jsonWriter{Writer: bufio.NewWriterSize(out, 64<<10)}
	w.table(t)
	w.raw("\n")
	return errors.Join(w.Flush(), t.Err())
}

// jsonWriter writes JSON by hand, because an answer can be too large to be in memory twice. A bufio.Writer keeps the first error for Flush.
type jsonWriter struct {
	*bufio.Writer
	scratch []byte
}

func (w *jsonWriter) raw(s string) *jsonWriter {
	_, _ = w.WriteString(s)
	return w
}

func (w *jsonWriter) comma(i int) *jsonWriter {
	if i > 0 {
		w.raw(", ")
	}
	return w
}

func (w *jsonWriter) value(v protocol.Value) *jsonWriter {
	w.scratch = v.AppendJSON(w.scratch[:0])
	_, _ = w.Write(w.scratch)
	return w
}

func (w *jsonWriter) text(s string) *jsonWriter {
	return w.value(protocol.Value{Kind: protocol.Text, Text: s})
}

func (w *jsonWriter) table(t *Table) {
	w.raw(`{"columns": [`)
	for i, column := range t.Columns {
		w.comma(i).text(column)
	}
	w.raw(`], "rows": [`)
	n := 0
	for row := range t.All() {
		w.comma(n).raw("\n    [")
		for i, v := range row {
			w.comma(i).value(v)
		}
		w.raw("]")
		n++
	}
	w.raw("]}")
}

// rejectedRow has the names of the fields in JSON.
type rejectedRow struct {
	File   string `json:"file"`
	Line   uint64 `json:"line"`
	Reason string `json:"reason"`
}

func (w *jsonWriter) rejected(r *protocol.Rejected) {
	first := make([]rejectedRow, len(r.First))
	for i, row := range r.First {
		first[i] = rejectedRow(row)
	}
	w.text(r.Stream).raw(`: {"rows": `).value(protocol.Value{Kind: protocol.Int, Int: int64(r.Rows)})
	w.raw(`, "first": `).marshalled(first).raw("}")
}

// marshalled writes a list of structs of texts and numbers.
func (w *jsonWriter) marshalled(list any) *jsonWriter {
	b, err := json.Marshal(list)
	if err != nil {
		panic("client: encoding/json refuses strings and a number: " + err.Error()) // this cannot happen
	}
	return w.raw(string(b))
}
