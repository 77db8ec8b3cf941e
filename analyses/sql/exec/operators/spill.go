package operators

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/scratch"
)

// What is kept moves to files when all that the executor keeps is more than its limit (E15). A node that keeps rows asks full after each
// batch. If it is, and the node has at least its least share, it moves all of its rows, so that files have large runs.
//
// Two sums are counted. What can move (soft) may exceed the limit only by the least shares of all nodes together, a quarter. What cannot
// move (states of groups, rows of one window) may have as much for itself. So a statement never fails because other nodes hold much that
// could move. Rejected: to let a node move the rows of another one. Each node would have to be able to move at any time, even in the middle
// of handing rows on.

// SetScratch says where the executor keeps what is more than its limit; nil: nowhere, and then it fails with ErrMemory.
func (x *Executor) SetScratch(d scratch.Disk) { x.disk = d }

// shares is into how many parts the least share of each node divides the limit.
const shares = 4

// full reports whether something that is kept should move to files.
func (c *counted) full() bool {
	x := c.x
	return x.disk != nil && x.held > x.limit && c.bytes >= x.limit/int64(shares*max(1, x.keepers))
}

// keeps counts the nodes that keep rows.
func (x *Executor) keeps(n plan.Node) {
	switch n.(type) {
	case *plan.Sort, *plan.Windows, *plan.Join, *plan.Distinct, *plan.SetOp, *plan.Aggregation:
		x.keepers++
	}
}

// blockBytes is about how many bytes the rows of a block have. A run that is read has one block in memory.
const blockBytes = 128 << 10

// weight returns about how many bytes a row takes.
func weight(columns []*eval.Vector, row int32) (n int64) {
	for _, c := range columns {
		if c != nil {
			n += values.Width(c.Kind) + values.Beside(c, row)
		}
	}
	return n
}

// file is rows in a file, in several runs.
type file struct {
	x     *Executor
	kinds []types.Kind
	spool *scratch.Spool
	block []byte // scratch
}

// run is some rows of a file, in an order.
type run struct {
	blocks []int
	rows   int64
	widest int64 // bytes of the largest block in memory
}

func (x *Executor) newFile(kinds []types.Kind) (*file, error) {
	f, err := x.disk.Create()
	if err != nil {
		return nil, fmt.Errorf("make a file for rows, because there is no memory for them: %w", err)
	}
	made := &file{x: x, kinds: kinds, spool: scratch.NewSpool(f)}
	x.files[made] = true
	return made, nil
}

func kindsOf(fields []plan.Field) (kinds []types.Kind) {
	for _, f := range fields {
		kinds = append(kinds, f.Type.Kind)
	}
	return kinds
}

// remove removes the file. A nil file has none. That a file stays is no error of the statement: it is removed with the session's node.
func (f *file) remove() {
	if f != nil && f.spool != nil {
		_ = f.spool.Remove()
		f.spool = nil
		delete(f.x.files, f)
	}
}

// add appends rows to a run, in as many blocks as their bytes require.
func (f *file) add(r *run, columns []*eval.Vector, rows []int32) error {
	for len(rows) > 0 {
		n, bytes := 0, int64(0)
		for n < min(len(rows), batchRows) && (n == 0 || bytes < blockBytes) {
			bytes += weight(columns, rows[n])
			n++
		}
		f.block = values.AppendBlock(f.block[:0], columns, rows[:n])
		number, err := f.spool.Add(f.block)
		if err != nil {
			return err
		}
		if cap(f.block) > 8*blockBytes {
			f.block = nil
		}
		r.blocks, r.rows, r.widest = append(r.blocks, number), r.rows+int64(n), max(r.widest, bytes)
		rows = rows[n:]
		f.x.pause()
	}
	return nil
}

// read returns the rows of a block.
func (f *file) read(number int) (*Batch, error) {
	b, err := f.spool.Read(number, f.block)
	if err != nil {
		return nil, err
	}
	f.block = b
	columns, n, err := values.ReadBlock(b, f.kinds)
	if err != nil {
		return nil, errors.Join(scratch.ErrDamaged, err)
	}
	f.x.pause()
	return &Batch{Columns: columns, N: n, Sel: f.x.all(n)}, nil
}

// stream passes on the rows of a run, as Executor.stream does.
func (f *file) stream(r *run, to sink) error {
	return f.each(r, func(b *Batch) error { return b.Pieces(to) })
}

// each calls to with each block of a run.
func (f *file) each(r *run, to func(b *Batch) error) error {
	for _, number := range r.blocks {
		b, err := f.read(number)
		if err != nil {
			return err
		}
		if err := to(b); err != nil {
			return err
		}
	}
	return nil
}

// writer collects rows for a run until they make a block.
type writer struct {
	file    *file
	run     run
	pending *store
}

func (f *file) newWriter(fields []plan.Field) *writer {
	return &writer{file: f, pending: f.x.newSpilling(fields)}
}

func (w *writer) add(b *Batch) error {
	if err := w.pending.add(b); err != nil || w.pending.n < batchRows && w.pending.bytes < blockBytes {
		return err
	}
	return w.flush()
}

// flush writes what is pending. It must be called after the last row.
func (w *writer) flush() error {
	p := w.pending
	if p.n == 0 {
		return nil
	}
	err := w.file.add(&w.run, p.columns, w.file.x.all(p.n))
	p.reset()
	return err
}

// pick is a row of a batch.
type pick struct {
	b   *Batch
	row int32
}

// cursor reads the rows of a run, one after the other.
type cursor struct {
	file   *file
	blocks []int
	pick
	prefix uint64
	number int // of the run
}

// next goes to the next row; false if there is none.
func (c *cursor) next() (ok bool, err error) {
	c.row++
	for c.b == nil || int(c.row) >= c.b.N {
		if len(c.blocks) == 0 {
			return false, nil
		}
		if c.b, err = c.file.read(c.blocks[0]); err != nil {
			return false, err
		}
		c.blocks, c.row = c.blocks[1:], 0
	}
	return true, nil
}

// sortKey is a column by which rows are ordered.
type sortKey struct {
	column           int
	desc, nullsFirst bool
}

func (k *sortKey) of(columns []*eval.Vector) values.Key {
	return values.Key{V: columns[k.column], Desc: k.desc, NullsFirst: k.nullsFirst}
}

// compare compares two rows.
func compare(keys []sortKey, a, b pick) int {
	for i := range keys {
		k := keys[i].of(a.b.Columns)
		if c := k.Against(a.row, b.b.Columns[keys[i].column], b.row); c != 0 {
			return c
		}
	}
	return 0
}

// merge merges runs. Equal rows come in the order of their runs.
type merge struct {
	keys  []sortKey
	heap  []*cursor
	begun bool
	x     *Executor
}

func (f *file) newMerge(runs []run, keys []sortKey) *merge {
	m := &merge{keys: keys, x: f.x}
	for i, r := range runs {
		m.heap = append(m.heap, &cursor{file: f, blocks: r.blocks, number: i})
	}
	return m
}

// next returns the next row; false if there is none.
func (m *merge) next() (p pick, ok bool, err error) {
	if !m.begun {
		m.begun = true
		all := m.heap
		m.heap = nil
		for _, c := range all {
			if ok, err := m.advance(c); err != nil {
				return p, false, err
			} else if ok {
				m.heap = append(m.heap, c)
			}
		}
		for i := len(m.heap)/2 - 1; i >= 0; i-- {
			m.down(i)
		}
	} else if len(m.heap) > 0 {
		ok, err := m.advance(m.heap[0])
		if err != nil {
			return p, false, err
		}
		if !ok {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.down(0)
	}
	if len(m.heap) == 0 {
		return p, false, nil
	}
	return m.heap[0].pick, true, nil
}

func (m *merge) advance(c *cursor) (ok bool, err error) {
	if ok, err = c.next(); ok && len(m.keys) > 0 {
		k := m.keys[0].of(c.b.Columns)
		c.prefix = k.Prefix(c.row)
	}
	return ok, err
}

func (m *merge) less(a, b *cursor) bool {
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	if c := compare(m.keys, a.pick, b.pick); c != 0 {
		return c < 0
	}
	return a.number < b.number
}

func (m *merge) down(i int) {
	for {
		least := i
		for _, k := range [...]int{2*i + 1, 2*i + 2} {
			if k < len(m.heap) && m.less(m.heap[k], m.heap[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// gathering makes batches of picked rows.
type gathering struct {
	kinds []types.Kind // of the columns that are passed on
	picks []pick
	bytes int64
	to    sink
	x     *Executor
}

// add adds a row. It passes on a batch when there are many.
func (g *gathering) add(p pick) error {
	g.picks = append(g.picks, p)
	g.bytes += weight(p.b.Columns, p.row)
	if len(g.picks) < batchRows && g.bytes < 8*blockBytes {
		return nil
	}
	return g.flush()
}

// flush passes on the rows that wait. It must be called after the last one.
func (g *gathering) flush() error {
	n := len(g.picks)
	if n == 0 {
		return nil
	}
	b := &Batch{Columns: make([]*eval.Vector, len(g.kinds)), N: n, Sel: g.x.all(n)}
	for c, kind := range g.kinds {
		if g.picks[0].b.Columns[c] == nil {
			continue
		}
		v := eval.NewVector(kind, n)
		for k, p := range g.picks {
			values.Copy(v, int32(k), p.b.Columns[c], p.row)
		}
		b.Columns[c] = v
	}
	clear(g.picks)
	g.picks, g.bytes = g.picks[:0], 0
	return b.Pieces(g.to)
}
