package eval_test

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

var errReference = errors.New("no value")

// reference computes an expression for one row, as simply as possible. Values are nil, *big.Int, float64, bool or string, and each
// BIGINT result is checked for its range. It shares nothing with the kernels.
func reference(e plan.Expr, row []any) (any, error) {
	switch e := e.(type) {
	case *plan.Const:
		return big64(e.Value), nil
	case *plan.Column:
		return big64(row[e.ID-1]), nil
	case *plan.Cast:
		v, err := reference(e.X, row)
		if err != nil || v == nil {
			return nil, err
		}
		v, err = convert(v, e)
		if err != nil && e.Try {
			return nil, nil
		}
		return v, err
	case *plan.Apply:
		return applied(e, row)
	}
	panic("no such expression")
}

func big64(v any) any {
	if i, ok := v.(int64); ok {
		return big.NewInt(i)
	}
	return v
}

func convert(v any, e *plan.Cast) (any, error) {
	switch v := v.(type) {
	case *big.Int:
		switch {
		case e.T.Kind == types.Double:
			f, _ := new(big.Float).SetInt(v).Float64()
			return f, nil
		case e.T.Kind == types.Timestamp && e.X.Type().Kind == types.Date:
			return whole(new(big.Int).Mul(v, big.NewInt(86_400_000_000)))
		}
		return inRange(v, e)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errReference
		}
		exact := new(big.Rat)
		exact.SetFloat64(v)
		floor := new(big.Int).Div(exact.Num(), exact.Denom())
		rest := new(big.Rat).Sub(exact, new(big.Rat).SetInt(floor))
		if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && floor.Bit(0) == 1 {
			floor.Add(floor, big.NewInt(1))
		}
		return inRange(floor, e)
	}
	return v, nil
}

func inRange(v *big.Int, e *plan.Cast) (any, error) {
	if e.Range != nil && (v.Cmp(big.NewInt(e.Range.Min)) < 0 || v.Cmp(big.NewInt(e.Range.Max)) > 0) {
		return nil, errReference
	}
	return whole(v)
}

func whole(v *big.Int) (any, error) {
	if !v.IsInt64() {
		return nil, errReference
	}
	return v, nil
}

// order compares two values of one type.
func order(a, b any) int {
	switch a := a.(type) {
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case float64:
		b := b.(float64)
		switch {
		case math.IsNaN(a) && math.IsNaN(b):
			return 0
		case math.IsNaN(a):
			return 1
		case math.IsNaN(b):
			return -1
		}
		return big.NewFloat(a).Cmp(big.NewFloat(b))
	case string:
		b := b.(string)
		for i := 0; i < len(a) && i < len(b); i++ {
			if a[i] != b[i] {
				return int(a[i]) - int(b[i])
			}
		}
		return len(a) - len(b)
	case bool:
		n := map[bool]int{true: 1}
		return n[a] - n[b.(bool)]
	}
	panic("no such value")
}

func applied(e *plan.Apply, row []any) (any, error) {
	switch e.Func {
	case "AND", "OR":
		decides := e.Func == "OR"
		l, err := reference(e.Args[0], row)
		if err != nil || l == decides {
			return l, err
		}
		r, err := reference(e.Args[1], row)
		if err != nil || r == decides {
			return r, err
		}
		if l == nil || r == nil {
			return nil, nil
		}
		return !decides, nil
	case "CASE", "if":
		for i := 0; i+1 < len(e.Args); i += 2 {
			c, err := reference(e.Args[i], row)
			if err != nil {
				return nil, err
			}
			if c == true {
				return reference(e.Args[i+1], row)
			}
		}
		return reference(e.Args[len(e.Args)-1], row)
	case "IN":
		x, err := reference(e.Args[0], row)
		if err != nil {
			return nil, err
		}
		null := x == nil
		for _, a := range e.Args[1:] {
			v, err := reference(a, row)
			if err != nil {
				return nil, err
			}
			if x != nil && v != nil && order(x, v) == 0 {
				return true, nil
			}
			null = null || v == nil
		}
		if null {
			return nil, nil
		}
		return false, nil
	case "coalesce", "ifnull":
		for _, a := range e.Args {
			if v, err := reference(a, row); v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	}
	var args []any
	null := false
	for _, a := range e.Args {
		v, err := reference(a, row)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
		null = null || v == nil
	}
	switch e.Func {
	case "IS NULL":
		return null, nil
	case "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		same := args[0] == nil && args[1] == nil || !null && order(args[0], args[1]) == 0
		return same == (e.Func == "IS NOT DISTINCT FROM"), nil
	case "nullif":
		if !null && order(args[0], args[1]) == 0 {
			return nil, nil
		}
		return args[0], nil
	}
	if null {
		return nil, nil
	}
	switch e.Func {
	case "LIKE":
		escape := ""
		if len(args) == 3 {
			escape = args[2].(string)
		}
		return likeByRegexp(args[0].(string), args[1].(string), escape)
	case "length":
		return big.NewInt(int64(len([]rune(args[0].(string))))), nil
	case "contains":
		return strings.Count(args[0].(string), args[1].(string)) > 0, nil
	case "starts_with":
		_, found := strings.CutPrefix(args[0].(string), args[1].(string))
		return found, nil
	case "ends_with":
		_, found := strings.CutSuffix(args[0].(string), args[1].(string))
		return found, nil
	case "NOT":
		return args[0] == false, nil
	case "=", "<>", "<", "<=", ">", ">=":
		c := order(args[0], args[1])
		return map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[e.Func], nil
	}
	if len(args) == 1 {
		if f, ok := args[0].(float64); ok {
			return math.Copysign(f, -math.Copysign(1, f)), nil
		}
		return whole(new(big.Int).Neg(args[0].(*big.Int)))
	}
	if x, ok := args[0].(float64); ok {
		return float(e.Func, x, args[1].(float64)), nil
	}
	x, y, z := args[0].(*big.Int), args[1].(*big.Int), new(big.Int)
	switch e.Func {
	case "+":
		return whole(z.Add(x, y))
	case "-":
		return whole(z.Sub(x, y))
	case "*":
		return whole(z.Mul(x, y))
	}
	if y.Sign() == 0 {
		return nil, nil
	}
	quotient, err := whole(new(big.Int).Quo(x, y))
	if err != nil || e.Func == "//" {
		return quotient, err
	}
	return whole(z.Rem(x, y))
}

func float(op string, x, y float64) any {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	}
	return math.Mod(x, y)
}

// likeByRegexp turns the pattern into a regular expression.
func likeByRegexp(s, pattern, escape string) (any, error) {
	var b strings.Builder
	b.WriteString("(?s)^")
	for rest := pattern; rest != ""; {
		_, n := utf8.DecodeRuneInString(rest)
		c := rest[:n]
		rest = rest[n:]
		switch {
		case escape != "" && c == escape:
			if rest == "" {
				return nil, errReference
			}
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			rest = rest[n:]
		case c == "%":
			b.WriteString(".*")
		case c == "_":
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(c))
		}
	}
	return regexp.MustCompile(b.String() + "$").MatchString(s), nil
}
