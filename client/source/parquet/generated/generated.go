// Package generated makes Parquet of the data that package internal/gen writes as CSV.
package generated

import (
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

// Parquet returns a Dir in which the files of data become Parquet with the same rows.
func Parquet(dir gen.Dir, data string) (gen.Dir, error) {
	tables := gen.Schema(data)
	if tables == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoTypes, data)
	}
	return parquetDir{dir, tables}, nil
}

type parquetDir struct {
	gen.Dir
	tables []gen.Table
}

// Create implements Dir for names of CSV files.
func (d parquetDir) Create(name string) (io.WriteCloser, error) {
	for _, t := range d.tables {
		if t.File+".csv" == name {
			f, err := d.Dir.Create(t.File + ".parquet")
			if err != nil {
				return nil, err
			}
			return newParquetFile(f, t.Columns)
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNoTypes, name)
}

// parquetFile takes CSV. Every write must end with a line, as those of generators do.
type parquetFile struct {
	io.Closer
	w      *parquet.Writer
	of     []types.Type
	row    []protocol.Value
	header bool // it was read
}

func newParquetFile(f io.WriteCloser, columns []gen.Column) (*parquetFile, error) {
	x := &parquetFile{Closer: f, row: make([]protocol.Value, len(columns))}
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
			return nil, errors.Join(err, f.Close())
		}
		names, x.of = append(names, c.Name), append(x.of, t)
		narrow = append(narrow, map[string]int64{"SMALLINT": 16, "INTEGER": 32}[kind])
	}
	x.w = parquet.NewWriter(f, names, x.of)
	x.w.Group = parquetGroup
	for i, bits := range narrow {
		if bits > 0 {
			x.w.Narrow(i, bits)
		}
	}
	return x, nil
}

// Write converts lines.
func (x *parquetFile) Write(p []byte) (int, error) {
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
			x.row[i] = protocol.Value{Text: field}
			if x.of[i].Kind == types.BigInt {
				n, err := strconv.ParseInt(field, 10, 64)
				if err != nil {
					return 0, err
				}
				x.row[i] = protocol.Value{Kind: protocol.Int, Int: n}
			} else if field == "" && !quoted {
				x.row[i] = protocol.Value{Kind: protocol.Null}
			}
		}
		if err := x.w.Row(x.row); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// unquoted splits a text after its first quote into what is quoted and what follows the last quote.
func unquoted(p string) (field, rest string) {
	end := strings.IndexByte(p, '"')
	for end+1 < len(p) && p[end+1] == '"' {
		end += 2 + strings.IndexByte(p[end+2:], '"')
	}
	return strings.ReplaceAll(p[:end], `""`, `"`), p[end+1:]
}

// Close implements io.Closer.
func (x *parquetFile) Close() error { return errors.Join(x.w.Close(), x.Closer.Close()) }
