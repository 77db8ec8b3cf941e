package operators

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
)

// enough is returned by a sink that needs no more rows. Each sink returns its own pointer.
type enough struct{ _ byte }

func (*enough) Error() string { return "no more rows are needed" }

// stream passes the rows of n to a sink, in their order. If a batch needs values that do not fit the memory together, the sink gets it in
// pieces. So a sink computes values before it changes anything.
func (x *Executor) stream(n plan.Node, take sink) error {
	to := func(b *Batch) error {
		if err := x.meter.Rows(len(b.Sel)); err != nil {
			return err
		}
		return b.Pieces(take)
	}
	if x.source.Has(n) {
		return x.given(n, to)
	}
	defer x.meter.Forget(x.meter.Programs()) // the programs of n are used no longer than this
	if x.uses[n] < 2 {
		return x.compute(n, to)
	}
	s := x.shared[n]
	if s == nil {
		s = x.newShelf(n.Fields())
		if err := errors.Join(x.compute(n, s.add), s.end()); err != nil {
			s.release()
			return err
		}
		x.shared[n] = s
	}
	return s.stream(to)
}

func (x *Executor) compute(n plan.Node, to sink) error {
	switch n := n.(type) {
	case *plan.Scan:
		return fmt.Errorf("nobody gives the rows of table %s", n.Table.Name)
	case *plan.Inline:
		return x.inline(n, to)
	case *plan.Filter:
		return x.filter(n, to)
	case *plan.Project:
		return x.project(n, to)
	case *plan.Unnest:
		return x.unnest(n, to)
	case *plan.Limit:
		return x.limited(n, to)
	case *plan.Sort:
		return x.sort(n, 0, math.MaxInt, 0, to)
	case *plan.Aggregation:
		return x.aggregation(n, to)
	case *plan.Windows:
		return x.windows(n, to)
	case *plan.Join:
		return x.join(n, to)
	case *plan.Distinct:
		return x.distinct(n, to)
	case *plan.SetOp:
		return x.setOp(n, to)
	}
	return fmt.Errorf("%T: %w", n, eval.ErrUnsupported)
}

// given passes on rows of the source.
func (x *Executor) given(n plan.Node, to sink) error {
	scan, isScan := n.(*plan.Scan)
	return x.source.Read(n, func(r *Batch) error {
		if len(r.Columns) != len(n.Fields()) {
			return fmt.Errorf("rows of %d columns, not %d", len(r.Columns), len(n.Fields()))
		}
		b := &Batch{Columns: r.Columns, N: r.N, Sel: x.all(r.N)}
		if isScan {
			b.File, b.Line = r.Columns[len(scan.Table.Fields)], r.Columns[len(scan.Table.Fields)+1]
		}
		return to(b)
	})
}

// collect keeps the rows of n.
func (x *Executor) collect(n plan.Node) (*store, error) {
	s := x.newStore(n.Fields())
	return s, x.stream(n, s.add)
}

// first passes on at most the first count rows.
func (x *Executor) first(n plan.Node, count int64, to sink) error {
	stop := &enough{}
	left := count
	err := x.stream(n, func(b *Batch) error {
		if int64(len(b.Sel)) > left {
			b.Sel = b.Sel[:left]
		}
		left -= int64(len(b.Sel))
		if err := to(b); err != nil {
			return err
		}
		if left == 0 {
			return stop
		}
		return nil
	})
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// maxBest bounds the LIMIT of an order up to which only about twice as many rows are kept. With a larger LIMIT, which is rare,
// all rows are kept.
const maxBest = 100_000

func (x *Executor) limited(n *plan.Limit, to sink) error {
	if n.Count == 0 {
		return nil
	}
	if s, ok := n.Input.(*plan.Sort); ok && !x.source.Has(s) && x.uses[s] < 2 && n.Count > 0 && n.Count <= maxBest && n.Offset <= maxBest {
		lo, hi := int(n.Offset), int(n.Offset+n.Count)
		return x.sort(s, lo, hi, hi, to)
	}
	skip := n.Offset
	behind := func(b *Batch) error {
		cut := min(skip, int64(len(b.Sel)))
		skip -= cut
		b.Sel = b.Sel[cut:]
		return to(b)
	}
	if n.Count < 0 {
		return x.stream(n.Input, behind)
	}
	all := n.Count + n.Offset
	if all < 0 { // the sum overflows, so no rows are cut off
		return x.stream(n.Input, behind)
	}
	return x.first(n.Input, all, behind)
}

// inline passes on the rows that stand in the statement, all in one batch.
func (x *Executor) inline(n *plan.Inline, to sink) error {
	s := x.newStore(n.Fields())
	for _, row := range n.Rows {
		programs, err := x.compileAll(row, plan.Layout{})
		if err != nil {
			return err
		}
		b := &Batch{N: 1, Sel: x.all(1)}
		values, err := evalAll(programs, b)
		if err != nil {
			return err
		}
		if err := s.add(&Batch{Columns: values, N: 1, Sel: x.all(1)}); err != nil {
			return err
		}
	}
	defer s.release()
	return s.stream(to)
}

func (x *Executor) filter(n *plan.Filter, to sink) error {
	cond, err := x.compile(n.Cond, plan.LayoutOf(n.Input.Fields()))
	if err != nil {
		return err
	}
	var kept []int32
	return x.stream(n.Input, func(b *Batch) error {
		values, failed := evalAll([]*eval.Program{cond}, b)
		if values == nil {
			return failed
		}
		kept = Passing(kept[:0], values[0], b.Sel)
		return handOn(b, b.Columns, kept, failed, to)
	})
}

// handOn passes on a batch with other columns and rows. If its rows end at an error, handOn then returns this error, unless the sink
// returns an error for the rows before it or needs no more.
func handOn(b *Batch, columns []*eval.Vector, sel []int32, failed error, to sink) error {
	if len(sel) > 0 {
		if err := to(&Batch{columns, b.N, slices.Clip(sel), b.File, b.Line}); err != nil {
			return err
		}
	}
	return failed
}

func (x *Executor) project(n *plan.Project, to sink) error {
	programs, err := x.compileAll(n.Exprs, plan.LayoutOf(n.Input.Fields()))
	if err != nil {
		return err
	}
	return x.stream(n.Input, func(b *Batch) error {
		values, failed := evalAll(programs, b)
		if values == nil {
			return failed
		}
		return handOn(b, values, b.Sel, failed, to)
	})
}
