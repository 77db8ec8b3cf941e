package operators

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// windowing keeps the rows of a Windows. If they do not fit the memory, they wait in a file, in their order. What each call reads, with the
// number of its row, is sorted by the call's partitions and order. A call is then computed for a few partitions at a time, and its values
// are sorted by the numbers of their rows. At the end the rows and the values of all calls are read side by side.
type windowing struct {
	x      *Executor
	width  int          // columns of the input
	fields []plan.Field // of the input, then of what the calls read
	calls  []*window
	rows   *store

	base   *shelf    // the columns of the input; nil as long as rows are in memory
	sorts  []*sorter // by call: what it reads, and the number of the row
	values []*sorter // by call: the number of the row, and its value
	n      int64     // rows in base
}

func (s *windowing) release() {
	s.rows.release()
	if s.base != nil {
		s.base.release()
	}
	for _, list := range [][]*sorter{s.sorts, s.values} {
		for _, of := range list {
			of.release()
		}
	}
}

func (s *windowing) add(b *Batch) error {
	if s.base != nil {
		return s.move(b)
	}
	if err := s.rows.add(b); err != nil || !s.rows.full() {
		return err
	}
	s.base = s.x.newShelf(s.fields[:s.width])
	if err := s.base.move(); err != nil {
		return err
	}
	for _, w := range s.calls {
		s.sorts = append(s.sorts, s.sorter(w))
	}
	if err := s.rows.stream(s.move); err != nil {
		return err
	}
	s.rows.release()
	s.rows = s.x.newSpilling(s.fields)
	return nil
}

// reads returns the columns that a call reads, as indexes in the fields: the arguments, the partition, the order, and the filter.
func (w *window) reads() []int { return slices.Concat(w.argsAt, w.partitionAt, w.orderAt, w.filterAt) }

// sorter returns the sorter of what a call reads.
func (s *windowing) sorter(w *window) *sorter {
	var fields []plan.Field
	for _, at := range w.reads() {
		fields = append(fields, s.fields[at])
	}
	fields = append(fields, plan.Field{Type: types.Of(types.BigInt)})
	var keys []sortKey
	for i := range w.partitionAt {
		keys = append(keys, sortKey{column: len(w.argsAt) + i})
	}
	for i, o := range w.call.Order {
		keys = append(keys, sortKey{len(w.argsAt) + len(w.partitionAt) + i, o.Desc, o.NullsFirst})
	}
	return s.x.newSorter(fields, len(fields), keys, 0)
}

// move adds rows to the file and to the sorters.
func (s *windowing) move(b *Batch) error {
	if err := s.base.add(&Batch{Columns: b.Columns[:s.width], N: b.N, Sel: b.Sel}); err != nil {
		return err
	}
	numbers := numbered(b, &s.n)
	for i, w := range s.calls {
		part := &Batch{N: b.N, Sel: b.Sel}
		for _, at := range w.reads() {
			part.Columns = append(part.Columns, b.Columns[at])
		}
		part.Columns = append(part.Columns, numbers)
		if err := s.sorts[i].add(part); err != nil {
			return err
		}
	}
	return nil
}

// numbered returns a column with the numbers of the selected rows, from *next on.
func numbered(b *Batch, next *int64) *eval.Vector {
	v := eval.NewVector(types.BigInt, b.N)
	for _, i := range b.Sel {
		v.Ints[i] = *next
		*next++
	}
	return v
}

// finish computes the calls, and passes on the rows with their values.
func (s *windowing) finish(to sink) error {
	if s.base != nil {
		return s.merge(to)
	}
	out := &store{counted: counted{x: s.x}, n: s.rows.n, columns: slices.Clone(s.rows.columns[:s.width])}
	for _, w := range s.calls {
		if err := s.rows.hold(int64(s.rows.n) * values.Width(w.call.T.Kind)); err != nil {
			return err
		}
		v, err := w.compute(s.rows)
		if err != nil {
			return err
		}
		out.columns = append(out.columns, v)
	}
	return out.stream(to)
}

// merge is finish for rows in files.
func (s *windowing) merge(to sink) error {
	if err := s.base.end(); err != nil {
		return err
	}
	var results []sorted
	for i, w := range s.calls {
		value := []plan.Field{{Type: types.Of(types.BigInt)}, {Type: w.call.T}}
		s.values = append(s.values, s.x.newSorter(value, len(value), []sortKey{{}}, 0))
		if err := s.compute(i); err != nil {
			if errors.Is(err, ErrMemory) {
				err = fmt.Errorf("%s with OVER: %w", w.call.Func, err)
			}
			return err
		}
		s.sorts[i].release()
		r, err := s.values[i].result()
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	return s.base.stream(func(b *Batch) error {
		out := &Batch{Columns: slices.Clone(b.Columns), N: b.N, Sel: b.Sel}
		for i, r := range results {
			v := eval.NewVector(s.calls[i].call.T.Kind, b.N)
			for _, row := range b.Sel {
				p, ok, err := r.next()
				if err != nil {
					return err
				}
				if !ok {
					return fmt.Errorf("%s with OVER has fewer values than rows", s.calls[i].call.Func)
				}
				values.Copy(v, row, p.b.Columns[1], p.row)
			}
			out.Columns = append(out.Columns, v)
		}
		return to(out)
	})
}

// compute computes a call, for as many partitions at a time as take a small part of the memory together.
func (s *windowing) compute(i int) error {
	w := *s.calls[i]
	w.argsAt, w.partitionAt, w.orderAt, w.filterAt = relative(w.argsAt, w.partitionAt, w.orderAt, w.filterAt)
	of := s.sorts[i]
	rows, err := of.result()
	if err != nil {
		return err
	}
	part := s.x.newStore(of.fields)
	defer part.release()
	g := &gathering{kinds: kindsOf(of.fields), x: s.x, to: part.add}
	some := func() error { // computes the partitions that have been collected
		if err := g.flush(); err != nil || part.n == 0 {
			return err
		}
		v, err := w.compute(part)
		if err != nil {
			return err
		}
		numbers := part.columns[len(part.columns)-1]
		err = s.values[i].add(&Batch{Columns: []*eval.Vector{numbers, v}, N: part.n, Sel: s.x.all(part.n)})
		part.reset()
		return err
	}
	var last pick
	partition := of.keys[:len(w.partitionAt)]
	for {
		p, ok, err := rows.next()
		if err != nil {
			return err
		}
		if !ok {
			return some()
		}
		if (part.n >= math.MaxInt16 || part.bytes+g.bytes > s.x.limit/8) && compare(partition, last, p) != 0 {
			if err := some(); err != nil {
				return err
			}
		}
		if err := g.add(p); err != nil {
			return err
		}
		last = p
	}
}

// relative returns the places of columns that stand one after the other.
func relative(args, partition, order, filter []int) (a, p, o, f []int) {
	at := 0
	next := func(n int) (list []int) {
		for range n {
			list = append(list, at)
			at++
		}
		return list
	}
	return next(len(args)), next(len(partition)), next(len(order)), next(len(filter))
}
