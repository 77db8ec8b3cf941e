package exec

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
)

// MaxRowBytes bounds the bytes of unfolded rows that all joiners of a session together send to the reducer for it to keep, and so the
// reducer's memory for one session.
const MaxRowBytes = 1 << 30

const (
	// FoldBytes bounds what one process may fold of a statement's rows before the tables leave it: the bytes of the keys of a table, and of
	// the texts of each aggregate. Functions and joins may make much of a row, and until the tables leave, nobody measures them.
	FoldBytes = 256 << 20
	// BatchSteps bounds the work of functions on rows that travel together (eval.Meter.Most), because a joiner serves no other session
	// meanwhile.
	BatchSteps = 1 << 29
)

// Slice is how many rows the kernels compute at once: few enough for the results to stay in the processor's cache.
const Slice = 2048

// Joiner computes the leaves in one node.
type Joiner struct {
	text   string // text of the statement, for errors
	tables []*fold.Table
	scans  []*columns // by stream
	leaves [][]*worker
	memory int   // limits.memory; 0: no limit
	sent   int64 // how many bytes of rows it has sent
	Most   int64
	sparse bool    // a fold ends with errMany if its rows have many groups
	of     *Joiner // the joiner that this one is a fork of; nil if it is no fork
	Refs   *references
	failed error             // the error of what joiners compute from the reference streams
	first  bool              // this joiner sends the leaves of reference streams
	pos    analyses.Position // position of the batch that is being computed

	meter      *eval.Meter      // of all programs
	Conditions map[ledBy]*LedTo // with which its workers begin
	slices     uint64           // how many slices have been begun
}

// worker computes a leaf.
type worker struct {
	*Leaf
	x      *tail.Executor // has computed the right sides of joins and the queries; nil if there are none
	meter  *eval.Meter
	steps  []step
	last   *LedTo // of those with which the leaf begins; nil if there is none, or steps compute them
	ready  bool
	swaps  bool // the numbers of partners stand before the place of a row
	keys   []*eval.Program
	args   []*eval.Program // by aggregate; nil if it has no argument
	filter []*eval.Program // by aggregate; nil if it has no FILTER
	bys    []*eval.Program // by aggregate; nil if it has no order
	orders []*eval.Program
	added  []Accumulator // by aggregate
	cache  eval.KeyCache
	vector []*eval.Vector // the values of keys
	key    []byte
	row    []byte
	into   []int
	rows   []int32 // the rows that pass the filter of an aggregate
	passed []int   // their groups
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

// position locates the rows of a batch: see Order in the package's documentation.
type position struct {
	of      []byte // file and line of the batch
	at      int64  // number of the first row in the slice
	joined  joined
	groups  []*eval.Vector // keys of groups, which locate each row; nil if rows are located by files
	scratch []byte
	order   []byte
}

func (p *position) begin(pos analyses.Position) {
	p.of = fold.AppendInt(fold.AppendText(p.of[:0], pos.File.Name), int64(pos.Line))
}

func (p *position) append(b []byte, row int32) []byte {
	if p.groups != nil {
		for _, v := range p.groups {
			b = appendValue(b, v, row, true)
		}
		return b
	}
	for _, numbers := range p.joined.before {
		b = fold.AppendInt(b, int64(numbers[row]))
	}
	at := row
	if p.joined.rows != nil {
		at = p.joined.rows[row]
	}
	b = fold.AppendInt(append(b, p.of...), p.at+int64(at))
	for _, numbers := range p.joined.after {
		b = fold.AppendInt(b, int64(numbers[row]))
	}
	return b
}

// cutPosition returns the bytes after the position that b begins with. before and after are the counts of joined rows'
// numbers in it.
func cutPosition(b []byte, before, after int) (_ []byte, err error) {
	ints := func(n int) {
		for ; n > 0 && err == nil; n-- {
			_, b, err = fold.CutInt(b)
		}
	}
	if ints(before); err == nil {
		_, b, err = fold.CutText(b)
	}
	ints(2 + after)
	return b, err
}

func (s *Fragments) NewJoiner(replica analyses.Replica) (*Joiner, error) {
	j, err := s.newWorkers(s.Leaves)
	if err != nil {
		return nil, err
	}
	j.Refs, j.first, j.Most = newReferences(s), replica.Index == 0, MaxRowBytes/int64(max(1, replica.Of))
	j.limit(replica.Memory)
	return j, nil
}

// limit lowers the bounds on what the joiner makes and keeps to limits.memory; 0 is no limit.
func (j *Joiner) limit(memory int) {
	j.memory = memory
	j.meter.Limit(memory)
	if j.Refs != nil {
		j.Refs.Most = int64(withinMemory(maxKept, memory))
	}
	for _, t := range j.tables {
		t.SetBound(withinMemory(FoldBytes, memory))
	}
}

// withinMemory returns a bound, lowered to limits.memory. What is folded of the rows of one frame always finds room.
func withinMemory(bound, memory int) int {
	if memory == 0 {
		return bound
	}
	return min(bound, max(memory, leastMemory))
}

// leastMemory is the least bound that limits.memory leads to, in bytes: as much as the rows of a frame take, in the widest of forms.
const leastMemory = 32 << 20

// newWorkers returns a joiner of some leaves.
func (s *Fragments) newWorkers(leaves []*Leaf) (*Joiner, error) {
	j := s.withoutLeaves()
	for _, l := range leaves {
		w := &worker{Leaf: l, meter: j.meter}
		if len(l.Refs) == 0 { // its lookups, if any, are in rows that stand in the plan
			if plans := l.plans(); len(plans) > 0 {
				w.x = tail.New(nothing{}, maxKept, plans...)
			}
			if err := errors.Join(w.prepare(nil), j.follow(w)); err != nil {
				return nil, err
			}
		}
		j.leaves[l.Scan.Stream] = append(j.leaves[l.Scan.Stream], w)
	}
	return j, nil
}

// withoutLeaves returns a joiner that has no leaves yet.
func (s *Fragments) withoutLeaves() *Joiner {
	j := &Joiner{text: s.Text, leaves: make([][]*worker, len(s.Order)), meter: eval.NewMeter()}
	j.meter.Most = BatchSteps
	for i := range s.Specs {
		t := fold.NewOutgoing(&s.Specs[i])
		t.SetBound(FoldBytes)
		j.tables = append(j.tables, t)
	}
	for _, sc := range s.Order {
		j.scans = append(j.scans, newColumns(sc))
	}
	return j
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
	if g := l.Groups; g != nil {
		for _, k := range g.Node.Keys {
			w.keys = append(w.keys, program(k))
		}
		for i := range g.Aggs {
			var arg, filter, by *eval.Program
			if o := g.Aggs[i].by; o != nil {
				by = program(o.X)
			}
			if x := &g.Aggs[i]; x.arg != nil {
				arg = program(x.arg)
			}
			if f := g.Aggs[i].from.Filter; f != nil {
				filter = program(f)
			}
			w.args, w.filter, w.bys = append(w.args, arg), append(w.filter, filter), append(w.bys, by)
		}
		w.added = make([]Accumulator, len(g.Aggs))
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
	return err
}

// Reference implements analyses.Joiner.
func (j *Joiner) Reference(stream int, b *batch.Batch, pos analyses.Position) error {
	return j.Refs.add(stream, b, pos)
}

// End implements analyses.Joiner. Once a reference stream is complete, one joiner computes the stream's leaves.
func (j *Joiner) End(stream int) error {
	if !j.first || len(j.leaves[stream]) == 0 {
		return nil
	}
	for _, p := range j.Refs.pieces[stream] {
		if err := j.fold(stream, decoded{p.batch}, p.pos); err != nil {
			return err
		}
	}
	return nil
}

// Facts implements analyses.Joiner.
func (j *Joiner) Facts(stream int, b *batch.Batch, pos analyses.Position) error {
	if err := j.prepare(stream); err != nil {
		return err
	}
	return j.fold(stream, decoded{b}, pos)
}

// prepare computes what the leaves of a stream need from the reference streams, unless that is done. After a failure, every
// further call fails with the same error.
func (j *Joiner) prepare(stream int) error {
	for _, w := range j.leaves[stream] {
		if w.ready || j.failed != nil {
			continue
		}
		w.x = j.Refs.executor()
		if err := errors.Join(w.prepare(nil), j.follow(w)); err != nil {
			j.failed = j.Refs.explain(err)
		}
	}
	return j.failed
}

func (j *Joiner) fold(stream int, b rows, pos analyses.Position) error {
	c := j.scans[stream]
	c.load(b, pos.File)
	j.pos = pos
	j.meter.Begin()
	for _, w := range j.leaves[stream] {
		w.pos.begin(pos)
		w.cache.Forget()
	}
	for lo := 0; lo < b.Rows(); lo += Slice {
		n := min(Slice, b.Rows()-lo)
		columns := c.window(lo, lo+n)
		j.slices++
		for _, w := range j.leaves[stream] {
			progress.Mark()
			w.pos.at = int64(lo)
			if w.full() {
				continue
			}
			if err := w.take(j, c, columns, n); err != nil && !errors.Is(err, errFull) {
				return j.located(err, pos)
			}
			if err := j.foldable(w); err != nil {
				return err
			}
			if j.sparse && w.many(j.tables, lo+n) {
				return errMany
			}
		}
	}
	return nil
}

// foldable returns the error of the tables of a worker.
func (j *Joiner) foldable(w *worker) error {
	for _, t := range j.tables[w.Table : w.Table+w.Tables] {
		if errors.Is(t.Err(), fold.ErrTooLarge) {
			bound, why := withinMemory(FoldBytes, j.memory), ""
			if bound < FoldBytes {
				why = " (limits.memory of the topology)"
			}
			return fmt.Errorf("the rows, groups and values that are made of rows which travel together take more than %d MiB%s in one process: %w; "+
				"make shorter values of a row, or narrow the rows by WHERE before they are joined or their values are made", bound>>20, why, t.Err())
		}
		if t.Err() != nil {
			return t.Err()
		}
	}
	return nil
}

// located adds the place in the statement and in the data to an error about a value.
func (j *Joiner) located(err error, pos analyses.Position) error {
	e := (*eval.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s, at or behind line %d: %w", pos.File.Name, pos.Line, syntax.NewError(j.text, e.At, e.Message, ""))
}

// Flush implements analyses.Joiner.
func (j *Joiner) Flush(tables []*fold.Table) error {
	j.settle()
	for i, t := range j.tables {
		t.MoveTo(tables[i])
		if err := errors.Join(t.Err(), tables[i].Err()); err != nil {
			return err
		}
	}
	if j.of == nil {
		return nil
	}
	j.of.sent, j.sent = j.of.sent+j.sent, 0
	return j.of.bounded()
}

// settle writes the accumulators of all workers to the tables.
func (j *Joiner) settle() {
	for _, of := range j.leaves {
		for _, w := range of {
			w.settle(j.tables[w.Table])
		}
	}
}

// settle writes the worker's accumulators to the table that is flushed next.
func (w *worker) settle(t *fold.Table) {
	w.worst = nil
	w.cache.Forget()
	for a := range w.added {
		if x := &w.Groups.Aggs[a]; x.accumulates() && !x.distinct {
			w.key = w.added[a].settle(x, t, w.key)
		}
	}
}

// take computes some rows.
func (w *worker) take(j *Joiner, of *columns, columns []*eval.Vector, n int) error {
	w.pos.joined = joined{}
	w.meter.Release()
	if w.last == nil {
		w.sel = of.taken(w.Missing, everyRow(w.sel, n), int(w.pos.at))
		return w.behind(0, j, columns, n, w.sel)
	}
	passed, err := w.last.Passed(j.slices, columns, n)
	if err != nil {
		return err
	}
	w.sel = of.taken(w.Missing, append(w.sel[:0], passed...), int(w.pos.at))
	if len(w.sel) == 0 {
		return nil
	}
	return w.behind(w.led, j, columns, n, w.sel)
}

func everyRow(sel []int32, n int) []int32 {
	sel = sel[:0]
	for i := range n {
		sel = append(sel, int32(i))
	}
	return sel
}

// behind computes the steps from index first on for the selected rows, and keeps the rows that remain. A step whose values do not fit the
// memory is computed for some of the rows at a time (eval.Pieces), and so is all behind it.
func (w *worker) behind(first int, j *Joiner, columns []*eval.Vector, n int, sel []int32) error {
	return w.after(first, j, columns, columns, n, sel)
}

// after is behind, for steps after a projection. The projection was computed from the columns below.
func (w *worker) after(i int, j *Joiner, columns, below []*eval.Vector, n int, sel []int32) error {
	if i == len(w.steps) {
		return w.keepThem(j, columns, n, sel)
	}
	st := &w.steps[i]
	further := func(columns []*eval.Vector, n int) error {
		st.sel = everyRow(st.sel, n)
		return w.behind(i+1, j, columns, n, st.sel)
	}
	return eval.Pieces(sel, func(sel []int32) error {
		switch {
		case st.lookup != nil:
			return st.lookup.probe(columns, n, sel, &w.pos.joined, further)
		case st.spread != nil:
			return st.spread.rows(columns, n, sel, &w.pos.joined, further)
		case st.filter == nil:
			if err := w.project(j, st.columns, st.out, columns, n, &sel); err != nil {
				return err
			}
			return w.after(i+1, j, st.out, columns, n, sel)
		}
		v, err := w.compute(j, st.filter, columns, n, &sel)
		if err != nil {
			return err
		}
		sel = passing(v, sel)
		if len(sel) == 0 {
			return nil
		}
		return eval.Pieces(sel, func(sel []int32) error {
			if err := w.project(j, st.columns, columns, below, n, &sel); err != nil {
				return err
			}
			return w.after(i+1, j, columns, below, n, sel)
		})
	})
}

// keepThem keeps the rows that all steps have left.
func (w *worker) keepThem(j *Joiner, columns []*eval.Vector, n int, sel []int32) error {
	switch w.Keep {
	case KeepGroups:
		return w.group(j.tables[w.Table:], columns, n, sel)
	case KeepBest:
		return eval.Pieces(sel, func(sel []int32) error { return w.keepBest(j.tables[w.Table], columns, n, sel) })
	case KeepDistinct:
		return w.keepDistinct(j.tables[w.Table], columns, sel)
	case KeepParts:
		return eval.Pieces(sel, func(sel []int32) error { return w.keepParts(j.tables[w.Table], columns, n, sel) })
	}
	return w.keepRows(j, columns, sel)
}

// compute computes an expression. If the leaf wants only the first rows, it keeps a failing row as a failed row, and drops
// the rows after it. Whether that row is among the first is known only when the rows of all joiners are merged.
func (w *worker) compute(j *Joiner, p *eval.Program, columns []*eval.Vector, n int, sel *[]int32) (*eval.Vector, error) {
	v, err := p.Run(columns, n, *sel)
	e := (*eval.Error)(nil)
	if !w.firstRows() || !errors.As(err, &e) {
		return v, err
	}
	w.key = append(w.pos.append(w.key[:0], e.Row), rowFailed)
	t := j.tables[w.Table]
	t.PutLeast(t.Row(t.Key()), 0, append(fold.AppendText(w.row[:0], w.key), j.located(err, j.pos).Error()...))
	before, _ := slices.BinarySearch(*sel, e.Row)
	*sel = (*sel)[:before]
	return p.Run(columns, n, *sel)
}

// passing keeps the rows for which a condition is true, in place.
func passing(v *eval.Vector, sel []int32) []int32 {
	kept := sel[:0]
	for _, i := range sel {
		if v.Bools[i] && !v.IsNull(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

// runKeys computes the keys of rows into w.vector.
func (w *worker) runKeys(columns []*eval.Vector, n int, sel []int32) error {
	w.vector = w.vector[:0]
	for _, p := range w.keys {
		v, err := p.Run(columns, n, sel)
		if err != nil {
			return err
		}
		w.vector = append(w.vector, v)
	}
	return nil
}

// group folds rows into their groups. The first table holds the groups; the tables of DISTINCT values follow.
func (w *worker) group(tables []*fold.Table, columns []*eval.Vector, n int, sel []int32) error {
	t, values := tables[0], tables[1:]
	w.into = w.into[:0]
	err := eval.Pieces(sel, func(sel []int32) error {
		if err := w.runKeys(columns, n, sel); err != nil {
			return err
		}
		return w.find(t, sel)
	})
	if err != nil {
		return err
	}
	all := w.counts.of(w.into, t.Len())
	for a := range w.Groups.Aggs {
		x := &w.Groups.Aggs[a]
		rows, into, counts := sel, w.into, all
		if f := w.filter[a]; f != nil {
			if err := w.pass(f, columns, n, sel); err != nil {
				return err
			}
			rows, into, counts = w.rows, w.passed, nil
		}
		var own *fold.Table
		if x.distinct {
			own, values = values[0], values[1:]
		}
		if len(rows) == 0 {
			continue
		}
		err := eval.Pieces(rows, func(piece []int32) error {
			if len(piece) < len(rows) {
				counts = nil
			}
			if err := w.aggregate(a, t, own, columns, n, piece, into[:len(piece)], counts); err != nil {
				return err
			}
			into = into[len(piece):]
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pass finds the rows that pass the filter of an aggregate, and their groups.
func (w *worker) pass(filter *eval.Program, columns []*eval.Vector, n int, sel []int32) error {
	w.rows, w.passed = w.rows[:0], w.passed[:0]
	into := w.into
	return eval.Pieces(sel, func(sel []int32) error {
		v, err := filter.Run(columns, n, sel)
		if err != nil {
			return err
		}
		for k, i := range sel {
			if v.Bools[i] && !v.IsNull(i) {
				w.rows, w.passed = append(w.rows, i), append(w.passed, into[k])
			}
		}
		into = into[len(sel):]
		return nil
	})
}

// aggregate adds rows to an aggregate of their groups.
func (w *worker) aggregate(a int, t, own *fold.Table, columns []*eval.Vector, n int, rows []int32, into []int, counts []int64) (err error) {
	x := &w.Groups.Aggs[a]
	var v, by *eval.Vector
	if p := w.args[a]; p != nil {
		if v, err = p.Run(columns, n, rows); err != nil {
			return err
		}
	}
	if p := w.bys[a]; p != nil {
		if by, err = p.Run(columns, n, rows); err != nil {
			return err
		}
	}
	switch {
	case x.distinct:
		w.foldDistinct(t, own, v, rows, into)
	case x.accumulates():
		w.added[a].add(x, t, v, rows, into, counts)
	default:
		x.fold(t, v, by, rows, into, &w.pos)
	}
	return nil
}

// find finds the groups of the selected rows by the values in vector.
func (w *worker) find(t *fold.Table, sel []int32) error {
	if len(w.vector) == 0 {
		row := t.Row(t.Key())
		for range sel {
			w.into = append(w.into, row)
		}
		return nil
	}
	numbers := w.cache.Numbers(w.vector, sel, eval.MostKeys)
	if numbers == nil {
		for _, i := range sel {
			at, err := w.groupOf(t, i)
			if err != nil {
				return err
			}
			w.into = append(w.into, at)
		}
		return nil
	}
	known := w.cache.Known
	for k, number := range numbers {
		if known[number] == 0 {
			at, err := w.groupOf(t, sel[k])
			if err != nil {
				return err
			}
			known[number] = int32(at) + 1
		}
		w.into = append(w.into, int(known[number]-1))
	}
	return nil
}

// groupOf finds or adds the group of a row.
func (w *worker) groupOf(t *fold.Table, row int32) (int, error) {
	w.key = w.key[:0]
	for _, v := range w.vector {
		if w.key = appendValue(w.key, v, row, true); len(w.key) > FoldBytes {
			return 0, errWide
		}
	}
	return t.Row(t.Key().Text(w.key)), nil
}

// errWide is returned for a row whose values are too long together. Each of them may be long, and a statement can name one many times.
var errWide = fmt.Errorf("the values of one row take more than %d MiB: name fewer columns, or shorten them", FoldBytes>>20)

// errFull ends the work on rows behind the first ones, if the leaf wants only these. Without it a LIMIT over long values would compute all
// of them.
var errFull = errors.New("the rows behind are not among the first")

// inOrder reports whether the leaf wants the first rows, and meets the rows of a batch in their order.
func (w *worker) inOrder() bool {
	return w.firstRows() && len(w.pos.joined.before) == 0 && w.pos.groups == nil
}

// full reports whether the leaf has as many rows as it wants, all of them before the slice that begins.
func (w *worker) full() bool {
	if w.pos.joined = (joined{}); w.worst == nil || !w.firstRows() || w.swaps {
		return false
	}
	w.key = w.pos.append(w.key[:0], 0)
	return string(w.key) > string(w.worst)
}

// keepBest keeps the best rows of all.
func (w *worker) keepBest(t *fold.Table, columns []*eval.Vector, n int, sel []int32) error {
	orders := make([]*eval.Vector, len(w.orders))
	for k, p := range w.orders {
		v, err := p.Run(columns, n, sel)
		if err != nil {
			return err
		}
		orders[k] = v
	}
	row := t.Row(t.Key())
	for _, i := range sel {
		w.key = w.key[:0]
		for k, v := range orders {
			w.key = appendOrdered(w.key, v, i, &w.Best.Orders[k])
		}
		w.key = w.pos.append(w.key, i)
		if w.firstRows() {
			w.key = append(w.key, rowKept)
		}
		if w.worst != nil && string(w.key) > string(w.worst) {
			if w.inOrder() {
				return errFull
			}
			continue
		}
		var err error
		if w.row, err = w.appendRow(fold.AppendText(w.row[:0], w.key), columns, i); err != nil {
			return err
		}
		t.PutLeast(row, 0, w.row)
		if all := t.Least(row, 0); len(all) == w.Best.N {
			worst, _, err := fold.CutText(all[len(all)-1])
			if err != nil {
				return err
			}
			w.worst = worst
		}
	}
	return nil
}

// keepDistinct keeps each distinct row with its first position.
func (w *worker) keepDistinct(t *fold.Table, columns []*eval.Vector, sel []int32) error {
	for _, i := range sel {
		w.key = w.key[:0]
		for c, needed := range w.Needed {
			if needed {
				w.key = appendValue(w.key, columns[c], i, true)
			}
			if len(w.key) > FoldBytes {
				return errWide
			}
		}
		w.row = w.pos.append(w.row[:0], i)
		t.PutMinText(t.Row(t.Key().Text(w.key)), 0, w.row)
	}
	return nil
}

// keepRows sends rows with their positions.
func (w *worker) keepRows(j *Joiner, columns []*eval.Vector, sel []int32) error {
	t := j.tables[w.Table]
	for _, i := range sel {
		w.key = w.pos.append(w.key[:0], i)
		var err error
		if w.row, err = w.appendRow(w.row[:0], columns, i); err != nil {
			return err
		}
		t.Row(t.Key().Text(w.key).Text(w.row))
		if !w.Unkept {
			j.sent += int64(len(w.key) + len(w.row))
		}
	}
	return j.bounded()
}

// bounded returns an error if the joiner and its forks have sent too many bytes of rows.
func (j *Joiner) bounded() error {
	if j.sent > j.Most {
		return fmt.Errorf(
			"the statement sends rows of more than %d bytes to one process: group them, narrow them by WHERE, or name fewer columns", j.Most)
	}
	return nil
}

// appendRow appends the columns of a row that the tail reads.
func (w *worker) appendRow(b []byte, columns []*eval.Vector, row int32) ([]byte, error) {
	for c, needed := range w.Needed {
		if needed {
			b = appendValue(b, columns[c], row, false)
		}
		if len(b) > FoldBytes {
			return nil, errWide
		}
	}
	return b, nil
}

// window returns the rows from lo up to hi of all columns. lo is a multiple of 64.
func (c *columns) window(lo, hi int) []*eval.Vector {
	for i, v := range c.vector {
		if v == nil {
			continue
		}
		w := c.windows[i]
		*w = eval.Vector{Kind: v.Kind, Any: v.Any, Nulls: v.Nulls[lo/64 : (hi+63)/64]}
		switch v.Kind {
		case types.Double:
			w.Floats = v.Floats[lo:hi]
		case types.Bool:
			w.Bools = v.Bools[lo:hi]
		case types.Text:
			w.Texts = v.Texts[lo:hi]
			if v.Codes != nil {
				w.Codes, w.Entries, w.Dict = v.Codes[lo:hi], v.Entries, v.Dict
			}
		default:
			w.Ints = v.Ints[lo:hi]
		}
	}
	return c.windows
}
