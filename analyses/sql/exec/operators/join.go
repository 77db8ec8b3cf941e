package operators

import (
	"errors"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// join joins rows of two sides (a hash join). It keeps the right side, in chains of equal keys, and streams the left one.
type join struct {
	x            *Executor
	meter        *eval.Meter
	n            *plan.Join
	to           sink
	left         []*eval.Program
	rest         *eval.Program
	restReads    []bool // columns that rest reads
	right        *keptRows
	index        *index
	first        []int32                                   // of each key in index the first row
	ints         *intPartners                              // replaces index and first if there is one key and it is an integer
	next         []int32                                   // of each row the next one with the same key, -1 at the end; nil: all keys differ
	repeats      bool                                      // some rows have the same key
	rightMatched []bool                                    // nil unless the join is RIGHT or FULL
	pairs        func(b *Batch, left, right []int32) error // replaces to, if it is set
	alone        func(b *Batch, right []int32) error       // takes the right rows without a partner in place of to, if it is set
	failedAt     int32                                     // the left row of the pair for which the condition failed
	grace        *grace                                    // takes both sides if the right one does not fit the memory
	wanted       []bool                                    // columns that are passed on; nil: all

	// State of the left batch:
	l        *Batch
	matched  []bool
	partners []int32 // by selected row: its first partner, -1 if it has none
	all      counting
	cache    eval.KeyCache  // by key: 0, or its first row plus 2
	room     []*eval.Vector // memory for joined rows, used if they are valid only while pairs runs
	// Pairs of rows that wait. A right row of -1 means "no partner"; this pair comes after all others of its left row.
	lrows, rrows []int32
}

func (x *Executor) join(n *plan.Join, to sink) error {
	if x.flips(n) {
		if done, err := x.flipped(n, to); done {
			return err
		}
	}
	j, err := x.newJoin(n, to, nil, x.meter)
	if err != nil {
		return err
	}
	defer j.release()
	if j.grace != nil {
		return j.grace.end(x.stream(n.L, j.grace.addLeft))
	}
	if err := x.stream(n.L, j.probe); err != nil {
		return err
	}
	if n.Kind == syntax.Right || n.Kind == syntax.Full {
		return j.rightRows(false)
	}
	return nil
}

func (j *join) release() {
	j.index.release()
	if j.ints != nil {
		j.ints.release()
	}
	if j.right != nil {
		j.right.release()
	}
	j.grace.release()
}

// partner returns the first row of the right side that has the same key as a row, -1 if there is none.
func (j *join) partner(keys []*eval.Vector, row int32) int32 {
	if len(j.first) == 0 || anyNull(keys, row) {
		return -1
	}
	j.index.row(keys, row)
	if id, ok := j.index.ids[string(j.index.key)]; ok {
		return j.first[id]
	}
	return -1
}

// newJoin makes a join and computes its right side. wanted says which columns of the join are passed on; nil: all of them. What the join
// does for rows of its left side counts in m.
func (x *Executor) newJoin(n *plan.Join, to sink, wanted []bool, m *eval.Meter) (*join, error) {
	j := &join{x: x, n: n, to: to, index: x.newIndex(), wanted: wanted, meter: m}
	if err := j.compile(); err != nil {
		return nil, err
	}
	return j, j.build()
}

// compile makes the programs that compute the left side's keys and the rest of the condition.
func (j *join) compile() (err error) {
	var left []plan.Expr
	for _, p := range j.n.Equal {
		left = append(left, p[0])
	}
	if j.left, err = j.x.compileAllFor(left, plan.LayoutOf(j.n.L.Fields()), j.meter); err != nil || j.n.Rest == nil {
		return err
	}
	var reads plan.Set
	reads.Mark(j.n.Rest)
	at := plan.LayoutOf(j.n.L.Fields(), j.n.R.Fields())
	p, err := j.x.Program(j.n.Rest, at, j.meter)
	j.rest, j.restReads = p, make([]bool, len(at))
	for id, i := range at {
		j.restReads[i] = reads.Has(id)
	}
	return err
}

// build keeps the right side.
func (j *join) build() error {
	programs, err := j.rightKeys()
	if err != nil {
		return err
	}
	k := j.newKeeping(programs)
	defer k.release()
	err = j.x.stream(j.n.R, func(b *Batch) error {
		if j.grace != nil {
			return j.grace.addRight(b)
		}
		if err := k.add(b); err != nil || j.to == nil || !k.full() {
			return err
		}
		k.release()
		return j.divide(programs)
	})
	if err != nil || j.grace != nil {
		return err
	}
	return k.close()
}

func (j *join) rightKeys() ([]*eval.Program, error) {
	var keys []plan.Expr
	for _, p := range j.n.Equal {
		keys = append(keys, p[1])
	}
	return j.x.compileAll(keys, plan.LayoutOf(j.n.R.Fields()))
}

// keeping adds rows to the right side of a join, and chains those with equal keys in their order.
type keeping struct {
	j        *join
	programs []*eval.Program
	chain    chaining
	ints     *intKeys // nil unless the key is one integer
}

func (j *join) newKeeping(programs []*eval.Program) *keeping {
	j.index.soft = true
	j.right = j.x.keep(j.n.R.Fields(), j.reads())
	j.right.soft = true
	k := &keeping{j: j, programs: programs, chain: chaining{j: j}}
	if p := j.n.Equal; len(p) == 1 && values.IsInteger(p[0][0].Type().Kind) && p[0][0].Type() == p[0][1].Type() {
		k.ints = &intKeys{counted: counted{x: j.x, soft: true}}
	}
	return k
}

// release drops what is needed only until the right side is complete.
func (k *keeping) release() {
	if k.ints != nil {
		k.ints.release()
	}
}

func (k *keeping) add(b *Batch) error {
	values, failed := evalAll(k.programs, b)
	if failed != nil {
		return failed
	}
	if err := k.j.right.add(b); err != nil {
		return err
	}
	if k.ints != nil {
		return k.ints.add(values, b.Sel)
	}
	return k.chain.add(values, b.Sel)
}

// full reports whether the right side should move to files.
func (k *keeping) full() bool {
	all := counted{x: k.j.x, bytes: k.j.right.bytes + k.j.index.bytes}
	if k.ints != nil {
		all.bytes += k.ints.bytes
	}
	return all.full()
}

// close ends the right side.
func (k *keeping) close() error {
	j := k.j
	j.right.close()
	if k.ints != nil {
		if err := k.ints.partners(j); err != nil {
			return err
		}
	}
	if j.n.Kind == syntax.Right || j.n.Kind == syntax.Full {
		j.rightMatched = make([]bool, j.right.n)
	}
	return nil
}

// reads returns which columns of the right side are read once it is kept; nil: all of them.
func (j *join) reads() []bool {
	if j.wanted == nil {
		return nil
	}
	left := len(j.n.L.Fields())
	read := make([]bool, len(j.n.R.Fields()))
	for _, of := range [][]bool{j.wanted, j.restReads} {
		for c := left; c < len(of); c++ {
			read[c-left] = read[c-left] || of[c]
		}
	}
	return read
}

// chaining chains rows whose keys are in the join's index.
type chaining struct {
	j    *join
	last []int32 // of each key the last row
}

func (c *chaining) add(values []*eval.Vector, sel []int32) error {
	j := c.j
	if err := j.right.hold(rowBytes * int64(len(sel))); err != nil {
		return err
	}
	for _, i := range sel {
		row := int32(len(j.next))
		j.next = append(j.next, -1)
		if anyNull(values, i) {
			continue
		}
		j.index.row(values, i)
		id, fresh, err := j.index.id()
		switch {
		case err != nil:
			return err
		case fresh:
			j.first, c.last = append(j.first, row), append(c.last, row)
		default:
			j.next[c.last[id]] = row
			c.last[id] = row
			j.repeats = true
		}
	}
	return nil
}

func anyNull(columns []*eval.Vector, row int32) bool {
	for _, c := range columns {
		if c.IsNull(row) {
			return true
		}
	}
	return false
}

// keysPerRow bounds how many keys are cached per row of a batch, because clearing the cache costs time for each key.
const keysPerRow = 8

// probe finds the partners of the rows of a left batch.
func (j *join) probe(b *Batch) error {
	keys, failed := evalAll(j.left, b)
	if keys == nil {
		return failed
	}
	j.l = b
	j.matched = append(j.matched[:0], make([]bool, b.N)...)
	j.findPartners(keys, b.Sel)
	half := j.n.Kind == syntax.Semi || j.n.Kind == syntax.Anti
	alone := half || j.n.Kind == syntax.Left || j.n.Kind == syntax.Full
	for k, i := range b.Sel {
		r := j.partners[k]
		if half && j.rest == nil {
			j.matched[i] = r >= 0
			r = -1
		}
		for r >= 0 {
			if err := j.pair(i, r); err != nil {
				return err
			}
			if j.next == nil {
				break
			}
			r = j.next[r]
		}
		if alone {
			if err := j.pair(i, -1); err != nil {
				return err
			}
		}
	}
	if err := j.flush(); err != nil {
		return err
	}
	return failed
}

// findPartners finds the first partner of each selected row.
func (j *join) findPartners(keys []*eval.Vector, sel []int32) {
	j.partners = slices.Grow(j.partners[:0], len(sel))[:len(sel)]
	if j.ints != nil {
		j.ints.find(keys[0].Ints, sel, j.partners)
		if keys[0].Any {
			for k, i := range sel {
				if keys[0].IsNull(i) {
					j.partners[k] = -1
				}
			}
		}
		return
	}
	j.cache.Forget()
	var numbers []int32
	if len(keys) > 0 {
		numbers = j.cache.Numbers(keys, sel, min(eval.MostKeys, keysPerRow*int64(len(sel))))
	}
	for k, i := range sel {
		if numbers == nil {
			j.partners[k] = j.partner(keys, i)
			continue
		}
		known := &j.cache.Known[numbers[k]]
		if *known == 0 {
			*known = j.partner(keys, i) + 2
		}
		j.partners[k] = *known - 2
	}
}

func (j *join) pair(l, r int32) error {
	j.lrows, j.rrows = append(j.lrows, l), append(j.rrows, r)
	if len(j.lrows) < batchRows {
		return nil
	}
	return j.flush()
}

// holds computes the rest of the condition for pairs. If that fails, it narrows the batch to the pairs before the first that fails.
func (j *join) holds(both *Batch) (v *eval.Vector, failed error) {
	all, done := both.Sel, 0
	out := eval.NewVector(types.Bool, both.N)
	err := eval.Pieces(all, func(sel []int32) error {
		piece := *both
		piece.Sel = sel
		values, failed := evalAll([]*eval.Program{j.rest}, &piece)
		if values == nil {
			return failed
		}
		for _, i := range piece.Sel {
			if out.Bools[i] = values[0].Bools[i]; values[0].IsNull(i) {
				out.SetNull(i)
			}
		}
		done += len(piece.Sel)
		return failed
	})
	if err != nil && done == 0 && len(all) > 0 {
		if e := (*values.Error)(nil); !errors.As(err, &e) {
			return nil, err
		}
	}
	both.Sel = all[:done]
	return out, err
}

// flush passes on the waiting pairs that fulfil the rest of the condition, and the left rows without a partner.
func (j *join) flush() error {
	if err := j.meter.Rows(len(j.lrows)); err != nil {
		return err
	}
	var failed error
	if j.rest != nil && len(j.lrows) > 0 {
		var computed bool
		if computed, failed = j.dropByRest(); !computed {
			return failed
		}
	}
	half := j.n.Kind == syntax.Semi || j.n.Kind == syntax.Anti
	kept := 0
	for k, l := range j.lrows {
		r := j.rrows[k]
		keep := true
		switch {
		case r >= 0:
			j.matched[l] = true
			if j.rightMatched != nil {
				j.rightMatched[r] = true
			}
			keep = !half
		case half:
			keep = j.matched[l] == (j.n.Kind == syntax.Semi)
		default:
			keep = !j.matched[l]
		}
		if keep {
			j.lrows[kept], j.rrows[kept] = l, r
			kept++
		}
	}
	lrows, rrows := j.lrows[:kept], j.rrows[:kept]
	j.lrows, j.rrows = j.lrows[:0], j.rrows[:0]
	if kept > 0 {
		b := j.gather(lrows, rrows, j.wanted, j.pairs != nil)
		if half {
			b.Columns = b.Columns[:len(j.l.Columns)]
		}
		var err error
		if j.pairs != nil {
			err = j.pairs(b, lrows, rrows)
		} else {
			err = j.to(b)
		}
		if err != nil {
			return err
		}
	}
	return failed
}

// dropByRest drops the waiting pairs that do not fulfil the rest of the condition. After an error it drops what comes behind it; computed
// is false if nothing was computed before the error.
func (j *join) dropByRest() (computed bool, failed error) {
	both := j.gather(j.lrows, j.rrows, j.restReads, true)
	sel := make([]int32, 0, len(j.lrows))
	for k, r := range j.rrows {
		if r >= 0 {
			sel = append(sel, int32(k))
		}
	}
	both.Sel = sel
	v, failed := j.holds(both)
	if v == nil {
		return false, failed
	}
	if failed != nil && len(both.Sel) < len(sel) {
		end := sel[len(both.Sel)]
		j.failedAt = j.lrows[end]
		j.lrows, j.rrows = j.lrows[:end], j.rrows[:end]
	}
	kept := 0
	for k, r := range j.rrows {
		if r < 0 || v.Bools[k] && !v.IsNull(int32(k)) {
			j.lrows[kept], j.rrows[kept] = j.lrows[k], r
			kept++
		}
	}
	j.lrows, j.rrows = j.lrows[:kept], j.rrows[:kept]
	return true, failed
}

// gather makes a batch of pairs, with the wanted columns. A joined row has the place of its left row. If passing is set, the
// batch is valid until the next call.
func (j *join) gather(lrows, rrows []int32, wanted []bool, passing bool) *Batch {
	b := &Batch{N: len(lrows), Sel: j.all.of(len(lrows))}
	next := func() (room *eval.Vector, read bool) {
		k := len(b.Columns)
		if read = wanted == nil || k < len(wanted) && wanted[k]; !passing || !read {
			return nil, read
		}
		for len(j.room) <= k {
			j.room = append(j.room, &eval.Vector{})
		}
		return j.room[k], true
	}
	for _, c := range j.l.Columns {
		room, read := next()
		switch {
		case c == nil || !read:
			b.Columns = append(b.Columns, nil)
		case room != nil && values.GatherInto(room, c, lrows):
			b.Columns = append(b.Columns, room)
		default:
			b.Columns = append(b.Columns, values.Gather(c, lrows))
		}
	}
	for _, c := range j.right.columns {
		room, read := next()
		if c == nil || !read {
			b.Columns = append(b.Columns, nil)
		} else {
			b.Columns = append(b.Columns, c.gather(rrows, room))
		}
	}
	b.File, b.Line = values.Gather(j.l.File, lrows), values.Gather(j.l.Line, lrows)
	return b
}

// rightRows passes on the rows of the right side that have a partner, or those that have none, without their partners.
func (j *join) rightRows(with bool) error {
	var rows []int32
	for r, matched := range j.rightMatched {
		if matched == with {
			rows = append(rows, int32(r))
		}
	}
	for len(rows) > 0 {
		part := rows[:min(batchRows, len(rows))]
		rows = rows[len(part):]
		none := make([]int32, len(part))
		for i := range none {
			none[i] = -1
		}
		out := &Batch{N: len(part), Sel: j.all.of(len(part))}
		for _, f := range j.n.L.Fields() {
			out.Columns = append(out.Columns, values.Gather(&eval.Vector{Kind: f.Type.Kind}, none))
		}
		for _, c := range j.right.columns {
			if c == nil {
				out.Columns = append(out.Columns, nil)
			} else {
				out.Columns = append(out.Columns, c.gather(part, nil))
			}
		}
		var err error
		if j.alone != nil {
			err = j.alone(out, part)
		} else {
			err = j.to(out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
