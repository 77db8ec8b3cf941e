package aggregate

import (
	"bytes"
	"strings"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// cells holds a value for each group, NULL at first.
type cells struct {
	v       *eval.Vector
	n       int // groups
	one     *eval.Vector
	scratch []byte
}

func newCells(k types.Kind) cells { return cells{v: &eval.Vector{Kind: k}, one: &eval.Vector{Kind: k}} }

func (c *cells) Grow(groups int) (bytes int64) {
	bytes = int64(max(groups-c.n, 0)) * values.Width(c.v.Kind)
	values.Grow(c.v, c.n, groups)
	c.n = max(c.n, groups)
	return bytes
}

// reset forgets all groups.
func (c *cells) reset() {
	c.v.Reset(0)
	c.n = 0
}

// set gives a group a value, and returns how many more bytes this takes.
func (c *cells) set(g int32, from *eval.Vector, row int32) (bytes int64) {
	if from.IsNull(row) {
		c.v.SetNull(g)
		return 0
	}
	c.v.Nulls[g>>6] &^= 1 << (g & 63)
	bytes = values.Beside(from, row) - values.Beside(c.v, g)
	values.Set(c.v, g, from, row)
	if c.v.Kind == types.Text { // the source's may be part of something large
		c.v.Texts[g] = strings.Clone(c.v.Texts[g])
	}
	return bytes
}

// decode gives a group the value that values.Append has encoded.
func (c *cells) decode(g int32, b []byte) error {
	c.one.Reset(0)
	if _, err := values.Cut(c.one, 0, b); err != nil {
		return err
	}
	c.v.Nulls[g>>6] &^= 1 << (g & 63)
	values.Copy(c.v, g, c.one, 0)
	return nil
}

// Value writes the value of a group.
func (c *cells) Value(g int32, out *eval.Vector, row int32) error {
	values.Copy(out, row, c.v, g)
	return nil
}

// placed is, of each group, whether it has a value, and the place of the row that its value is from.
type placed struct {
	found []bool
	of    [][]byte // empty if rows come in the order of their places
	buf   []byte
}

func (p *placed) grow(groups int) int64 {
	longer(&p.of, groups)
	return 25 * longer(&p.found, groups)
}

// earlier reports whether the place of a row is before that of a group's value, which is from another row.
func (p *placed) earlier(r *Rows, g, row int32) bool {
	if r.Place == nil {
		return false
	}
	p.buf = r.Place(p.buf[:0], row)
	return bytes.Compare(p.buf, p.of[g]) < 0
}

// take notes that the value of a group is from a row. It returns how many more bytes are kept.
func (p *placed) take(r *Rows, g, row int32) (bytes int64) {
	p.found[g] = true
	if r.Place != nil {
		before := len(p.of[g])
		p.of[g] = r.Place(p.of[g][:0], row)
		bytes = int64(len(p.of[g]) - before)
	}
	return bytes
}

func (p *placed) reset() {
	clear(p.of)
	p.found, p.of = p.found[:0], p.of[:0]
}

// A value with its place has the form of fold.AppendText, for the place, and then that of values.Append.
func (c *cells) appendPlaced(b []byte, place []byte, g int32) []byte {
	return values.Append(fold.AppendText(b, place), c.v, g, false)
}
