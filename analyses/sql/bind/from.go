package bind

import (
	"fmt"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// from binds the tables of a SELECT and says what their columns are called.
func (b *binder) from(f syntax.From, outer *scope, c *ctes) (plan.Node, []visible) {
	switch f := f.(type) {
	case *syntax.Table:
		return b.fromTable(f, c)
	case *syntax.TableFunc:
		if f.Name.Name == "unnest" {
			u, v := b.fromUnnest(f, &plan.Inline{Rows: [][]plan.Expr{{}}}, nil, outer, c)
			return u, []visible{v}
		}
		b.fail(f.Name.At, f.Name.Name+" in FROM is not supported", "There are unnest(list), and read_csv('pattern') and the like.")
	case *syntax.Derived:
		n := b.query(f.Query, outer, c)
		return n, b.columnsOf(n, f.Alias.Name.Name, f.Alias)
	case *syntax.Join:
		return b.join(f, outer, c)
	}
	return nil, nil
}

// columnsOf gives the columns of a node to a table's name.
func (b *binder) columnsOf(n plan.Node, table string, alias syntax.Alias) []visible {
	if alias.Name.Name != "" {
		table = alias.Name.Name
	}
	var out []visible
	for i, f := range n.Fields() {
		v := visible{table: table, name: f.Name, field: f}
		if s, ok := n.(*plan.Scan); ok {
			v.scan, v.at, v.hidden = s, i, i >= len(s.Table.Fields)
		}
		out = append(out, v)
	}
	if given := alias.Columns; len(given) > 0 {
		for i, name := range given {
			if i >= len(out) || out[i].hidden {
				b.fail(name.At, fmt.Sprintf("the table %s has fewer columns than names", table), "")
			}
			out[i].name = name.Name
		}
	}
	return out
}

func (b *binder) fromTable(f *syntax.Table, c *ctes) (plan.Node, []visible) {
	if !f.File {
		if q := c.find(f.Name.Name); q != nil {
			n := b.cte(q)
			if b.named[q] { // its columns have other numbers than those of the first use
				b.widen(f.Name.At, len(n.Fields()), "Name fewer columns in the query, or use it less often.")
				n = b.renumbered(n)
			}
			b.named[q] = true
			return n, b.columnsOf(n, f.Name.Name, f.Alias)
		}
	}
	t := b.table(f.Name.Name, f.File)
	if t == nil {
		b.unknownTable(f, c)
	}
	b.widen(f.Name.At, len(t.Fields), "Name the table once, in WITH.")
	s := &plan.Scan{Table: t, Used: make([]bool, len(t.Fields)+2)}
	for _, f := range append(t.Fields[:len(t.Fields):len(t.Fields)], plan.Field{Name: "_file", Type: types.Of(types.Text)},
		plan.Field{Name: "_line", Type: types.Of(types.BigInt)}) {
		s.Out = append(s.Out, b.ids.Field(f.Name, f.Type))
	}
	called := f.Name.Name
	if f.Read != nil {
		called = f.Read.Name.Name
	}
	return s, b.columnsOf(s, called, f.Alias)
}

// widen counts the columns of a table that the statement names.
func (b *binder) widen(at syntax.Pos, columns int, hint string) {
	if b.width += columns; b.width > maxSize {
		b.fail(at, fmt.Sprintf("the tables of the statement have more than %d columns in all, each counted as often as its table is named",
			maxSize),
			hint)
	}
}

func (b *binder) unknownTable(f *syntax.Table, c *ctes) {
	if f.Read != nil {
		b.fail(f.Name.At, fmt.Sprintf("nothing is known of the files of %s", f.Name.Name), "")
	}
	if f.File {
		b.fail(f.Name.At, fmt.Sprintf("no file is called '%s'", f.Name.Name), "Patterns are below --data.")
	}
	var names []string
	for ; c != nil; c = c.outer {
		names = append(names, c.name)
	}
	for _, t := range b.tables {
		if !t.File {
			names = append(names, t.Name)
		}
	}
	hint := didYouMean(f.Name.Name, names)
	if hint == "" && len(names) > 0 {
		hint = "There are: " + list(names) + "."
	}
	e := syntax.NewError(b.text, f.Name.At, fmt.Sprintf("there is no table %s", f.Name.Name), hint)
	e.Table = f.Name.Name
	b.raise(e)
}

// cte binds a query of WITH, or a view, at its first use; all uses share the plan.
func (b *binder) cte(q *ctes) plan.Node {
	if q.plan == nil {
		n := b.query(q.query, nil, q.scope)
		if len(q.columns) > len(n.Fields()) {
			b.fail(q.columns[len(n.Fields())].At, fmt.Sprintf("the query %s has fewer columns than names", q.name), "")
		}
		if len(q.columns) > 0 {
			keep := make([]types.Type, len(n.Fields()))
			for i, f := range n.Fields() {
				keep[i] = f.Type
			}
			p := b.convertColumns(n, keep).(*plan.Project)
			for i, name := range q.columns {
				p.Out[i].Name = name.Name
			}
			n = p
		}
		q.plan = n
	}
	return q.plan
}

// Each join copies the columns of its sides, so both the number of joins and their width are bounded.
const (
	maxJoins = 256 // per statement
	maxWidth = 20_000
)

// join binds two tables. Equalities between both become pairs, by which partners are found.
func (b *binder) join(f *syntax.Join, outer *scope, c *ctes) (plan.Node, []visible) {
	f = beforeUnnest(f)
	if u, ok := f.R.(*syntax.TableFunc); ok && u.Name.Name == "unnest" {
		return b.joinUnnest(f, u, outer, c)
	}
	if b.joins++; b.joins > maxJoins {
		b.fail(f.At, fmt.Sprintf("the statement has more than %d joins", maxJoins),
			"Several values are compared at once by IN (…), or by a join with a table of them.")
	}
	l, left := b.from(f.L, outer, c)
	r, right := b.from(f.R, outer, c)
	if len(left)+len(right) > maxWidth {
		b.fail(f.At, fmt.Sprintf("the joined tables have more than %d columns", maxWidth),
			"Name those that are needed: JOIN (SELECT a, b FROM t) AS u.")
	}
	b.differentTables(f.At, left, right)
	j := plan.NewJoin(f.Kind, l, r)
	using := f.Using
	if f.Natural {
		using = commonNames(left, right)
		if len(using) == 0 {
			b.fail(f.At, "the tables of a NATURAL JOIN have no column in common", "Write JOIN … ON.")
		}
	}
	for _, name := range using {
		left, right = b.using(j, name, left, right)
	}
	if f.On != nil {
		s := &scope{columns: append(append([]visible{}, left...), right...), outer: outer, ctes: c}
		on := b.boolean(b.plain(f.On, s, "ON"), "ON")
		if plan.Find(on, isCorrelated, nil) != nil {
			b.fail(f.On.Pos(), "ON cannot contain a correlated subquery", "Put it into WHERE.")
		}
		b.on(j, on)
	}
	if f.Kind == syntax.Semi || f.Kind == syntax.Anti {
		return j, left
	}
	return j, append(append([]visible{}, left...), right...)
}

// differentTables refuses two tables of one name.
func (b *binder) differentTables(at syntax.Pos, left, right []visible) {
	names := map[string]bool{}
	for _, v := range left {
		names[lower(v.table)] = true
	}
	for _, v := range right {
		if v.table != "" && names[lower(v.table)] {
			b.fail(at, fmt.Sprintf("two tables are called %s", v.table), "Give one an alias: JOIN t AS u.")
		}
	}
}

func commonNames(left, right []visible) (names []syntax.Ident) {
	for _, l := range left {
		for _, r := range right {
			if !l.hidden && !r.hidden && !l.merged && !r.merged && equalFold(l.name, r.name) {
				names = append(names, syntax.Ident{Name: l.name})
				break
			}
		}
	}
	return names
}

// using joins by a column that both sides have. The result shows this column once: the left one, or with RIGHT and FULL the one
// that is not NULL.
func (b *binder) using(j *plan.Join, name syntax.Ident, left, right []visible) (l, r []visible) {
	at := func(side []visible, which string) int {
		found := -1
		for i, v := range side {
			if equalFold(v.name, name.Name) && !v.merged {
				if found >= 0 {
					b.fail(name.At, fmt.Sprintf("the column %s is in several tables to the %s", name.Name, which), "Write JOIN … ON.")
				}
				found = i
			}
		}
		if found < 0 {
			var names []string
			for _, v := range side {
				names = append(names, v.name)
			}
			b.fail(name.At, fmt.Sprintf("there is no column %s to the %s of the join", name.Name, which), didYouMean(name.Name, names))
		}
		return found
	}
	li, ri := at(left, "left"), at(right, "right")
	lv, rv := left[li], right[ri]
	le, re := b.use(lv, name.At), b.use(rv, name.At)
	eq := b.binary(name.At, "=", le, re).(*plan.Apply)
	b.pair(j, eq.Args[0], eq.Args[1])
	right[ri].merged = true
	if j.Kind != syntax.Right && j.Kind != syntax.Full {
		return left, right
	}
	both := plan.Call(types.Of(types.Null), name.At, "coalesce", b.unify([]plan.Expr{le, re})...)
	both.T = both.Args[0].Type()
	shown := visible{name: lv.name, field: plan.Field{Type: both.T}, both: both}
	left[li].merged = true
	return append(append(append([]visible{}, left[:li]...), shown), left[li:]...), right
}

// on splits a condition at its ANDs.
func (b *binder) on(j *plan.Join, cond plan.Expr) {
	if a, ok := cond.(*plan.Apply); ok && a.Func == "AND" {
		b.on(j, a.Args[0])
		b.on(j, a.Args[1])
		return
	}
	if a, ok := cond.(*plan.Apply); ok && a.Func == "=" {
		first, second := side(j, a.Args[0]), side(j, a.Args[1])
		switch {
		case first == plan.Left && second == plan.Right:
			b.pair(j, a.Args[0], a.Args[1])
			return
		case first == plan.Right && second == plan.Left:
			b.pair(j, a.Args[1], a.Args[0])
			return
		}
	}
	which := side(j, cond)
	switch filters := plan.Find(cond, plan.AsksQuery, nil) == nil && !plan.MayFail(cond); {
	case filters && which == plan.Right && (j.Kind == syntax.Inner || j.Kind == syntax.Left || j.Kind == syntax.Semi ||
		j.Kind == syntax.Anti):
		j.R = b.filtered(j.R, cond)
	case filters && which == plan.Left && (j.Kind == syntax.Inner || j.Kind == syntax.Right || j.Kind == syntax.Semi):
		j.L = b.filtered(j.L, cond)
	default:
		j.Rest = plan.And(j.Rest, cond)
	}
}

// pair adds an equality between both sides. Both expressions are converted to one type, so that hashing finds equal values.
func (b *binder) pair(j *plan.Join, l, r plan.Expr) {
	both := b.unify([]plan.Expr{l, r})
	j.Equal = append(j.Equal, [2]plan.Expr{both[0], both[1]})
}

// side says on which side of a join the columns of e are. It is plan.Both for an expression that reads no columns, or asks a query.
func side(j *plan.Join, e plan.Expr) plan.Side {
	if s := j.Side(e); s != plan.NoSide && plan.Find(e, plan.AsksQuery, nil) == nil {
		return s
	}
	return plan.Both
}

// renumbered returns the rows of n in columns with other numbers, because n is used a second time.
func (b *binder) renumbered(n plan.Node) *plan.Project {
	p := &plan.Project{Input: n}
	for _, f := range n.Fields() {
		p.Exprs, p.Out = append(p.Exprs, f.Ref(0)), append(p.Out, b.ids.Field(f.Name, f.Type))
	}
	return p
}

// plain binds an expression without aggregates and window functions.
func (b *binder) plain(x syntax.Expr, s *scope, where string) plan.Expr {
	return b.noAggregates(b.expr(x, s), x.Pos(), where)
}

func (b *binder) noAggregates(e plan.Expr, at syntax.Pos, where string) plan.Expr {
	if n := plan.Find(e, plan.IsAggregate, nil); n != nil {
		b.fail(at, where+" cannot contain an aggregate", "Conditions on groups stand in HAVING.")
	}
	if n := plan.Find(e, plan.IsWindow, nil); n != nil {
		b.fail(at, where+" cannot contain a window function", "Conditions on windows stand in QUALIFY.")
	}
	b.noUnnest(e, where)
	return e
}
