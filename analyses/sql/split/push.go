package split

import (
	"slices"

	"posta.dev/posta/analyses/sql/bounds"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
)

// push gives the bounds of a leaf to the parsers if the leaf is the only one that reads its table. Of a table that joiners have,
// only rows within the bounds reach them.
func (s *statement) push() {
	readers := map[*exec.Scan]int{}
	for _, l := range s.Leaves {
		readers[l.Scan]++
	}
	for _, l := range s.Leaves {
		if readers[l.Scan] > 1 || s.Refs[l.Scan.Of] {
			continue
		}
		at := plan.LayoutOf(l.From.Fields())
		place := l.From.Fields()[len(l.Scan.Table.Columns):]
		for _, step := range l.Steps {
			f, ok := step.(*plan.Filter)
			if !ok {
				break
			}
			l.Scan.Lines = append(l.Scan.Lines, bounds.Lines{Cond: f.Cond, File: place[0].ID, Line: place[1].ID})
			if !l.Scan.Within.Add(f.Cond, at, s.Boundable(l.Scan.Of)) {
				break
			}
		}
		s.where(l, at)
	}
	for _, sc := range s.Order {
		if s.Refs[sc.Of] {
			sc.Within = s.Bounds(sc.Of)
		}
	}
}

// where finds what a leaf's conditions say of single columns. Rows that several statements read are left to these. Rows may not be left out
// unseen where they may be rejected, because rejected rows are counted: so the files have to declare the types of all columns.
func (s *statement) where(l *exec.Leaf, at plan.Layout) {
	rejects := func(i int) bool { return !l.Scan.Table.Columns[i].Typed }
	if _, is := l.From.(*plan.Scan); !is || len(s.roots) > 1 || slices.ContainsFunc(l.Scan.Wanted, rejects) {
		return
	}
	for _, step := range l.Steps {
		f, ok := step.(*plan.Filter)
		if !ok || !l.Scan.Where.Add(f.Cond, at, s.Boundable(l.Scan.Of)) {
			return
		}
	}
}
