package operators

import (
	"fmt"
	"math"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
)

// sink takes the batches of a node.
type sink func(b *Batch) error

// store keeps rows.
type store struct {
	counted
	columns []*eval.Vector
	n       int
}

func (x *Executor) newStore(fields []plan.Field) *store {
	s := &store{counted: counted{x: x}, columns: make([]*eval.Vector, len(fields))}
	for i, f := range fields {
		s.columns[i] = &eval.Vector{Kind: f.Type.Kind}
	}
	return s
}

// newSpilling is newStore for rows that move to files when the store is full.
func (x *Executor) newSpilling(fields []plan.Field) *store {
	s := x.newStore(fields)
	s.soft = true
	return s
}

// reset drops the rows.
func (s *store) reset() {
	s.release()
	s.n = 0
	for i, c := range s.columns {
		if c != nil {
			s.columns[i] = &eval.Vector{Kind: c.Kind}
		}
	}
}

// add keeps the selected rows of a batch. A column that is nil in the batch is nil here.
func (s *store) add(b *Batch) error {
	if len(b.Sel) > math.MaxInt32-s.n {
		return fmt.Errorf("more than %d rows: %w", math.MaxInt32, ErrMemory)
	}
	bytes := int64(0)
	for i := range s.columns {
		switch {
		case b.Columns[i] == nil && s.n > 0 && s.columns[i] != nil:
			return fmt.Errorf("column %d is missing in a later batch", i)
		case b.Columns[i] == nil:
			s.columns[i] = nil
		case s.columns[i] != nil:
			bytes += values.AppendRows(s.columns[i], s.n, b.Columns[i], b.Sel)
		}
	}
	s.n += len(b.Sel)
	return s.hold(bytes)
}

// batchRows is how many rows a kept node passes on at a time. It is a multiple of 64, so that bitmaps of NULLs are cut at
// words.
const batchRows = 4096

// stream passes the rows on.
func (s *store) stream(to sink) error {
	for lo := 0; lo < s.n; lo += batchRows {
		n := min(batchRows, s.n-lo)
		b := &Batch{Columns: make([]*eval.Vector, len(s.columns)), N: n, Sel: s.x.all(n)}
		for i, c := range s.columns {
			if c != nil {
				b.Columns[i] = values.Window(c, lo, lo+n)
			}
		}
		if err := to(b); err != nil {
			return err
		}
	}
	return nil
}

// order passes the rows on in another order.
func (s *store) order(rows []int32, to sink) error {
	for lo := 0; lo < len(rows); lo += batchRows {
		part := rows[lo:min(lo+batchRows, len(rows))]
		b := &Batch{Columns: make([]*eval.Vector, len(s.columns)), N: len(part), Sel: s.x.all(len(part))}
		for i, c := range s.columns {
			if c != nil {
				b.Columns[i] = values.Gather(c, part)
			}
		}
		if err := to(b); err != nil {
			return err
		}
	}
	return nil
}
