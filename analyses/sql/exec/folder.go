package exec

import (
	"errors"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// Folder folds rows where they are parsed (analyses.Folder). It uses the workers of a joiner, so that both share one
// implementation.
type Folder struct {
	of     *Fragments
	leaves []*Leaf
	stream int
	J      *Joiner // nil after a fold that failed, because its groups are incomplete
	Rest   int     // how many more chunks are passed on without trying
	Next   int     // the value that the next chunk that is not folded gives to rest
}

const (
	// fewGroups is the least number of rows per group for which folding pays. With fewer rows per group, tables take more
	// bytes and time than the rows.
	fewGroups = 4
	// SurelyMany is how many rows are folded before their groups are counted. The groups of fewer rows are small anyway.
	SurelyMany = 4 * Slice
	// longestRest bounds how many chunks after one that was not folded are passed on before folding is tried again.
	longestRest = 256
	// earlySteps and earlyBytes are batchSteps and foldBytes of one chunk where it is parsed. They are far smaller, because an input serves
	// nobody meanwhile and parses several chunks at a time. Rows that need more travel to a joiner, which computes them in slices.
	earlySteps = BatchSteps >> 3
	earlyBytes = FoldBytes >> 3
)

// errMany ends the folding of rows that have many groups.
var errMany = errors.New("there are hardly fewer groups than rows")

// NewFolder returns the folder of a stream, nil if a joiner has to fold its rows.
func (s *Fragments) NewFolder(stream int) (analyses.Folder, error) {
	f := &Folder{of: s, leaves: s.EarlyLeaves(stream), stream: stream, Next: 1}
	if len(f.leaves) == 0 {
		return nil, nil
	}
	return f, f.begin()
}

// EarlyLeaves returns the leaves of a stream if parsers can fold all of them. A joiner is needed for rows that no table folds
// and for rows that need a reference stream. It is also needed for rows that are joined with rows in the plan, because each
// folder would hold a copy of the plan's rows.
func (s *Fragments) EarlyLeaves(stream int) (all []*Leaf) {
	for _, l := range s.Leaves {
		if l.Scan.Stream != stream {
			continue
		}
		if l.Keep == KeepRows || l.Keep == KeepParts || len(l.Refs) > 0 || len(l.plans()) > 0 {
			return nil
		}
		all = append(all, l)
	}
	return all
}

func (f *Folder) begin() (err error) {
	if f.J, err = f.of.newWorkers(f.leaves); err != nil {
		return err
	}
	f.J.sparse, f.J.meter.Most = true, earlySteps
	f.J.bind(earlyBytes)
	return nil
}

// Fold implements analyses.Folder.
func (f *Folder) Fold(b *batch.Builder, pos analyses.Position) (tables []*fold.Table, folded bool) {
	if f.Rest > 0 {
		f.Rest--
		return nil, false
	}
	if f.J == nil && f.begin() != nil {
		return nil, false
	}
	for _, t := range f.J.tables {
		t.Reset()
	}
	err := f.J.fold(f.stream, built{b}, pos)
	if err == nil {
		f.J.settle()
		for _, t := range f.J.tables {
			err = errors.Join(err, t.Err())
		}
	}
	if err == nil {
		f.Next = 1
		return f.J.tables, true
	}
	if f.J.meter.Spent() || errors.Is(err, errMany) || errors.Is(err, fold.ErrTooLarge) {
		f.Rest, f.Next = f.Next, min(2*f.Next, longestRest)
	}
	f.J = nil
	return nil, false
}

// many reports whether the given number of rows has too many groups. The best rows of all are one group, because there are at most
// fold.MaxLeast of them.
func (w *worker) many(tables []*fold.Table, rows int) bool {
	if rows < SurelyMany {
		return false
	}
	groups := 0
	for _, t := range tables[w.Table : w.Table+w.Tables] {
		groups += t.Len()
	}
	return fewGroups*groups > rows
}
