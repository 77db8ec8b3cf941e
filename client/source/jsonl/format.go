package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/lines"
	"posta.dev/posta/rows/csv"
)

// ErrNotLines is wrapped by the errors for JSON that is not one object in each line.
var ErrNotLines = errors.New("no JSON Lines")

// Format implements format.Format.
type Format struct{}

func (Format) Name() string      { return "JSON Lines" }
func (Format) Endings() []string { return []string{".jsonl", ".ndjson", ".json"} }
func (Format) Anywhere() bool    { return false }

// Detect implements format.Format. JSON of another form is an error.
func (Format) Detect(in *format.File) (bool, error) {
	is, err := looks(in.Head)
	if err != nil || is || !in.Named || len(in.Head) == 0 {
		return is || in.Named, err
	}
	return false, fmt.Errorf("%w: the file does not begin with a JSON object", ErrNotLines)
}

func (Format) Columns(in *format.File, bytes int) (format.Columns, error) {
	return Lines.Columns(in, bytes)
}

func (Format) Cut(in *format.File, want *format.Want) (format.Cutter, error) {
	return Lines.Cut(in, want)
}

// Lines reads an object from each line.
var Lines = &lines.Kind{Reads: "JSON", Unit: "object",
	Keys: func(line []byte) ([]string, error) {
		o := newObject(nil)
		o.gather = true
		err := o.read(line)
		return o.keys, err
	},
	Row: func(columns []csv.Column) lines.Row { return newObject(columns) },
}

// looks reports whether a file is JSON Lines. head is its first line, or the beginning of that.
func looks(head []byte) (is bool, err error) {
	end, _ := Lines.End(head)
	line, rest, whole := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte{end})
	if len(line) < 1 {
		return false, nil
	}
	second := bytes.TrimLeft(line[1:], " \t\r")
	switch {
	case line[0] == '[' && (len(second) == 0 || strings.IndexByte(`{["]-0123456789`, second[0]) >= 0):
		return false, fmt.Errorf("%w: it is one JSON array; write one object in each line: jq -c '.[]'", ErrNotLines)
	case line[0] != '{' || len(second) > 0 && second[0] != '"' && second[0] != '}':
		return false, nil
	}
	o := newObject(nil)
	if err := o.read(line); err != nil && (whole || len(rest) > 0) {
		return false, fmt.Errorf("%w: the first line is not a whole JSON object (%w); write one object in each line, as jq -c does", ErrNotLines,
			err)
	}
	return true, nil
}

func newObject(columns []csv.Column) *object {
	return &object{tree: newTree(columns)}
}

// Read implements lines.Row.
func (o *object) Read(line []byte, fields [][]byte, has []bool) error {
	o.fields, o.taken = fields, has
	return o.read(line)
}
