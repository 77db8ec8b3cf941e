package eval

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Program computes one expression. It holds its buffers, so only one goroutine may run it at a time.
type Program struct {
	expr plan.Expr
	at   plan.Layout
	root node
	all  []int32
	made *account
}

// node is a kernel with its operands. The vector that eval returns is valid until its next call.
type node interface {
	eval(b *batch, sel []int32) (*Vector, error)
}

type batch struct {
	columns []*Vector
	n       int
}

// Supports reports whether an expression can be computed: an error that wraps ErrUnsupported if not.
func Supports(e plan.Expr) error {
	_, err := CompileFor(e, nil, NewMeter())
	return err
}

// Compile makes a program of an expression over rows with a layout. It has a meter of its own.
func Compile(e plan.Expr, at plan.Layout) (*Program, error) { return CompileFor(e, at, NewMeter()) }

// CompileFor makes a program that shares a meter with others.
func CompileFor(e plan.Expr, at plan.Layout, m *Meter) (*Program, error) {
	p := &Program{expr: e, at: at, made: &account{meter: m}}
	root, err := newCompiler(e, at, p.made).compile(e)
	if err != nil {
		return nil, err
	}
	p.root = root
	m.of = append(m.of, p.made)
	return p, nil
}

// eval computes some rows. What the last run made is forgotten. If that was much, the kernels are made again, because their vectors would
// keep it.
func (p *Program) eval(b *batch, sel []int32) (*Vector, error) {
	if p.made.held > manyBytes || p.made.stale {
		p.made.meter.Pause() // a slice of rows may need hundreds of such runs
		root, err := newCompiler(p.expr, p.at, p.made).compile(p.expr)
		if err != nil {
			return nil, err
		}
		p.root, p.made.stale = root, false
	}
	p.made.to(0)
	p.made.rows = len(sel)
	return p.root.eval(b, sel)
}

// Run computes the rows in sel, which ascend, or all n rows if sel is nil. The vector is valid until the next call. The error is an
// *Error, or a *Full if fewer rows have to be computed at once; see [Pieces].
func (p *Program) Run(columns []*Vector, n int, sel []int32) (*Vector, error) {
	if sel == nil {
		for i := len(p.all); i < n; i++ {
			p.all = append(p.all, int32(i))
		}
		sel = p.all[:n]
	}
	b := &batch{columns, n}
	v, err := p.eval(b, sel)
	if err == nil {
		return v, nil
	}
	for {
		least := (*Error)(nil)
		if !errors.As(err, &least) {
			return nil, err
		}
		before, _ := slices.BinarySearch(sel, least.Row)
		sel = sel[:before]
		if _, err = p.eval(b, sel); err == nil {
			return nil, least
		}
	}
}

func (c *compiler) apply(e *plan.Apply, args []node, out Vector) (node, error) {
	left := types.Type{}
	if len(e.Args) > 0 {
		left = e.Args[0].Type()
	}
	operand := left.Kind
	compares := func() compare {
		k := compare{l: args[0], r: args[1], op: e.Func, kind: operand, out: Vector{Kind: types.Bool}}
		k.lscale, k.rscale = left.Scale, e.Args[1].Type().Scale
		return k
	}
	ordered := operand != types.Interval && operand != types.TextList
	switch e.Func {
	case "AND", "OR":
		if n := either(args[0], args[1], out); n != nil && e.Func == "OR" {
			return n, nil
		}
		return &logic{l: args[0], r: args[1], or: e.Func == "OR", out: out}, nil
	case "NOT":
		return &not{args[0], out}, nil
	case plan.OneRow:
		return &oneRow{args[0], args[1], e.At}, nil
	case "IS NULL":
		return &isNull{args[0], out}, nil
	case "CASE", "if":
		return &caseWhen{args: args, out: out}, nil
	case "coalesce", "ifnull":
		return &coalesce{args: args, out: out}, nil
	case "+", "-", "*", "/", "//", "%", "mod":
		if f := compileArithmetic(e, args, out); f != nil {
			return f, nil
		}
	}
	if !ordered {
		if f := c.function(e, args, out); f != nil && e.Func != "greatest" && e.Func != "least" {
			return f, nil
		}
		return nil, &Unsupported{e.At, fmt.Sprintf("%s of %s", e.Func, left)}
	}
	switch e.Func {
	case "=", "<>", "<", "<=", ">", ">=":
		k := compares()
		return &k, nil
	case "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		k := compares()
		k.op = "="
		return &distinct{k, e.Func == "IS NOT DISTINCT FROM"}, nil
	case "IN":
		return newIn(args, operand, out), nil
	case "LIKE", "ILIKE":
		return c.newLike(e, args, out), nil
	case "contains", "starts_with", "ends_with":
		return &part{args[0], args[1], e.Func, out}, nil
	case "length":
		return &length{args[0], out}, nil
	case "nullif":
		k := compares()
		k.op = "="
		return &nullIf{k, out}, nil
	}
	if f := c.function(e, args, out); f != nil {
		return f, nil
	}
	return nil, &Unsupported{e.At, fmt.Sprintf("%s of %s", e.Func, left)}
}

// compileArithmetic returns the kernel of + - * / // % for numbers, nil for others.
func compileArithmetic(e *plan.Apply, args []node, out Vector) node {
	op, operand := e.Func, e.Args[0].Type().Kind
	if op == "mod" {
		op = "%"
	}
	for _, a := range e.Args {
		if a.Type().Kind != operand {
			return nil
		}
	}
	if len(args) == 1 {
		if operand == types.Double {
			return &negate{args[0], out}
		}
		args = []node{&constant{value: int64(0), out: Vector{Kind: operand}}, args[0]}
	}
	switch {
	case operand == types.Double && out.Kind == types.Double:
		return &floats{args[0], args[1], op, out}
	case operand == types.BigInt && out.Kind == types.BigInt:
		return &ints{l: args[0], r: args[1], by: constantInt(args[1]), op: op, at: e.At, out: out}
	case operand == types.Decimal && out.Kind == types.Decimal:
		return &ints{l: args[0], r: args[1], by: constantInt(args[1]), op: op, most: field.Powers[types.MaxPrecision] - 1, at: e.At, out: out}
	}
	return nil
}

// constantInt returns the integer of a constant, nil for another node and for NULL.
func constantInt(n node) *int64 {
	if c, ok := n.(*constant); ok {
		if v, ok := c.value.(int64); ok {
			return &v
		}
	}
	return nil
}

// constant fills its vector once, and again only for a larger batch.
type constant struct {
	value any
	out   Vector
	n     int
}

func (c *constant) eval(b *batch, _ []int32) (*Vector, error) {
	if c.n >= b.n && c.n > 0 {
		return &c.out, nil
	}
	c.n = b.n
	c.out.reset(b.n)
	for i := range b.n {
		switch v := c.value.(type) {
		case nil:
			c.out.SetNull(int32(i))
		case int64:
			c.out.Ints[i] = v
		case float64:
			c.out.Floats[i] = v
		case bool:
			c.out.Bools[i] = v
		case string:
			c.out.Texts[i] = v
		case plan.Interval:
			c.out.Intervals[i] = v
		}
	}
	return &c.out, nil
}

type column struct{ index int }

func (c *column) eval(b *batch, _ []int32) (*Vector, error) { return b.columns[c.index], nil }
