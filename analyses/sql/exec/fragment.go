package exec

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// Leaf is a node that is computed, at least in part, where the rows of its table are.
type Leaf struct {
	Node     plan.Node // the node whose rows the tail asks for
	Scan     *Scan
	From     plan.Node            // gives the rows: the Scan, or the base of the region
	Steps    []plan.Node          // Filters, Projects and broadcasts from the scan up to what is kept, the lowest first
	Refs     map[*plan.Table]bool // tables that its steps read
	Waits    []*plan.Subquery     // queries over large tables that its steps ask; only in a trial
	Missing  analyses.Missing     // which statements read it, among those that share the scan
	Keep     keeping
	Table    int // index in the analysis of the first table that it folds into
	Tables   int // how many tables it folds into
	Groups   *groups
	Cut      *Cut // which groups the tail needs; nil: all
	Best     *Best
	AnyOrder bool                   // the tail may have the groups in any order
	Once     []int                  // of groups that stand for rows without duplicates: which column of the rows each key is
	Region   *Region                // the region whose rows it folds; nil if it folds those of a scan
	Parts    []plan.Expr            // keys of the partitions, if it is a source of a region
	read     map[plan.Node]plan.Set // by projection, which columns later steps read; nil if that is not known
	DropNull bool                   // rows with NULL in one of parts are not needed
	Leading  []leading              // the conditions with which it begins
	led      int                    // how many of its steps these conditions replace
	Fields   []plan.Field           // of the rows that travel
	Needed   []bool                 // which of them the tail reads
	Unkept   bool                   // the reducer keeps none of the rows: see passOn
}

// keeping is what a leaf does with its rows.
type keeping uint8

const (
	KeepGroups keeping = iota
	KeepBest
	KeepDistinct
	KeepRows
	KeepParts // rows wait in the aggregators: see region
)

// Best describes the rows that an ORDER BY with a LIMIT, or a LIMIT alone, can need.
type Best struct {
	Orders []plan.Order // empty: the first rows
	N      int
}

// firstRows reports whether the leaf keeps rows for a LIMIT without an order. The position of each row then ends with rowKept
// or rowFailed.
func (l *Leaf) firstRows() bool { return l.Keep == KeepBest && len(l.Best.Orders) == 0 }

const (
	rowKept   = 0
	rowFailed = 1 // an error is kept in place of the row
)

// Root is a statement of a session, or the query of it that a pass answers.
type Root struct {
	Name   string
	Plan   plan.Node
	Pass   bool          // plan is the query that a pass answers
	Tables map[*Leaf]int // by leaf that its query reads, the index of the leaf's first table
}

// Broadcast is a step of a leaf: a join with a plan over small tables.
type Broadcast struct {
	*plan.Join           // streamed rows are those of L
	Of         plan.Node // the join as it stands in the plan
	Swapped    bool      // L is the right side of the join in the plan
	wanted     []bool    // columns of the Join that later steps read
}

// Fields are those of the join as it stands in the plan.
func (b *Broadcast) Fields() []plan.Field { return b.Of.Fields() }

// numbered reports whether the join may repeat a row. The place of a joined row then includes the number of its partner, so
// that it is unique.
func (b *Broadcast) numbered() bool { return b.Kind != syntax.Semi && b.Kind != syntax.Anti }

// Prune determines, for each join and each projection of a leaf, which columns later steps read.
func (l *Leaf) Prune() {
	var live plan.Set
	switch {
	case l.Groups != nil:
		live.Mark(plan.Exprs(l.Groups.Node)...)
	default:
		for i, f := range l.Fields {
			if l.Needed[i] {
				live.Add(f.ID)
			}
		}
		if l.Best != nil {
			for _, o := range l.Best.Orders {
				live.Mark(o.X)
			}
		}
		if l.Keep == KeepParts {
			live.Mark(l.Parts...)
		}
	}
	for _, n := range slices.Backward(l.Steps) {
		switch n := n.(type) {
		case *plan.Filter:
			live.Mark(n.Cond)
		case *plan.Project:
			if l.read == nil {
				l.read = map[plan.Node]plan.Set{}
			}
			l.read[n], live = live, nil
			live.Mark(n.Exprs...)
		case *Unnest:
			n.wanted = among(live, n.Input.Fields())
			live.Mark(n.Lists...)
		case *Broadcast:
			n.wanted = among(live, n.Join.Fields())
			live.Mark(plan.Exprs(n.Join)...)
		}
	}
}

// among returns which of some columns are in a set.
func among(set plan.Set, fields []plan.Field) []bool {
	list := make([]bool, len(fields))
	for i, f := range fields {
		list[i] = set.Has(f.ID)
	}
	return list
}

// Numbers returns how many numbers stand before and after the place of a row of the leaf: those of the rows that it was joined
// with, and of the items that UNNEST made.
func (l *Leaf) Numbers() (before, after int) {
	for _, n := range l.Steps {
		if _, ok := n.(*Unnest); ok {
			after++
		} else if b, ok := n.(*Broadcast); ok && b.numbered() {
			if b.Swapped {
				before++
			} else {
				after++
			}
		}
	}
	return before, after
}
