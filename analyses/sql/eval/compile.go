package eval

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/types"
)

// Program computes one expression. It holds its buffers, so only one goroutine may run it at a time.
type Program struct {
	root node
	all  []int32
}

// node is a kernel with its operands. The vector that eval returns is valid until the next call.
type node interface {
	eval(b *batch, sel []int32) (*Vector, error)
}

type batch struct {
	columns []*Vector
	n       int
}

// Compile makes a program of an expression.
func Compile(e bind.Expr) (*Program, error) {
	root, err := compile(e)
	if err != nil {
		return nil, err
	}
	return &Program{root: root}, nil
}

// Run computes the rows in sel, which ascend, or all n if sel is nil. The vector is valid until the next call. The error is an *Error.
func (p *Program) Run(columns []*Vector, n int, sel []int32) (*Vector, error) {
	if sel == nil {
		for i := len(p.all); i < n; i++ {
			p.all = append(p.all, int32(i))
		}
		sel = p.all[:n]
	}
	b := &batch{columns, n}
	v, err := p.root.eval(b, sel)
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
		if _, err = p.root.eval(b, sel); err == nil {
			return nil, least
		}
	}
}

func unsupported(what string) error { return fmt.Errorf("%s: %w", what, ErrUnsupported) }

func compile(e bind.Expr) (node, error) {
	switch e.Type().Kind {
	case types.BigInt, types.Double, types.Bool, types.Text, types.Date, types.Timestamp:
	default:
		return nil, unsupported(e.Type().String())
	}
	out := Vector{Kind: e.Type().Kind}
	switch e := e.(type) {
	case *bind.Const:
		return &constant{value: e.Value, out: out}, nil
	case *bind.Column:
		return &column{e.Index}, nil
	case *bind.Cast:
		return compileCast(e, out)
	case *bind.Apply:
		args := make([]node, len(e.Args))
		for i, a := range e.Args {
			var err error
			if args[i], err = compile(a); err != nil {
				return nil, err
			}
		}
		return compileApply(e, args, out)
	}
	return nil, unsupported(fmt.Sprintf("%T", e))
}

func compileApply(e *bind.Apply, args []node, out Vector) (node, error) {
	operand := types.Null
	if len(e.Args) > 0 {
		operand = e.Args[0].Type().Kind
	}
	switch e.Func {
	case "AND", "OR":
		return &logic{l: args[0], r: args[1], or: e.Func == "OR", out: out}, nil
	case "NOT":
		return &not{args[0], out}, nil
	case "IS NULL":
		return &isNull{args[0], out}, nil
	case "=", "<>", "<", "<=", ">", ">=":
		return &compare{args[0], args[1], e.Func, operand, out}, nil
	case "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		return &distinct{compare{args[0], args[1], "=", operand, out}, e.Func == "IS NOT DISTINCT FROM"}, nil
	case "CASE", "if":
		return &caseWhen{args: args, out: out}, nil
	case "coalesce", "ifnull":
		return &coalesce{args: args, out: out}, nil
	case "IN":
		return newIn(args, operand, out), nil
	case "LIKE":
		k := &like{x: args[0], pattern: args[1], at: e.At, out: out}
		if len(e.Args) == 3 {
			k.escape = e.Args[2].(*bind.Const).Value.(string)[0]
		}
		return k, nil
	case "contains", "starts_with", "ends_with":
		return &part{args[0], args[1], e.Func, out}, nil
	case "length":
		return &length{args[0], out}, nil
	case "nullif":
		return &nullIf{compare{args[0], args[1], "=", operand, Vector{Kind: types.Bool}}, out}, nil
	case "+", "-", "*", "/", "//", "%":
		if len(args) == 1 {
			args = []node{&constant{value: zero(operand), out: Vector{Kind: operand}}, args[0]}
			if operand == types.Double {
				return &negate{args[1], out}, nil
			}
		}
		if e.T.Kind == types.Double && operand == types.Double {
			return &floats{args[0], args[1], e.Func, out}, nil
		}
		if e.T.Kind == types.BigInt && operand == types.BigInt {
			return &ints{args[0], args[1], e.Func, e.At, out}, nil
		}
	}
	return nil, unsupported(fmt.Sprintf("%s of %s", e.Func, operand))
}

func zero(k types.Kind) any {
	if k == types.Double {
		return 0.0
	}
	return int64(0)
}

// constant fills its vector once, and again only for larger batches.
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
			c.out.setNull(int32(i))
		case int64:
			c.out.Ints[i] = v
		case float64:
			c.out.Floats[i] = v
		case bool:
			c.out.Bools[i] = v
		case string:
			c.out.Texts[i] = v
		}
	}
	return &c.out, nil
}

type column struct{ index int }

func (c *column) eval(b *batch, _ []int32) (*Vector, error) { return b.columns[c.index], nil }
