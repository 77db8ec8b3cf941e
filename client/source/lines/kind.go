package lines

import (
	"bytes"
	"errors"
	"io"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/rows/csv"
)

// Kind is how lines are rows.
type Kind struct {
	Reads, Unit string // for errors: what is read, and what each line should be

	// Keys returns the keys of a line, in its order. An error says that the line is no row.
	Keys func(line []byte) ([]string, error)
	// Row returns what takes columns out of lines.
	Row func(columns []csv.Column) Row
}

// Row takes columns out of lines.
type Row interface {
	// Read sets the field of each column that the line has, nil for NULL, and has for these, which begins empty. Fields are valid until the
	// next call. An error says that the line is no row, and why.
	Read(line []byte, fields [][]byte, has []bool) error
}

var errNoKeys = errors.New("no line at its beginning has a key")

// Columns implements format.Format.
func (k *Kind) Columns(in *format.File, n int) (c format.Columns, err error) {
	begin, err := k.beginning(in.Reader, n)
	if err != nil {
		return c, err
	}
	in.Reader = io.MultiReader(bytes.NewReader(begin), in.Reader)
	all := [][]byte{begin}
	if in.Pieces != nil {
		for _, p := range in.Pieces() {
			all = append(all, p.Lines)
		}
	}
	if c.Keys = k.keys(all); len(c.Keys) == 0 {
		return c, errNoKeys
	}
	return c, nil
}

// Cut implements format.Format.
func (k *Kind) Cut(in *format.File, want *format.Want) (format.Cutter, error) {
	if want.Columns == nil {
		return nil, format.ErrNoColumns
	}
	cut := k.NewCutter(in, want.Columns, want.Comma, want.ChunkBytes, want.MaxRecord)
	cut.LeaveRoom(want.Room)
	return cut, nil
}

// keys returns the keys of the rows in pieces of a file, in the order in which they are found. Lines that are no rows are skipped.
func (k *Kind) keys(pieces [][]byte) (keys []string) {
	seen := map[string]bool{}
	end, _ := k.End(pieces[0])
	for line := range bytes.SplitSeq(bytes.Join(pieces, []byte{'\n'}), []byte{end}) {
		here, err := k.Keys(bytes.TrimPrefix(line, []byte("\ufeff")))
		if err != nil {
			continue
		}
		for _, key := range here {
			if !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}
