package plan

import (
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Field is a column of a table or of an answer.
type Field struct {
	Name string
	Type types.Type
}

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
		Out   []Field
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
	// SetOp is UNION, EXCEPT or INTERSECT of rows with equal types.
	SetOp struct {
		Kind syntax.SetKind
		All  bool
		L, R Node
	}
)

func (n *Scan) Fields() []Field        { return n.Out }
func (n *Inline) Fields() []Field      { return n.Out }
func (n *Join) Fields() []Field        { return n.Out }
func (n *Filter) Fields() []Field      { return n.Input.Fields() }
func (n *Aggregation) Fields() []Field { return n.Out }
func (n *Windows) Fields() []Field     { return n.Out }
func (n *Unnest) Fields() []Field      { return n.Out }
func (n *Project) Fields() []Field     { return n.Out }
func (n *Distinct) Fields() []Field    { return n.Input.Fields() }
func (n *Sort) Fields() []Field        { return n.Input.Fields() }
func (n *Limit) Fields() []Field       { return n.Input.Fields() }
func (n *SetOp) Fields() []Field       { return n.L.Fields() }

// Order is a key of an order.
type Order struct {
	X                Expr
	Desc, NullsFirst bool
}
