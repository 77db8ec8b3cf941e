package operators

import (
	"hash/maphash"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// A wide batch is rows in a file: the columns of a node, then the file and the line of each row, which are empty if the row does not come
// straight from a table, and the number of the row. Rows that were computed partition by partition are put in order by their numbers.

// numberType is the type of numbers of rows.
var numberType = types.Of(types.BigInt)

// widened returns the fields of wide batches.
func widened(fields []plan.Field) []plan.Field {
	return append(slices.Clone(fields), plan.Field{Type: types.Of(types.Text)}, plan.Field{Type: numberType}, plan.Field{Type: numberType})
}

// widen makes a wide batch.
func widen(b *Batch, numbers *eval.Vector) *Batch {
	file, line := b.File, b.Line
	if file == nil || line == nil {
		file, line = eval.NewVector(types.Text, b.N), eval.NewVector(types.BigInt, b.N)
	}
	return &Batch{Columns: append(slices.Clone(b.Columns), file, line, numbers), N: b.N, Sel: b.Sel}
}

// narrow takes a wide batch apart.
func narrow(b *Batch) (of *Batch, numbers *eval.Vector) {
	w := len(b.Columns) - 3
	return &Batch{Columns: b.Columns[:w:w], N: b.N, Sel: b.Sel, File: b.Columns[w], Line: b.Columns[w+1]}, b.Columns[w+2]
}

const (
	// fanOut is how many partitions rows are divided into that do not fit the memory.
	fanOut = 32
	// deepest is how often partitions that do not fit are divided again.
	deepest = 4
)

// partitions is rows in a file, divided by the hashes of their keys.
type partitions struct {
	file    *file
	writers []*writer
	seed    maphash.Seed
	rows    [fanOut][]int32
}

func (x *Executor) newPartitions(fields []plan.Field, n int, seed maphash.Seed) (*partitions, error) {
	f, err := x.newFile(kindsOf(fields))
	if err != nil {
		return nil, err
	}
	p := &partitions{file: f, seed: seed}
	for range n {
		p.writers = append(p.writers, f.newWriter(fields))
	}
	return p, nil
}

// add adds the selected rows of a batch. key returns the key of a row; it is valid until the next call.
func (p *partitions) add(b *Batch, key func(row int32) []byte) error {
	if len(p.writers) == 1 {
		return p.writers[0].add(b)
	}
	for i := range p.rows {
		p.rows[i] = p.rows[i][:0]
	}
	for _, i := range b.Sel {
		to := maphash.Bytes(p.seed, key(i)) % uint64(len(p.writers))
		p.rows[to] = append(p.rows[to], i)
	}
	for i, w := range p.writers {
		if len(p.rows[i]) == 0 {
			continue
		}
		if err := w.add(&Batch{Columns: b.Columns, N: b.N, Sel: p.rows[i]}); err != nil {
			return err
		}
	}
	return nil
}

// end must be called after the last row.
func (p *partitions) end() error {
	for _, w := range p.writers {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (p *partitions) stream(i int, to sink) error { return p.file.stream(&p.writers[i].run, to) }

func (p *partitions) release() {
	if p == nil {
		return
	}
	for _, w := range p.writers {
		w.pending.release()
	}
	p.file.remove()
}

// numberedRuns is the results of partitions, which are put in the order of their rows' numbers.
type numberedRuns struct {
	*sorter
	w *writer
}

// newRuns makes room for wide batches of some fields.
func (x *Executor) newRuns(fields []plan.Field) (*numberedRuns, error) {
	wide := widened(fields)
	s := x.newSorter(wide, len(wide), []sortKey{{column: len(wide) - 1}}, 0)
	var err error
	s.file, err = x.newFile(kindsOf(wide))
	return &numberedRuns{sorter: s}, err
}

// add adds a wide batch to the run that was begun last. Its numbers do not decrease.
func (r *numberedRuns) add(b *Batch) error {
	if r.w == nil {
		r.w = r.file.newWriter(r.fields)
	}
	return r.w.add(b)
}

// next ends a run.
func (r *numberedRuns) next() error {
	if r.w == nil {
		return nil
	}
	err := r.w.flush()
	r.runs, r.w = append(r.runs, r.w.run), nil
	return err
}

// failure is an error of a row, which counts only if no row before it makes that unnecessary.
type failure struct {
	err error
	at  int64 // rows with numbers up to this one come before the error
}

// note keeps the first of several errors.
func (f *failure) note(err error, at int64) {
	if f.err == nil || at < f.at {
		f.err, f.at = err, at
	}
}

// stream passes on the rows in their order up to an error, and then returns that.
func (r *numberedRuns) stream(failed *failure, to sink) error {
	all, err := r.result()
	if err != nil {
		return err
	}
	g := &gathering{kinds: r.file.kinds, x: r.x, to: to}
	for {
		p, ok, err := all.next()
		if err != nil {
			return err
		}
		if !ok || failed.err != nil && p.b.Columns[len(r.fields)-1].Ints[p.row] > failed.at {
			break
		}
		if err := g.add(p); err != nil {
			return err
		}
	}
	if err := g.flush(); err != nil {
		return err
	}
	return failed.err
}
