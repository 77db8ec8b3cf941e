package plan

import (
	"errors"
	"slices"

	"posta.dev/posta/analyses/sql/types"
)

// operator is what is known of an operator. Of functions package types says it.
type operator struct {
	form   func(*Apply) (types.Form, error) // the types that it takes and gives, for arguments of these types
	total  bool                             // never fails, whatever its operands
	mirror string                           // the comparison with its operands exchanged; "" for any other operator
}

// OneRow is the operator that returns its first operand. Its second operand is the number of rows of a query used as a value;
// if it is greater than 1, the operator fails.
const OneRow = "ONE ROW"

var operators map[string]operator

func init() {
	text := types.Of(types.Text)
	jsonMany := operator{form: func(e *Apply) (types.Form, error) {
		if _, constant := e.Args[1].(*Const); !constant {
			return types.Form{}, errArguments
		}
		return fixed(types.Of(types.TextList), text, text)(e)
	}}
	operators = map[string]operator{
		"AND": {form: ofTwo, total: true}, "OR": {form: ofTwo, total: true}, "NOT": {form: ofOne, total: true},
		"=": {ofTwo, true, "="}, "<>": {ofTwo, true, "<>"}, "<": {ofTwo, true, ">"}, "<=": {ofTwo, true, ">="},
		">": {ofTwo, true, "<"}, ">=": {ofTwo, true, "<="},
		"IS DISTINCT FROM": {form: ofTwo, total: true}, "IS NOT DISTINCT FROM": {form: ofTwo, total: true},
		"IS NULL": {form: isNull, total: true}, "IN": {form: in, total: true}, "CASE": {form: caseWhen, total: true},
		"+": {form: ofTwo}, "-": {form: ofTwo}, "*": {form: ofTwo}, "/": {form: ofTwo}, "//": {form: ofTwo}, "%": {form: ofTwo},
		"||": {form: ofTwo}, "~": {form: ofTwo}, "!~": {form: ofTwo}, "->": {form: ofTwo}, "->>": {form: ofTwo},
		"json_items": jsonMany, "json_texts": jsonMany, "LIKE": {form: like}, "ILIKE": {form: like},
		"LIST": {form: func(e *Apply) (types.Form, error) {
			return types.Form{Args: slices.Repeat([]types.Type{text}, len(e.Args)), Result: types.Of(types.TextList)}, nil
		}},
		OneRow: {form: func(e *Apply) (types.Form, error) {
			t := e.Args[0].Type()
			return fixed(t, t, types.Of(types.BigInt))(e)
		}},
	}
}

// leastArguments are how many arguments the operators with a form of their own need at least.
var leastArguments = map[string]int{"LIST": 0, "CASE": 3, "json_items": 2, "json_texts": 2, "LIKE": 2, "ILIKE": 2, OneRow: 2}

var errArguments = errors.New("wrong arguments")

// formOf returns the types that an operator or a function takes and gives.
func formOf(e *Apply) (types.Form, error) {
	if op, is := operators[e.Func]; is {
		if least, given := leastArguments[e.Func]; given && len(e.Args) < least || !given && len(e.Args) == 0 {
			return types.Form{}, errArguments
		}
		return op.form(e)
	}
	f := types.Find(e.Func)
	if f == nil || f.Name != e.Func || f.Class != types.Scalar || f.Session {
		return types.Form{}, errors.New("there is no such function")
	}
	return f.Resolve(argumentsOf(e.Args))
}

func argumentsOf(list []Expr) []types.Arg {
	args := make([]types.Arg, len(list))
	for i, x := range list {
		args[i].Type = x.Type()
		if c, is := x.(*Const); is {
			args[i].Const = c.Value
		}
	}
	return args
}

func fixed(result types.Type, args ...types.Type) func(*Apply) (types.Form, error) {
	return func(*Apply) (types.Form, error) { return types.Form{Args: args, Result: result}, nil }
}

func ofOne(e *Apply) (types.Form, error) { return types.Unary(e.Func, e.Args[0].Type()) }

func ofTwo(e *Apply) (types.Form, error) {
	if len(e.Args) == 1 && e.Func == "-" {
		return ofOne(e)
	}
	if len(e.Args) != 2 {
		return types.Form{}, errArguments
	}
	return types.Binary(e.Func, e.Args[0].Type(), e.Args[1].Type())
}

func isNull(e *Apply) (types.Form, error) {
	return types.Form{Args: []types.Type{e.Args[0].Type()}, Result: types.Of(types.Bool)}, nil
}

// in compares values of one type.
func in(e *Apply) (types.Form, error) {
	return types.Form{Args: slices.Repeat([]types.Type{e.Args[0].Type()}, len(e.Args)), Result: types.Of(types.Bool)}, nil
}

func like(e *Apply) (types.Form, error) {
	if len(e.Args) == 3 {
		c, constant := e.Args[2].(*Const)
		if text, is := "", false; constant {
			text, is = c.Value.(string)
			constant = is && len(text) == 1
		}
		if !constant {
			return types.Form{}, errArguments
		}
	}
	return types.Form{Args: slices.Repeat([]types.Type{types.Of(types.Text)}, min(len(e.Args), 3)), Result: types.Of(types.Bool)}, nil
}

func caseWhen(e *Apply) (types.Form, error) {
	value := e.Args[1].Type()
	f := types.Form{Result: value}
	for i := range e.Args {
		if i%2 == 0 && i+1 < len(e.Args) {
			f.Args = append(f.Args, types.Of(types.Bool))
		} else {
			f.Args = append(f.Args, value)
		}
	}
	if len(e.Args)%2 == 0 {
		return f, errArguments
	}
	return f, nil
}
