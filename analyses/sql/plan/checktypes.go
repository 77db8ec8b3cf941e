package plan

import (
	"slices"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// expr checks an expression against the types of the parts below it.
func (c *checker) expr(e Expr) {
	ok := true
	switch e := e.(type) {
	case *Const:
		ok = holds(e)
	case *Column:
		ok = c.types[e.ID] == e.T
	case *Apply:
		f, err := formOf(e)
		ok = err == nil && f.Result == e.T && takes(f, e.Args)
	case *Cast:
		from := e.X.Type()
		narrow := e.Range == nil || e.T.Kind == types.BigInt || e.Range.Time && e.T.Kind == types.Text &&
			(from.Kind == types.Text || from.Kind == types.Timestamp || from.Kind == types.Null)
		ok = from.Castable(e.T) && narrow
	case *Aggregate:
		ok = (e.Filter == nil || isBool(e.Filter)) && c.aggregates(e)
	case *WindowCall:
		ok = (e.Filter == nil || isBool(e.Filter)) && c.calls(e.Func, e.T, e.Args) && framed(e, c.find(e.Func))
	case *Subquery:
		ok = asks(e)
	case Unbound:
		ok = false
	}
	if !ok {
		c.fail(ErrTypes, "%T %s at %d gives no %s of what it has", e, named(e), e.Pos(), e.Type())
	}
	for _, part := range Children(e) {
		if IsAggregate(part) || IsWindow(part) {
			c.fail(ErrTypes, "an aggregate or a window function stands within an expression")
		}
	}
}

func named(e Expr) string {
	switch e := e.(type) {
	case *Apply:
		return e.Func
	case *Aggregate:
		return e.Func
	case *WindowCall:
		return e.Func
	}
	return ""
}

// holds reports whether the value of a constant is one of its type.
func holds(e *Const) (ok bool) {
	switch e.Value.(type) {
	case nil:
		return !e.Literal
	case bool:
		ok = e.T.Kind == types.Bool
	case int64:
		ok = slices.Contains([]types.Kind{types.BigInt, types.Decimal, types.Date, types.Timestamp}, e.T.Kind)
	case float64:
		ok = e.T.Kind == types.Double
	case string:
		return e.T.Kind == types.Text
	case Interval:
		ok = e.T.Kind == types.Interval
	}
	return ok && !e.Literal
}

func takes(f types.Form, args []Expr) bool {
	return slices.EqualFunc(f.Args, args, func(t types.Type, x Expr) bool { return x.Type() == t })
}

func isBool(e Expr) bool { return e.Type().Kind == types.Bool }

// calls checks a call of an aggregate or a window function.
func (c *checker) calls(name string, t types.Type, args []Expr) bool {
	f := c.find(name)
	if f == nil || f.Name != name || f.Class == types.Scalar {
		return false
	}
	form, err := f.Resolve(argumentsOf(args))
	if err == nil && f.Share {
		share, constant := args[1].(*Const)
		if v, is := float64(-1), false; constant {
			v, is = share.Value.(float64)
			constant = is && v >= 0 && v <= 1
		}
		if !constant {
			return false
		}
	}
	return err == nil && form.Result == t && takes(form, args)
}

// grouping is the aggregate that tells the sets of a grouping apart.
const grouping = "GROUPING"

func (c *checker) aggregates(e *Aggregate) bool {
	if e.Func == grouping {
		return len(e.Args) == 0 && e.T == types.Of(types.BigInt)
	}
	return len(e.BySet) == 0 && c.calls(e.Func, e.T, e.Args) && c.find(e.Func).Class == types.Aggregate
}

// framed checks the frame of a window.
func framed(w *WindowCall, f *types.Function) bool {
	if f.Class == types.Aggregate && !f.Over || w.Frame == nil {
		return f.Class == types.Window || f.Over
	}
	for _, end := range []FrameBound{w.Frame.Lo, w.Frame.Hi} {
		if distance := end.Kind == syntax.Preceding || end.Kind == syntax.Following; distance != (end.X != nil) {
			return false
		}
		if end.X == nil {
			continue
		}
		by, constant := end.X.(*Const)
		if !constant || by.Value == nil || !holds(by) || Below0(by.Value) || w.Frame.Range && len(w.Order) != 1 ||
			!w.Frame.Range && by.T.Kind != types.BigInt || w.Frame.Range && !IsDistance(by.T, w.Order[0].X.Type()) {
			return false
		}
	}
	return true
}

// IsDistance reports whether values of a type are distances between keys of another one.
func IsDistance(by, key types.Type) bool {
	dated := key.Kind == types.Date || key.Kind == types.Timestamp
	return key.IsNumber() && by.IsNumber() || dated && by.Kind == types.Interval || key.Kind == types.Date && by.Kind == types.BigInt
}

// Below0 reports whether a part of a number or of an INTERVAL is below 0, or not a number.
func Below0(v any) bool {
	switch v := v.(type) {
	case int64:
		return v < 0
	case float64:
		return !(v >= 0)
	case Interval:
		return v.Months < 0 || v.Days < 0 || v.Micros < 0
	}
	return false
}

// asks checks a query that is used as a value.
func asks(q *Subquery) bool {
	fields := q.Plan.Fields()
	switch {
	case q.Exists:
		return !q.In && q.X == nil && isBool(q)
	case len(fields) != 1:
		return false
	case q.In:
		f, err := types.Binary("=", q.X.Type(), fields[0].Type)
		return err == nil && isBool(q) && f.Args[0] == q.X.Type() && f.Args[1] == fields[0].Type
	}
	return q.X == nil && q.T == fields[0].Type
}

// shape checks that a node has as many expressions as columns, with their types.
func (c *checker) shape(n Node) {
	ok := true
	switch n := n.(type) {
	case *Scan:
		ok = len(n.Out) == len(n.Table.Fields)+2 && len(n.Used) == len(n.Out)
		for i := 0; ok && i < len(n.Table.Fields); i++ {
			ok = n.Out[i].Type == n.Table.Fields[i].Type && !(n.Used[i] && n.Out[i].Type.Kind == types.Null)
		}
		for i := 0; ok && i < len(n.Used); i++ {
			if !n.Used[i] {
				c.unread.Add(n.Out[i].ID)
			}
		}
		ok = ok && n.Out[len(n.Out)-2].Type == types.Of(types.Text) && n.Out[len(n.Out)-1].Type == types.Of(types.BigInt)
	case *Inline:
		for _, row := range n.Rows {
			ok = ok && fits(n.Out, row)
		}
	case *Join:
		ok = n.Rest == nil || isBool(n.Rest)
		for _, p := range n.Equal {
			f, err := types.Binary("=", p[0].Type(), p[1].Type())
			ok = ok && err == nil && f.Args[0] == p[0].Type() && f.Args[1] == p[1].Type() && n.Side(p[0])&Right == 0 && n.Side(p[1])&Left == 0
		}
	case *Filter:
		ok = isBool(n.Cond)
	case *Aggregation:
		exprs := slices.Clone(n.Keys)
		for _, a := range n.Aggs {
			exprs = append(exprs, a)
			ok = ok && (a.Func != grouping || len(a.BySet) == len(n.Sets))
		}
		ok = ok && len(n.Sets) > 0 && fits(n.Out, exprs)
		for _, set := range n.Sets {
			sorted := slices.Sorted(slices.Values(set))
			ok = ok && len(slices.Compact(sorted)) == len(set) && (len(set) == 0 || sorted[0] >= 0 && sorted[len(set)-1] < len(n.Keys))
		}
	case *Windows:
		ok = fits(n.Out[len(n.Input.Fields()):], exprsOf(n.Calls))
	case *Unnest:
		for i, f := range n.Out[len(n.Input.Fields()):] {
			ok = ok && i < len(n.Lists) && n.Lists[i].Type() == types.Of(types.TextList) && f.Type == types.Of(types.Text)
		}
		ok = ok && len(n.Out) == len(n.Input.Fields())+len(n.Lists)
	case *Project:
		ok = fits(n.Out, n.Exprs)
	case *Distinct:
		if len(n.On) == 0 {
			c.whole(n.Input)
		}
	case *Limit:
		ok = n.Count >= -1 && n.Offset >= 0
	case *SetOp:
		ok = alike(n.Out, n.L.Fields()) && alike(n.Out, n.R.Fields())
		c.whole(n.L)
		c.whole(n.R)
	}
	if !ok {
		c.fail(ErrTypes, "%T does not have the columns that it computes", n)
	}
	for _, e := range Exprs(n) {
		if _, groups := n.(*Aggregation); IsAggregate(e) && !groups {
			c.fail(ErrTypes, "an aggregate stands in %T", n)
		}
		if _, windows := n.(*Windows); IsWindow(e) && !windows {
			c.fail(ErrTypes, "a window function stands in %T", n)
		}
	}
}

func exprsOf[E Expr](list []E) (out []Expr) {
	for _, e := range list {
		out = append(out, e)
	}
	return out
}

// fits reports whether columns have the types of the expressions that compute them.
func fits(fields []Field, exprs []Expr) bool {
	return slices.EqualFunc(fields, exprs, func(f Field, e Expr) bool { return f.Type == e.Type() })
}

func alike(a, b []Field) bool {
	return slices.EqualFunc(a, b, func(f, g Field) bool { return f.Type == g.Type })
}
