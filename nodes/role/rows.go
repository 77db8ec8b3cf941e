package role

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
)

// Rows is what a parser makes of a chunk: a batch, where it came from, and the rows it had to reject.
//
//	[file str, tags […], line, rejected bin] batch…
//	[file str, tags […], line, rejected bin, [folded bin, …]]
//
// The batch takes the rest of the payload, so that it is written in place and read as a view. The second form is for rows that the parser
// has folded (analyses.Folder): a partial for each table that has rows, as a PartialEncoder makes it.
type Rows struct {
	File     analyses.File
	Line     uint64
	Rejected []byte   // partial of analyses.RejectedSpec; empty if none
	Folded   [][]byte // in place of Batch
	Batch    []byte   // wire form of package batch; empty if every row was rejected
}

// AppendRowsHead appends everything before the batch.
func AppendRowsHead(b []byte, file analyses.File, line uint64, rejected []byte) []byte {
	return appendRowsHead(wire.AppendArray(b, 4), file, line, rejected)
}

// AppendFolded appends the payload of rows that were folded.
func AppendFolded(b []byte, file analyses.File, line uint64, rejected []byte, folded [][]byte) []byte {
	b = appendRowsHead(wire.AppendArray(b, 5), file, line, rejected)
	b = wire.AppendArray(b, len(folded))
	for _, p := range folded {
		b = wire.AppendBin(b, p)
	}
	return b
}

func appendRowsHead(b []byte, file analyses.File, line uint64, rejected []byte) []byte {
	b = wire.AppendString(b, file.Name)
	b = wire.AppendArray(b, len(file.Tags))
	for _, t := range file.Tags {
		b = wire.AppendString(b, t)
	}
	b = wire.AppendUint(b, line)
	return wire.AppendBin(b, rejected)
}

// DecodeRows reads the payload. Byte slices are views into it.
func DecodeRows(p []byte) (Rows, error) {
	d := wire.NewReader(p)
	parts := d.Array()
	if parts != 4 && parts != 5 {
		d.Fail("rows of 4 or 5 parts wanted, %d found", parts)
	}
	r := Rows{File: analyses.File{Name: d.String()}}
	for n := d.Array(); n > 0; n-- {
		r.File.Tags = append(r.File.Tags, d.String())
	}
	r.Line = d.Uint()
	r.Rejected = d.Bytes()
	if parts == 4 {
		r.Batch = d.Rest()
	} else {
		for n := d.Array(); n > 0; n-- {
			r.Folded = append(r.Folded, d.Bytes())
		}
		if n := d.Len(); n > 0 {
			d.Fail("%d bytes behind what was folded", n)
		}
	}
	if err := d.Err(); err != nil {
		return Rows{}, fmt.Errorf("rows: %w", err)
	}
	return r, nil
}

// Append appends the wire form of a chunk, for parsers on nodes of their own.
func (c *Chunk) Append(b []byte) []byte {
	b = wire.AppendArray(b, 4)
	b = wire.AppendString(b, c.File)
	b = wire.AppendBin(b, c.Header)
	b = wire.AppendUint(b, c.Line)
	return wire.AppendBin(b, c.Data)
}

// DecodeChunk reads the wire form. Byte slices are views into it.
func DecodeChunk(p []byte) (*Chunk, error) {
	d := wire.NewReader(p)
	d.ArrayOf(4)
	c := &Chunk{File: d.String(), Header: d.Bytes(), Line: d.Uint(), Data: d.Bytes()}
	if err := d.Done(); err != nil {
		return nil, fmt.Errorf("chunk: %w", err)
	}
	return c, nil
}
