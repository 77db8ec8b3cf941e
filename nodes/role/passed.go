package role

import (
	"encoding/binary"
	"errors"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
)

// Passed is what a reducer passes on to the outputs of a query whose rows it does not keep (analyses.Query.Rows):
//
//	[query, last, [column, …], rows bin]
//
// The other answers travel as replies, which are maps.
type Passed struct {
	Query   string
	Last    bool     // all rows of the query have been passed; then Columns are set
	Columns []string // of the query
	Rows    []byte   // one after the other, each as its length and its ordered form (protocol.AppendOrdered)
}

// Append appends the wire form.
func (p *Passed) Append(b []byte) []byte {
	b = wire.AppendArray(b, 4)
	b = wire.AppendString(b, p.Query)
	b = wire.AppendBool(b, p.Last)
	b = wire.AppendArray(b, len(p.Columns))
	for _, c := range p.Columns {
		b = wire.AppendString(b, c)
	}
	return wire.AppendBin(b, p.Rows)
}

// IsPassed reports whether a message is a Passed, and not a reply.
func IsPassed(payload []byte) bool {
	d := wire.NewReader(payload)
	return d.IsArray()
}

// ReadPassed reads what Append wrote. Rows are a view into payload.
func ReadPassed(payload []byte) (p Passed, err error) {
	d := wire.NewReader(payload)
	d.ArrayOf(4)
	p.Query, p.Last = d.String(), d.Bool()
	n := d.Array()
	if d.Err() == nil && n > protocol.MaxColumns {
		d.Fail("%d columns", n)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		p.Columns = append(p.Columns, d.String())
	}
	p.Rows = d.Bytes()
	if err := d.Done(); err != nil {
		return p, fmt.Errorf("rows of an answer: %w", err)
	}
	return p, nil
}

var errCutRow = errors.New("rows of an answer end within a row")

// AppendRow appends a row to rows.
func AppendRow(rows, row []byte) []byte {
	return append(binary.AppendUvarint(rows, uint64(len(row))), row...)
}

// CutRow cuts off the first row.
func CutRow(rows []byte) (row, rest []byte, err error) {
	n, k := binary.Uvarint(rows)
	if k <= 0 || n > uint64(len(rows)-k) {
		return nil, nil, errCutRow
	}
	return rows[k : k+int(n) : k+int(n)], rows[k+int(n):], nil
}
