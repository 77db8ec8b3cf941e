package operators

import (
	"errors"
	"hash/maphash"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
)

// dedup passes on the first of several rows with equal keys, as soon as it comes. Once the keys do not fit the memory, it keeps those
// that it has, and drops rows that have one of them. All others go to partitions, which are searched one after the other; the first row
// of each key then comes in its place.
type dedup struct {
	x      *Executor
	fields []plan.Field // of the rows
	keys   func(b *Batch) ([]*eval.Vector, error)
	to     sink
	depth  int
	seen   *index

	parts *partitions // nil as long as all keys are in memory
	n     int64       // rows so far, once there are partitions
}

// newDedup returns a dedup of rows with some fields. keys computes the keys of a batch, and narrows the batch at an error.
func (x *Executor) newDedup(fields []plan.Field, keys func(b *Batch) ([]*eval.Vector, error), to sink) *dedup {
	d := &dedup{x: x, fields: fields, keys: keys, to: to, seen: x.newIndex()}
	d.seen.soft = true
	return d
}

func (d *dedup) release() {
	d.seen.release()
	d.parts.release()
}

// add takes the selected rows of a batch.
func (d *dedup) add(b *Batch) error {
	keys, failed := d.keys(b)
	if keys == nil {
		return failed
	}
	if d.parts == nil {
		sel, err := d.seen.fresh(keys, b.Sel)
		if err == nil && d.seen.full() {
			d.parts, err = d.x.newPartitions(widened(d.fields), fanOut, maphash.MakeSeed())
		}
		if err != nil {
			return err
		}
		return handOn(b, b.Columns, sel, failed, d.to)
	}
	if err := d.move(b, keys, numbered(b, &d.n)); err != nil {
		return err
	}
	return failed
}

// move adds rows to the partitions, but for those whose keys were seen.
func (d *dedup) move(b *Batch, keys []*eval.Vector, numbers *eval.Vector) error {
	part := *b
	part.Sel = nil
	for _, i := range b.Sel {
		d.seen.row(keys, i)
		if _, known := d.seen.ids[string(d.seen.key)]; !known {
			part.Sel = append(part.Sel, i)
		}
	}
	return d.parts.add(widen(&part, numbers), func(row int32) []byte {
		d.seen.row(keys, row)
		return d.seen.key
	})
}

// end must be called after the last row, with the error that ended the rows, or nil.
func (d *dedup) end(failed error) error {
	if d.parts == nil {
		return failed
	}
	if e := (*values.Error)(nil); failed != nil && !errors.As(failed, &e) {
		return failed
	}
	d.seen.release()
	d.seen = d.x.newIndex()
	last := &failure{}
	if failed != nil {
		last.note(failed, d.n)
	}
	return d.searched(last, func(b *Batch) error {
		of, _ := narrow(b)
		return of.Pieces(d.to)
	})
}

// searched passes on what the partitions have left over, in wide batches.
func (d *dedup) searched(failed *failure, to sink) error {
	if err := d.parts.end(); err != nil {
		return err
	}
	runs, err := d.x.newRuns(d.fields)
	defer runs.release()
	if err != nil {
		return err
	}
	for i := range d.parts.writers {
		if err := d.search(i, runs.add); err != nil {
			return err
		}
		if err := runs.next(); err != nil {
			return err
		}
	}
	return runs.stream(failed, to)
}

// search passes on the rows of a partition that are the first with their keys.
func (d *dedup) search(i int, to sink) error {
	in := d.x.newDedup(d.fields, d.keys, nil)
	in.depth = d.depth + 1
	defer in.release()
	err := d.parts.stream(i, func(wide *Batch) error {
		b, numbers := narrow(wide)
		keys, failed := in.keys(b)
		if failed != nil {
			return failed
		}
		if in.parts != nil {
			return in.move(b, keys, numbers)
		}
		sel, err := in.seen.fresh(keys, b.Sel)
		if err == nil && in.seen.full() && in.depth < deepest {
			in.parts, err = in.x.newPartitions(widened(in.fields), fanOut, maphash.MakeSeed())
		}
		if err != nil || len(sel) == 0 {
			return err
		}
		b.Sel = sel
		return to(widen(b, numbers))
	})
	if err != nil || in.parts == nil {
		return err
	}
	in.seen.release()
	in.seen = in.x.newIndex()
	return in.searched(&failure{}, to)
}
