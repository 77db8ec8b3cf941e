package infer

import (
	"fmt"
	"strings"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

// Column is a column of a table. If Missing is set, a file lacks it.
type Column struct {
	Name    string
	Kind    types.Kind
	Missing bool
	text    Value      // the first value that made it TEXT
	others  types.Kind // the type of the values that are not TEXT
}

// Value is a value of a sample, with its place. Line 0 means that the line is not known.
type Value struct {
	Text, File string
	Line       uint64
}

// Table is what samples have shown of a table. The zero value is a table without files.
type Table struct {
	Nulls   field.Nulls // what stands for NULL
	columns []Column
	at      map[string]int // by lower-case name
	files   int
}

// File adds the columns of a file. The error wraps csv.ErrHeader and names the file.
func (t *Table) File(name string, header []byte) error {
	h, err := csv.ParseHeader(header, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t.at == nil {
		t.at = map[string]int{}
	}
	here := map[string]bool{}
	for _, n := range h.Names() {
		key := strings.ToLower(n)
		here[key] = true
		if _, known := t.at[key]; !known {
			t.at[key] = len(t.columns)
			t.columns = append(t.columns, Column{Name: n, Missing: t.files > 0})
		}
	}
	for i := range t.columns {
		if !here[strings.ToLower(t.columns[i].Name)] {
			t.columns[i].Missing = true
		}
	}
	t.files++
	return nil
}

// Rows reads whole records of a file for which File was called. It skips malformed records, because they will be rejected
// later.
func (t *Table) Rows(header, sample []byte) { t.RowsAt("", 0, header, sample) }

// RowsAt is Rows for records whose place is known: the file, and the line at which they start. Line 0 means that the line is
// not known.
func (t *Table) RowsAt(file string, line uint64, header, sample []byte) {
	h, err := csv.ParseHeader(header, 0)
	if err != nil {
		return
	}
	names := h.Names()
	wanted := make([]csv.Column, len(names))
	for i, n := range names {
		wanted[i] = csv.Column{Name: n, Distinct: true}
	}
	m, err := h.Find(wanted)
	if err != nil {
		return
	}
	var s csv.Scanner
	s.Reset(sample, 0, m, line)
	for s.Next() {
		if s.Err() != nil {
			continue
		}
		for i, p := range s.Fields() {
			if t.Nulls.Null(p) {
				continue
			}
			at := Value{File: file}
			if line > 0 {
				at.Line = s.Line()
			}
			t.columns[t.at[strings.ToLower(names[i])]].take(p, at)
		}
	}
}

// take widens the type of a column so that it holds a value.
func (c *Column) take(p []byte, at Value) {
	if c.Kind == types.Text && c.others != types.Null {
		return // the column is TEXT, and the reason is known
	}
	kind := field.KindOf(p)
	wider := field.Wider(c.Kind, kind)
	if wider == types.Text && c.Kind != types.Text {
		c.text = at
		c.text.Text = string(p[:min(len(p), mostQuoted)])
		c.others = c.Kind
	}
	if c.Kind = wider; kind != types.Text && c.others == types.Null && wider == types.Text {
		c.others = kind
	}
}

// Because returns the first value that made a column TEXT, and the type of the column's other values. It returns false for
// any other column.
func (t *Table) Because(column string) (v Value, others types.Kind, ok bool) {
	i, known := t.at[strings.ToLower(column)]
	if !known {
		return v, types.Null, false
	}
	c := &t.columns[i]
	if others = c.others; others == types.BigInt {
		others = types.Double // numbers that were seen later may have had a point
	}
	return c.text, others, c.Kind == types.Text && c.others != types.Null
}

// Force makes a column TEXT, whatever its values look like.
func (t *Table) Force(column string) {
	if i, ok := t.at[strings.ToLower(column)]; ok {
		t.columns[i].Kind, t.columns[i].others = types.Text, types.Null
	}
}

// Columns returns the columns with their types.
func (t *Table) Columns() []Column {
	out := append([]Column{}, t.columns...)
	for i := range out {
		if out[i].Kind == types.Null {
			out[i].Kind = types.Text
		}
	}
	return out
}

// Widen gives a column a wider type than the samples did.
func (t *Table) Widen(column string, kind types.Kind) {
	if i, ok := t.at[strings.ToLower(column)]; ok {
		t.columns[i].Kind = field.Wider(t.columns[i].Kind, kind)
	}
}
