package compile

import (
	"errors"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// folder folds rows where they are parsed (analyses.Folder). It uses the workers of a joiner, so that both share one
// implementation.
type folder struct {
	of     *statement
	leaves []*leaf
	stream int
	j      *joiner // nil after a fold that failed, because its groups are incomplete
	rest   int     // how many more chunks are passed on without trying
	next   int     // the value that the next chunk that is not folded gives to rest
}

const (
	// fewGroups is the least number of rows per group for which folding pays. With fewer rows per group, tables take more
	// bytes and time than the rows.
	fewGroups = 4
	// surelyMany is how many rows are folded before their groups are counted. The groups of fewer rows are small anyway.
	surelyMany = 4 * slice
	// longestRest bounds how many chunks after one that was not folded are passed on before folding is tried again.
	longestRest = 256
	// earlySteps and earlyBytes are batchSteps and foldBytes of one chunk where it is parsed. They are far smaller, because an input serves
	// nobody meanwhile and parses several chunks at a time. Rows that need more travel to a joiner, which computes them in slices.
	earlySteps = batchSteps >> 3
	earlyBytes = foldBytes >> 3
)

// errMany ends the folding of rows that have many groups.
var errMany = errors.New("there are hardly fewer groups than rows")

// newFolder returns the folder of a stream, nil if a joiner has to fold its rows.
func (s *statement) newFolder(stream int) (analyses.Folder, error) {
	f := &folder{of: s, leaves: s.earlyLeaves(stream), stream: stream, next: 1}
	if len(f.leaves) == 0 {
		return nil, nil
	}
	return f, f.begin()
}

// earlyLeaves returns the leaves of a stream if parsers can fold all of them. A joiner is needed for rows that no table folds
// and for rows that need a reference stream. It is also needed for rows that are joined with rows in the plan, because each
// folder would hold a copy of the plan's rows.
func (s *statement) earlyLeaves(stream int) (all []*leaf) {
	for _, l := range s.leaves {
		if l.scan.stream != stream {
			continue
		}
		if l.keep == keepRows || l.keep == keepParts || len(l.refs) > 0 || len(l.plans()) > 0 {
			return nil
		}
		all = append(all, l)
	}
	return all
}

func (f *folder) begin() (err error) {
	if f.j, err = f.of.newWorkers(f.leaves); err != nil {
		return err
	}
	f.j.sparse, f.j.meter.Most = true, earlySteps
	for _, t := range f.j.tables {
		t.SetBound(earlyBytes)
	}
	return nil
}

// Fold implements analyses.Folder.
func (f *folder) Fold(b *batch.Builder, pos analyses.Position) (tables []*fold.Table, folded bool) {
	if f.rest > 0 {
		f.rest--
		return nil, false
	}
	if f.j == nil && f.begin() != nil {
		return nil, false
	}
	for _, t := range f.j.tables {
		t.Reset()
	}
	err := f.j.fold(f.stream, built{b}, pos)
	if err == nil {
		f.j.settle()
		for _, t := range f.j.tables {
			err = errors.Join(err, t.Err())
		}
	}
	if err == nil {
		f.next = 1
		return f.j.tables, true
	}
	if f.j.meter.Spent() || errors.Is(err, errMany) || errors.Is(err, fold.ErrTooLarge) {
		f.rest, f.next = f.next, min(2*f.next, longestRest)
	}
	f.j = nil
	return nil, false
}

// many reports whether the given number of rows has too many groups. The best rows of all are one group, because there are at most
// fold.MaxLeast of them.
func (w *worker) many(tables []*fold.Table, rows int) bool {
	if rows < surelyMany {
		return false
	}
	groups := 0
	for _, t := range tables[w.table : w.table+w.tables] {
		groups += t.Len()
	}
	return fewGroups*groups > rows
}
