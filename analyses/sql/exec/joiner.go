package exec

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/syntax"
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
	bound  int   // see bind
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
	j.bind(withinMemory(FoldBytes, memory))
}

// bind bounds what the joiner folds before its tables leave, in bytes.
func (j *Joiner) bind(bytes int) {
	j.bound = bytes
	for _, t := range j.tables {
		t.SetBound(bytes)
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
				w.x = operators.New(nothing{}, maxKept, plans...)
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
		j.tables = append(j.tables, fold.NewOutgoing(&s.Specs[i]))
	}
	j.bind(FoldBytes)
	for _, sc := range s.Order {
		j.scans = append(j.scans, newColumns(sc))
	}
	return j
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

// foldable returns the error of the tables of a worker, or of what they will get.
func (j *Joiner) foldable(w *worker) error {
	for i, t := range j.tables[w.Table : w.Table+w.Tables] {
		err := t.Err()
		if i == 0 && err == nil && len(w.held) > 0 && slices.Max(w.held) > int64(j.bound) {
			err = fmt.Errorf("%w: %s would have more than %d MiB of values", fold.ErrTooLarge, t.Spec().Name, j.bound>>20)
		}
		if errors.Is(err, fold.ErrTooLarge) {
			bound, why := withinMemory(FoldBytes, j.memory), ""
			if bound < FoldBytes {
				why = " (limits.memory of the topology)"
			}
			return fmt.Errorf("the rows, groups and values that are made of rows which travel together take more than %d MiB%s in one process: %w; "+
				"make shorter values of a row, or narrow the rows by WHERE before they are joined or their values are made", bound>>20, why, err)
		}
		if err != nil {
			return err
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
	return analyses.BehindRow(syntax.NewError(j.text, e.At, e.Message, ""), pos.File.Name, pos.Line)
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
