package analyses

import (
	"fmt"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

// Columns returns columns that every file has to have, for Stream.Columns.
func Columns(names ...string) []Column {
	columns := make([]Column, len(names))
	for i, n := range names {
		columns[i].Name = n
	}
	return columns
}

// Mapping finds the columns of the stream in the header of a file; the error names those that the file lacks.
func (s *Stream) Mapping(header []byte) (csv.Mapping, error) {
	h, err := csv.ParseHeader(header, s.Comma)
	if err != nil {
		return csv.Mapping{}, err
	}
	return h.Find(s.Columns)
}

// CheckHeader returns what is wrong with the header of a file of a stream. A stream that a does not have is for others to refuse.
func (a *Analysis) CheckHeader(stream string, header []byte) error {
	i := a.StreamIndex(stream)
	if i < 0 {
		return nil
	}
	_, err := a.Streams[i].Mapping(header)
	return err
}

// RowParser returns what NewParser makes, or where there is none the parser that takes every column of a row for what the
// stream's Schema says it is. The engine calls this and never NewParser itself.
func (a *Analysis) RowParser(args Args, stream int, file File, b *batch.Builder) (func(fields [][]byte) error, error) {
	if a.NewParser != nil {
		return a.NewParser(args, stream, file, b)
	}
	return bySchema(&a.Streams[stream], b), nil
}

// bySchema has a function per column, made once per file: a row costs their calls, and no look at the schema.
func bySchema(s *Stream, b *batch.Builder) func([][]byte) error {
	columns := make([]func([]byte) error, len(s.Schema))
	for i, f := range s.Schema {
		columns[i] = byKind(s.Columns[i].Name, f.Kind, b, i)
	}
	return func(fields [][]byte) error {
		for i, add := range columns {
			if err := add(fields[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// byKind returns what appends a field to column i. A column that the file lacks is an empty text, and no number.
func byKind(name string, kind batch.Kind, b *batch.Builder, i int) func([]byte) error {
	switch kind {
	case batch.Int:
		c := b.Int(i)
		return func(p []byte) error {
			v, ok := csv.ParseInt(p)
			if !ok {
				return BadField(name, p, "integer")
			}
			c.Append(v)
			return nil
		}
	case batch.Float:
		c := b.Float(i)
		return func(p []byte) error {
			v, ok := csv.ParseFloat(p)
			if !ok {
				return BadField(name, p, "number")
			}
			c.Append(v)
			return nil
		}
	case batch.Dict:
		return taking(b.Dict(i).Append)
	default:
		return taking(b.Text(i).Append)
	}
}

func taking(add func([]byte)) func([]byte) error {
	return func(p []byte) error {
		add(p)
		return nil
	}
}

// maxQuoted bounds what a reason quotes of a field, which may be megabytes of anything.
const maxQuoted = 40

// BadField is why a row is rejected, to be returned by what NewParser makes: that a column is empty, or that it is not what is
// wanted ("integer"), with the beginning of what it is.
func BadField(column string, value []byte, want string) error {
	if len(value) == 0 {
		return fmt.Errorf("%s is empty", column)
	}
	return fmt.Errorf("%s %q is no %s", column, value[:min(len(value), maxQuoted)], want)
}
