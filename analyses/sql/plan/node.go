package plan

import (
	"slices"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// ColumnID identifies a column of a plan. The node that makes the column gives it a number that no other column of the plan has. The column
// keeps it in all nodes above, whatever rules do to the plan (E1). Numbers begin at 1.
type ColumnID int32

// IDs gives out numbers of columns.
type IDs struct{ Last ColumnID }

// Field returns a new column.
func (ids *IDs) Field(name string, t types.Type) Field {
	ids.Last++
	return Field{ID: ids.Last, Name: name, Type: t}
}

// Field is a column of a table, of a node or of an answer. A column of a table, which belongs to no plan, has no number.
type Field struct {
	ID   ColumnID
	Name string
	Type types.Type
}

// Ref returns the column as an expression.
func (f Field) Ref(at syntax.Pos) *Column { return &Column{Base{f.Type, at}, f.ID, f.Name} }

// Table is what the catalogue knows about a table. If File is set, Name is a pattern of files.
type Table struct {
	Name   string
	File   bool
	Fields []Field
}

// Node is a step of a plan. Fields are the columns that it gives.
type Node interface{ Fields() []Field }

type (
	// Scan reads a table. Its columns are those of the table, then _file and _line. Used says which of them are read.
	Scan struct {
		Table *Table
		Used  []bool
		Out   []Field
	}
	// Inline holds rows that are written in the statement. A SELECT without FROM reads one row without columns.
	Inline struct {
		Rows [][]Expr
		Out  []Field
	}
	// Join joins L and R. Rows match if the expressions of each pair in Equal are equal (the first over L, the second over R) and Rest, over
	// the columns of both, is true. Its columns are those of L, then those of R; SEMI and ANTI give those of L alone.
	Join struct {
		Kind  syntax.JoinKind
		L, R  Node
		Equal [][2]Expr
		Rest  Expr // nil: none
		out   []Field
		left  Set
	}
	// Filter keeps the rows for which Cond is true.
	Filter struct {
		Input Node
		Cond  Expr
	}
	// Aggregation groups rows by Keys. Each of Sets is a grouping by some of the keys; the other keys are NULL in it. Without
	// keys there is exactly one group, even if there are no rows. Its columns are the keys, then the aggregates.
	Aggregation struct {
		Input Node
		Keys  []Expr
		Sets  [][]int
		Aggs  []*Aggregate
		Out   []Field
	}
	// Windows adds a column for each of Calls after those of its input.
	Windows struct {
		Input Node
		Calls []*WindowCall
		Out   []Field
	}
	// Unnest makes one row for each item of the lists in an input row. Its columns are those of its input, then one for each of
	// Lists. A list that is shorter than another one of its row is NULL for the missing items. A row without items is dropped;
	// with Outer it is kept, with NULL for the items.
	Unnest struct {
		Input Node
		Lists []Expr
		Outer bool
		Out   []Field
	}
	// Project computes columns.
	Project struct {
		Input Node
		Exprs []Expr
		Out   []Field
	}
	// Distinct keeps the first of equal rows, or with On the first of the rows with equal On, in the order of its input.
	Distinct struct {
		Input Node
		On    []Expr
	}
	// Sort orders rows by Keys; rows that are equal in them keep their order.
	Sort struct {
		Input Node
		Keys  []Order
	}
	// Limit skips Offset rows and keeps the next Count. A negative Count keeps all.
	Limit struct {
		Input         Node
		Count, Offset int64
	}
	// SetOp is UNION, EXCEPT or INTERSECT of rows with equal types. Its columns have the values of the columns in the same places of L
	// and R.
	SetOp struct {
		Kind syntax.SetKind
		All  bool
		L, R Node
		Out  []Field
	}
)

func (n *Scan) Fields() []Field        { return n.Out }
func (n *Inline) Fields() []Field      { return n.Out }
func (n *Join) Fields() []Field        { return n.out }
func (n *Filter) Fields() []Field      { return n.Input.Fields() }
func (n *Aggregation) Fields() []Field { return n.Out }
func (n *Windows) Fields() []Field     { return n.Out }
func (n *Unnest) Fields() []Field      { return n.Out }
func (n *Project) Fields() []Field     { return n.Out }
func (n *Distinct) Fields() []Field    { return n.Input.Fields() }
func (n *Sort) Fields() []Field        { return n.Input.Fields() }
func (n *Limit) Fields() []Field       { return n.Input.Fields() }
func (n *SetOp) Fields() []Field       { return n.Out }

// NewJoin returns a join without conditions.
func NewJoin(kind syntax.JoinKind, l, r Node) *Join {
	n := &Join{Kind: kind, L: l, R: r, out: l.Fields(), left: SetOf(l.Fields())}
	if kind != syntax.Semi && kind != syntax.Anti {
		n.out = append(slices.Clone(l.Fields()), r.Fields()...)
	}
	return n
}

// With returns the join of other sides by the same conditions.
func (n *Join) With(l, r Node) *Join {
	to := *n
	if !sameFields(l.Fields(), n.L.Fields()) || !sameFields(r.Fields(), n.R.Fields()) {
		to = *NewJoin(n.Kind, l, r)
		to.Equal, to.Rest = n.Equal, n.Rest
	}
	to.L, to.R = l, r
	return &to
}

// sameFields reports whether two lists are the same memory. A rule mostly changes what is below a join and keeps the columns, and a join of
// many sides has many thousands of them, which would otherwise be copied for each condition and each join that the condition passes.
func sameFields(a, b []Field) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// KeyColumns returns the keys of groups as columns of the groups.
func (n *Aggregation) KeyColumns() (keys []Expr) {
	for i, k := range n.Keys {
		keys = append(keys, n.Out[i].Ref(k.Pos()))
	}
	return keys
}

// Side is where the columns of an expression over a join are.
type Side uint8

const (
	NoSide Side = iota // it reads no columns
	Left
	Right
	Both
)

// Side returns where the columns of an expression are.
func (n *Join) Side(e Expr) (side Side) {
	Walk(func(e Expr) {
		if c, is := e.(*Column); is && n.left.Has(c.ID) {
			side |= Left
		} else if is {
			side |= Right
		}
	}, e)
	return side
}

// Order is a key of an order.
type Order struct {
	X                Expr
	Desc, NullsFirst bool
}
