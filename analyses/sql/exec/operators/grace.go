package operators

import (
	"errors"
	"hash/maphash"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/values"
)

// grace joins two sides of which the right one does not fit the memory (a grace hash join). Both are divided by the hashes of their keys,
// and joined partition by partition. A partition whose right side still does not fit is divided again. If that does not help, because
// most rows have one key, or because there is no key, its right side is kept piece by piece, and its left side is read once for each
// piece.
//
// The result has the order of any other join: the joined rows of a partition have the order of its left rows, and are merged by their
// numbers. An error counts only if no row before it makes it unnecessary, as everywhere (handOn).
type grace struct {
	x         *Executor
	n         *plan.Join
	to        sink
	depth     int
	leftKeys  []*eval.Program
	rightKeys []*eval.Program

	rights, lefts *partitions // of wide batches
	rightRows     int64
	leftRows      int64
	key           []byte
	failed        failure
}

// divide moves the right rows that are kept to a grace, which takes all further rows.
func (j *join) divide(rightKeys []*eval.Program) error {
	g, err := j.x.newGrace(j.n, j.to, 0, j.left, rightKeys)
	j.grace = g
	if err != nil {
		return err
	}
	j.right.close()
	var rows []int32
	for lo := 0; lo < j.right.n; lo += batchRows {
		rows = rows[:0]
		for r := lo; r < min(lo+batchRows, j.right.n); r++ {
			rows = append(rows, int32(r))
		}
		b := &Batch{N: len(rows), Sel: j.all.of(len(rows))}
		for _, c := range j.right.columns {
			if c == nil {
				b.Columns = append(b.Columns, nil)
			} else {
				b.Columns = append(b.Columns, c.gather(rows, nil))
			}
		}
		if err := g.addRight(b); err != nil {
			return err
		}
	}
	j.right.release()
	j.index.release()
	j.right, j.index, j.first, j.next = nil, j.x.newIndex(), nil, nil
	return nil
}

func (x *Executor) newGrace(n *plan.Join, to sink, depth int, left, right []*eval.Program) (g *grace, err error) {
	g = &grace{x: x, n: n, to: to, depth: depth, leftKeys: left, rightKeys: right}
	parts, seed := fanOut, maphash.MakeSeed()
	if len(left) == 0 {
		parts = 1
	}
	if g.rights, err = x.newPartitions(widened(n.R.Fields()), parts, seed); err == nil {
		g.lefts, err = x.newPartitions(widened(n.L.Fields()), parts, seed)
	}
	return g, err
}

func (g *grace) release() {
	if g != nil {
		g.rights.release()
		g.lefts.release()
	}
}

// hashed returns a function that returns the key of a row. For a row whose key has a NULL it is any key, because the row has no partner.
func (g *grace) hashed(keys []*eval.Vector) func(row int32) []byte {
	return func(row int32) []byte {
		g.key = g.key[:0]
		for _, v := range keys {
			g.key = values.Append(g.key, v, row, true)
		}
		return g.key
	}
}

// addRight takes rows of the right side.
func (g *grace) addRight(b *Batch) error {
	keys, failed := evalAll(g.rightKeys, b)
	if failed != nil {
		return failed
	}
	return g.rights.add(widen(b, numbered(b, &g.rightRows)), g.hashed(keys))
}

// addLeft takes rows of the left side.
func (g *grace) addLeft(b *Batch) error {
	keys, failed := evalAll(g.leftKeys, b)
	if keys == nil {
		return failed
	}
	if err := g.lefts.add(widen(b, numbered(b, &g.leftRows)), g.hashed(keys)); err != nil {
		return err
	}
	return failed
}

// end must be called after the last left row, with the error that ended the rows, or nil. It passes on the joined rows.
func (g *grace) end(failed error) error {
	if e := (*values.Error)(nil); errors.As(failed, &e) {
		g.failed.note(failed, g.leftRows)
	} else if failed != nil {
		return failed
	}
	narrowed := func(b *Batch) error {
		of, _ := narrow(b)
		return of.Pieces(g.to)
	}
	return g.joined(narrowed, narrowed)
}

// joined joins the partitions. It passes on the joined rows, and then the right rows without a partner, in wide batches with the numbers of
// the left and of the right rows.
func (g *grace) joined(to, alone sink) error {
	if err := errors.Join(g.rights.end(), g.lefts.end()); err != nil {
		return err
	}
	out, err := g.x.newRuns(g.n.Fields())
	defer out.release()
	if err != nil {
		return err
	}
	single, err := g.x.newRuns(g.n.Fields())
	defer single.release()
	if err != nil {
		return err
	}
	for i := range g.rights.writers {
		if err := g.part(i, out, single); err != nil {
			return err
		}
	}
	if err := out.stream(&g.failed, to); err != nil {
		return err
	}
	return single.stream(&failure{}, alone)
}

// part joins a partition.
func (g *grace) part(i int, out, single *numberedRuns) error {
	p := &partition{g: g, left: &g.lefts.writers[i].run, right: &g.rights.writers[i].run, out: out, single: single}
	if p.left.rows == 0 && (p.right.rows == 0 || !g.rightAlone()) {
		return nil
	}
	whole, err := p.piece(true)
	if err != nil {
		return err
	}
	divisible := len(g.leftKeys) > 0 && g.depth < deepest && p.right.rows < g.rightRows
	switch {
	case whole:
		return errors.Join(out.next(), single.next())
	case g.depth == 0 && len(g.leftKeys) > 0, divisible:
		return g.again(p)
	}
	return p.pieces()
}

// rightAlone reports whether right rows without a partner are passed on.
func (g *grace) rightAlone() bool { return g.n.Kind == syntax.Right || g.n.Kind == syntax.Full }

// again divides a partition.
func (g *grace) again(p *partition) error {
	in, err := g.x.newGrace(g.n, nil, g.depth+1, g.leftKeys, g.rightKeys)
	defer in.release()
	if err != nil {
		return err
	}
	err = g.rights.file.stream(p.right, func(wide *Batch) error {
		b, _ := narrow(wide)
		keys, failed := evalAll(in.rightKeys, b)
		if failed != nil {
			return failed
		}
		in.rightRows += int64(len(b.Sel))
		return in.rights.add(&Batch{Columns: wide.Columns, N: b.N, Sel: b.Sel}, in.hashed(keys))
	})
	if err != nil {
		return err
	}
	err = g.lefts.file.stream(p.left, func(wide *Batch) error {
		b, _ := narrow(wide)
		keys, failed := evalAll(in.leftKeys, b)
		if failed != nil {
			return failed
		}
		return in.lefts.add(&Batch{Columns: wide.Columns, N: b.N, Sel: b.Sel}, in.hashed(keys))
	})
	if err != nil {
		return err
	}
	err = in.joined(p.out.add, p.single.add)
	if in.failed.err != nil {
		g.failed.note(in.failed.err, in.failed.at)
		if errors.Is(err, in.failed.err) {
			err = nil
		}
	}
	return errors.Join(err, p.out.next(), p.single.next())
}

// partition is a partition while it is joined.
type partition struct {
	g           *grace
	left, right *run
	out, single *numberedRuns
	read        int      // blocks of the right side that were joined
	matched     []uint64 // bit i: the left row i of the partition has had a partner; nil as long as the right side is in one piece
}

// piece joins the left side with a piece of the right side. If whole is set, it joins all of the right side or, if that does not fit the
// memory, nothing. It reports whether the right side ends with this piece.
func (p *partition) piece(whole bool) (ended bool, err error) {
	g := p.g
	n := g.n
	if !whole {
		n = inner(n)
	}
	j := &join{x: g.x, n: n, index: g.x.newIndex(), meter: g.x.meter}
	defer j.release()
	if err := j.compile(); err != nil {
		return false, err
	}
	k := j.newKeeping(g.rightKeys)
	defer k.release()
	var numbers []int64 // of the right rows
	at := p.read
	for ; at < len(p.right.blocks); at++ {
		wide, err := g.rights.file.read(p.right.blocks[at])
		if err != nil {
			return false, err
		}
		b, of := narrow(wide)
		if g.rightAlone() {
			numbers = append(numbers, of.Ints...)
		}
		if err := b.Pieces(k.add); err != nil {
			return false, err
		}
		if k.full() && at+1 < len(p.right.blocks) {
			if whole {
				return false, nil
			}
			at++
			break
		}
	}
	p.read = at
	if err := k.close(); err != nil {
		return false, err
	}
	if g.rightAlone() {
		j.rightMatched = make([]bool, j.right.n)
	}
	if err := p.probe(j, whole); err != nil {
		return false, err
	}
	if g.rightAlone() {
		j.alone = func(b *Batch, right []int32) error {
			v := eval.NewVector(numberType.Kind, b.N)
			for i, r := range right {
				v.Ints[i] = numbers[r]
			}
			return p.single.add(widen(b, v))
		}
		if err := j.rightRows(false); err != nil {
			return false, err
		}
	}
	return p.read == len(p.right.blocks), nil
}

// inner returns a join that has a row for each pair, and no others.
func inner(n *plan.Join) *plan.Join {
	of := *n
	of.Kind = syntax.Inner
	return &of
}

// probe passes the left rows to a join, and adds what it makes to the results.
func (p *partition) probe(j *join, whole bool) error {
	g, first := p.g, 0
	half := g.n.Kind == syntax.Semi || g.n.Kind == syntax.Anti
	return g.lefts.file.each(p.left, func(wide *Batch) error {
		all, numbers := narrow(wide)
		j.pairs = func(of *Batch, left, _ []int32) error {
			if !whole && half {
				return nil
			}
			return p.out.add(widen(of, values.Gather(numbers, left)))
		}
		err := all.Pieces(func(b *Batch) error {
			g.failed.cut(b, numbers)
			err := j.probe(b)
			if e := (*values.Error)(nil); errors.As(err, &e) {
				g.failed.note(err, numbers.Ints[j.failedAt])
				err = nil
			}
			if !whole && err == nil {
				p.mark(first, j.matched)
			}
			return err
		})
		first += all.N
		return err
	})
}

// cut drops the rows behind an error.
func (f *failure) cut(b *Batch, numbers *eval.Vector) {
	if f.err == nil {
		return
	}
	n := 0
	for n < len(b.Sel) && numbers.Ints[b.Sel[n]] <= f.at {
		n++
	}
	b.Sel = b.Sel[:n]
}

// mark notes which of the left rows from number first on have a partner.
func (p *partition) mark(first int, matched []bool) {
	for i, is := range matched {
		if is {
			p.matched[(first+i)>>6] |= 1 << ((first + i) & 63)
		}
	}
}

// pieces joins a partition whose right side is kept piece by piece.
func (p *partition) pieces() error {
	g := p.g
	p.matched = make([]uint64, p.left.rows/64+1)
	for ended := false; !ended; {
		var err error
		if ended, err = p.piece(false); err != nil {
			return err
		}
		if err := errors.Join(p.out.next(), p.single.next()); err != nil {
			return err
		}
	}
	switch g.n.Kind {
	case syntax.Left, syntax.Full, syntax.Anti:
		return p.rest(false)
	case syntax.Semi:
		return p.rest(true)
	}
	return nil
}

// rest passes on the left rows with a partner, or those without one, as the join has them without regard to the right side.
func (p *partition) rest(matched bool) error {
	g, first := p.g, 0
	none := make([]*eval.Vector, 0, len(g.n.R.Fields()))
	for _, f := range g.n.R.Fields() {
		none = append(none, &eval.Vector{Kind: f.Type.Kind})
	}
	err := g.lefts.file.each(p.left, func(wide *Batch) error {
		b, numbers := narrow(wide)
		g.failed.cut(b, numbers)
		sel := b.Sel[:0:0]
		for _, i := range b.Sel {
			if at := first + int(i); p.matched[at>>6]>>(at&63)&1 == 1 == matched {
				sel = append(sel, i)
			}
		}
		first += b.N
		if b.Sel = sel; len(sel) == 0 {
			return nil
		}
		if g.n.Kind == syntax.Left || g.n.Kind == syntax.Full {
			b.Columns = slices.Clone(b.Columns)
			missing := slices.Repeat([]int32{-1}, b.N)
			for _, v := range none {
				b.Columns = append(b.Columns, values.Gather(v, missing))
			}
		}
		return p.out.add(widen(b, numbers))
	})
	return errors.Join(err, p.out.next())
}
