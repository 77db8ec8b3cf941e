package bind

import (
	"strconv"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// summary binds SUMMARIZE: a row of statistics for each column of a query. It is one aggregation of the query. Lists hold the
// values, and UNNEST turns them into rows:
//
//	SELECT unnest(['a', 'b']) AS column_name, unnest([min(a)::TEXT, min(b)::TEXT]) AS min, … FROM (query) AS s (a, b)
//
// Exact quartiles and numbers of distinct values would need every value of every column in memory. So they are estimated, as in
// DuckDB: see the aggregates quartiles and approx_unique in package tail.
func (b *binder) summary(d *syntax.Describe, at syntax.Pos, c *ctes) plan.Node {
	fields := b.query(d.Query, nil, c).Fields()
	b.named = map[*ctes]bool{} // what was bound just now is not part of the plan
	from := &syntax.Derived{At: at, Query: d.Query, Alias: syntax.Alias{Name: syntax.Ident{At: at, Name: "s"}}}
	text := func(s string) syntax.Expr { return &syntax.String{At: at, Value: s} }
	cast := func(x syntax.Expr, typ string, args ...int) syntax.Expr {
		return &syntax.Cast{At: at, X: x, Type: syntax.TypeName{At: at, Name: typ, Args: args}}
	}
	call := func(name string, args ...syntax.Expr) syntax.Expr {
		return &syntax.Call{At: at, Name: name, Args: args, Star: len(args) == 0}
	}
	summary := func(name string, x syntax.Expr) syntax.Expr {
		return &syntax.Call{At: at, Name: name, Args: []syntax.Expr{x}, Summary: true}
	}
	quartile := func(n string) func(syntax.Expr, plan.Field) syntax.Expr {
		return func(x syntax.Expr, f plan.Field) syntax.Expr {
			if !f.Type.IsNumber() && f.Type.Kind != types.Date && f.Type.Kind != types.Timestamp {
				return nil
			}
			text := call("list_extract", summary("quartiles", x), &syntax.Number{At: at, Text: n})
			value := &syntax.Cast{At: at, X: text, Type: syntax.TypeName{At: at, Name: f.Type.Kind.String()}, Try: true}
			if f.Type.Kind == types.Decimal {
				value.Type.Args = []int{types.MaxPrecision, int(f.Type.Scale)} // rounding may have added a digit
			}
			inside := call("greatest", call("min", x), call("least", call("max", x), value)) // a rounded value may be beyond both
			return call("if", &syntax.IsNull{At: at, X: value}, text, cast(inside, "TEXT"))  // years beyond 9999 are not read
		}
	}
	for i := range fields {
		from.Alias.Columns = append(from.Alias.Columns, syntax.Ident{At: at, Name: "c" + strconv.Itoa(i)})
	}
	sel := &syntax.Select{At: at, From: from}
	figure := func(name, typ string, of func(x syntax.Expr, f plan.Field) syntax.Expr, digits ...int) {
		list := &syntax.List{At: at}
		for i, f := range fields {
			x := of(&syntax.Column{At: at, Name: from.Alias.Columns[i].Name}, f)
			if x == nil {
				x = &syntax.Null{At: at}
			}
			list.Items = append(list.Items, cast(x, "TEXT"))
		}
		x := call("unnest", list)
		if typ != "TEXT" {
			x = cast(x, typ, digits...)
		}
		sel.Items = append(sel.Items, syntax.Item{X: x, Alias: syntax.Ident{At: at, Name: name}})
	}
	ofNumbers := func(function string) func(syntax.Expr, plan.Field) syntax.Expr {
		return func(x syntax.Expr, f plan.Field) syntax.Expr {
			if !f.Type.IsNumber() {
				return nil
			}
			return call(function, x)
		}
	}
	ofAll := func(function string) func(syntax.Expr, plan.Field) syntax.Expr {
		return func(x syntax.Expr, f plan.Field) syntax.Expr {
			if f.Type.Kind == types.TextList || f.Type.Kind == types.Null {
				return nil
			}
			return call(function, x)
		}
	}
	figure("column_name", "TEXT", func(_ syntax.Expr, f plan.Field) syntax.Expr { return text(f.Name) })
	figure("column_type", "TEXT", func(_ syntax.Expr, f plan.Field) syntax.Expr { return text(f.Type.String()) })
	figure("min", "TEXT", ofAll("min"))
	figure("max", "TEXT", ofAll("max"))
	figure("approx_unique", "BIGINT", func(x syntax.Expr, f plan.Field) syntax.Expr {
		if f.Type.Kind == types.TextList || f.Type.Kind == types.Null {
			return nil
		}
		return call("least", summary("approx_unique", x), call("count", x)) // an estimate may exceed the number of values
	})
	figure("avg", "TEXT", ofNumbers("avg"))
	figure("std", "TEXT", ofNumbers("stddev_samp"))
	figure("q25", "TEXT", quartile("1"))
	figure("q50", "TEXT", quartile("2"))
	figure("q75", "TEXT", quartile("3"))
	figure("count", "BIGINT", func(syntax.Expr, plan.Field) syntax.Expr { return call("count") })
	figure("null_percentage", "DECIMAL", func(x syntax.Expr, f plan.Field) syntax.Expr {
		share := &syntax.Binary{At: at, Op: syntax.Div, L: call("count", x), R: call("nullif", call("count"), &syntax.Number{At: at, Text: "0"})}
		missing := &syntax.Binary{At: at, Op: syntax.Sub, L: &syntax.Number{At: at, Text: "100"},
			R: &syntax.Binary{At: at, Op: syntax.Mul, L: &syntax.Number{At: at, Text: "100"}, R: share}}
		return cast(missing, "DECIMAL", 9, 2)
	}, 9, 2)
	return b.query(&syntax.Query{At: at, Body: sel}, nil, c)
}
