package infer

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

// Column is a column of a table. If Missing is set, a file lacks it. If Declared is set, files say its type, and no sample has been looked
// at. If Why is set, the column is not read, and a file says why; then it has no type.
type Column struct {
	Name     string
	Type     types.Type
	Missing  bool
	Declared bool
	Why      string
	Key      string // what objects of JSON Lines call it, if Keyed is set
	Keyed    bool

	large    Value      // the first integer beyond 64 bits
	fraction bool       // it has a number that is not such an integer, and no BIGINT
	text     Value      // the first value that made it TEXT
	others   types.Kind // the type of the values that are not TEXT
	blanks   Value      // the first value of another type than TEXT with blanks around it
	quotes   Value      // the first one that begins with blanks and a quote
}

// Place is where a sample, or a value of one, stands. Line 0 means that the line is not known. If Offset is not 0, the sample begins at
// this byte of the file, and Line counts from there: its first line is 1.
type Place struct {
	File   string
	Line   uint64
	Offset int64
}

// Value is a value of a sample.
type Value struct {
	Text string
	Place
}

// Table is what samples have shown of a table. The zero value is a table without files.
type Table struct {
	Nulls   field.Nulls // what stands for NULL
	columns []Column
	at      map[string]int // by lower-case name
	keys    map[string]int // by key
	files   int
}

// File adds the columns of a file. The error wraps csv.ErrHeader and names the file.
func (t *Table) File(name string, header []byte) error {
	h, err := csv.ParseHeader(header, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t.Names(h.Names())
	return nil
}

// Names adds the columns of a file, which differ without regard to case.
func (t *Table) Names(names []string) {
	columns := make([]Column, len(names))
	for i, n := range names {
		columns[i].Name = n
	}
	t.Typed(columns)
}

// Keys adds the columns of a file of JSON Lines. Keys that differ in case are columns of their own, whether one object has both or not; the
// second gets another name. A key and a column of a file in another form are one column, if their names differ only in case.
func (t *Table) Keys(keys []string) {
	if t.at == nil {
		t.at = map[string]int{}
	}
	if t.keys == nil {
		t.keys = map[string]int{}
	}
	taken := map[string]bool{} // no made name may be that of a key
	for _, key := range keys {
		taken[strings.ToLower(key)] = true
	}
	columns := make([]Column, 0, len(keys))
	names := map[string]bool{} // of this file's columns
	for i, key := range keys {
		if at, known := t.keys[key]; known {
			columns = append(columns, Column{Name: t.columns[at].Name})
			continue
		}
		name := key
		if name == "" {
			name = fmt.Sprintf("column%d", i)
		}
		free := func(name string) bool {
			lower := strings.ToLower(name)
			at, known := t.at[lower]
			return !names[lower] && (!known || !t.columns[at].Keyed)
		}
		for n := 1; !free(name) || name != key && taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", cmp.Or(key, "column"), n)
		}
		names[strings.ToLower(name)] = true
		columns = append(columns, Column{Name: name, Key: key, Keyed: true})
	}
	t.Typed(columns)
	for i, key := range keys {
		at := t.at[strings.ToLower(columns[i].Name)]
		t.keys[key] = at
		t.columns[at].Key, t.columns[at].Keyed = key, true
	}
}

// Typed adds the columns of a file that declares their types. Those that it does not declare get theirs from samples.
func (t *Table) Typed(columns []Column) {
	if t.at == nil {
		t.at = map[string]int{}
	}
	here := map[string]bool{}
	for _, c := range columns {
		key := strings.ToLower(c.Name)
		here[key] = true
		i, known := t.at[key]
		if !known {
			i = len(t.columns)
			t.at[key] = i
			c.Missing = t.files > 0
			t.columns = append(t.columns, c)
		}
		t.columns[i].declare(&c)
	}
	for i := range t.columns {
		if !here[strings.ToLower(t.columns[i].Name)] {
			t.columns[i].Missing = true
		}
	}
	t.files++
}

// declare widens the type of a column so that it holds what another file says of it.
func (c *Column) declare(of *Column) {
	c.Declared = c.Declared && of.Declared
	if c.Why == "" {
		c.Why = of.Why
	}
	if c.Type = common(c.Type, of.Type); c.Why != "" {
		c.Type = types.Type{}
	}
}

// common returns the type that holds the values of both; it is TEXT if nothing else is.
func common(a, b types.Type) types.Type {
	t, err := types.Common(a, b)
	if err != nil {
		return types.Of(types.Text)
	}
	return t
}

// Rows reads whole records of a file for which File was called. It skips malformed records, because they will be rejected
// later.
func (t *Table) Rows(header, sample []byte) { t.RowsAt(Place{}, header, sample) }

// ObjectsAt is RowsAt for records that were made from the objects of a file for which Keys was called.
func (t *Table) ObjectsAt(place Place, keys []string, header, sample []byte) {
	t.rowsAt(place, header, sample, keys)
}

// RowsAt is Rows for records whose place is known.
func (t *Table) RowsAt(place Place, header, sample []byte) { t.rowsAt(place, header, sample, nil) }

func (t *Table) rowsAt(place Place, header, sample []byte, keys []string) {
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
	columns := make([]*Column, len(names)) // by field; nil for what is no column
	for i := range columns {
		if keys == nil {
			columns[i] = t.Column(names[i])
		} else if i < len(keys) {
			columns[i] = &t.columns[t.keys[keys[i]]]
		}
	}
	var s csv.Scanner
	s.Reset(sample, 0, m, place.Line)
	for s.Next() {
		if s.Err() != nil {
			continue
		}
		for i, p := range s.Fields() {
			quoted := s.Quoted().Has(i)
			if columns[i] == nil || columns[i].settled() || t.Nulls.Null(p, quoted) {
				continue
			}
			at := place
			if at.Line > 0 {
				at.Line = s.Line()
			}
			columns[i].take(p, quoted, at)
		}
	}
}

// settled reports whether no value can change a column any more: it is not read, or is TEXT, and the reason is known.
func (c *Column) settled() bool {
	return c.Why != "" || c.Type.Kind == types.Text && c.others != types.Null
}

// take widens the type of a column so that it holds a value.
func (c *Column) take(p []byte, inQuotes bool, at Place) {
	was, kind := c.Type.Kind, field.KindOf(p)
	if bare := bytes.TrimLeft(p, " \t"); len(bare) < len(p) && len(bare) > 0 && bare[0] == '"' && !inQuotes && c.quotes.Text == "" {
		c.quotes = quoted(p, at)
	}
	c.Type = common(c.Type, types.Of(kind))
	switch {
	case kind != types.Double:
	case !Large(p):
		c.fraction = true
	case c.large.Text == "":
		c.large = quoted(p, at)
	}
	if kind != types.Text && c.blanks.Text == "" && (p[0] == ' ' || p[len(p)-1] == ' ') {
		c.blanks = quoted(p, at)
	}
	if wider := c.Type.Kind; wider == types.Text {
		if was != types.Text {
			c.text, c.others = quoted(p, at), was
		}
		if kind != types.Text && c.others == types.Null {
			c.others = kind
		}
	}
}

// quoted returns a value as a message quotes it.
func quoted(p []byte, at Place) Value { return Value{string(p[:min(len(p), mostQuoted)]), at} }

// Large reports whether a text is an integer beyond 64 bits.
func Large(p []byte) bool {
	p = bytes.TrimSpace(p)
	digits := bytes.TrimLeft(p, "+-")
	if len(digits) < 19 || len(bytes.Trim(digits, "0123456789")) > 0 {
		return false
	}
	_, fits := csv.ParseInt(p)
	return !fits
}

// settle returns the column as all samples together make it. A column of integers is TEXT if one of them has more than 64 bits: such
// numbers are mostly keys, and a DOUBLE would make one of two that differ.
func (c Column) settle() Column {
	switch {
	case c.large.Text != "" && !c.fraction && c.Type.Kind == types.Double:
		c.Type, c.text, c.others = types.Of(types.Text), c.large, types.Double
	case c.Type.Kind == types.Null && c.Why == "":
		c.Type = types.Of(types.Text)
	}
	return c
}

// Because returns the first value that made a column TEXT, and the type of the column's other values. It returns false for
// any other column.
func (t *Table) Because(column string) (v Value, others types.Kind, ok bool) {
	found := t.Column(column)
	if found == nil {
		return v, types.Null, false
	}
	c := found.settle()
	if others = c.others; others == types.BigInt {
		others = types.Double // numbers that were seen later may have had a point
	}
	return c.text, others, c.Type.Kind == types.Text && c.others != types.Null
}

// Trimmed returns the first value of a column that is read without the blanks around it; false if there is none, or if the column is TEXT.
func (t *Table) Trimmed(column string) (Value, bool) {
	c := t.Column(column)
	if c == nil || c.blanks.Text == "" {
		return Value{}, false
	}
	return c.blanks, c.settle().Type.Kind != types.Text
}

// Blanked returns the first value of a column that begins with blanks and a quote, which therefore belong to it; false if there is none.
func (t *Table) Blanked(column string) (Value, bool) {
	c := t.Column(column)
	if c == nil || c.quotes.Text == "" {
		return Value{}, false
	}
	return c.quotes, true
}

// Rounded returns the first integer beyond 64 bits of a column that is DOUBLE, since it has fractions, too; false if there is none.
func (t *Table) Rounded(column string) (Value, bool) {
	c := t.Column(column)
	if c == nil || c.large.Text == "" {
		return Value{}, false
	}
	return c.large, c.settle().Type.Kind == types.Double
}

// Column returns a column without regard to case, nil if there is none. Its type is NULL if no sample has a value of it.
func (t *Table) Column(name string) *Column {
	if i, ok := t.at[strings.ToLower(name)]; ok {
		return &t.columns[i]
	}
	return nil
}

// Columns returns the columns with their types.
func (t *Table) Columns() []Column {
	out := append([]Column{}, t.columns...)
	for i := range out {
		out[i] = out[i].settle()
	}
	return out
}

// Widen gives a column a wider type than the samples did.
func (t *Table) Widen(column string, kind types.Kind) {
	if c := t.Column(column); c != nil {
		c.Type = common(c.Type, types.Of(kind))
	}
}
