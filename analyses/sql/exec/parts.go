package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// Rows that wait in the aggregators have a shorter form than keys, because nothing compares their bytes:
//
//	NULL    0x00
//	value   0x01, then
//	  BIGINT, DECIMAL, DATE, TIMESTAMP   a varint
//	  TEXT                               its length, a uvarint, and its bytes
//	  any other                          as in codec.go, after its first byte

// appendPacked appends the value of a row.
func appendPacked(b []byte, v *eval.Vector, row int32) []byte {
	switch {
	case v.IsNull(row):
		return append(b, 0)
	case v.Kind == types.Text:
		return append(binary.AppendUvarint(append(b, values.Present), uint64(len(v.Texts[row]))), v.Texts[row]...)
	case values.IsInteger(v.Kind):
		return binary.AppendVarint(append(b, values.Present), v.Ints[row])
	}
	return values.Append(b, v, row, false)
}

// cutPacked appends the value that b begins with to v, which has n rows, and returns the rest of b.
func cutPacked(v *eval.Vector, n int, b []byte) (rest []byte, err error) {
	switch {
	case len(b) == 0:
		return nil, values.ErrMalformed
	case b[0] == 0:
		if _, err = values.Cut(v, n, []byte{values.Null}); err != nil {
			return nil, err
		}
		return b[1:], nil
	case v.Kind != types.Text && !values.IsInteger(v.Kind):
		return values.Cut(v, n, b)
	}
	for len(v.Nulls) < n/64+1 {
		v.Nulls = append(v.Nulls, 0)
	}
	if v.Kind == types.Text {
		size, used := binary.Uvarint(b[1:])
		if used <= 0 || size > uint64(len(b)-1-used) {
			return nil, values.ErrMalformed
		}
		b = b[1+used:]
		v.Texts = append(v.Texts, string(b[:size]))
		return b[size:], nil
	}
	i, used := binary.Varint(b[1:])
	if used <= 0 {
		return nil, values.ErrMalformed
	}
	v.Ints = append(v.Ints, i)
	return b[1+used:], nil
}

// keepParts sends rows to the aggregators by the keys of their partitions.
func (w *worker) keepParts(t *fold.Table, b *operators.Batch) error {
	if err := w.runKeys(b); err != nil {
		return err
	}
	travels := w.beside()
rows:
	for _, i := range b.Sel {
		w.key, w.row = w.key[:0], w.row[:0]
		for _, v := range w.vector {
			if w.DropNull && v.IsNull(i) {
				continue rows
			}
			w.key = values.Append(w.key, v, i, true)
		}
		for _, c := range travels {
			if w.row = appendPacked(w.row, b.Columns[c], i); len(w.row) > FoldBytes {
				return errWide
			}
		}
		t.Row(t.Key().Text(w.key).Text(w.row))
	}
	return nil
}

// beside returns the columns that travel in addition to the key.
func (l *Leaf) beside() (columns []int) {
	keyed := map[int]bool{}
	for _, c := range l.inKey() {
		keyed[c] = true
	}
	for c, needed := range l.Needed {
		if needed && !keyed[c] {
			columns = append(columns, c)
		}
	}
	return columns
}

// waited yields the waiting rows of a source in the order in which the aggregator got them.
func (l *Leaf) waited(t *fold.Table, yield func(*operators.Batch) error) error {
	inKey, beside := l.inKey(), l.beside()
	for lo := 0; lo < t.Len(); lo += AtOnce {
		t.Pause()
		n := min(AtOnce, t.Len()-lo)
		r := &operators.Batch{N: n, Columns: make([]*eval.Vector, len(l.Fields))}
		keys := make([]*eval.Vector, len(l.Parts))
		for k, e := range l.Parts {
			keys[k] = &eval.Vector{Kind: e.Type().Kind}
			if c := inKey[k]; c >= 0 && l.Needed[c] {
				r.Columns[c] = keys[k]
			}
		}
		for _, c := range beside {
			r.Columns[c] = &eval.Vector{Kind: l.Fields[c].Type.Kind}
		}
		for i := range n {
			b, err := t.KeyText(lo+i, 0), error(nil)
			for _, v := range keys {
				if b, err = values.Cut(v, i, b); err != nil {
					return err
				}
			}
			b = t.KeyText(lo+i, 1)
			for _, c := range beside {
				if b, err = cutPacked(r.Columns[c], i, b); err != nil {
					return err
				}
			}
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// PartSource gives package operators the rows of one part of a region.
type PartSource struct {
	R      *Region
	Tables []*fold.Table // all tables of the analysis
}

func (p PartSource) Has(n plan.Node) bool { _, ok := p.R.Of[n]; return ok }

func (p PartSource) Read(n plan.Node, yield func(*operators.Batch) error) error {
	l := p.R.Sources[p.R.Of[n]]
	if l.Keep == KeepGroups {
		if p.R.Early[n] {
			return l.Groups.early(p.Tables[l.Table], yield)
		}
		return l.Groups.rows(p.Tables[l.Table:], nil, false, yield)
	}
	return l.waited(p.Tables[l.Table], yield)
}

// partBytes bounds the bytes of rows, groups and values that an aggregator keeps while it computes one part of a region.
const partBytes = 256 << 20

// settleRows is how many rows are accumulated before the sums are written to the table, so that the table can be sent.
const settleRows = 1 << 16

// FinishPart computes one part of a region, and folds its rows into the region's table.
func (s *Fragments) FinishPart(table int, tables []*fold.Table, full func()) error {
	var r *Region
	for _, g := range s.Regions {
		if g.Leaf.Table == table {
			r = g
		}
	}
	if r == nil {
		return fmt.Errorf("table %d is made of no others", table)
	}
	j := &Joiner{text: s.Text, tables: tables, Most: math.MaxInt64}
	w := &worker{Leaf: r.Leaf, meter: eval.NewMeter()}
	w.meter.Pause = tables[table].Pause
	if err := w.prepare(nil); err != nil {
		return err
	}
	t := tables[table]
	most := withinMemory(partBytes, t.Memory())
	w.meter.Limit(t.Memory())
	x := operators.New(PartSource{r, tables}, int64(most), r.Base)
	defer x.Close()
	x.SetPause(t.Pause)
	x.SetScratch(t.Scratch())
	x.Limit(t.Memory())
	settled := 0
	err := x.Each(r.Base, func(b *operators.Batch) error {
		t.Pause()
		if r.Keys > 0 {
			w.pos.groups = b.Columns[:r.Keys]
		}
		w.sel = append(w.sel[:0], b.Sel...)
		rows := &operators.Batch{Columns: b.Columns, N: b.N, Sel: w.sel}
		w.cache.Forget()
		w.meter.Release()
		if err := w.after(0, j, rows, rows.Columns); err != nil {
			return s.valueError(err)
		}
		if settled += len(b.Sel); settled >= settleRows {
			settled = 0
			w.settle(t)
			full()
		}
		return t.Err()
	})
	if errors.Is(err, operators.ErrMemory) {
		err = fmt.Errorf(
			"the rows of one part of the join by %s in one aggregator: %w; a single key that most rows have has all of them in one part",
			r.KeyNames(), err)
		return lowered(err, most, partBytes)
	}
	if err != nil {
		return s.located(err)
	}
	w.settle(t)
	return t.Err()
}

// valueError adds the place in the statement to an error about a value of a joined row.
func (s *Fragments) valueError(err error) error {
	e := (*eval.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	return syntax.NewError(s.Text, e.At, e.Message, "")
}
