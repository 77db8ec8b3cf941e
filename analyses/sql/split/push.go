package split

import (
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
	}
	for _, sc := range s.Order {
		if s.Refs[sc.Of] {
			sc.Within = s.Bounds(sc.Of)
		}
	}
}
