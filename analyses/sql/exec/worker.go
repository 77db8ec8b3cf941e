package exec

import (
	"errors"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
)

// worker computes a leaf.
type worker struct {
	*Leaf
	x      *operators.Executor // has computed the right sides of joins and the queries; nil if there are none
	meter  *eval.Meter
	steps  []step
	last   *LedTo // of those with which the leaf begins; nil if there is none, or steps compute them
	ready  bool
	swaps  bool // the numbers of partners stand before the place of a row
	keys   []*eval.Program
	args   [][]*eval.Program // by aggregate
	filter []*eval.Program   // by aggregate; nil if it has no FILTER
	states []aggregate.State // by aggregate: what was added since the last settle
	in     []aggregate.Rows  // by aggregate
	held   []int64           // by aggregate, how many bytes its state has beside its groups

	shifted []shifted // by aggregate
	sums    []*sums   // of shifted

	orders []*eval.Program
	cache  eval.KeyCache
	vector []*eval.Vector // the values of keys
	whole  bool           // they are those of all rows of the batch that is grouped, and not only of a piece of it
	maker  keyMaker
	travel travelling // of a leaf that keeps parts; set with the first rows
	unique unique
	key    []byte
	row    []byte
	into   []int32
	rows   []int32 // the rows that pass the filter of an aggregate
	passed []int32 // their groups
	counts groupCounts
	sel    []int32
	pos    position
	worst  []byte
}

// step is a filter, a lookup, an UNNEST or a projection.
type step struct {
	filter  *eval.Program
	lookup  *lookup
	spread  *spread
	sel     []int32
	columns []projected // of a projection, or those that a filter computes for the projection below it
	out     []*eval.Vector
}

// prepare compiles the steps of a leaf. It also computes the right sides of their joins from the reference streams that w.x
// reads. A fork gets the steps of its joiner as given, and takes the right sides from these.
func (w *worker) prepare(given []step) (err error) {
	l, x := w.Leaf, w.x
	w.ready = true
	at := plan.LayoutOf(l.From.Fields())
	program := func(e plan.Expr) *eval.Program {
		if x == nil {
			p, fails := eval.CompileFor(e, at, w.meter)
			err = errors.Join(err, fails)
			return p
		}
		p, fails := x.Program(e, at, w.meter)
		err = errors.Join(err, fails)
		return p
	}
	late := map[int][]projected{} // by step
	for i, n := range l.Steps {
		switch n := n.(type) {
		case *Broadcast:
			var found *lookup
			var fails error
			if given != nil {
				found, fails = given[i].lookup.fork(w.meter)
			} else {
				found, fails = newLookup(n, x, w.meter)
			}
			if fails != nil {
				return fails
			}
			w.steps = append(w.steps, step{lookup: found})
			w.swaps = w.swaps || n.Swapped && n.numbered()
			at = plan.LayoutOf(n.Fields())
		case *Unnest:
			st := step{spread: &spread{of: n, meter: w.meter}}
			for _, e := range n.Lists {
				st.spread.lists = append(st.spread.lists, program(e))
			}
			at = plan.LayoutOf(n.Fields())
			w.steps = append(w.steps, st)
		case *plan.Filter:
			w.steps = append(w.steps, step{filter: program(n.Cond), columns: late[i]})
		case *plan.Project:
			st := step{out: make([]*eval.Vector, len(n.Exprs))}
			now, later, last := l.ColumnsOf(i)
			for _, k := range now {
				st.columns = append(st.columns, projected{k, program(n.Exprs[k])})
			}
			for _, k := range later {
				late[last] = append(late[last], projected{k, program(n.Exprs[k])})
			}
			at = plan.LayoutOf(n.Out)
			w.steps = append(w.steps, st)
		}
	}
	w.prepareEnd(program)
	return err
}

// prepareEnd compiles what a leaf does with the rows that come out of its steps: it groups, divides or sorts them.
func (w *worker) prepareEnd(program func(plan.Expr) *eval.Program) {
	l := w.Leaf
	if g := l.Groups; g != nil {
		for _, k := range g.Node.Keys {
			w.keys = append(w.keys, program(k))
		}
		w.held = make([]int64, len(g.Aggs))
		w.unique.off = !g.columns || !g.light()
		for i := range g.Aggs {
			x := &g.Aggs[i]
			in := aggregate.Rows{Args: make([]*eval.Vector, len(x.args)), Cell: x.cell}
			if x.of.Placed {
				in.Place = w.pos.append
			}
			var args []*eval.Program
			for _, e := range x.args {
				args = append(args, program(e))
			}
			var filter *eval.Program
			if f := x.from.Filter; f != nil {
				filter = program(f)
			}
			w.args, w.filter = append(w.args, args), append(w.filter, filter)
			w.in, w.states = append(w.in, in), append(w.states, x.state())
		}
		w.shift(program)
	}
	if l.Keep == KeepParts {
		for _, k := range l.Parts {
			w.keys = append(w.keys, program(k))
		}
	}
	if l.Best != nil {
		for _, o := range l.Best.Orders {
			w.orders = append(w.orders, program(o.X))
		}
	}
}

// settle writes the states of the worker to the table that is flushed next.
func (w *worker) settle(t *fold.Table) {
	w.worst = nil
	w.unique.settle()
	w.cache.Forget()
	for a, s := range w.states {
		s.Encode(t, w.Groups.Aggs[a].cell)
		w.held[a] = 0
	}
}

// take computes some rows.
func (w *worker) take(j *Joiner, of *columns, columns []*eval.Vector, n int) error {
	w.pos.joined = joined{}
	w.meter.Release()
	b := &operators.Batch{Columns: columns, N: n}
	if w.last == nil {
		w.sel = of.taken(w.Missing, everyRow(w.sel, n), int(w.pos.at))
		b.Sel = w.sel
		return w.after(0, j, b, columns)
	}
	passed, err := w.last.Passed(j.slices, columns, n)
	if err != nil {
		return err
	}
	w.sel = of.taken(w.Missing, append(w.sel[:0], passed...), int(w.pos.at))
	if b.Sel = w.sel; len(b.Sel) == 0 {
		return nil
	}
	return w.after(w.led, j, b, columns)
}

func everyRow(sel []int32, n int) []int32 {
	sel = sel[:0]
	for i := range n {
		sel = append(sel, int32(i))
	}
	return sel
}

// after computes the steps from index i on for the rows of a batch, and keeps the rows that remain. A step whose values do not fit the
// memory is computed for some of the rows at a time, and so is all behind it. below are the columns below the projection before the step.
func (w *worker) after(i int, j *Joiner, b *operators.Batch, below []*eval.Vector) error {
	if i == len(w.steps) {
		return w.keepThem(j, b)
	}
	st := &w.steps[i]
	further := func(b *operators.Batch) error {
		st.sel = everyRow(st.sel, b.N)
		b.Sel = st.sel
		return w.after(i+1, j, b, b.Columns)
	}
	return b.Pieces(func(b *operators.Batch) error {
		switch {
		case st.lookup != nil:
			return st.lookup.probe(b, &w.pos.joined, further)
		case st.spread != nil:
			return st.spread.rows(b, &w.pos.joined, further)
		case st.filter == nil:
			if err := w.project(j, st.columns, st.out, b, b.Columns); err != nil {
				return err
			}
			columns := b.Columns
			b.Columns = st.out
			return w.after(i+1, j, b, columns)
		}
		v, err := w.compute(j, st.filter, b)
		if err != nil {
			return err
		}
		if b.Sel = operators.Passing(b.Sel[:0], v, b.Sel); len(b.Sel) == 0 {
			return nil
		}
		return b.Pieces(func(b *operators.Batch) error {
			if err := w.project(j, st.columns, b.Columns, b, below); err != nil {
				return err
			}
			return w.after(i+1, j, b, below)
		})
	})
}

// keepThem keeps the rows that all steps have left.
func (w *worker) keepThem(j *Joiner, b *operators.Batch) error {
	switch w.Keep {
	case KeepGroups:
		return w.group(j.tables[w.Table:], b)
	case KeepBest:
		return b.Pieces(func(b *operators.Batch) error { return w.keepBest(j.tables[w.Table], b) })
	case KeepDistinct:
		return w.keepDistinct(j.tables[w.Table], b)
	case KeepParts:
		return b.Pieces(func(b *operators.Batch) error { return w.keepParts(j.tables[w.Table], b) })
	}
	return w.keepRows(j, b)
}

// compute computes an expression. If the leaf wants only the first rows, it keeps a failing row as a failed row, and drops
// the rows after it. Whether that row is among the first is known only when the rows of all joiners are merged.
func (w *worker) compute(j *Joiner, p *eval.Program, b *operators.Batch) (*eval.Vector, error) {
	v, err := operators.Compute(p, b)
	e := (*eval.Error)(nil)
	if !w.firstRows() || !errors.As(err, &e) {
		return v, err
	}
	w.key = append(w.pos.append(w.key[:0], e.Row), rowFailed)
	t := j.tables[w.Table]
	t.PutLeast(t.Row(t.Key()), 0, protocol.AppendFailure(fold.AppendText(w.row[:0], w.key), j.located(err, j.pos)))
	b.UpTo(err)
	return operators.Compute(p, b)
}
