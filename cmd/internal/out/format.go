package out

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"posta.dev/posta/client"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/protocol"
)

// format is a way to write answers.
type format struct {
	name  string // also the extension of its files
	whole bool   // one file can hold the answers of all queries
	table func(io.Writer, *client.Table) error
}

// formats are all formats; the first one is the default.
var formats = []format{
	{name: "csv", table: writeCSV},
	{name: "json", whole: true, table: func(w io.Writer, t *client.Table) error { return t.WriteJSON(w) }},
	{name: "jsonl", table: writeJSONLines},
	{name: "parquet", table: writeParquet},
}

func formatOf(name string) *format {
	for i := range formats {
		if formats[i].name == name {
			return &formats[i]
		}
	}
	return nil
}

func formatNames() string {
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].name
	}
	return strings.Join(names, ", ")
}

// bufferBytes is how many bytes are written at once.
const bufferBytes = 64 << 10

// writeCSV writes a header and rows as RFC 4180 says, except that lines end in a line feed alone.
func writeCSV(out io.Writer, t *client.Table) error {
	w := bufio.NewWriterSize(out, bufferBytes)
	var line []byte
	for i, column := range t.Columns {
		line = appendCell(line, i, column, len(t.Columns))
	}
	_, _ = w.Write(append(line, '\n')) // Flush returns the first error of all
	for row := range t.All() {
		line = line[:0]
		for i, v := range row {
			line = appendCell(line, i, v.String(), len(row))
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}

// appendCell appends cell i of a row. It quotes the cell if a reader could take it for something else. That includes an empty cell alone in its row,
// because many readers skip empty lines, and blanks at either end, because some readers drop them.
func appendCell(line []byte, i int, cell string, of int) []byte {
	if i > 0 {
		line = append(line, ',')
	}
	switch {
	case cell == "" && of == 1:
		return append(line, `""`...)
	case cell == "":
		return line
	case !strings.ContainsAny(cell, "\",\r\n") && !blank(cell[0]) && !blank(cell[len(cell)-1]):
		return append(line, cell...)
	}
	line = append(line, '"')
	for {
		before, after, more := strings.Cut(cell, `"`)
		line = append(line, before...)
		if !more {
			return append(line, '"')
		}
		line = append(line, `""`...)
		cell = after
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// writeJSONLines writes an object for each row.
func writeJSONLines(out io.Writer, t *client.Table) error {
	if err := distinct(t.Columns); err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, bufferBytes)
	keys := make([][]byte, len(t.Columns))
	for i, column := range t.Columns {
		keys[i] = append(protocol.Value{Kind: protocol.Text, Text: column}.AppendJSON(nil), ": "...)
	}
	var line []byte
	for row := range t.All() {
		line = append(line[:0], '{')
		for i, v := range row {
			if i > 0 {
				line = append(line, ", "...)
			}
			line = v.AppendJSON(append(line, keys[i]...))
		}
		if _, err := w.Write(append(line, "}\n"...)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeParquet writes columns with types that hold all their values unchanged.
func writeParquet(out io.Writer, t *client.Table) error {
	if err := distinct(t.Columns); err != nil {
		return err
	}
	b := bufio.NewWriterSize(out, bufferBytes)
	w := parquet.NewWriter(b, t.Columns, t.Kinds())
	for row := range t.All() {
		if err := w.Row(row); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), b.Flush())
}

// CSV writes one answer as CSV.
func CSV(w io.Writer, t *client.Table) error { return writeCSV(w, t) }
