package catalog

import (
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/sizes"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

// Table is a table of files. File is set for a table that a statement names by its pattern.
type Table struct {
	Name    string
	File    bool
	Files   string // pattern below the data directory
	Comma   byte   // separates columns; 0 is a comma
	Nulls   field.Nulls
	Form    csv.Form // of its files that are CSV. It does not travel, because only the client reads files in such a form
	Bytes   int64    // size of the files, unpacked; 0 if it is not known, or if joiners must not have the table whole
	Rows    int64    // an estimate from samples; 0 if there were none
	Columns []Column
}

// Column is a column of a table. Inferred says that its type comes from samples, Missing that files may lack it, and Typed that
// the files themselves declare the type: a value that it does not hold fails the session. A column of type NULL is not read:
// statements that use it are refused. If Star is not 0, the column's value is part of the file's name: the part for which this
// star of Files stands, counted from 1.
type Column struct {
	Name                     string
	Type                     types.Type
	Inferred, Missing, Typed bool
	Star                     int

	// Key is what objects of JSON Lines call the column, if Keyed is set. It does not travel, because only the client reads such files.
	Key   string
	Keyed bool
}

// Readable reports whether fields of files can be read as values of a type.
func Readable(t types.Type) bool {
	switch t.Kind {
	case types.Bool, types.BigInt, types.Double, types.Text, types.Date, types.Timestamp:
		return t == types.Of(t.Kind)
	case types.Decimal:
		return t.Precision >= 1 && t.Precision <= types.MaxPrecision && t.Scale <= t.Precision
	}
	return false
}

// Sizes returns what is known of the table's size.
func (t *Table) Sizes() *sizes.Table {
	about := &sizes.Table{Bytes: t.Bytes, Rows: t.Rows}
	for _, c := range t.Columns {
		about.Part = append(about.Part, c.Star > 0)
	}
	return about
}

// MaxNulls bounds the texts that stand for NULL in a table, because each field is compared with all of them.
const MaxNulls = 16
