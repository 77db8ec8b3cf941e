package out

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"posta.dev/posta/client"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/protocol"
)

// format is a way to write answers.
type format struct {
	name  string // also the extension of its files
	whole bool   // one file can hold the answers of all queries
	named bool   // names tell columns apart, so no two may be equal
	bound bool   // its files are not packed again, and need a place where they can be read
	table func(io.Writer, *client.Table) error
}

// formats are all formats; the first one is the default.
var formats = []format{
	{name: "csv", table: CSV},
	{name: "tsv", table: func(w io.Writer, t *client.Table) error { return writeText(w, t, '\t') }},
	{name: "json", whole: true, table: func(w io.Writer, t *client.Table) error { return t.WriteJSON(w) }},
	{name: "jsonl", named: true, table: writeJSONLines},
	{name: "parquet", named: true, bound: true, table: writeParquet},
}

func formatOf(name string) *format {
	for i := range formats {
		if formats[i].name == name {
			return &formats[i]
		}
	}
	return nil
}

func names() []string {
	all := make([]string, len(formats))
	for i := range formats {
		all[i] = formats[i].name
	}
	return all
}

// bufferBytes is how many bytes are written at once.
const bufferBytes = 64 << 10

// packs are the ways to pack a file, by the end of its name.
var packs = map[string]func(io.Writer) (io.WriteCloser, error){
	".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) },
}

// packed calls write with a writer that packs what goes to w; with w itself if nothing is to be packed.
func packed(w io.Writer, pack string, write func(io.Writer) error) error {
	if pack == "" {
		return write(w)
	}
	p, err := packs[pack](w)
	if err != nil {
		return err
	}
	return errors.Join(write(p), p.Close())
}

// writeText writes a header and rows as RFC 4180 says, except that lines end in a line feed alone, and that comma is what separates
// columns. NULL is nothing at all, even if it is alone in its row, and an empty text is "": so our own reader tells them apart.
func writeText(out io.Writer, t *client.Table, comma byte) error {
	w := bufio.NewWriterSize(out, bufferBytes)
	var line []byte
	for i, column := range t.Columns {
		line = appendCell(line, i, protocol.Value{Text: column}, comma)
	}
	_, _ = w.Write(append(line, '\n')) // Flush returns the first error of all
	for row := range t.All() {
		line = line[:0]
		for i, v := range row {
			line = appendCell(line, i, v, comma)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}

// appendCell appends cell i of a row. It quotes the cell if a reader could take it for something else. That includes blanks at either end,
// because some readers drop them.
func appendCell(line []byte, i int, v protocol.Value, comma byte) []byte {
	if i > 0 {
		line = append(line, comma)
	}
	cell := v.String()
	switch {
	case v.Kind == protocol.Null:
		return line
	case cell != "" && !strings.ContainsAny(cell, "\"\r\n") && strings.IndexByte(cell, comma) < 0 && !blank(cell[0]) &&
		!blank(cell[len(cell)-1]):
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

// writeParquet writes columns with the types of the answer's.
func writeParquet(out io.Writer, t *client.Table) error {
	if err := distinct(t.Columns); err != nil {
		return err
	}
	b := bufio.NewWriterSize(out, bufferBytes)
	w := parquet.NewWriter(b, t.Columns, t.ColumnTypes())
	for row := range t.All() {
		if err := w.Row(row); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), b.Flush())
}

// CSV writes one answer as CSV.
func CSV(w io.Writer, t *client.Table) error { return writeText(w, t, ',') }
