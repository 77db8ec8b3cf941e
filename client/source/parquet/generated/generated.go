// Package generated makes Parquet and JSON Lines of the data that package internal/gen writes as CSV.
package generated

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/protocol"
)

// ErrNoTypes reports data whose columns have no types in advance, which only CSV can hold.
var ErrNoTypes = errors.New("this data has quirks that only CSV can hold")

// parquetGroup is how many bytes of values a row group may have. Even of hits, a row group then has as many rows as the writer allows.
const parquetGroup = 128 << 20

// Formats in which data can be made.
const (
	CSV     = "csv"
	Parquet = "parquet"
	JSONL   = "jsonl"
)

// Formats returns the formats, the default first.
func Formats() []string { return []string{CSV, Parquet, JSONL} }

// In returns a Dir in which the files of data have a format and the rows that they have as CSV.
func In(format string, dir gen.Dir, data string) (gen.Dir, error) {
	if format == CSV {
		return dir, nil
	}
	tables := gen.Schema(data)
	if tables == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoTypes, data)
	}
	return converting{dir, format, tables}, nil
}

type converting struct {
	gen.Dir
	format string
	tables []gen.Table
}

// Create implements Dir for names of CSV files.
func (d converting) Create(name string) (io.WriteCloser, error) {
	for _, t := range d.tables {
		if t.File+".csv" != name {
			continue
		}
		f, err := d.Dir.Create(t.File + "." + d.format)
		if err != nil {
			return nil, err
		}
		x, err := newConverted(f, t.Columns, d.format)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return x, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNoTypes, name)
}

// writer writes rows.
type writer interface {
	Row([]protocol.Value) error
	Close() error
}

// converted takes CSV. Every write must end with a line, as those of generators do.
type converted struct {
	to     io.Closer
	w      writer
	of     []types.Type
	row    []protocol.Value
	header bool // it was read
}

func newConverted(f io.WriteCloser, columns []gen.Column, format string) (*converted, error) {
	x := &converted{to: f, row: make([]protocol.Value, len(columns))}
	var names []string
	var narrow []int64
	for _, c := range columns {
		var args []int
		kind, digits, _ := strings.Cut(strings.TrimSuffix(c.Type, ")"), "(")
		for n := range strings.SplitSeq(digits, ",") {
			if d, err := strconv.Atoi(n); err == nil {
				args = append(args, d)
			}
		}
		t, _, err := types.Parse(kind, args, false)
		if err != nil {
			return nil, err
		}
		names, x.of = append(names, c.Name), append(x.of, t)
		narrow = append(narrow, map[string]int64{"SMALLINT": 16, "INTEGER": 32}[kind])
	}
	if format == JSONL {
		x.w = newJSONLines(f, names, x.of)
		return x, nil
	}
	w := parquet.NewWriter(f, names, x.of)
	w.Group = parquetGroup
	for i, bits := range narrow {
		if bits > 0 {
			w.Narrow(i, bits)
		}
	}
	x.w = w
	return x, nil
}

// Write converts lines.
func (x *converted) Write(p []byte) (int, error) {
	rest := string(p) // the values are parts of it
	if !x.header {
		_, rest, _ = strings.Cut(rest, "\n")
		x.header = true
	}
	for rest != "" {
		for i := range x.row {
			var field string
			quoted := rest[0] == '"'
			if quoted {
				field, rest = unquoted(rest[1:])
			} else {
				end := strings.IndexAny(rest, ",\n")
				field, rest = rest[:end], rest[end:]
			}
			rest = rest[1:]
			var err error
			if x.row[i], err = valueOf(field, quoted, x.of[i].Kind); err != nil {
				return 0, err
			}
		}
		if err := x.w.Row(x.row); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func valueOf(field string, quoted bool, kind types.Kind) (v protocol.Value, err error) {
	switch {
	case field == "" && !quoted:
		v.Kind = protocol.Null
	case kind == types.BigInt:
		v.Kind = protocol.Int
		v.Int, err = strconv.ParseInt(field, 10, 64)
	case kind == types.Double:
		v.Kind = protocol.Float
		v.Float, err = strconv.ParseFloat(field, 64)
	default:
		v.Text = field
	}
	return v, err
}

// jsonLines writes an object for each row.
type jsonLines struct {
	w    *bufio.Writer
	keys [][]byte
	of   []types.Type
	line []byte
}

func newJSONLines(w io.Writer, names []string, of []types.Type) *jsonLines {
	x := &jsonLines{w: bufio.NewWriterSize(w, 256<<10), of: of}
	for _, name := range names {
		x.keys = append(x.keys, append(protocol.Value{Text: name}.AppendJSON(nil), ':'))
	}
	return x
}

// Row implements writer. A DECIMAL is written as a number, as most programs do.
func (x *jsonLines) Row(row []protocol.Value) error {
	x.line = append(x.line[:0], '{')
	for i, v := range row {
		if i > 0 {
			x.line = append(x.line, ',')
		}
		x.line = append(x.line, x.keys[i]...)
		if x.of[i].Kind == types.Decimal && v.Kind == protocol.Text {
			x.line = append(x.line, v.Text...)
		} else {
			x.line = v.AppendJSON(x.line)
		}
	}
	_, err := x.w.Write(append(x.line, "}\n"...))
	return err
}

// Close implements writer.
func (x *jsonLines) Close() error { return x.w.Flush() }

// unquoted splits a text after its first quote into what is quoted and what follows the last quote.
func unquoted(p string) (field, rest string) {
	end := strings.IndexByte(p, '"')
	for end+1 < len(p) && p[end+1] == '"' {
		end += 2 + strings.IndexByte(p[end+2:], '"')
	}
	return strings.ReplaceAll(p[:end], `""`, `"`), p[end+1:]
}

// Close implements io.Closer.
func (x *converted) Close() error { return errors.Join(x.w.Close(), x.to.Close()) }
