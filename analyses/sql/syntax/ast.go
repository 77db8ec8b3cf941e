package syntax

// Pos is a place in the text, in bytes from its start.
type Pos int32

// Ident is a name as it was written, without its quotes. Names, even quoted ones, are compared without regard to case.
type Ident struct {
	At   Pos
	Name string
}

// Script holds the statements of one text.
type Script struct{ Statements []Statement }

// Statement is one statement. Name is the name of its answer: the one given by `-- name:` before it, or query_1, query_2, …
// It is empty for statements without an answer.
type Statement struct {
	At   Pos
	Name Ident
	Node Node
}

// Node is a *Query, *CreateTable, *CreateView, *Describe or *ShowTables.
type Node interface{ node() }

type (
	// CreateTable declares the contents of files: CREATE TABLE t FROM 'pattern' (column type, …) WITH (option value, …).
	CreateTable struct {
		Name    Ident
		Files   *String
		Columns []ColumnDef
		Options []Option
	}
	ColumnDef struct {
		Name Ident
		Type TypeName
	}
	// Option is a setting of a table. Value is a literal.
	Option struct {
		Name  Ident
		Value Expr
	}
	// CreateView names a query.
	CreateView struct {
		Name    Ident
		Columns []Ident
		Query   *Query
	}
	// Describe is DESCRIBE or SUMMARIZE of a query. For a table t, the query is SELECT * FROM t.
	Describe struct {
		Summarize bool
		Query     *Query
	}
	ShowTables struct{}
)

func (*Query) node()       {}
func (*CreateTable) node() {}
func (*CreateView) node()  {}
func (*Describe) node()    {}
func (*ShowTables) node()  {}

// Query is a body with its WITH, ORDER BY, LIMIT and OFFSET.
type Query struct {
	At       Pos
	With     []CTE
	Body     Body
	OrderAll bool // ORDER BY ALL: OrderBy has one item, without X, for its direction
	OrderBy  []OrderItem
	Limit    Expr // nil: no LIMIT
	Offset   Expr
}

// CTE is one name of a WITH.
type CTE struct {
	Name    Ident
	Columns []Ident
	Query   *Query
}

// Body is a *Select, *SetOp or *Values, or a *Query for a query in parentheses that has its own WITH, ORDER BY or LIMIT.
type Body interface{ body() }

type (
	// Select is one SELECT. Windows holds the windows of its WINDOW clause.
	Select struct {
		At         Pos
		Distinct   bool
		DistinctOn []Expr
		Items      []Item
		From       From // nil: no FROM
		Where      Expr
		GroupBy    *GroupBy
		Having     Expr
		Qualify    Expr
		Windows    []NamedWindow
	}
	// SetOp is UNION, INTERSECT or EXCEPT.
	SetOp struct {
		At     Pos
		Kind   SetKind
		All    bool
		ByName bool
		L, R   Body
	}
	// Values is VALUES (…), (…), with at least one row.
	Values struct {
		At   Pos
		Rows [][]Expr
	}
)

func (*Select) body() {}
func (*SetOp) body()  {}
func (*Values) body() {}
func (*Query) body()  {}

type SetKind uint8

const (
	Union SetKind = iota
	Except
	Intersect
)

// Item is one expression of SELECT with its alias, which may be empty.
type Item struct {
	X     Expr
	Alias Ident
}

// GroupBy is GROUP BY ALL or a list.
type GroupBy struct {
	At    Pos
	All   bool
	Items []GroupItem
}

// GroupItem is an expression (Kind GroupExpr, with one item in Exprs), a list in parentheses (GroupTuple), ROLLUP or CUBE of these, or
// GROUPING SETS of any items.
type GroupItem struct {
	At    Pos
	Kind  GroupKind
	Exprs []Expr      // for GroupExpr and GroupTuple
	Items []GroupItem // for the other kinds
}

type GroupKind uint8

const (
	GroupExpr GroupKind = iota
	GroupTuple
	GroupRollup
	GroupCube
	GroupSets
)

// OrderItem is an expression of ORDER BY. Nulls says where NULL stands: by default last, also with DESC.
type OrderItem struct {
	X          Expr
	Desc       bool
	NullsFirst bool
}

// From is a *Table, *TableFunc, *Derived or *Join.
type From interface{ from() }

type (
	// Table is a name, a pattern of files in quotes, or a call such as read_csv('pattern', delim = ';').
	Table struct {
		Name  Ident
		File  bool       // Name is a pattern of files, or the printed form of Read
		Read  *TableFunc // nil unless the table is a call
		Alias Alias
	}
	// TableFunc is unnest(…) or another function in FROM.
	TableFunc struct {
		Name  Ident
		Args  []Arg
		Alias Alias
	}
	// Derived is a query in FROM.
	Derived struct {
		At    Pos
		Query *Query
		Alias Alias
	}
	// Join joins two tables. A comma is a cross join.
	Join struct {
		At      Pos
		Kind    JoinKind
		Natural bool
		L, R    From
		Using   []Ident
		On      Expr
	}
)

func (*Table) from()     {}
func (*TableFunc) from() {}
func (*Derived) from()   {}
func (*Join) from()      {}

type JoinKind uint8

const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
	Cross
)

// Alias is the alias of a table, and the names of its columns. Both may be absent.
type Alias struct {
	Name    Ident
	Columns []Ident
}

// Arg is an argument of a function in FROM; Name may be empty.
type Arg struct {
	Name Ident
	X    Expr
}

// TypeName is a type as it was written: DECIMAL(9, 2), VARCHAR[]. Name is in upper case.
type TypeName struct {
	At   Pos
	Name string
	Args []int
	List bool
}

// Expr is an expression.
type Expr interface{ Pos() Pos }

type (
	Null struct{ At Pos }
	Bool struct {
		At    Pos
		Value bool
	}
	// Number is a literal without sign: an integer, a DECIMAL with a point, or a DOUBLE with an exponent. Text has no
	// underscores.
	Number struct {
		At   Pos
		Text string
	}
	String struct {
		At    Pos
		Value string
	}
	// Interval is INTERVAL x UNIT, or INTERVAL 'text' with an empty Unit. Unit is in upper case, singular.
	Interval struct {
		At   Pos
		X    Expr
		Unit string
	}
	// Param is $name or :name, $1 for the first of several values, or ? for the next one, whose name is its number.
	Param struct {
		At   Pos
		Name string
	}
	// Column is the name of a column, with or without a table.
	Column struct {
		At    Pos
		Table string
		Name  string
	}
	// Star is * or t.* in a SELECT.
	Star struct {
		At      Pos
		Table   string
		Exclude []Ident
		Replace []Item
	}
	// Unary is -x or NOT x.
	Unary struct {
		At Pos
		Op Op
		X  Expr
	}
	Binary struct {
		At   Pos // position of the operator
		Op   Op
		L, R Expr
	}
	IsNull struct {
		At  Pos
		X   Expr
		Not bool
	}
	Between struct {
		At        Pos
		X, Lo, Hi Expr
		Not       bool
	}
	In struct {
		At   Pos
		X    Expr
		List []Expr
		Not  bool
	}
	InQuery struct {
		At    Pos
		X     Expr
		Query *Query
		Not   bool
	}
	// Like is LIKE, or with Fold ILIKE. Escape is nil if there is none.
	Like struct {
		At                 Pos
		X, Pattern, Escape Expr
		Fold, Not          bool
	}
	Case struct {
		At      Pos
		Operand Expr // nil for CASE WHEN condition
		Whens   []When
		Else    Expr
	}
	When struct{ Cond, Then Expr }
	Cast struct {
		At   Pos
		X    Expr
		Type TypeName
		Try  bool
	}
	// Call is a call of a function or an aggregate, or, with Over, of a window function. Name is in lower case.
	Call struct {
		At          Pos
		Name        string
		Star        bool // count(*)
		Distinct    bool
		Args        []Expr
		OrderBy     []OrderItem
		IgnoreNulls bool
		Filter      Expr
		Over        *Window
		Summary     bool // the text is Written, and may call the aggregates of SUMMARIZE
	}
	Exists struct {
		At    Pos
		Query *Query
	}
	// Subquery is a query that is used as a value.
	Subquery struct {
		At    Pos
		Query *Query
	}
	Index struct {
		At Pos
		X  Expr
		I  Expr
	}
	// List is [a, b].
	List struct {
		At    Pos
		Items []Expr
	}
	// Struct is {name: x}. It occurs only as an argument of a function in FROM and as the value of an option.
	Struct struct {
		At     Pos
		Fields []Arg
	}
)

func (x *Null) Pos() Pos     { return x.At }
func (x *Bool) Pos() Pos     { return x.At }
func (x *Number) Pos() Pos   { return x.At }
func (x *String) Pos() Pos   { return x.At }
func (x *Interval) Pos() Pos { return x.At }
func (x *Param) Pos() Pos    { return x.At }
func (x *Column) Pos() Pos   { return x.At }
func (x *Star) Pos() Pos     { return x.At }
func (x *Unary) Pos() Pos    { return x.At }
func (x *Binary) Pos() Pos   { return x.At }
func (x *IsNull) Pos() Pos   { return x.At }
func (x *Between) Pos() Pos  { return x.At }
func (x *In) Pos() Pos       { return x.At }
func (x *InQuery) Pos() Pos  { return x.At }
func (x *Like) Pos() Pos     { return x.At }
func (x *Case) Pos() Pos     { return x.At }
func (x *Cast) Pos() Pos     { return x.At }
func (x *Call) Pos() Pos     { return x.At }
func (x *Exists) Pos() Pos   { return x.At }
func (x *Subquery) Pos() Pos { return x.At }
func (x *Index) Pos() Pos    { return x.At }
func (x *List) Pos() Pos     { return x.At }
func (x *Struct) Pos() Pos   { return x.At }

// Window is what follows OVER: the name of a window, or a specification.
type Window struct {
	At          Pos
	Name        string
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

type NamedWindow struct {
	Name   Ident
	Window *Window
}

// Frame is ROWS or RANGE BETWEEN Lo AND Hi.
type Frame struct {
	At     Pos
	Range  bool
	Lo, Hi Bound
}

// Bound is one end of a frame. X is nil except for Preceding and Following.
type Bound struct {
	Kind BoundKind
	X    Expr
}

type BoundKind uint8

const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Op is an operator.
type Op uint8

const (
	Or Op = iota
	And
	Not
	IsDistinct
	IsNotDistinct
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	Concat
	Match
	NotMatch
	JSONText
	JSONValue
	Add
	Sub
	Mul
	Div
	IntDiv
	Mod
	Neg
)

// Levels of precedence, from the loosest to the tightest.
const (
	precLowest = iota
	precOr
	precAnd
	precNot
	precIs
	precCompare
	precIn // BETWEEN, IN, LIKE
	precOther
	precAdd
	precMul
	precUnary
	precPostfix
)

var ops = [...]struct {
	text string
	prec int
}{
	Or: {"OR", precOr}, And: {"AND", precAnd}, Not: {"NOT", precNot},
	IsDistinct: {"IS DISTINCT FROM", precIs}, IsNotDistinct: {"IS NOT DISTINCT FROM", precIs},
	Eq: {"=", precCompare}, Ne: {"<>", precCompare}, Lt: {"<", precCompare}, Le: {"<=", precCompare}, Gt: {">", precCompare},
	Ge:     {">=", precCompare},
	Concat: {"||", precOther}, Match: {"~", precOther}, NotMatch: {"!~", precOther}, JSONText: {"->>", precOther},
	JSONValue: {"->", precOther},
	Add:       {"+", precAdd}, Sub: {"-", precAdd}, Mul: {"*", precMul}, Div: {"/", precMul}, IntDiv: {"//", precMul}, Mod: {"%", precMul},
	Neg: {"-", precUnary},
}

// String returns the operator as Print writes it.
func (o Op) String() string { return ops[o].text }

// infix has the operators that consist of one token, by its text.
var infix = map[string]Op{
	"or": Or, "and": And, "=": Eq, "==": Eq, "<>": Ne, "!=": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge,
	"||": Concat, "~": Match, "!~": NotMatch, "->>": JSONText, "->": JSONValue, "+": Add, "-": Sub, "*": Mul, "/": Div, "//": IntDiv, "%": Mod,
}
