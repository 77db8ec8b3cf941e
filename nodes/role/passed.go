package role

import (
	"encoding/binary"
	"errors"
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
)

// Passed is what a reducer passes on to the outputs of a query whose rows it does not keep (analyses.Query.Rows):
//
//	[query, last, [column, …], rows bin]
//	[query, last, [column, …], rows bin, [order, …]]      order = 4·(column+1) + 2·desc + nulls first
//
// The other answers travel as replies, which are maps.
type Passed struct {
	Query   string
	Last    bool     // all rows of the query have been passed; then Columns are set
	Columns []string // of the query
	Rows    []byte   // one after the other, each as its length and its ordered form (protocol.AppendOrderedCell)
	Order   Order    // of the query; set with Columns
}

// Order describes the cells of the rows of a query that outputs sort (analyses.Query.Order). Empty: the columns, all ascending.
type Order []analyses.Order

// Direction returns how cell i is ordered.
func (o Order) Direction(i int) protocol.Direction {
	if len(o) == 0 {
		return protocol.Direction{}
	}
	return protocol.Direction{Desc: o[i].Desc, NullsFirst: o[i].NullsFirst}
}

// Cells returns how many cells a row has before it is shown in some columns.
func (o Order) Cells(columns int) int {
	if len(o) == 0 {
		return columns
	}
	return len(o)
}

// AppendRow appends the ordered form of a row.
func (o Order) AppendRow(dst []byte, cells []protocol.Value) []byte {
	for i := range cells {
		dst = protocol.AppendOrderedCell(dst, &cells[i], o.Direction(i))
	}
	return dst
}

// ReadRow takes a row that AppendRow wrote apart, into the cells that are shown in some columns.
func (o Order) ReadRow(b []byte, columns []protocol.OrderedCell) error {
	for i := range o.Cells(len(columns)) {
		cell, rest, err := protocol.CutOrderedCell(b, o.Direction(i))
		if err != nil {
			return err
		}
		if b = rest; len(o) == 0 {
			columns[i] = cell
		} else if c := o[i].Column; c >= 0 {
			columns[c] = cell
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%d bytes behind the cells of a row", len(b))
	}
	return nil
}

// Append appends the wire form.
func (o Order) Append(b []byte) []byte {
	b = wire.AppendArray(b, len(o))
	for _, c := range o {
		n := uint64(max(c.Column, -1)+1) << 2
		if c.Desc {
			n |= 2
		}
		if c.NullsFirst {
			n |= 1
		}
		b = wire.AppendUint(b, n)
	}
	return b
}

// ReadOrder reads what Append wrote. Each of the columns is shown once.
func ReadOrder(d *wire.Reader, columns int) (o Order) {
	shown := make([]bool, columns)
	left := columns
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		x := d.Uint()
		c := analyses.Order{Column: int(min(x>>2, protocol.MaxColumns+1)) - 1, Desc: x&2 != 0, NullsFirst: x&1 != 0}
		if c.Column >= columns || c.Column >= 0 && shown[c.Column] {
			d.Fail("column %d of %d is shown twice, or there is none", c.Column, columns)
			break
		}
		if c.Column >= 0 {
			shown[c.Column] = true
			left--
		}
		o = append(o, c)
	}
	if d.Err() == nil && len(o) > 0 && left > 0 {
		d.Fail("%d of %d columns are shown nowhere", left, columns)
	}
	return o
}

// Append appends the wire form.
func (p *Passed) Append(b []byte) []byte {
	fields := 4
	if len(p.Order) > 0 {
		fields = 5
	}
	b = wire.AppendArray(b, fields)
	b = wire.AppendString(b, p.Query)
	b = wire.AppendBool(b, p.Last)
	b = wire.AppendArray(b, len(p.Columns))
	for _, c := range p.Columns {
		b = wire.AppendString(b, c)
	}
	if b = wire.AppendBin(b, p.Rows); fields == 5 {
		b = p.Order.Append(b)
	}
	return b
}

// IsPassed reports whether a message is a Passed, and not a reply.
func IsPassed(payload []byte) bool {
	d := wire.NewReader(payload)
	return d.IsArray()
}

// ReadPassed reads what Append wrote. Rows are a view into payload.
func ReadPassed(payload []byte) (p Passed, err error) {
	d := wire.NewReader(payload)
	fields := d.Array()
	if d.Err() == nil && fields != 4 && fields != 5 {
		d.Fail("%d fields", fields)
	}
	p.Query, p.Last = d.String(), d.Bool()
	n := d.Array()
	if d.Err() == nil && n > protocol.MaxColumns {
		d.Fail("%d columns", n)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		p.Columns = append(p.Columns, d.String())
	}
	if p.Rows = d.Bytes(); fields == 5 {
		p.Order = ReadOrder(&d, len(p.Columns))
	}
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
