package operators

import (
	"math"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/scratch"
)

// Ordering orders rows that a [Source] reads in no order, by their first columns, NULL last.
type Ordering struct {
	x *Executor
	s *sorter
}

// NewOrdering returns an empty Ordering, which keeps at most limit bytes in memory. by is the number of columns by which it orders rows of
// the given kinds.
func NewOrdering(limit int64, disk scratch.Disk, pause func(), kinds []types.Kind, by int) *Ordering {
	x := New(nil, limit)
	x.SetScratch(disk)
	x.SetPause(pause)
	var fields []plan.Field
	var keys []sortKey
	for i, k := range kinds {
		fields = append(fields, plan.Field{Type: types.Of(k)})
		if i < by {
			keys = append(keys, sortKey{column: i})
		}
	}
	return &Ordering{x, x.newSorter(fields, len(fields), keys, 0)}
}

// Add adds all rows of a batch.
func (o *Ordering) Add(b *Batch) error {
	return o.s.add(&Batch{Columns: b.Columns, N: b.N, Sel: o.x.all(b.N)})
}

// Each ends the adding, and passes the rows to yield.
func (o *Ordering) Each(yield func(*Batch) error) error { return o.s.stream(0, math.MaxInt, yield) }

// Close drops the rows.
func (o *Ordering) Close() {
	o.s.release()
	o.x.Close()
}

// TextBatch returns a batch of texts.
func TextBatch(columns, n int) *Batch {
	b := &Batch{N: n}
	for range columns {
		b.Columns = append(b.Columns, eval.NewVector(types.Text, n))
	}
	return b
}
