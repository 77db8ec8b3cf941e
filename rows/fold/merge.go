package fold

import (
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
	t.mergeSome(b, 0, b.Rows())
	return t.err
}

// mergeSome adds some rows of a partial.
func (t *Table) mergeSome(b *batch.Batch, from, to int) {
	t.merged += to - from
	for from < to && t.err == nil {
		from += t.mergeRows(b, from, min(mergeBlock, to-from))
	}
}

// mergeRows adds n rows of a partial, or fewer if their keys are long, and returns how many.
func (t *Table) mergeRows(b *batch.Batch, from, n int) int {
	progress.Mark()
	n, err := t.gatherKeys(b, from, n)
	if err != nil {
		t.fail(fmt.Errorf("merge into %s: %w: %w", t.spec.Name, ErrMalformed, err))
		return n
	}
	if t.found = t.found[:0]; t.mode == looks {
		t.lookUp(n)
	} else {
		t.push(n)
	}
	for i := range t.aggs {
		if err := t.mergeColumn(b, t.spec.keyColumns()+i, &t.aggs[i], from); err != nil {
			t.fail(fmt.Errorf("merge into %s: aggregate %s: %w", t.spec.Name, t.aggs[i].agg.Name, err))
			break
		}
	}
	return n
}

// gatherKeys makes the keys of n rows of a partial, or of fewer, and returns of how many.
func (t *Table) gatherKeys(b *batch.Batch, from, n int) (int, error) {
	src := &t.source
	src.first, src.sel = from, nil
	for k, key := range t.spec.Keys {
		c := &src.columns[k]
		if key.Kind == KeyInt {
			c.decoded = b.Ints(k).AppendRows(c.decoded[:0], from, n)
			c.ints = c.decoded
		} else {
			c.texts, c.strings = b.Texts(k), nil
		}
	}
	if src.nulls = src.nulls[:0]; t.spec.Nulls {
		column := b.Ints(len(t.spec.Keys))
		if v, all := column.Const(); !all || v != 0 {
			src.nulls = column.AppendRows(src.nulls, from, n)
			for _, nulls := range src.nulls {
				if uint64(nulls)>>len(t.spec.Keys) != 0 {
					return n, fmt.Errorf("%#x says which of %d keys are NULL", nulls, len(t.spec.Keys))
				}
			}
		}
	}
	return t.query.gather(t.key, src, n), nil
}

// lookUp finds or adds the rows of the first n keys of t.query, and appends them to t.found.
func (t *Table) lookUp(n int) {
	t.indexed()
	before, q := t.index.len(), &t.query
	q.hashAll(n)
	if q.width > 0 && before+n <= MaxRows && (t.bound == 0 || t.index.held()+n*q.width <= t.bound) {
		t.found = t.index.rowsOf(q, t.found)
		t.addCells(t.index.len() - before)
		return
	}
	t.index.prefetch(q)
	for i := range n {
		key := q.key(i)
		row, slot, found := t.index.search(q, i, key)
		if !found && t.roomFor(key) {
			row = t.index.add(key, q.hash[i], slot)
		}
		t.found = append(t.found, uint32(row))
	}
	t.addCells(t.index.len() - before)
}

// push adds rows with the first n keys of t.query without a look-up, and appends them to t.found.
func (t *Table) push(n int) {
	before, row, flat := t.index.len(), 0, &t.index.flat
	if all := t.query.keys; flat.width > 0 && t.room(n) && (t.bound == 0 || t.index.held()+len(all) <= t.bound) {
		flat.pushAll(all[:n*flat.width])
		for i := range n {
			t.found = append(t.found, uint32(before+i))
		}
		t.addCells(n)
		return
	}
	for i := range n {
		if key := t.query.key(i); t.roomFor(key) {
			row = t.index.len()
			t.index.push(key)
		}
		t.found = append(t.found, uint32(row))
	}
	t.addCells(t.index.len() - before)
}

func (t *Table) mergeColumn(b *batch.Batch, field int, c *column, from int) error {
	if c.agg.Kind == Sum {
		t.values = b.Ints(field).AppendRows(t.values[:0], from, len(t.found))
		return t.mergeSums(c.sum)
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

// mergeSums adds t.values to the sums at a place of the rows of t.found.
func (t *Table) mergeSums(at int) error {
	overflow := int64(0)
	for i, row := range t.found {
		cell, v := &t.sums.from(int(row), at)[0], t.values[i]
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
