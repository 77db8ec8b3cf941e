package analyses

import (
	"fmt"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

// Columns returns columns for Stream.Columns that every file must have.
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

// CheckHeader returns what is wrong with the header of a file of a stream. It accepts any header for an unknown stream, which
// other checks refuse.
func (a *Analysis) CheckHeader(stream string, header []byte) error {
	i := a.StreamIndex(stream)
	if i < 0 {
		return nil
	}
	_, err := a.Streams[i].Mapping(header)
	return err
}

// RowParser returns the function of NewParser. Without a NewParser, it returns a function that reads every column as the
// stream's Schema says. The engine calls RowParser and never NewParser itself.
func (a *Analysis) RowParser(args Args, stream int, file File, b *batch.Builder) (func(fields [][]byte) error, error) {
	if a.NewParser != nil {
		return a.NewParser(args, stream, file, b)
	}
	return bySchema(&a.Streams[stream], b), nil
}

// bySchema makes one function per column, once per file, so rows are parsed without looking at the schema.
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

// byKind returns the function that appends a field to column i. A field of a column that the file lacks counts as an empty
// text, and is an error in a column of numbers.
func byKind(name string, kind batch.Kind, b *batch.Builder, i int) func([]byte) error {
	switch kind {
	case batch.Int:
		c := b.Int(i)
		return func(p []byte) error {
			v, ok := csv.ParseInt(p)
			if !ok {
				return BadField(name, p, "an integer")
			}
			c.Append(v)
			return nil
		}
	case batch.Float:
		c := b.Float(i)
		return func(p []byte) error {
			v, ok := csv.ParseFloat(p)
			if !ok {
				return BadField(name, p, "a number")
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

// maxQuoted bounds how many bytes of a field a reason quotes, because a field may have megabytes.
const maxQuoted = 40

// BadField makes the error with which a parser's function rejects a row. It says that a column is empty, or that its value is
// not of the wanted form ("an integer"), and quotes the beginning of the value.
func BadField(column string, value []byte, want string) error {
	if len(value) == 0 {
		return fmt.Errorf("%s is empty", column)
	}
	return fmt.Errorf("%s %q is not %s", column, value[:min(len(value), maxQuoted)], want)
}
