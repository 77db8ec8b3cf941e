package bind

import (
	"fmt"
	"strings"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// expr binds an expression.
func (b *binder) expr(x syntax.Expr, s *scope) plan.Expr {
	outer := b.inside
	b.inside = x
	e := b.exprOf(x, s)
	b.inside = outer
	return e
}

func (b *binder) exprOf(x syntax.Expr, s *scope) plan.Expr {
	switch x := x.(type) {
	case *syntax.Null:
		return plan.Value(types.Of(types.Null), x.At, nil)
	case *syntax.Bool:
		return plan.Value(types.Of(types.Bool), x.At, x.Value)
	case *syntax.String:
		return &plan.Const{Base: plan.Base{T: types.Of(types.Text), At: x.At}, Value: x.Value, Literal: true}
	case *syntax.Number:
		return b.number(x, false)
	case *syntax.Param:
		return b.param(x)
	case *syntax.Interval:
		return b.interval(x, s)
	case *syntax.Column:
		return b.column(x, s)
	case *syntax.Unary:
		return b.unary(x, s)
	case *syntax.Binary:
		return b.binary(x.At, x.Op.String(), b.expr(x.L, s), b.expr(x.R, s))
	case *syntax.IsNull:
		return b.not(x.Not, plan.Call(types.Of(types.Bool), x.At, "IS NULL", b.expr(x.X, s)))
	case *syntax.Between:
		v := b.expr(x.X, s)
		lo, hi := b.binary(x.At, ">=", v, b.expr(x.Lo, s)), b.binary(x.At, "<=", v, b.expr(x.Hi, s))
		return b.not(x.Not, b.binary(x.At, "AND", lo, hi))
	case *syntax.In:
		return b.in(x, s)
	case *syntax.Like:
		return b.like(x, s)
	case *syntax.Case:
		return b.caseWhen(x, s)
	case *syntax.Cast:
		return b.cast(x, s)
	case *syntax.Call:
		return b.call(x, s)
	case *syntax.InQuery, *syntax.Exists, *syntax.Subquery:
		return b.subquery(x, s)
	case *syntax.Index:
		return b.apply(x.At, "list_extract", []plan.Expr{b.expr(x.X, s), b.expr(x.I, s)})
	case *syntax.List:
		args := make([]plan.Expr, len(x.Items))
		for i, item := range x.Items {
			e := b.expr(item, s)
			if k := e.Type().Kind; k != types.Text && k != types.Null {
				b.fail(item.Pos(), "lists hold TEXT, not "+e.Type().String(), "Convert it: x::TEXT.")
			}
			args[i] = b.to(e, types.Of(types.Text))
		}
		return plan.Call(types.Of(types.TextList), x.At, "LIST", args...)
	case *syntax.Star:
		b.fail(x.At, "* stands alone in SELECT", "")
	}
	b.fail(x.Pos(), "this is not a value", "")
	return nil
}

func (b *binder) number(x *syntax.Number, negative bool) plan.Expr {
	v, t, err := number(x.Text, negative)
	b.check(x.At, err)
	return plan.Value(t, x.At, v)
}

func (b *binder) interval(x *syntax.Interval, s *scope) plan.Expr {
	t := types.Of(types.Interval)
	text := ""
	switch v := x.X.(type) {
	case *syntax.String:
		text = v.Value
	case *syntax.Number:
		text = v.Text
	default:
		n := b.expr(x.X, s)
		if n.Type().Kind != types.BigInt {
			b.check(x.At, types.Refuse("Convert it: INTERVAL (x::BIGINT) "+x.Unit+".", "an INTERVAL counts whole units, not %s", n.Type()))
		}
		one, _ := plan.ParseInterval("1 " + strings.ToLower(x.Unit))
		return plan.Call(t, x.At, "*", plan.Value(t, x.At, one), n)
	}
	if x.Unit != "" {
		text += " " + x.Unit
	}
	v, ok := plan.ParseInterval(text)
	if !ok {
		b.fail(x.At, fmt.Sprintf("'%s' is not an INTERVAL", text), "Write INTERVAL 3 DAY, or INTERVAL '1 day 2 hours'.")
	}
	return plan.Value(t, x.At, v)
}

func (b *binder) unary(x *syntax.Unary, s *scope) plan.Expr {
	if n, ok := x.X.(*syntax.Number); ok && x.Op == syntax.Neg {
		return b.number(n, true)
	}
	v := b.expr(x.X, s)
	f, err := types.Unary(x.Op.String(), v.Type())
	b.check(x.At, err)
	return plan.Call(f.Result, x.At, x.Op.String(), b.to(v, f.Args[0]))
}

func (b *binder) not(not bool, e plan.Expr) plan.Expr {
	if !not {
		return e
	}
	return plan.Call(types.Of(types.Bool), e.Pos(), "NOT", e)
}

// binary binds an operator. A text literal takes the type of the operand that it is compared with.
func (b *binder) binary(at syntax.Pos, op string, l, r plan.Expr) plan.Expr {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		l, r = b.literalAs(l, r.Type()), b.literalAs(r, l.Type())
		l, r = b.timeAs(l, r), b.timeAs(r, l)
	}
	f, err := types.Binary(op, l.Type(), r.Type())
	b.check(at, err)
	return jsonList(plan.Call(f.Result, at, op, b.to(l, f.Args[0]), b.to(r, f.Args[1])))
}

// timeAs converts a text literal that is compared with a TIME: '9:00' is 09:00:00.
func (b *binder) timeAs(e, with plan.Expr) plan.Expr {
	c, literal := e.(*plan.Const)
	t, cast := with.(*plan.Cast)
	if !literal || !c.Literal || !cast || t.Range == nil || !t.Range.Time {
		return e
	}
	v, ok := field.Time([]byte(c.Value.(string)))
	if !ok {
		b.fail(c.At, fmt.Sprintf("'%s' is not a TIME", c.Value), "Write it as '13:05:00'.")
	}
	return plan.Value(c.T, c.At, string(field.AppendTime(nil, v)))
}

// literalAs converts a text literal to type t.
func (b *binder) literalAs(e plan.Expr, t types.Type) plan.Expr {
	c, ok := e.(*plan.Const)
	if !ok || !c.Literal || t.Kind == types.Text || t.Kind == types.Null {
		return e
	}
	if t.Kind == types.TextList {
		b.fail(c.At, fmt.Sprintf("'%s' is a TEXT, not a list", c.Value),
			"A list is written as ['a', 'b'], or made of a TEXT by string_split(x, ',').")
	}
	v, ok := parseLiteral(c.Value.(string), t)
	if !ok {
		hint := ""
		if _, is := parseLiteral(c.Value.(string), types.Of(types.Timestamp)); is && t.Kind == types.Date {
			hint = "If a time is meant, write TIMESTAMP in front of it."
		} else if _, is := parseLiteral(c.Value.(string), types.Of(types.Double)); is {
			hint = "Write the number without quotes."
		}
		b.fail(c.At, fmt.Sprintf("'%s' is not a %s", c.Value, t), hint)
	}
	return plan.Value(t, c.At, v)
}

// to converts e to type t, to which it may be converted implicitly.
func (b *binder) to(e plan.Expr, t types.Type) plan.Expr {
	if e.Type() == t || t.Kind == types.Null {
		return e
	}
	if c, ok := e.(*plan.Const); ok {
		if c.Value == nil {
			return plan.Value(t, c.At, nil)
		}
		if c.Literal {
			return b.literalAs(e, t)
		}
		if v, ok := convert(c, t); ok {
			return plan.Value(t, c.At, v)
		}
	}
	return &plan.Cast{Base: plan.Base{T: t, At: e.Pos()}, X: e, Implicit: true}
}

// convert converts a constant between numbers, and from DATE to TIMESTAMP.
func convert(c *plan.Const, t types.Type) (any, bool) {
	switch from := c.T; {
	case from.Kind == types.BigInt && (t.Kind == types.Decimal || t.Kind == types.Double):
		return parseLiteral(fmt.Sprint(c.Value), t)
	case from.Kind == types.Decimal && (t.Kind == types.Decimal || t.Kind == types.Double):
		return parseLiteral(fmt.Sprintf("%de-%d", c.Value, from.Scale), t)
	case from.Kind == types.Date && t.Kind == types.Timestamp:
		return c.Value.(int64) * microsPerDay, true
	}
	return nil, false
}

// unify converts all expressions to their common type.
func (b *binder) unify(list []plan.Expr) []plan.Expr {
	t := types.Of(types.Null)
	for _, e := range list {
		if c, ok := e.(*plan.Const); ok && c.Literal {
			continue
		}
		common, err := types.Common(t, e.Type())
		b.check(e.Pos(), err)
		t = common
	}
	if t.Kind == types.Null { // only text literals and NULL
		for _, e := range list {
			if e.Type().Kind != types.Null {
				t = types.Of(types.Text)
			}
		}
	}
	out := make([]plan.Expr, len(list))
	for i, e := range list {
		out[i] = b.literalAs(e, t)
		common, err := types.Common(t, out[i].Type())
		b.check(e.Pos(), err)
		t = common
	}
	for i := range out {
		out[i] = b.to(out[i], t)
	}
	return out
}

func (b *binder) in(x *syntax.In, s *scope) plan.Expr {
	list := []plan.Expr{b.expr(x.X, s)}
	for _, item := range x.List {
		list = append(list, b.timeAs(b.expr(item, s), list[0]))
	}
	return b.not(x.Not, plan.Call(types.Of(types.Bool), x.At, "IN", b.unify(list)...))
}

func (b *binder) like(x *syntax.Like, s *scope) plan.Expr {
	op := map[bool]string{false: "LIKE", true: "ILIKE"}[x.Fold]
	args := []plan.Expr{b.expr(x.X, s), b.expr(x.Pattern, s)}
	if x.Escape != nil {
		e := b.expr(x.Escape, s)
		if c, ok := e.(*plan.Const); !ok || !c.Literal || len(c.Value.(string)) != 1 {
			b.fail(x.Escape.Pos(), "ESCAPE needs a text of one character", "")
		}
		args = append(args, e)
	}
	for _, a := range args {
		if k := a.Type().Kind; k != types.Text && k != types.Null {
			b.fail(a.Pos(), op+" needs TEXT, not "+a.Type().String(), "Convert it: x::TEXT.")
		}
	}
	for i := range args {
		args[i] = b.to(args[i], types.Of(types.Text))
	}
	return b.not(x.Not, plan.Call(types.Of(types.Bool), x.At, op, args...))
}

func (b *binder) caseWhen(x *syntax.Case, s *scope) plan.Expr {
	var operand plan.Expr
	if x.Operand != nil {
		operand = b.expr(x.Operand, s)
	}
	var conds, values []plan.Expr
	for _, w := range x.Whens {
		c := b.expr(w.Cond, s)
		if operand != nil {
			c = b.binary(w.Cond.Pos(), "=", operand, c)
		}
		conds = append(conds, b.boolean(c, "WHEN"))
		values = append(values, b.expr(w.Then, s))
	}
	if x.Else != nil {
		values = append(values, b.expr(x.Else, s))
	} else {
		values = append(values, plan.Value(types.Of(types.Null), x.At, nil))
	}
	values = b.unify(values)
	var args []plan.Expr
	for i, c := range conds {
		args = append(args, c, values[i])
	}
	return plan.Call(values[0].Type(), x.At, "CASE", append(args, values[len(conds)])...)
}

// boolean checks that e is a condition.
func (b *binder) boolean(e plan.Expr, where string) plan.Expr {
	if k := e.Type().Kind; k != types.Bool && k != types.Null {
		b.check(e.Pos(), types.Refuse("Compare it with something.", "%s needs a BOOLEAN, not %s", where, e.Type()))
	}
	return b.to(e, types.Of(types.Bool))
}

// cast binds CAST. A literal is converted at once.
func (b *binder) cast(x *syntax.Cast, s *scope) plan.Expr {
	t, r, err := types.Parse(x.Type.Name, x.Type.Args, x.Type.List)
	b.check(x.Type.At, err)
	e := b.expr(x.X, s)
	if !e.Type().Castable(t) {
		hint := ""
		if t.Kind == types.TextList {
			hint = "A list is written as ['a', 'b'], or made of a TEXT by string_split(x, ',')."
		}
		b.check(x.At, types.Refuse(hint, "%s cannot be converted to %s", e.Type(), t))
	}
	if k := e.Type().Kind; r != nil && r.Time && k != types.Text && k != types.Timestamp && k != types.Null {
		b.fail(x.At, fmt.Sprintf("%s cannot be converted to TIME", e.Type()), "A TIME is made of a TIMESTAMP or a TEXT.")
	}
	c, constant := e.(*plan.Const)
	if constant && c.Value == nil {
		return plan.Value(t, x.At, nil)
	}
	if constant && c.Literal && r == nil && t.Kind != types.TextList {
		if t.Kind == types.Text {
			return plan.Value(t, x.At, c.Value)
		}
		v, ok := parseLiteral(c.Value.(string), t)
		_, numeric := parseLiteral(c.Value.(string), types.Of(types.Double))
		switch {
		case !ok && (x.Try || t.Kind == types.BigInt && numeric): // the kernel converts texts that are not literals of the type, such as '1.5'
			return &plan.Cast{Base: plan.Base{T: t, At: x.At}, X: e, Try: x.Try, Implicit: false, Range: r}
		case !ok:
			b.fail(c.At, fmt.Sprintf("'%s' is not a %s", c.Value, t), "")
		}
		return plan.Value(t, x.At, v)
	}
	if e.Type() == t && r == nil {
		return e
	}
	return &plan.Cast{Base: plan.Base{T: t, At: x.At}, X: e, Try: x.Try, Implicit: false, Range: r}
}

// apply binds a function of values. A text literal may be converted to the type that the function needs.
func (b *binder) apply(at syntax.Pos, name string, args []plan.Expr) plan.Expr {
	f := functions.Find(name)
	form := b.resolve(at, f, args)
	out := make([]plan.Expr, len(args))
	for i := range args {
		out[i] = b.to(args[i], form.Args[i])
	}
	return jsonList(plan.Call(form.Result, at, f.Name, out...))
}

// jsonList makes a call return a list if its JSON path contains *, which stands for every item or every key.
func jsonList(e *plan.Apply) plan.Expr {
	name := map[string]string{"->": "json_items", "json_extract": "json_items", "->>": "json_texts",
		"json_extract_string": "json_texts"}[e.Func]
	if name == "" {
		return e
	}
	c, ok := e.Args[1].(*plan.Const)
	if !ok || c.Value == nil {
		return e
	}
	path := c.Value.(string)
	for i, part := range strings.Split(path, `"`) {
		if i%2 == 0 && strings.HasPrefix(path, "$") && strings.Contains(part, "*") {
			return plan.Call(types.Of(types.TextList), e.At, name, e.Args...)
		}
	}
	return e
}

// param binds a parameter to its value.
func (b *binder) param(x *syntax.Param) plan.Expr {
	v, ok := b.params[x.Name]
	if !ok {
		b.fail(x.At, fmt.Sprintf("the parameter %s has no value", x.Name), fmt.Sprintf("Give it with --param %s=value.", x.Name))
	}
	if v.Kind == types.Null {
		return plan.Value(types.Of(types.Null), x.At, nil)
	}
	return b.literalAs(&plan.Const{Base: plan.Base{T: types.Of(types.Text), At: x.At}, Value: v.Text, Literal: true}, types.Of(v.Kind))
}

// session binds a function whose value was fixed when the session opened: current_date.
func (b *binder) session(at syntax.Pos, f *types.Function) plan.Expr {
	v, given := b.params[f.Name]
	if !given {
		b.fail(at, fmt.Sprintf("%s has no value here", f.Name), fmt.Sprintf("Give it one with --param %s=2024-02-29.", f.Name))
	}
	return b.literalAs(&plan.Const{Base: plan.Base{T: types.Of(types.Text), At: at}, Value: v.Text, Literal: true}, types.Of(types.Date))
}

func (b *binder) resolve(at syntax.Pos, f *types.Function, args []plan.Expr) types.Form {
	given, untyped := make([]types.Arg, len(args)), make([]types.Arg, len(args))
	for i, e := range args {
		given[i].Type = e.Type()
		if c, ok := e.(*plan.Const); ok {
			given[i].Const = c.Value
		}
		untyped[i] = given[i]
		if c, ok := e.(*plan.Const); ok && c.Literal {
			untyped[i].Type = types.Of(types.Null)
		}
	}
	form, err := f.Resolve(given)
	if err != nil {
		var again error
		if form, again = f.Resolve(untyped); again == nil {
			for i := range form.Args { // T stands for nothing but text literals: lead('a', '2')
				form.Args[i] = textIfNull(form.Args[i])
			}
			form.Result = textIfNull(form.Result)
			return form
		}
	}
	b.check(at, err)
	return form
}

func textIfNull(t types.Type) types.Type {
	if t.Kind == types.Null {
		return types.Of(types.Text)
	}
	return t
}

// call binds a function, an aggregate or a window function.
func (b *binder) call(x *syntax.Call, s *scope) plan.Expr {
	f := functions.Find(x.Name)
	if a := aggregate.Find(x.Name); x.Summary && a != nil {
		f = &a.Function
	}
	switch {
	case x.Name == "unnest":
		return b.unnest(x, s)
	case x.Name == "grouping" || x.Name == "grouping_id":
		return b.grouping(x, s)
	case f == nil:
		b.check(x.At, types.Unknown(x.Name, syntax.Nearest(x.Name, functions.Names())))
	}
	if x.Star && f.Name != "count" {
		b.fail(x.At, f.Name+" does not take *", "")
	}
	args := make([]plan.Expr, len(x.Args))
	for i, a := range x.Args {
		if _, list := a.(*syntax.List); list && f.Share && i == 1 {
			b.fail(a.Pos(), f.Name+" takes one share, not a list of them", fmt.Sprintf("Write one call for each: %s(x, 0.1), %[1]s(x, 0.9).",
				f.Name))
		}
		args[i] = b.expr(a, s)
	}
	if f.Session {
		return b.session(x.At, f)
	}
	if f.Class == types.Scalar {
		if x.Distinct || len(x.OrderBy) > 0 || x.Filter != nil || x.Over != nil || x.IgnoreNulls {
			b.fail(x.At, f.Name+" is not an aggregate", "DISTINCT, ORDER BY, FILTER and OVER belong to aggregates.")
		}
		return b.apply(x.At, f.Name, args)
	}
	if f.Class == types.Window && x.Over == nil {
		b.fail(x.At, f.Name+" needs OVER", fmt.Sprintf("Write %s(…) OVER (PARTITION BY … ORDER BY …).", f.Name))
	}
	if f.Name == "string_agg" && len(args) > 0 && args[0].Type().Kind != types.Null && args[0].Type().Castable(types.Of(types.Text)) {
		args[0] = b.to(args[0], types.Of(types.Text))
	}
	form := b.resolve(x.At, f, args)
	for i := range args {
		args[i] = b.to(args[i], form.Args[i])
	}
	if f.Share {
		b.share(f, args[1])
	}
	var filter plan.Expr
	if x.Filter != nil {
		filter = b.boolean(b.expr(x.Filter, s), "FILTER")
	}
	if x.Over != nil {
		return b.window(x, f, form, args, filter, s)
	}
	if x.IgnoreNulls {
		b.fail(x.At, "IGNORE NULLS belongs to window functions", "Write FILTER (WHERE x IS NOT NULL).")
	}
	if len(x.OrderBy) > 0 && !f.Ordered {
		b.fail(x.OrderBy[0].X.Pos(), "the value of "+f.Name+" does not depend on an order", "Leave ORDER BY out.")
	}
	a := &plan.Aggregate{Base: plan.Base{T: form.Result, At: x.At}, Func: f.Name, Args: args, Distinct: x.Distinct, Filter: filter,
		Order: b.orders(x.OrderBy, s)}
	for _, c := range plan.Children(a) {
		b.noUnnest(c, "an aggregate")
		if n := plan.Find(c, func(e plan.Expr) bool { return plan.IsAggregate(e) || plan.IsWindow(e) }, nil); n != nil {
			b.fail(n.Pos(), "an aggregate or a window function stands within an aggregate", "Compute the inner one in a subquery in FROM.")
		}
	}
	return a
}

// share checks the second argument of a quantile.
func (b *binder) share(f *types.Function, e plan.Expr) {
	share := -1.0
	if c, is := e.(*plan.Const); is && c.Value != nil {
		share = c.Value.(float64)
	}
	if !(share >= 0 && share <= 1) {
		b.fail(e.Pos(), "the share of "+f.Name+" is a number from 0 to 1 that is written down", "For example: "+f.Name+"(x, 0.5).")
	}
}

func (b *binder) orders(items []syntax.OrderItem, s *scope) (out []plan.Order) {
	for _, o := range items {
		out = append(out, plan.Order{X: b.expr(o.X, s), Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	return out
}

// window binds a window function: a call with OVER.
func (b *binder) window(x *syntax.Call, f *types.Function, form types.Form, args []plan.Expr, filter plan.Expr, s *scope) plan.Expr {
	switch {
	case f.Class == types.Aggregate && !f.Over:
		b.fail(x.At, f.Name+" has no OVER", "As window functions there are count, sum, avg, min, max, and row_number, rank, lag, …")
	case f.Name == "avg" && form.Result.Kind == types.Interval:
		b.fail(x.At, "avg of INTERVALs has no OVER", "With OVER there is avg of numbers and dates: avg(date_diff('second', x, y)) OVER (…).")
	case f.Class == types.Window && x.Distinct:
		b.fail(x.At, "DISTINCT belongs to aggregates", "")
	case len(x.OrderBy) > 0:
		b.fail(x.OrderBy[0].X.Pos(), "the value of "+f.Name+" does not depend on an order within it",
			"Its rows are ordered behind OVER: OVER (ORDER BY …).")
	case f.Class == types.Window && filter != nil:
		b.fail(x.At, "FILTER belongs to aggregates", "")
	}
	over := x.Over
	for _, w := range b.windows {
		if over.Name != "" && equalFold(w.Name.Name, over.Name) {
			over = w.Window
		}
	}
	if over.Name != "" {
		b.fail(over.At, "there is no window "+over.Name, "Declare it: WINDOW "+over.Name+" AS (…).")
	}
	w := &plan.WindowCall{Base: plan.Base{T: form.Result, At: x.At}, Func: f.Name, Args: args, Distinct: x.Distinct,
		Filter: filter, IgnoreNulls: x.IgnoreNulls}
	for _, p := range over.PartitionBy {
		w.Partition = append(w.Partition, b.expr(p, s))
	}
	w.Order = b.orders(over.OrderBy, s)
	if over.Frame != nil {
		w.Frame = &plan.Frame{Range: over.Frame.Range, Lo: b.frameEnd(over.Frame, over.Frame.Lo, w, s),
			Hi: b.frameEnd(over.Frame, over.Frame.Hi, w, s)}
	}
	for _, c := range plan.Children(w) {
		b.noUnnest(c, "a window function")
		if n := plan.Find(c, plan.IsWindow, nil); n != nil {
			b.fail(n.Pos(), "a window function stands within another one", "Compute the inner one in a subquery in FROM.")
		}
	}
	return w
}

// frameEnd binds one end of a frame. The end is a constant that is not negative. With RANGE, ORDER BY must have exactly one
// key, and it must be possible to add the constant to that key.
func (b *binder) frameEnd(f *syntax.Frame, x syntax.Bound, w *plan.WindowCall, s *scope) plan.FrameBound {
	out := plan.FrameBound{Kind: x.Kind}
	if x.X == nil {
		return out
	}
	e := b.expr(x.X, s)
	c, ok := e.(*plan.Const)
	if !ok || c.Value == nil {
		b.fail(x.X.Pos(), "the end of a frame is a constant", "")
	}
	if !f.Range {
		if n, ok := c.Value.(int64); !ok || c.T.Kind != types.BigInt || n < 0 {
			b.fail(x.X.Pos(), "ROWS counts rows: a whole number from 0 on", "")
		}
		out.X = e
		return out
	}
	if len(w.Order) != 1 {
		b.fail(f.At, "RANGE with a distance needs one key in ORDER BY", "")
	}
	key, by := w.Order[0].X.Type(), e.Type()
	if !plan.IsDistance(by, key) {
		b.check(x.X.Pos(), types.Refuse("Between numbers the distance is a number, between dates an INTERVAL.",
			"%s is no distance between values of type %s", by, key))
	}
	if plan.Below0(c.Value) {
		b.fail(x.X.Pos(), "the distance of a frame is not below 0", "PRECEDING and FOLLOWING say in which direction it goes.")
	}
	out.X = e
	return out
}

// subquery binds a query that is used as a value.
func (b *binder) subquery(x syntax.Expr, s *scope) plan.Expr {
	boolean := types.Of(types.Bool)
	switch x := x.(type) {
	case *syntax.Exists:
		return b.asked(&plan.Subquery{Base: plan.Base{T: boolean, At: x.At}, Plan: b.query(withoutStar(x.Query), s, s.ctes), Exists: true})
	case *syntax.InQuery:
		v := b.expr(x.X, s)
		query := b.oneColumn(x.At, b.query(x.Query, s, s.ctes))
		field := query.Fields()[0]
		v = b.literalAs(v, field.Type)
		f, err := types.Binary("=", v.Type(), field.Type)
		b.check(x.At, err)
		if f.Args[1] != field.Type {
			query = b.convertColumns(query, []types.Type{f.Args[1]})
		}
		return b.not(x.Not, b.asked(&plan.Subquery{Base: plan.Base{T: boolean, At: x.At}, Plan: query, In: true, X: b.to(v, f.Args[0])}))
	case *syntax.Subquery:
		query := b.oneColumn(x.At, b.query(x.Query, s, s.ctes))
		return b.asked(&plan.Subquery{Base: plan.Base{T: query.Fields()[0].Type, At: x.At}, Plan: query})
	}
	return nil
}

// withoutStar returns the query of an EXISTS with a constant in place of *. Whether there is a row depends on none of its columns, so
// none is read for it.
func withoutStar(q *syntax.Query) *syntax.Query {
	sel, ok := q.Body.(*syntax.Select)
	if !ok || len(sel.Items) != 1 || sel.From == nil || sel.Distinct || sel.GroupBy != nil || sel.Having != nil ||
		q.OrderAll || len(q.OrderBy) > 0 {
		return q
	}
	star, ok := sel.Items[0].X.(*syntax.Star)
	if !ok || star.Table != "" || len(star.Exclude)+len(star.Replace) > 0 {
		return q
	}
	to, of := *q, *sel
	of.Items = []syntax.Item{{X: &syntax.Number{At: star.At, Text: "1"}}}
	to.Body = &of
	return &to
}

// asked returns the expression for a query used as a value. A correlated query becomes a join with the row around it.
func (b *binder) asked(q *plan.Subquery) plan.Expr {
	if !looksOut(q.Plan, map[plan.Node]bool{}) {
		b.queries++
		q.Number = b.queries
		return q
	}
	return b.correlate(q, q.Plan, q.X)
}

func (b *binder) oneColumn(at syntax.Pos, n plan.Node) plan.Node {
	if c := len(n.Fields()); c != 1 {
		b.fail(at, fmt.Sprintf("a query that is used as a value has one column; this one has %d", c), "")
	}
	return n
}

// convertColumns projects the columns of n to types.
func (b *binder) convertColumns(n plan.Node, to []types.Type) plan.Node {
	p := &plan.Project{Input: n}
	for i, f := range n.Fields() {
		var e plan.Expr = f.Ref(0)
		if f.Type != to[i] {
			e = &plan.Cast{Base: plan.Base{T: to[i], At: 0}, X: e, Implicit: true}
		}
		p.Exprs = append(p.Exprs, e)
		p.Out = append(p.Out, b.ids.Field(f.Name, to[i]))
	}
	return p
}
