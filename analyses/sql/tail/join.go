package tail

import (
	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// join joins rows of two sides (a hash join). It keeps the right side, in chains of equal keys, and streams the left one.
type join struct {
	x            *Executor
	n            *bind.Join
	to           sink
	left         []program
	rest         *program
	restReads    []bool // columns that rest reads
	right        *store
	index        *index
	ints         *intIndex                                 // replaces index if there is one key and it is an integer
	first, next  []int32                                   // of each key the first row; of each row the next one with the same key, -1 at the end
	rightMatched []bool                                    // nil unless the join is RIGHT or FULL
	pairs        func(b *batch, left, right []int32) error // replaces to, if it is set
	wanted       []bool                                    // columns that are passed on; nil: all

	// State of the left batch:
	l       *batch
	matched []bool
	all     counting
	cache   eval.KeyCache  // by key: 0, or its first row plus 2
	room    []*eval.Vector // memory for joined rows, used if they are valid only while pairs runs
	// Pairs of rows that wait. A right row of -1 means "no partner"; this pair comes after all others of its left row.
	lrows, rrows []int32
}

func (x *Executor) join(n *bind.Join, to sink) error {
	j, err := x.newJoin(n, to)
	if err != nil {
		return err
	}
	defer j.release()
	if err := x.stream(n.L, j.probe); err != nil {
		return err
	}
	if n.Kind == syntax.Right || n.Kind == syntax.Full {
		return j.unmatchedRight()
	}
	return nil
}

func isInt(t types.Type) bool {
	return t.Kind == types.BigInt || t.Kind == types.Decimal || t.Kind == types.Date || t.Kind == types.Timestamp
}

func (j *join) release() {
	j.index.release()
	if j.ints != nil {
		j.ints.release()
	}
	j.right.release()
}

// id returns the number of a row's key, and whether it is new.
func (j *join) id(values []*eval.Vector, row int32) (id int32, fresh bool, err error) {
	if j.ints != nil {
		return j.ints.id(values[0].Ints[row])
	}
	j.index.row(values, row)
	return j.index.id()
}

// partner returns the first row of the right side that has the same key as a row, -1 if there is none.
func (j *join) partner(keys []*eval.Vector, row int32) int32 {
	switch {
	case len(j.first) == 0 || anyNull(keys, row):
		return -1
	case j.ints != nil:
		if id := j.ints.find(keys[0].Ints[row]); id >= 0 {
			return j.first[id]
		}
		return -1
	}
	j.index.row(keys, row)
	if id, ok := j.index.ids[string(j.index.key)]; ok {
		return j.first[id]
	}
	return -1
}

// newJoin makes a join and computes its right side.
func (x *Executor) newJoin(n *bind.Join, to sink) (*join, error) {
	j := &join{x: x, n: n, to: to, index: x.newIndex()}
	if len(n.Equal) == 1 && isInt(n.Equal[0][0].Type()) && n.Equal[0][0].Type() == n.Equal[0][1].Type() {
		var err error
		if j.ints, err = x.newIntIndex(); err != nil {
			return nil, err
		}
	}
	if err := j.compile(); err != nil {
		return nil, err
	}
	var right []bind.Expr
	for _, p := range n.Equal {
		right = append(right, p[1])
	}
	return j, j.build(right)
}

// compile makes the programs that compute the left side's keys and the rest of the condition.
func (j *join) compile() (err error) {
	var left []bind.Expr
	for _, p := range j.n.Equal {
		left = append(left, p[0])
	}
	if j.left, err = j.x.compileAll(left); err != nil || j.n.Rest == nil {
		return err
	}
	p, err := j.x.compile(j.n.Rest)
	j.rest, j.restReads = &p, make([]bool, len(j.n.L.Fields())+len(j.n.R.Fields()))
	bind.Mark(j.restReads, j.n.Rest)
	return err
}

// build keeps the right side, and chains its rows with equal keys in their order.
func (j *join) build(keys []bind.Expr) error {
	programs, err := j.x.compileAll(keys)
	if err != nil {
		return err
	}
	j.right = j.x.newStore(j.n.R.Fields())
	var last []int32
	err = j.x.stream(j.n.R, func(b *batch) error {
		values, failed := evalAll(programs, b)
		if failed != nil {
			return failed
		}
		row := int32(j.right.n)
		if err := j.right.add(b); err != nil {
			return err
		}
		if err := j.right.hold(4 * int64(len(b.sel))); err != nil {
			return err
		}
		for _, i := range b.sel {
			j.next = append(j.next, -1)
			if !anyNull(values, i) {
				id, fresh, err := j.id(values, i)
				switch {
				case err != nil:
					return err
				case fresh:
					j.first, last = append(j.first, row), append(last, row)
				default:
					j.next[last[id]] = row
					last[id] = row
				}
			}
			row++
		}
		return nil
	})
	if j.n.Kind == syntax.Right || j.n.Kind == syntax.Full {
		j.rightMatched = make([]bool, j.right.n)
	}
	return err
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
func (j *join) probe(b *batch) error {
	keys, failed := evalAll(j.left, b)
	if keys == nil {
		return failed
	}
	j.l = b
	j.matched = append(j.matched[:0], make([]bool, b.n)...)
	half := j.n.Kind == syntax.Semi || j.n.Kind == syntax.Anti
	alone := half || j.n.Kind == syntax.Left || j.n.Kind == syntax.Full
	j.cache.Forget()
	var numbers []int32
	if j.ints == nil && len(keys) > 0 {
		numbers = j.cache.Numbers(keys, b.sel, min(eval.MostKeys, keysPerRow*int64(len(b.sel))))
	}
	for k, i := range b.sel {
		var r int32
		if numbers == nil {
			r = j.partner(keys, i)
		} else if r = j.cache.Known[numbers[k]] - 2; r < -1 {
			r = j.partner(keys, i)
			j.cache.Known[numbers[k]] = r + 2
		}
		if half && j.rest == nil {
			j.matched[i] = r >= 0
			r = -1
		}
		for ; r >= 0; r = j.next[r] {
			if err := j.pair(i, r); err != nil {
				return err
			}
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

func (j *join) pair(l, r int32) error {
	j.lrows, j.rrows = append(j.lrows, l), append(j.rrows, r)
	if len(j.lrows) < batchRows {
		return nil
	}
	return j.flush()
}

// flush passes on the waiting pairs that fulfil the rest of the condition, and the left rows without a partner.
func (j *join) flush() error {
	var failed error
	if j.rest != nil && len(j.lrows) > 0 {
		both := j.gather(j.lrows, j.rrows, j.restReads, true)
		sel := make([]int32, 0, len(j.lrows))
		for k, r := range j.rrows {
			if r >= 0 {
				sel = append(sel, int32(k))
			}
		}
		both.sel = sel
		var v *eval.Vector
		values, err := evalAll([]program{*j.rest}, both)
		if values == nil {
			return err
		}
		if failed = err; failed != nil { // drop what comes after the error
			end := len(j.lrows)
			for _, k := range sel[len(both.sel):] {
				end = int(k)
				break
			}
			j.lrows, j.rrows = j.lrows[:end], j.rrows[:end]
		}
		v = values[0]
		kept := 0
		for k, r := range j.rrows {
			if r < 0 || v.Bools[k] && !v.IsNull(int32(k)) {
				j.lrows[kept], j.rrows[kept] = j.lrows[k], r
				kept++
			}
		}
		j.lrows, j.rrows = j.lrows[:kept], j.rrows[:kept]
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
			b.columns = b.columns[:len(j.l.columns)]
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

// gather makes a batch of pairs, with the wanted columns. A joined row has the place of its left row. If passing is set, the
// batch is valid until the next call.
func (j *join) gather(lrows, rrows []int32, wanted []bool, passing bool) *batch {
	b := &batch{n: len(lrows), sel: j.all.of(len(lrows))}
	take := func(columns []*eval.Vector, rows []int32) {
		for _, c := range columns {
			k := len(b.columns)
			if k == len(j.room) {
				j.room = append(j.room, &eval.Vector{})
			}
			switch {
			case c == nil || wanted != nil && (k >= len(wanted) || !wanted[k]):
				b.columns = append(b.columns, nil)
			case passing && gatherInto(j.room[k], c, rows):
				b.columns = append(b.columns, j.room[k])
			default:
				b.columns = append(b.columns, gather(c, rows))
			}
		}
	}
	take(j.l.columns, lrows)
	take(j.right.columns, rrows)
	b.file, b.line = gatherIf(j.l.file, lrows), gatherIf(j.l.line, lrows)
	return b
}

func gatherIf(c *eval.Vector, rows []int32) *eval.Vector {
	if c == nil {
		return nil
	}
	return gather(c, rows)
}

// unmatchedRight passes on the rows of the right side that have no partner.
func (j *join) unmatchedRight() error {
	var rows []int32
	for r, matched := range j.rightMatched {
		if !matched {
			rows = append(rows, int32(r))
		}
	}
	return j.right.order(rows, func(b *batch) error {
		none := make([]int32, b.n)
		for i := range none {
			none[i] = -1
		}
		out := &batch{n: b.n, sel: b.sel}
		for _, f := range j.n.L.Fields() {
			out.columns = append(out.columns, gather(&eval.Vector{Kind: f.Type.Kind}, none))
		}
		out.columns = append(out.columns, b.columns...)
		return j.to(out)
	})
}
