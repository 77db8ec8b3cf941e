package fold

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/progress"
)

// mergeBlock is how many rows are looked up before their cells are added, aggregate by aggregate. Its rows fit in the
// first-level cache. It also bounds memory, because a payload can announce many rows in few bytes.
const mergeBlock = 1024

// Merge adds the rows of a partial, which it does not keep. After an error the table must not be used (see [Table.Err]): part
// of the payload may have been added, so the table's session fails.
func (t *Table) Merge(payload []byte) error {
	if t.err != nil {
		return t.err
	}
	b, err := batch.Decode(payload, t.fields)
	if err != nil {
		t.fail(fmt.Errorf("merge into %s: %w: %w", t.spec.Name, ErrMalformed, err))
		return t.err
	}
	if t.mode != looks && !t.room(b.Rows()) {
		return t.err
	}
	for from := 0; from < b.Rows() && t.err == nil; from += mergeBlock {
		t.mergeRows(b, from, min(from+mergeBlock, b.Rows()))
	}
	return t.err
}

func (t *Table) mergeRows(b *batch.Batch, from, to int) {
	progress.Mark()
	if t.mode == looks {
		t.lookUp(b, from, to)
	} else {
		t.appendKeysOf(b, from, to)
	}
	for i := range t.aggs {
		if err := t.mergeColumn(b, len(t.spec.Keys)+i, &t.aggs[i], from); err != nil {
			t.fail(fmt.Errorf("merge into %s: aggregate %s: %w", t.spec.Name, t.aggs[i].agg.Name, err))
			return
		}
	}
}

// keyColumn is one key of a batch: ints or texts, by the spec.
type keyColumn struct {
	number bool
	ints   batch.Ints
	texts  batch.Texts
}

func (t *Table) keyColumns(b *batch.Batch) (columns [MaxKeys]keyColumn) {
	for k, key := range t.spec.Keys {
		if key.Kind == KeyInt {
			columns[k] = keyColumn{number: true, ints: b.Ints(k)}
		} else {
			columns[k] = keyColumn{texts: b.Texts(k)}
		}
	}
	return columns
}

// lookUp finds or adds the rows of the keys from..to and puts them into t.found. It makes all keys first and looks them up
// together: see query.
func (t *Table) lookUp(b *batch.Batch, from, to int) {
	t.indexed()
	all := t.keyColumns(b)
	columns := all[:len(t.spec.Keys)]
	q := &t.query
	q.reset()
	for i := from; i < to; i++ {
		q.keys = t.appendKeyOf(q.keys, columns, i)
		q.close()
	}
	t.index.prefetch(q)
	t.found = t.found[:0]
	for i := range q.ends {
		key := q.key(i)
		row, ok := t.index.confirm(q, i, key)
		if !ok {
			row = t.rowOf(key)
		}
		t.found = append(t.found, uint32(row))
	}
}

// appendKeyOf appends the key bytes of row i of a batch. It does what KeyBuilder does without KeyBuilder's checks, because the
// batch has the columns of the spec.
func (t *Table) appendKeyOf(b []byte, columns []keyColumn, i int) []byte {
	var fixed [MaxKeys * intPlace]byte
	place := len(b)
	b = append(b, fixed[:t.key.fixed]...)
	for k := range columns {
		c := &columns[k]
		if c.number {
			binary.LittleEndian.PutUint64(b[place:], uint64(c.ints.At(i)))
			place += intPlace
			continue
		}
		v := c.texts.At(i)
		binary.LittleEndian.PutUint32(b[place:], uint32(len(v)))
		place += textPlace
		b = append(b, v...)
	}
	return b
}

// appendKeysOf adds rows with the keys from..to, without a look-up, and puts them into t.found.
func (t *Table) appendKeysOf(b *batch.Batch, from, to int) {
	all := t.keyColumns(b)
	columns := all[:len(t.spec.Keys)]
	q := &t.query
	q.reset()
	t.found = t.found[:0]
	for i := from; i < to; i++ {
		t.found = append(t.found, uint32(t.index.len()))
		q.keys = t.appendKeyOf(q.keys[:0], columns, i)
		t.index.push(q.keys)
	}
	t.addCells(to - from)
}

func (t *Table) mergeColumn(b *batch.Batch, field int, c *column, from int) error {
	if c.agg.Kind == Sum {
		return mergeSums(&c.sums, b.Ints(field), t.found, from)
	}
	cells := b.Texts(field)
	for i, row := range t.found {
		if err := c.mergeCell(int(row), cells.At(from+i)); err != nil {
			if !errors.Is(err, ErrOverflow) {
				err = fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			return fmt.Errorf("row %d: %w", from+i, err)
		}
	}
	return nil
}

func mergeSums(sums *cells[int64], ints batch.Ints, found []uint32, from int) error {
	overflow := int64(0)
	for i, row := range found {
		cell, v := sums.at(int(row)), ints.At(from+i)
		r := *cell + v
		overflow |= (*cell ^ r) & (v ^ r)
		*cell = r
	}
	if overflow < 0 {
		return ErrOverflow
	}
	return nil
}

func (c *column) mergeCell(row int, p []byte) error {
	switch c.agg.Kind {
	case Exact:
		r := wire.NewReader(p)
		if err := c.exacts.at(row).Read(&r); err != nil {
			return err
		}
		return r.Done()
	case Least:
		return c.mergeLeast(row, p)
	case Counts:
		return c.counts[row].read(p, &c.free)
	case Histogram:
		return c.histograms[row].read(p, c.agg.N, &c.free)
	case Smallest:
		return c.smallest[row].read(p, c.agg.N)
	}
	switch {
	case len(p) == 0:
		return nil
	case p[0] != textPresent:
		return fmt.Errorf("a text cell starts with 0x%02x", p[0])
	case uint64(len(p)) >= math.MaxUint32:
		return fmt.Errorf("a text of %d bytes", len(p))
	case c.agg.Kind == MinText:
		c.texts.putLess(row, p[1:], 1)
	default:
		c.texts.putLess(row, p[1:], -1)
	}
	return nil
}

func (c *column) mergeLeast(row int, p []byte) error {
	r := wire.NewReader(p)
	n := r.Array()
	if n > c.agg.N {
		return fmt.Errorf("%d texts where at most %d are kept", n, c.agg.N)
	}
	for range n {
		v := r.Bytes()
		if r.Err() != nil {
			break
		}
		c.texts.putLeast(row, v)
	}
	return r.Done()
}
