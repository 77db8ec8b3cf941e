package bind

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
)

func lower(s string) string { return strings.ToLower(s) }

// selectItem is a column of a SELECT. Stars have been replaced by their columns. alias is empty if there is none.
type selectItem struct {
	x           syntax.Expr // nil for a column of a star, which is bound already
	name, alias string
}

// selection is a SELECT while it is being bound.
type selection struct {
	*binder
	sel   *syntax.Select
	scope *scope
	node  plan.Node
	exprs []plan.Expr // the bound items
}

// bindSelect binds a SELECT with the ORDER BY of its query.
func (b *binder) bindSelect(sel *syntax.Select, q *syntax.Query, outer *scope, c *ctes) plan.Node {
	defer func(items []selectItem, bound []plan.Expr, binding []bool, windows []syntax.NamedWindow) {
		b.items, b.bound, b.binding, b.windows = items, bound, binding, windows
	}(b.items, b.bound, b.binding, b.windows)
	b.items, b.bound, b.binding, b.windows = nil, nil, nil, nil
	s := &selection{binder: b, sel: sel, scope: &scope{outer: outer, ctes: c}}
	s.node = &plan.Inline{Rows: [][]plan.Expr{{}}}
	if sel.From != nil {
		s.node, s.scope.columns = b.from(sel.From, outer, c)
	}
	for i, w := range sel.Windows {
		if slices.ContainsFunc(sel.Windows[:i], func(o syntax.NamedWindow) bool { return equalFold(o.Name.Name, w.Name.Name) }) {
			b.fail(w.Name.At, "two windows are called "+w.Name.Name, "")
		}
	}
	b.windows = sel.Windows
	s.expandItems()
	b.bound, b.binding = append(b.bound, make([]plan.Expr, len(b.items)-len(b.bound))...), make([]bool, len(b.items))
	if sel.Where != nil {
		cond := b.boolean(b.plain(sel.Where, s.scope, "WHERE"), "WHERE")
		b.fits(sel.Where.Pos(), b.size(cond))
		s.node = b.where(s.node, cond)
	}
	total := 0
	for i := range b.items {
		e := b.item(i, s.scope)
		if c, ok := e.(*plan.Column); ok && equalFold(c.Name, b.items[i].name) && b.items[i].alias == "" {
			b.items[i].name = c.Name // spelled as the table spells it
		}
		total += b.size(e)
		b.fits(e.Pos(), total)
		s.exprs = append(s.exprs, e)
	}
	return s.finish(q)
}

// MaxName bounds the bytes of an answer's column name: what the protocol takes.
const MaxName = 255

// shortened returns an expression as the name of its column.
func shortened(name string) string {
	if len(name) <= MaxName {
		return name
	}
	n := MaxName - len("…")
	for !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n] + "…"
}

// answerNames fails if an answer has a column whose name is too long.
func (b *binder) answerNames(at syntax.Pos, fields []plan.Field) {
	for i, f := range fields {
		if len(f.Name) > MaxName {
			b.fail(at, fmt.Sprintf("column %d of the answer has a name of %d bytes; at most %d are possible", i+1, len(f.Name), MaxName),
				"Give it a shorter one: x AS name.")
		}
	}
}

// expandItems lists the items, with the columns of each star.
func (s *selection) expandItems() {
	for _, it := range s.sel.Items {
		star, ok := it.X.(*syntax.Star)
		if !ok {
			item := selectItem{x: it.X, name: it.Alias.Name, alias: it.Alias.Name}
			if c, ok := it.X.(*syntax.Column); ok && item.name == "" {
				item.name = c.Name
			} else if item.name == "" {
				item.name = shortened(syntax.PrintExpr(it.X))
			}
			if item.alias != "" {
				s.scope.aliases = append(s.scope.aliases, aliasOf{item.alias, len(s.items)})
			}
			s.items, s.bound = append(s.items, item), append(s.bound, nil)
			continue
		}
		s.expandStar(star)
	}
	s.scope.visible = len(s.scope.aliases)
}

func (s *selection) expandStar(star *syntax.Star) {
	gone, replaced := map[string]bool{}, map[string]*syntax.Item{}
	for _, e := range star.Exclude {
		gone[lower(e.Name)] = false
	}
	for i, r := range star.Replace {
		replaced[lower(r.Alias.Name)] = &star.Replace[i]
	}
	found, names := false, []string{}
	for _, v := range s.scope.columns {
		if v.hidden || star.Table == "" && v.merged || star.Table != "" && !equalFold(v.table, star.Table) {
			continue
		}
		found = true
		names = append(names, v.name)
		if _, ok := gone[lower(v.name)]; ok {
			gone[lower(v.name)] = true
			continue
		}
		item, bound := selectItem{name: v.name}, plan.Expr(nil)
		if r := replaced[lower(v.name)]; r != nil {
			item.x = r.X
			delete(replaced, lower(v.name))
		} else {
			bound = s.use(v, star.At)
		}
		s.items, s.bound = append(s.items, item), append(s.bound, bound)
		s.fits(star.At, len(s.items))
	}
	if !found {
		if star.Table != "" {
			s.fail(star.At, fmt.Sprintf("there is no table %s in FROM", star.Table), "")
		}
		s.fail(star.At, "* needs a table in FROM", "")
	}
	for _, e := range star.Exclude {
		if !gone[lower(e.Name)] {
			s.fail(e.At, fmt.Sprintf("* has no column %s", e.Name), didYouMean(e.Name, names))
		}
	}
	for _, r := range star.Replace {
		if replaced[lower(r.Alias.Name)] != nil {
			s.fail(r.Alias.At, fmt.Sprintf("* has no column %s", r.Alias.Name), didYouMean(r.Alias.Name, names))
		}
	}
}

// item binds an item when it is first needed. The item sees the aliases before it.
func (b *binder) item(i int, s *scope) plan.Expr {
	if b.bound[i] != nil {
		return b.bound[i]
	}
	if b.binding[i] {
		b.fail(b.items[i].x.Pos(), "the column is computed from itself", "")
	}
	b.binding[i] = true
	before := s.visible
	s.visible = 0
	for _, a := range s.aliases {
		if a.item < i {
			s.visible++
		}
	}
	b.bound[i] = b.expr(b.items[i].x, s)
	s.visible = before
	b.binding[i] = false
	return b.bound[i]
}

// finish binds what follows WHERE. First it binds all expressions over the rows of FROM. Each later step that makes new rows
// computes some parts of these expressions; finish then replaces these parts, in all expressions, by the step's columns.
func (s *selection) finish(q *syntax.Query) plan.Node {
	having, qualify := plan.Expr(nil), plan.Expr(nil)
	if s.sel.Having != nil {
		having = s.boolean(s.expr(s.sel.Having, s.scope), "HAVING")
		s.noUnnest(having, "HAVING")
		if n := plan.Find(having, plan.IsWindow, nil); n != nil {
			s.fail(n.Pos(), "HAVING cannot contain a window function", "Conditions on windows stand in QUALIFY.")
		}
	}
	if s.sel.Qualify != nil {
		qualify = s.boolean(s.expr(s.sel.Qualify, s.scope), "QUALIFY")
		s.noUnnest(qualify, "QUALIFY")
	}
	var on []plan.Expr
	for _, x := range s.sel.DistinctOn {
		on = append(on, s.outputOrExpr(x))
	}
	orders := s.orderBy(q)

	exprs := append([]plan.Expr{having, qualify}, s.exprs...)
	exprs = append(append(exprs, on...), plan.OrderExprs(orders)...)
	set := func() {
		having, qualify = exprs[0], exprs[1]
		copy(s.exprs, exprs[2:])
		copy(on, exprs[2+len(s.exprs):])
		for i := range orders {
			orders[i].X = exprs[2+len(s.exprs)+len(on)+i]
		}
	}
	if s.sel.GroupBy != nil || having != nil || anyOf(exprs, plan.IsAggregate) {
		exprs = s.aggregate(s.attachAggregated(exprs))
		set()
	}
	if having != nil {
		s.node, having = s.attach(s.node, having)
		s.node = &plan.Filter{Input: s.node, Cond: having}
	}
	exprs[0] = nil // HAVING is bound
	s.node, exprs = s.attachAll(s.node, exprs)
	set()
	if anyOf(exprs, plan.IsWindow) {
		exprs = s.windowed(exprs)
		set()
	}
	if qualify != nil {
		s.node = &plan.Filter{Input: s.node, Cond: qualify}
	}
	exprs[1] = nil // QUALIFY is bound
	if anyOf(exprs, isUnnest) {
		exprs = s.unnested(exprs)
		set()
	}
	return s.project(on, orders)
}

// attachAggregated joins the rows of FROM with the correlated queries in the arguments of aggregates.
func (s *selection) attachAggregated(exprs []plan.Expr) []plan.Expr {
	return plan.NewRewriter(func(e plan.Expr) (plan.Expr, bool) {
		a, ok := e.(*plan.Aggregate)
		if !ok || plan.Find(a, isCorrelated, nil) == nil {
			return nil, false
		}
		s.node, e = s.attach(s.node, a)
		return e, true
	}).Exprs(exprs)
}

func anyOf(exprs []plan.Expr, wanted func(plan.Expr) bool) bool {
	for _, e := range exprs {
		if plan.Find(e, wanted, nil) != nil {
			return true
		}
	}
	return false
}

// orderBy binds ORDER BY: positions, names of the answer's columns, expressions.
func (s *selection) orderBy(q *syntax.Query) (orders []plan.Order) {
	if q.OrderAll {
		for _, e := range s.exprs {
			orders = append(orders, plan.Order{X: e, Desc: q.OrderBy[0].Desc, NullsFirst: q.OrderBy[0].NullsFirst})
		}
		return orders
	}
	for _, o := range q.OrderBy {
		orders = append(orders, plan.Order{X: s.outputOrExpr(o.X), Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	return orders
}

// outputOrExpr binds a position, an alias or an expression. Here an alias wins over a column.
func (s *selection) outputOrExpr(x syntax.Expr) plan.Expr {
	if i, ok := s.position(x); ok {
		return s.exprs[i]
	}
	if c, ok := x.(*syntax.Column); ok && c.Table == "" {
		for _, a := range s.scope.aliases {
			if equalFold(a.name, c.Name) {
				return s.exprs[a.item]
			}
		}
	}
	return s.expr(x, s.scope)
}

// position returns the item that a number in GROUP BY or ORDER BY refers to.
func (s *selection) position(x syntax.Expr) (int, bool) {
	n, ok := x.(*syntax.Number)
	if !ok || strings.Trim(n.Text, "0123456789") != "" {
		return 0, false
	}
	var i int
	if _, err := fmt.Sscan(n.Text, &i); err != nil || i < 1 || i > len(s.items) {
		s.fail(n.At, fmt.Sprintf("there is no column %s in SELECT", n.Text), fmt.Sprintf("It has %d.", len(s.items)))
	}
	return i - 1, true
}

// project computes the items and the keys of the order, removes duplicate rows, sorts, and drops columns that were only needed
// as keys.
func (s *selection) project(on []plan.Expr, orders []plan.Order) plan.Node {
	p := &plan.Project{Input: s.node}
	in, at := plan.NewNumbering(), map[int]int{}
	for i, e := range s.exprs {
		p.Exprs = append(p.Exprs, e)
		p.Out = append(p.Out, s.ids.Field(s.items[i].name, e.Type()))
		if _, ok := at[in.Number(e)]; !ok {
			at[in.Number(e)] = i
		}
	}
	column := func(e plan.Expr) plan.Expr {
		i, ok := at[in.Number(e)]
		if !ok {
			if s.sel.Distinct {
				s.fail(e.Pos(), "with DISTINCT only columns of SELECT can be ordered by", "Add it to SELECT.")
			}
			i = len(p.Exprs)
			p.Exprs, p.Out = append(p.Exprs, e), append(p.Out, s.ids.Field("", e.Type()))
			at[in.Number(e)] = i
		}
		return p.Out[i].Ref(e.Pos())
	}
	for i := range on {
		on[i] = column(on[i])
	}
	for i := range orders {
		orders[i].X = column(orders[i].X)
	}
	var n plan.Node = p
	if s.sel.Distinct {
		n = &plan.Distinct{Input: n}
	}
	if len(orders) > 0 {
		n = &plan.Sort{Input: n, Keys: orders}
	}
	if len(on) > 0 {
		n = &plan.Distinct{Input: n, On: on}
	}
	if hidden := len(p.Exprs) - len(s.exprs); hidden > 0 {
		keep := &plan.Project{Input: n}
		for _, f := range p.Out[:len(s.exprs)] {
			keep.Exprs, keep.Out = append(keep.Exprs, f.Ref(0)), append(keep.Out, s.ids.Field(f.Name, f.Type))
		}
		return keep
	}
	return n
}

// windowed adds a step for the window functions.
func (s *selection) windowed(exprs []plan.Expr) []plan.Expr {
	w := &plan.Windows{Input: s.node, Out: append([]plan.Field{}, s.node.Fields()...)}
	in, at, width := plan.NewNumbering(), map[int]int{}, len(s.node.Fields())
	s.node = w
	return plan.NewRewriter(func(e plan.Expr) (plan.Expr, bool) {
		c, ok := e.(*plan.WindowCall)
		if !ok {
			return nil, false
		}
		i, ok := at[in.Number(e)]
		if !ok {
			i = len(w.Calls)
			at[in.Number(e)] = i
			w.Calls, w.Out = append(w.Calls, c), append(w.Out, s.ids.Field(c.Func, c.T))
		}
		return w.Out[width+i].Ref(c.At), true
	}).Exprs(exprs)
}
