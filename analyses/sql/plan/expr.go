package plan

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Expr is an expression with its type and the place that it came from.
type Expr interface {
	Type() types.Type
	Pos() syntax.Pos
}

type Base struct {
	T  types.Type
	At syntax.Pos
}

func (b *Base) Type() types.Type { return b.T }
func (b *Base) Pos() syntax.Pos  { return b.At }

type (
	// Const is a value: nil, bool, float64, string, int64 or an Interval. An int64 holds a BIGINT, the digits of a DECIMAL,
	// the days of a DATE or the microseconds of a TIMESTAMP since 1970. Literal is set on a text literal that has not yet been
	// converted to another type.
	Const struct {
		Base
		Value   any
		Literal bool
	}
	// Column is a column of the node's input.
	Column struct {
		Base
		ID   ColumnID
		Name string
	}
	// Apply is an operator or a function of values. Func is one of the functions of package types or the operators of package syntax, or IS
	// NULL, IN (x, then the list), LIKE and ILIKE (x, pattern, perhaps escape), LIST, or CASE: conditions and values in turn, then the value
	// of ELSE.
	Apply struct {
		Base
		Func string
		Args []Expr
	}
	// Cast converts X. Range is the range of a smaller integer type. Implicit marks a conversion that is not in the statement's
	// text.
	Cast struct {
		Base
		X             Expr
		Try, Implicit bool
		Range         *types.Range
	}
	// Aggregate is an aggregate over the rows of a group.
	Aggregate struct {
		Base
		Func     string
		Args     []Expr // none for count(*)
		Distinct bool
		Filter   Expr
		Order    []Order
		BySet    []int64 // for GROUPING, which has no arguments in a plan: its value in each of the sets
	}
	// WindowCall is a window function.
	WindowCall struct {
		Base
		Func        string
		Args        []Expr
		Distinct    bool
		Filter      Expr
		IgnoreNulls bool
		Partition   []Expr
		Order       []Order
		Frame       *Frame
	}
	// Subquery is a plan used as a value: the value in its only column and row, whether it has rows (Exists), or whether X is
	// among them (In). Number tells the queries of a text apart, from 1; copies of an expression have the same.
	Subquery struct {
		Base
		Number     int
		Plan       Node
		Exists, In bool
		X          Expr
	}
)

// Unbound is an expression that stands only in plans that are being made: package bind replaces it before a plan is finished.
type Unbound interface {
	Expr
	Parts() []Expr                         // the expressions directly below it
	With(parts []Expr) Expr                // the same with other parts
	Identity(number func(Expr) int) string // what tells it from others, besides its parts; number gives equal expressions the same number
	Asks() bool                            // whether its value is that of a query
}

// Frame is a window's frame. X of a bound is a constant, or nil.
type Frame struct {
	Range  bool
	Lo, Hi FrameBound
}

type FrameBound struct {
	Kind syntax.BoundKind
	X    Expr
}

// children returns the expressions directly below e.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Apply:
		return e.Args
	case *Cast:
		return []Expr{e.X}
	case *Aggregate:
		list := append([]Expr{}, e.Args...)
		if e.Filter != nil {
			list = append(list, e.Filter)
		}
		return append(list, OrderExprs(e.Order)...)
	case *WindowCall:
		list := append(append([]Expr{}, e.Args...), e.Partition...)
		if e.Filter != nil {
			list = append(list, e.Filter)
		}
		return append(list, OrderExprs(e.Order)...)
	case *Subquery:
		if e.X != nil {
			return []Expr{e.X}
		}
	case Unbound:
		return e.Parts()
	}
	return nil
}

func OrderExprs(orders []Order) (list []Expr) {
	for _, o := range orders {
		list = append(list, o.X)
	}
	return list
}

// Rewriter replaces parts of expressions. Parts that were shared stay shared.
type Rewriter struct {
	replace func(Expr) (Expr, bool) // returns the replacement of an expression, or false to rewrite the parts below it
	done    map[Expr]Expr
}

// NewRewriter makes a Rewriter.
func NewRewriter(replace func(Expr) (Expr, bool)) *Rewriter {
	return &Rewriter{replace, map[Expr]Expr{}}
}

// Expr returns an expression with its parts replaced.
func (r *Rewriter) Expr(e Expr) Expr {
	if e == nil {
		return nil
	}
	if d, ok := r.done[e]; ok {
		return d
	}
	n, ok := r.replace(e)
	if !ok {
		n = r.below(e)
	}
	r.done[e] = n
	return n
}

// Exprs is Expr for a list.
func (r *Rewriter) Exprs(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = r.Expr(e)
	}
	return out
}

func (r *Rewriter) orders(list []Order) []Order {
	out := append([]Order{}, list...)
	for i := range out {
		out[i].X = r.Expr(out[i].X)
	}
	return out
}

// below rewrites the parts of an expression. It returns the expression itself if no part changes.
func (r *Rewriter) below(e Expr) Expr {
	parts := Children(e)
	if !slices.ContainsFunc(parts, func(part Expr) bool { return r.Expr(part) != part }) {
		return e
	}
	switch e := e.(type) {
	case *Apply:
		c := *e
		c.Args = r.Exprs(e.Args)
		return &c
	case *Cast:
		c := *e
		c.X = r.Expr(e.X)
		return &c
	case *Aggregate:
		c := *e
		c.Args, c.Filter, c.Order = r.Exprs(e.Args), r.Expr(e.Filter), r.orders(e.Order)
		return &c
	case *WindowCall:
		c := *e
		c.Args, c.Filter, c.Partition, c.Order = r.Exprs(e.Args), r.Expr(e.Filter), r.Exprs(e.Partition), r.orders(e.Order)
		return &c
	case *Subquery:
		c := *e
		c.X = r.Expr(e.X)
		return &c
	case Unbound:
		return e.With(r.Exprs(parts))
	}
	return e
}

// Numbering gives equal expressions the same number. It identifies an expression by its own fields and the numbers of its
// children.
type Numbering struct {
	ids  map[string]int
	done map[Expr]int
}

// NewNumbering makes a Numbering that has seen nothing.
func NewNumbering() *Numbering { return &Numbering{map[string]int{}, map[Expr]int{}} }

// Number returns the number of an expression.
func (in *Numbering) Number(e Expr) int {
	if id, ok := in.done[e]; ok {
		return id
	}
	var b strings.Builder
	switch e := e.(type) {
	case *Const:
		fmt.Fprintf(&b, "const %T %v", e.Value, e.Value)
	case *Column:
		fmt.Fprintf(&b, "column %d", e.ID)
	case *Apply:
		b.WriteString(e.Func)
	case *Cast:
		fmt.Fprintf(&b, "cast %t", e.Try)
		if e.Range != nil {
			fmt.Fprintf(&b, " %d", e.Range.Max)
		}
	case *Aggregate:
		fmt.Fprintf(&b, "aggregate %s %t %t %v %v", e.Func, e.Distinct, e.Filter != nil, directions(e.Order), e.BySet)
	case *WindowCall:
		fmt.Fprintf(&b, "window %s %d %d %t %t %t %v", e.Func, len(e.Args), len(e.Partition), e.Distinct, e.Filter != nil, e.IgnoreNulls,
			directions(e.Order))
		if f := e.Frame; f != nil {
			fmt.Fprintf(&b, " %t %d %d", f.Range, f.Lo.Kind, f.Hi.Kind)
			for _, x := range []Expr{f.Lo.X, f.Hi.X} {
				if x != nil {
					fmt.Fprintf(&b, " %d", in.Number(x))
				}
			}
		}
	case *Subquery: // plans are not compared
		fmt.Fprintf(&b, "subquery %p", e)
	case Unbound:
		b.WriteString(e.Identity(in.Number))
	}
	fmt.Fprintf(&b, " %s", e.Type())
	for _, c := range Children(e) {
		fmt.Fprintf(&b, " %d", in.Number(c))
	}
	key := b.String()
	id, ok := in.ids[key]
	if !ok {
		id = len(in.ids)
		in.ids[key] = id
	}
	in.done[e] = id
	return id
}

func directions(orders []Order) (d []bool) {
	for _, o := range orders {
		d = append(d, o.Desc, o.NullsFirst)
	}
	return d
}

// Find returns e or the first expression below it for which wanted returns true, nil if there is none. It does not search
// below an expression for which skip returns true.
func Find(e Expr, wanted, skip func(Expr) bool) Expr {
	seen := map[Expr]bool{}
	var walk func(Expr) Expr
	walk = func(e Expr) Expr {
		if e == nil || seen[e] {
			return nil
		}
		seen[e] = true
		if wanted(e) {
			return e
		}
		if skip != nil && skip(e) {
			return nil
		}
		for _, c := range Children(e) {
			if f := walk(c); f != nil {
				return f
			}
		}
		return nil
	}
	return walk(e)
}

func IsAggregate(e Expr) bool { _, ok := e.(*Aggregate); return ok }
func IsWindow(e Expr) bool    { _, ok := e.(*WindowCall); return ok }

// Numbers returns a function that gives equal expressions the same number, and others another one.
func Numbers() func(Expr) int { return NewNumbering().Number }
