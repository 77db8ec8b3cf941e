package compile

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/bind"
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

// slice is how many rows the kernels compute at once: few enough for the results to stay in the processor's cache.
const slice = 2048

// joiner computes the leaves in one node.
type joiner struct {
	text   string // text of the statement, for errors
	tables []*fold.Table
	scans  []*columns // by stream
	leaves [][]*worker
	sent   int64 // how many bytes of rows it has sent
	most   int64
	sparse bool    // a fold ends with errMany if its rows have many groups
	of     *joiner // the joiner that this one is a fork of; nil if it is no fork
	refs   *references
	failed error             // the error of what joiners compute from the reference streams
	first  bool              // this joiner sends the leaves of reference streams
	pos    analyses.Position // position of the batch that is being computed

	conditions map[ledBy]*ledTo // with which its workers begin
	slices     uint64           // how many slices have been begun
}

// worker computes a leaf.
type worker struct {
	*leaf
	x      *tail.Executor // has computed the right sides of joins and the queries; nil if there are none
	steps  []step
	last   *ledTo // of those with which the leaf begins; nil if there is none, or steps compute them
	ready  bool
	keys   []*eval.Program
	args   []*eval.Program // by aggregate; nil if it has no argument
	filter []*eval.Program // by aggregate; nil if it has no FILTER
	bys    []*eval.Program // by aggregate; nil if it has no order
	orders []*eval.Program
	added  []accumulator // by aggregate
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

func (s *statement) newJoiner(replica analyses.Replica) (*joiner, error) {
	j, err := s.newWorkers(s.leaves)
	if err != nil {
		return nil, err
	}
	j.refs, j.first, j.most = newReferences(s), replica.Index == 0, MaxRowBytes/int64(max(1, replica.Of))
	return j, nil
}

// newWorkers returns a joiner of some leaves.
func (s *statement) newWorkers(leaves []*leaf) (*joiner, error) {
	j := s.withoutLeaves()
	for _, l := range leaves {
		w := &worker{leaf: l}
		if len(l.refs) == 0 { // its lookups, if any, are in rows that stand in the plan
			if plans := l.plans(); len(plans) > 0 {
				w.x = tail.New(nothing{}, maxKept, plans...)
			}
			if err := errors.Join(w.prepare(nil), j.follow(w)); err != nil {
				return nil, err
			}
		}
		j.leaves[l.scan.stream] = append(j.leaves[l.scan.stream], w)
	}
	return j, nil
}

// withoutLeaves returns a joiner that has no leaves yet.
func (s *statement) withoutLeaves() *joiner {
	j := &joiner{text: s.plan.Text, leaves: make([][]*worker, len(s.order))}
	for i := range s.specs {
		j.tables = append(j.tables, fold.NewOutgoing(&s.specs[i]))
	}
	for _, sc := range s.order {
		j.scans = append(j.scans, newColumns(sc))
	}
	return j
}

// prepare compiles the steps of a leaf. It also computes the right sides of their joins from the reference streams that w.x
// reads. A fork gets the steps of its joiner as given, and takes the right sides from these.
func (w *worker) prepare(given []step) (err error) {
	l, x := w.leaf, w.x
	w.ready = true
	program := func(e bind.Expr) *eval.Program {
		compile := eval.Compile
		if x != nil {
			compile = x.Program
		}
		p, fails := compile(e)
		err = errors.Join(err, fails)
		return p
	}
	late := map[int][]projected{} // by step
	for i, n := range l.steps {
		switch n := n.(type) {
		case *broadcast:
			var found *lookup
			var fails error
			if given != nil {
				found, fails = given[i].lookup.fork()
			} else {
				found, fails = newLookup(n, x)
			}
			if fails != nil {
				return fails
			}
			w.steps = append(w.steps, step{lookup: found})
		case *unnest:
			st := step{spread: &spread{of: n}}
			for _, e := range n.Lists {
				st.spread.lists = append(st.spread.lists, program(e))
			}
			w.steps = append(w.steps, st)
		case *bind.Filter:
			w.steps = append(w.steps, step{filter: program(n.Cond), columns: late[i]})
		case *bind.Project:
			st := step{out: make([]*eval.Vector, len(n.Exprs))}
			now, later, last := l.columnsOf(i)
			for _, k := range now {
				st.columns = append(st.columns, projected{k, program(n.Exprs[k])})
			}
			for _, k := range later {
				late[last] = append(late[last], projected{k, program(n.Exprs[k])})
			}
			w.steps = append(w.steps, st)
		}
	}
	if g := l.groups; g != nil {
		for _, k := range g.node.Keys {
			w.keys = append(w.keys, program(k))
		}
		for i := range g.aggs {
			var arg, filter, by *eval.Program
			if o := g.aggs[i].by; o != nil {
				by = program(o.X)
			}
			if x := &g.aggs[i]; x.arg != nil {
				arg = program(x.arg)
			}
			if f := g.aggs[i].from.Filter; f != nil {
				filter = program(f)
			}
			w.args, w.filter, w.bys = append(w.args, arg), append(w.filter, filter), append(w.bys, by)
		}
		w.added = make([]accumulator, len(g.aggs))
	}
	if l.keep == keepParts {
		for _, k := range l.parts {
			w.keys = append(w.keys, program(k))
		}
	}
	if l.best != nil {
		for _, o := range l.best.orders {
			w.orders = append(w.orders, program(o.X))
		}
	}
	return err
}

// Reference implements analyses.Joiner.
func (j *joiner) Reference(stream int, b *batch.Batch, pos analyses.Position) error {
	return j.refs.add(stream, b, pos)
}

// End implements analyses.Joiner. Once a reference stream is complete, one joiner computes the stream's leaves.
func (j *joiner) End(stream int) error {
	if !j.first || len(j.leaves[stream]) == 0 {
		return nil
	}
	for _, p := range j.refs.pieces[stream] {
		if err := j.fold(stream, decoded{p.batch}, p.pos); err != nil {
			return err
		}
	}
	return nil
}

// Facts implements analyses.Joiner.
func (j *joiner) Facts(stream int, b *batch.Batch, pos analyses.Position) error {
	if err := j.prepare(stream); err != nil {
		return err
	}
	return j.fold(stream, decoded{b}, pos)
}

// prepare computes what the leaves of a stream need from the reference streams, unless that is done. After a failure, every
// further call fails with the same error.
func (j *joiner) prepare(stream int) error {
	for _, w := range j.leaves[stream] {
		if w.ready || j.failed != nil {
			continue
		}
		w.x = j.refs.executor()
		if err := errors.Join(w.prepare(nil), j.follow(w)); err != nil {
			j.failed = j.refs.explain(err)
		}
	}
	return j.failed
}

func (j *joiner) fold(stream int, b rows, pos analyses.Position) error {
	c := j.scans[stream]
	c.load(b, pos.File)
	j.pos = pos
	for _, w := range j.leaves[stream] {
		w.pos.begin(pos)
		w.cache.Forget()
	}
	for lo := 0; lo < b.Rows(); lo += slice {
		n := min(slice, b.Rows()-lo)
		columns := c.window(lo, lo+n)
		j.slices++
		for _, w := range j.leaves[stream] {
			progress.Mark()
			w.pos.at = int64(lo)
			if err := w.take(j, c, columns, n); err != nil {
				return j.located(err, pos)
			}
			if j.sparse && w.many(j.tables, lo+n) {
				return errMany
			}
		}
	}
	for _, t := range j.tables {
		if err := t.Err(); err != nil {
			return err
		}
	}
	return nil
}

// located adds the place in the statement and in the data to an error about a value.
func (j *joiner) located(err error, pos analyses.Position) error {
	e := (*eval.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s, at or behind line %d: %w", pos.File.Name, pos.Line, syntax.NewError(j.text, e.At, e.Message, ""))
}

// Flush implements analyses.Joiner.
func (j *joiner) Flush(tables []*fold.Table) error {
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
func (j *joiner) settle() {
	for _, of := range j.leaves {
		for _, w := range of {
			w.settle(j.tables[w.table])
		}
	}
}

// settle writes the worker's accumulators to the table that is flushed next.
func (w *worker) settle(t *fold.Table) {
	w.worst = nil
	w.cache.Forget()
	for a := range w.added {
		if x := &w.groups.aggs[a]; x.accumulates() && !x.distinct {
			w.key = w.added[a].settle(x, t, w.key)
		}
	}
}

// take computes some rows.
func (w *worker) take(j *joiner, of *columns, columns []*eval.Vector, n int) error {
	w.pos.joined = joined{}
	if w.last == nil {
		w.sel = of.taken(w.missing, everyRow(w.sel, n), int(w.pos.at))
		return w.behind(0, j, columns, n, w.sel)
	}
	passed, err := w.last.passed(j.slices, columns, n)
	if err != nil {
		return err
	}
	w.sel = of.taken(w.missing, append(w.sel[:0], passed...), int(w.pos.at))
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

// behind computes the steps from index first on for the selected rows, and keeps the rows that remain.
func (w *worker) behind(first int, j *joiner, columns []*eval.Vector, n int, sel []int32) error {
	below := columns // those from which the last projection is computed
	for i := first; i < len(w.steps); i++ {
		st := &w.steps[i]
		further := func(columns []*eval.Vector, n int) error {
			st.sel = everyRow(st.sel, n)
			return w.behind(i+1, j, columns, n, st.sel)
		}
		if st.lookup != nil {
			return st.lookup.probe(columns, n, sel, &w.pos.joined, further)
		}
		if st.spread != nil {
			return st.spread.rows(columns, n, sel, &w.pos.joined, further)
		}
		if st.filter != nil {
			v, err := w.compute(j, st.filter, columns, n, &sel)
			if err != nil {
				return err
			}
			sel = passing(v, sel)
			if len(sel) == 0 {
				return nil
			}
			if err := w.project(j, st.columns, columns, below, n, &sel); err != nil {
				return err
			}
			continue
		}
		if err := w.project(j, st.columns, st.out, columns, n, &sel); err != nil {
			return err
		}
		below, columns = columns, st.out
	}
	switch w.keep {
	case keepGroups:
		return w.group(j.tables[w.table:], columns, n, sel)
	case keepBest:
		return w.keepBest(j.tables[w.table], columns, n, sel)
	case keepDistinct:
		w.keepDistinct(j.tables[w.table], columns, sel)
		return nil
	case keepParts:
		return w.keepParts(j.tables[w.table], columns, n, sel)
	}
	return w.keepRows(j, columns, sel)
}

// compute computes an expression. If the leaf wants only the first rows, it keeps a failing row as a failed row, and drops
// the rows after it. Whether that row is among the first is known only when the rows of all joiners are merged.
func (w *worker) compute(j *joiner, p *eval.Program, columns []*eval.Vector, n int, sel *[]int32) (*eval.Vector, error) {
	v, err := p.Run(columns, n, *sel)
	e := (*eval.Error)(nil)
	if !w.firstRows() || !errors.As(err, &e) {
		return v, err
	}
	w.key = append(w.pos.append(w.key[:0], e.Row), rowFailed)
	t := j.tables[w.table]
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
	if err := w.runKeys(columns, n, sel); err != nil {
		return err
	}
	w.find(t, sel)
	all := w.counts.of(w.into, t.Len())
	for a := range w.groups.aggs {
		x := &w.groups.aggs[a]
		rows, into, counts := sel, w.into, all
		if f := w.filter[a]; f != nil {
			v, err := f.Run(columns, n, sel)
			if err != nil {
				return err
			}
			w.rows, w.passed = w.rows[:0], w.passed[:0]
			for k, i := range sel {
				if v.Bools[i] && !v.IsNull(i) {
					w.rows, w.passed = append(w.rows, i), append(w.passed, w.into[k])
				}
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
		var v, by *eval.Vector
		var err error
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
		if x.distinct {
			w.foldDistinct(t, own, v, rows, into)
		} else if x.accumulates() {
			w.added[a].add(x, t, v, rows, into, counts)
		} else {
			x.fold(t, v, by, rows, into, &w.pos)
		}
	}
	return nil
}

// find finds the groups of the selected rows by the values in vector.
func (w *worker) find(t *fold.Table, sel []int32) {
	w.into = w.into[:0]
	if len(w.vector) == 0 {
		row := t.Row(t.Key())
		for range sel {
			w.into = append(w.into, row)
		}
		return
	}
	numbers := w.cache.Numbers(w.vector, sel, eval.MostKeys)
	if numbers == nil {
		for _, i := range sel {
			w.into = append(w.into, w.groupOf(t, i))
		}
		return
	}
	known := w.cache.Known
	for k, number := range numbers {
		if known[number] == 0 {
			known[number] = int32(w.groupOf(t, sel[k])) + 1
		}
		w.into = append(w.into, int(known[number]-1))
	}
}

// groupOf finds or adds the group of a row.
func (w *worker) groupOf(t *fold.Table, row int32) int {
	w.key = w.key[:0]
	for _, v := range w.vector {
		w.key = appendValue(w.key, v, row, true)
	}
	return t.Row(t.Key().Text(w.key))
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
			w.key = appendOrdered(w.key, v, i, &w.best.orders[k])
		}
		w.key = w.pos.append(w.key, i)
		if w.firstRows() {
			w.key = append(w.key, rowKept)
		}
		if w.worst != nil && string(w.key) > string(w.worst) {
			continue
		}
		w.row = fold.AppendText(w.row[:0], w.key)
		t.PutLeast(row, 0, w.appendRow(w.row, columns, i))
		if all := t.Least(row, 0); len(all) == w.best.n {
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
func (w *worker) keepDistinct(t *fold.Table, columns []*eval.Vector, sel []int32) {
	for _, i := range sel {
		w.key = w.key[:0]
		for c, needed := range w.needed {
			if needed {
				w.key = appendValue(w.key, columns[c], i, true)
			}
		}
		w.row = w.pos.append(w.row[:0], i)
		t.PutMinText(t.Row(t.Key().Text(w.key)), 0, w.row)
	}
}

// keepRows sends rows with their positions.
func (w *worker) keepRows(j *joiner, columns []*eval.Vector, sel []int32) error {
	t := j.tables[w.table]
	for _, i := range sel {
		w.key = w.pos.append(w.key[:0], i)
		w.row = w.appendRow(w.row[:0], columns, i)
		t.Row(t.Key().Text(w.key).Text(w.row))
		if !w.unkept {
			j.sent += int64(len(w.key) + len(w.row))
		}
	}
	return j.bounded()
}

// bounded returns an error if the joiner and its forks have sent too many bytes of rows.
func (j *joiner) bounded() error {
	if j.sent > j.most {
		return fmt.Errorf("the statement sends rows of more than %d bytes to one process: group them, narrow them by WHERE, or name fewer columns", j.most)
	}
	return nil
}

// appendRow appends the columns of a row that the tail reads.
func (w *worker) appendRow(b []byte, columns []*eval.Vector, row int32) []byte {
	for c, needed := range w.needed {
		if needed {
			b = appendValue(b, columns[c], row, false)
		}
	}
	return b
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
