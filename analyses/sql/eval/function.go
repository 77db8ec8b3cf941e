package eval

import (
	"posta.dev/posta/analyses/internal/vader"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// kernel computes a function for the rows in sel. If the function is strict, none of these rows has a NULL argument. A kernel
// returns the first row for which it fails, with the reason, or ok.
type kernel func(f *function, args []*Vector, sel []int32) (bad int32, why string)

const ok = int32(-1)

// function is a call of a function. Functions of numbers and dates loop over the rows themselves. Functions of texts are made
// from a function of one row: a call per row is cheap compared with the work on a text.
type function struct {
	name   string
	args   []node
	types  []types.Type // of args
	t      types.Type   // of the result
	run    kernel
	strict bool
	at     syntax.Pos
	values []*Vector
	live   []int32
	out    Vector

	made *account

	unit    string   // a date function's first argument, which is a literal
	pattern *pattern // the compiled regular expression
	dates   *dateFormat

	replacement *replacement
	vader       *vader.Analyzer
}

// function returns a call of the function, nil if no kernel is registered for these types.
func (c *compiler) function(e *plan.Apply, args []node, out Vector) node {
	f := &function{name: e.Func, made: c.of, args: args, run: kernels[e.Func], strict: true, at: e.At, t: e.T, out: out}
	for _, a := range e.Args {
		f.types = append(f.types, a.Type())
	}
	f.values = make([]*Vector, len(args))
	switch e.Func {
	case "LIST", "concat", "concat_ws", "greatest", "least", "try_strptime":
		f.strict = false
	case "date_part", "date_trunc", "date_diff":
		unit, is := e.Args[0].(*plan.Const)
		if !is || unit.Value == nil {
			return nil
		}
		u, known := types.Parts[lower(unit.Value.(string))]
		if !known {
			return nil
		}
		f.unit = u
	}
	if f.run == nil {
		f.run = dateArithmetic(e)
	}
	if f.run == nil {
		return nil
	}
	return f
}

func (k *function) eval(b *batch, sel []int32) (*Vector, error) {
	for i, a := range k.args {
		v, err := a.eval(b, sel)
		if err != nil {
			return nil, err
		}
		k.values[i] = v
	}
	k.out.reset(b.n)
	if k.strict {
		k.out.nullsOf(k.values...)
		if k.out.Any {
			k.live = k.live[:0]
			for _, i := range sel {
				if !k.out.IsNull(i) {
					k.live = append(k.live, i)
				}
			}
			sel = k.live
		}
	}
	if bad, why := k.run(k, k.values, sel); why == full {
		return nil, &Full{bad}
	} else if bad != ok {
		return nil, &Error{k.at, bad, why}
	}
	return &k.out, nil
}

// kernels has the functions by name. A kernel that serves several types looks at the types of its arguments.
var kernels = map[string]kernel{}

func init() {
	for _, table := range []map[string]kernel{textKernels, numberKernels, dateKernels} {
		for name, k := range table {
			kernels[name] = k
		}
	}
}

// Computes reports whether a scalar function has a kernel, for at least some types.
func Computes(name string) bool {
	switch name {
	case "coalesce", "ifnull", "if", "nullif", "contains", "starts_with", "ends_with", "mod":
		return true
	}
	return kernels[name] != nil
}
