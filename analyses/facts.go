package analyses

import (
	"errors"
	"fmt"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// ErrNoReference is wrapped when a reference stream reaches a joiner of [FoldFacts], which cannot use one.
var ErrNoReference = errors.New("this joiner takes no reference streams; write a Joiner of your own")

// Facts is a batch of a fact stream with its context. The batch is valid during the call.
type Facts struct {
	*batch.Batch
	Args   Args
	Stream int
	Pos    Position
}

// FoldFacts returns a NewJoiner for an analysis that has no reference streams and keeps nothing between two batches. add folds
// a batch into tables, which are indexed as specs, the Tables of the analysis. add must be safe for concurrent sessions, so it
// must change only the tables.
func FoldFacts(specs []fold.Spec, add func(f Facts, tables []*fold.Table) error) func(Args, Replica) (Joiner, error) {
	return func(args Args, _ Replica) (Joiner, error) {
		j := &factFolder{args: args, add: add}
		for i := range specs {
			j.tables = append(j.tables, fold.NewTable(&specs[i]))
		}
		return j, nil
	}
}

// factFolder folds into tables of its own, because a joiner gets the engine's tables only in Flush.
type factFolder struct {
	args   Args
	add    func(Facts, []*fold.Table) error
	tables []*fold.Table
}

func (j *factFolder) Reference(stream int, _ *batch.Batch, _ Position) error {
	return fmt.Errorf("stream %d: %w", stream, ErrNoReference)
}

func (j *factFolder) Facts(stream int, b *batch.Batch, pos Position) error {
	if err := j.add(Facts{b, j.args, stream, pos}, j.tables); err != nil {
		return err
	}
	for _, t := range j.tables {
		if err := t.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (j *factFolder) End(int) error { return nil }

// flushBytes is roughly how many bytes are copied at a time: enough that a step's own cost does not matter, and few enough to
// delay nothing.
const flushBytes = 1 << 20

func (j *factFolder) Flush(tables []*fold.Table) error {
	var partial []byte
	for i, t := range j.tables {
		for _, rows := range t.Chunks(t.Rows(), flushBytes) {
			partial = t.AppendRows(partial[:0], rows)
			if err := tables[i].Merge(partial); err != nil {
				return err
			}
		}
		t.Reset()
	}
	return nil
}
