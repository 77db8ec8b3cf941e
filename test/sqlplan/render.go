// Package sqlplan draws plans of SQL statements, for tests.
package sqlplan

import (
	"fmt"
	"strings"

	"posta.dev/posta/analyses/sql/plan"
)

type renderer struct {
	strings.Builder
	seen map[plan.Node]bool
	at   plan.Layout // of the rows that the present node reads
}

// Render draws a plan: one node per line, the last step first, its inputs indented below it. A plan that is used twice is drawn once. A
// column is drawn as its place in the rows that the node reads.
func Render(n plan.Node) string {
	r := &renderer{seen: map[plan.Node]bool{}}
	r.node(n, 0)
	return strings.TrimRight(r.String(), "\n")
}

func (r *renderer) node(n plan.Node, depth int) {
	r.WriteString(strings.Repeat("  ", depth))
	if r.seen[n] {
		r.WriteString("(the same)\n")
		return
	}
	r.seen[n] = true
	var inputs [][]plan.Field
	for _, in := range plan.Inputs(n) {
		inputs = append(inputs, in.Fields())
	}
	r.at = plan.LayoutOf(inputs...)
	switch n := n.(type) {
	case *plan.Scan:
		var used []string
		for i, u := range n.Used {
			if u {
				used = append(used, n.Out[i].Name)
			}
		}
		r.line("scan %s (%s)", n.Table.Name, strings.Join(used, ", "))
	case *plan.Inline:
		r.line("inline %s", strings.Join(each(n.Rows, r.exprs), "; "))
	case *plan.Join:
		both := r.at
		pairs := each(n.Equal, func(p [2]plan.Expr) string {
			r.at = plan.LayoutOf(n.L.Fields())
			left := r.text(p[0])
			r.at = plan.LayoutOf(n.R.Fields())
			return left + " = " + r.text(p[1])
		})
		r.at = both
		rest := ""
		if n.Rest != nil {
			rest = " rest " + r.text(n.Rest)
		}
		r.line("join %s on %s%s", []string{"inner", "left", "right", "full", "semi", "anti", "cross"}[n.Kind], strings.Join(pairs, ", "), rest)
		r.node(n.L, depth+1)
		r.node(n.R, depth+1)
	case *plan.Filter:
		r.line("filter %s", r.text(n.Cond))
		r.node(n.Input, depth+1)
	case *plan.Aggregation:
		r.line("group by %s sets %v: %s", r.exprs(n.Keys), n.Sets, strings.Join(each(n.Aggs, func(a *plan.Aggregate) string { return r.text(a) }),
			", "))
		r.node(n.Input, depth+1)
	case *plan.Windows:
		r.line("windows %s", strings.Join(each(n.Calls, func(a *plan.WindowCall) string { return r.text(a) }), ", "))
		r.node(n.Input, depth+1)
	case *plan.Unnest:
		r.line("unnest %s outer %t", r.exprs(n.Lists), n.Outer)
		r.node(n.Input, depth+1)
	case *plan.Project:
		r.line("project %s", strings.Join(each2(n.Exprs, n.Out, func(e plan.Expr, f plan.Field) string {
			return fmt.Sprintf("%s AS %s %s", r.text(e), f.Name, f.Type)
		}), ", "))
		r.node(n.Input, depth+1)
	case *plan.Distinct:
		r.line("distinct %s", r.exprs(n.On))
		r.node(n.Input, depth+1)
	case *plan.Sort:
		r.line("sort %s", r.orders(n.Keys))
		r.node(n.Input, depth+1)
	case *plan.Limit:
		r.line("limit %d offset %d", n.Count, n.Offset)
		r.node(n.Input, depth+1)
	case *plan.SetOp:
		r.line("%s all %t", []string{"union", "except", "intersect"}[n.Kind], n.All)
		r.node(n.L, depth+1)
		r.node(n.R, depth+1)
	}
}

func (r *renderer) line(format string, args ...any) {
	r.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func each[T any](list []T, f func(T) string) (out []string) {
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

func each2[T, U any](a []T, b []U, f func(T, U) string) (out []string) {
	for i := range a {
		out = append(out, f(a[i], b[i]))
	}
	return out
}

func (r *renderer) exprs(list []plan.Expr) string {
	return "(" + strings.Join(each(list, r.text), ", ") + ")"
}

func (r *renderer) orders(list []plan.Order) string {
	return strings.Join(each(list, func(o plan.Order) string {
		s := r.text(o.X)
		if o.Desc {
			s += " desc"
		}
		if o.NullsFirst {
			s += " nulls first"
		}
		return s
	}), ", ")
}

// column draws a column as its place.
func (r *renderer) column(c *plan.Column) string {
	at, found := r.at[c.ID]
	if !found {
		return "#missing"
	}
	return fmt.Sprintf("#%d", at)
}

// text draws an expression, with the types of constants.
func (r *renderer) text(e plan.Expr) string {
	switch e := e.(type) {
	case *plan.Const:
		if s, ok := e.Value.(string); ok {
			return "'" + s + "'"
		}
		return fmt.Sprintf("%v:%s", e.Value, e.T)
	case *plan.Column:
		return r.column(e)
	case *plan.Apply:
		return e.Func + r.exprs(e.Args)
	case *plan.Cast:
		s := "cast"
		if e.Implicit {
			s = "to"
		}
		if e.Try {
			s = "try"
		}
		if e.Range != nil {
			s += fmt.Sprintf("[%d]", e.Range.Max)
		}
		return fmt.Sprintf("%s(%s, %s)", s, r.text(e.X), e.T)
	case *plan.Aggregate:
		s := e.Func + r.exprs(e.Args)
		if e.Distinct {
			s = "distinct " + s
		}
		if len(e.Order) > 0 {
			s += " order " + r.orders(e.Order)
		}
		if e.Filter != nil {
			s += " filter " + r.text(e.Filter)
		}
		return s
	case *plan.WindowCall:
		s := e.Func + r.exprs(e.Args) + " partition " + r.exprs(e.Partition) + " order " + r.orders(e.Order)
		if e.Distinct {
			s = "distinct " + s
		}
		if e.Frame != nil {
			s += fmt.Sprintf(" frame %t %d %d", e.Frame.Range, e.Frame.Lo.Kind, e.Frame.Hi.Kind)
		}
		return s
	case *plan.Subquery:
		s := "value"
		if e.Exists {
			s = "exists"
		}
		if e.In {
			s = r.text(e.X) + " in"
		}
		return s + " {" + strings.ReplaceAll(Render(e.Plan), "\n", " <") + "}"
	}
	return "?"
}
