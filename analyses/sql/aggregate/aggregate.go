package aggregate

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// Aggregate declares an aggregate. What is not said of it is false.
type Aggregate struct {
	types.Function
	New func(c Call) State // makes a state; nil for types that it does not take

	Uncast   bool   // it reads numbers before they are made DOUBLEs, since it rounds only once
	Distinct bool   // each value counts once, as if DISTINCT stood there
	Placed   bool   // its value depends on the places of rows, so a state that travels holds them
	Whole    bool   // its cells are large: they travel only where all rows are one group
	Summary  bool   // of SUMMARIZE: no statement can call it
	Counts   bool   // of its argument it reads only which values are NULL; without an argument, it takes none for NULL
	Zero     bool   // its value is 0 for no rows, and not NULL
	Parts    string // the aggregate that makes its value of the values of parts of the rows; empty: there is none
}

// Call is what an aggregate is called with.
type Call struct {
	At   syntax.Pos
	Type types.Type  // of the result
	Args []plan.Expr // as Arguments returns them
}

// kind returns the type of an argument.
func (c *Call) kind(i int) types.Kind {
	if i >= len(c.Args) {
		return types.Null
	}
	return c.Args[i].Type().Kind
}

// Rows are rows that a state adds to their groups.
type Rows struct {
	Args   []*eval.Vector
	Sel    []int32 // the rows
	Groups []int32 // of each of Sel
	Counts []int64 // by group, how many of Sel it has; nil if nobody has counted them

	// Place appends the place of a row. It is nil if rows come in the order of their places.
	Place func(b []byte, row int32) []byte
	// Table has the groups as its rows, and the state's cells from Cell on. It is nil if the state does not travel. A state whose cells are
	// large may add to them at once.
	Table *fold.Table
	Cell  int
}

// State is what an aggregate keeps of the rows of each group.
type State interface {
	// Grow makes room for groups, which have no rows yet. It returns how many more bytes are kept.
	Grow(groups int) (bytes int64)
	// Add adds rows. It returns how many more bytes are kept.
	Add(r *Rows) (bytes int64, err error)
	// Value writes the value of a group into a row of out that is not NULL yet.
	Value(group int32, out *eval.Vector, row int32) error
	// Cells are the cells in which the state of a group travels; nil if it does not travel.
	Cells() []fold.Agg
	// Encode moves the state of all groups, which are the rows of the table, to its cells from cell on. The state has no groups then.
	Encode(t *fold.Table, cell int)
	// Decode sets the state of a group without rows to that in the cells of a row.
	Decode(t *fold.Table, cell, row int, group int32) error
}

// Slider is a state from which rows can be removed. What remains is the state of the other rows, to the last bit.
type Slider interface {
	State
	Remove(r *Rows)
}

// Extreme is a state that keeps the least or the greatest value.
type Extreme interface {
	State
	Greatest() bool
}

// Saturated is a state whose value may exceed its type.
type Saturated interface {
	State
	// Saturate returns the value, or the BIGINT that is nearest to it and exceeds set.
	Saturate(group int32) (value int64, exceeds bool)
}

// Summed is a state that adds up integers of any amount.
type Summed interface {
	State
	// AddSums adds, for each group, so many numbers that have a sum, each made larger by a constant.
	AddSums(sums, counts []int64, by int64)
}

// alone is embedded in states that do not travel.
type alone struct{}

func (alone) Cells() []fold.Agg                             { return nil }
func (alone) Encode(*fold.Table, int)                       {}
func (alone) Decode(_ *fold.Table, _, _ int, _ int32) error { return nil }

// Arguments returns the arguments that the aggregate reads.
func (a *Aggregate) Arguments(args []plan.Expr) []plan.Expr {
	if a.Uncast && len(args) > 0 {
		if c, ok := args[0].(*plan.Cast); ok && c.Implicit && c.X.Type().IsNumber() {
			return []plan.Expr{c.X}
		}
	}
	return args
}

// Values returns a vector with the values of all groups.
func Values(s State, kind types.Kind, groups int) (*eval.Vector, error) {
	out := eval.NewVector(kind, groups)
	for g := range int32(groups) {
		if err := s.Value(g, out, g); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// longer gives s n items, the new ones zero. It returns how many are new.
func longer[T any](s *[]T, n int) (added int64) {
	at := len(*s)
	if n <= at {
		return 0
	}
	if cap(*s) >= n {
		*s = (*s)[:n]
		clear((*s)[at:])
	} else {
		*s = append(*s, make([]T, n-at)...)
	}
	return int64(n - at)
}

// present finds the rows that are not NULL.
type present struct{ sel, groups []int32 }

// of returns the rows whose argument is not NULL, their groups, and the counts of r if these are all rows.
func (p *present) of(r *Rows, v *eval.Vector) (sel, groups []int32, counts []int64) {
	if !v.Any {
		return r.Sel, r.Groups, r.Counts
	}
	p.sel, p.groups = p.sel[:0], p.groups[:0]
	for k, i := range r.Sel {
		if !v.IsNull(i) {
			p.sel, p.groups = append(p.sel, i), append(p.groups, r.Groups[k])
		}
	}
	return p.sel, p.groups, nil
}
