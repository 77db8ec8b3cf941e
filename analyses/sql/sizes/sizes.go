// Package sizes estimates how many bytes plans read of their tables, from the sizes of files and from samples. Rules and the split of a
// plan decide by these estimates what is small; no answer depends on them.
package sizes

import (
	"posta.dev/posta/analyses/sql/bounds"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Table is what is known of a table. Bytes is the size of its files, unpacked; 0 if it is not known. Rows is an estimate; 0 if there were
// no samples. Part says of each column whether it is part of the files' names.
type Table struct {
	Bytes, Rows int64
	Part        []bool
}

// Sizes knows the tables of some plans.
type Sizes struct {
	about  func(*plan.Table) *Table
	roots  []plan.Node
	uses   map[plan.Node]int
	used   map[*plan.Table][]bool
	below  map[plan.Node][]*plan.Table
	bounds map[*plan.Table]bounds.Bounds // nil until it is asked for
}

// Of returns the sizes of tables in plans. about returns nil for an unknown table.
func Of(about func(*plan.Table) *Table, roots ...plan.Node) *Sizes {
	s := &Sizes{about: about, roots: roots, uses: plan.Uses(roots...), used: map[*plan.Table][]bool{}, below: map[plan.Node][]*plan.Table{}}
	for n := range s.uses {
		scan, is := n.(*plan.Scan)
		if !is {
			continue
		}
		used := s.used[scan.Table]
		if used == nil {
			used = make([]bool, len(scan.Used))
			s.used[scan.Table] = used
		}
		for i, u := range scan.Used {
			used[i] = used[i] || u
		}
	}
	return s
}

// Uses returns how many nodes and queries read each node: plan.Uses.
func (s *Sizes) Uses() map[plan.Node]int { return s.uses }

// Used returns which columns of a table the plans read, then whether they read _file and _line.
func (s *Sizes) Used(t *plan.Table) []bool { return s.used[t] }

// Tables returns the tables that a plan reads, one as often as the plan has a Scan of it.
func (s *Sizes) Tables(n plan.Node) []*plan.Table {
	tables, known := s.below[n]
	if !known {
		plan.Nodes(n, func(n plan.Node) {
			if scan, ok := n.(*plan.Scan); ok {
				tables = append(tables, scan.Table)
			}
		})
		s.below[n] = tables
	}
	return tables
}

// Below returns how many bytes joiners would have of the tables of a plan, a negative number if that is not known.
func (s *Sizes) Below(n plan.Node) (sum int64) {
	seen := map[*plan.Table]bool{}
	for _, t := range s.Tables(n) {
		if seen[t] {
			continue
		}
		seen[t] = true
		kept := s.Kept(t)
		if kept <= 0 {
			return -1
		}
		sum += kept
	}
	return sum
}

// Kept returns what a joiner would have of a table. Conditions by which parsers skip rows are assumed to exclude half of them. They mostly
// exclude more, but how many is not known, and a joiner that keeps twice as much as estimated still works.
func (s *Sizes) Kept(t *plan.Table) int64 {
	e := s.Read(t)
	if e > 1 && len(s.Bounds(t)) > 0 {
		e /= 2
	}
	return e
}

// Read returns the size of the values that the plans read from a table, in bytes; 0 if it is not known. A text is assumed to have the mean
// width of all columns, and so is every value if there were no samples.
func (s *Sizes) Read(t *plan.Table) int64 {
	about := s.about(t)
	if about == nil || about.Bytes <= 0 {
		return 0
	}
	mean := max(1, about.Bytes/int64(max(len(t.Fields), 1)))
	sum := about.Rows // NULLs
	for i, u := range s.used[t] {
		switch {
		case !u:
		case i >= len(t.Fields) || t.Fields[i].Type.Kind == types.Text || about.Rows == 0:
			sum += mean
		default:
			sum += min(mean, 8*about.Rows)
		}
	}
	return max(1, sum)
}

// Bounds returns the bounds of all rows that the plans read of a table. It has none if the table is read in several places, because each
// may want other rows.
func (s *Sizes) Bounds(t *plan.Table) bounds.Bounds {
	if s.bounds == nil {
		s.bounds = map[*plan.Table]bounds.Bounds{}
		for _, n := range s.roots {
			s.bound(n)
		}
	}
	return s.bounds[t]
}

// bound finds the bounds of the tables of a plan.
func (s *Sizes) bound(root plan.Node) {
	above := map[plan.Node]*plan.Filter{}
	var scans []*plan.Scan
	plan.Nodes(root, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Filter:
			above[n.Input] = n
		case *plan.Scan:
			scans = append(scans, n)
		}
	})
	for _, n := range scans {
		if _, again := s.bounds[n.Table]; again {
			s.bounds[n.Table] = nil
			continue
		}
		var b bounds.Bounds
		places := plan.LayoutOf(n.Fields())
		for at := plan.Node(n); above[at] != nil && s.uses[at] == 1 && b.Add(above[at].Cond, places, s.Boundable(n.Table)); {
			at = above[at]
		}
		s.bounds[n.Table] = b
	}
}

// Boundable returns a function that reports whether the column at a place of a table may have bounds: it is neither _file nor _line, nor
// part of the files' names.
func (s *Sizes) Boundable(t *plan.Table) func(place int) bool {
	about := s.about(t)
	return func(place int) bool {
		return place < len(t.Fields) && (about == nil || place >= len(about.Part) || !about.Part[place])
	}
}
