package syntax

import (
	"slices"
	"strings"
)

func (p *parser) startsQuery() bool {
	_, ok := p.isAny("select", "with", "from", "values")
	return ok
}

// query reads a query: its body, and the clauses around it.
func (p *parser) query() *Query {
	p.enter()
	defer func() { p.depth-- }()
	q := &Query{At: p.tok().at}
	if p.accept("with") {
		if p.is("recursive") {
			p.refuseWord(p.tok())
		}
		for {
			q.With = append(q.With, p.cte())
			if !p.accept(",") {
				break
			}
		}
	}
	q.Body = p.setOps(p.operand())
	p.queryTail(q)
	return q
}

// continued reads the rest of a query whose first operand, a query in parentheses, has been read.
func (p *parser) continued(first *Query) *Query {
	q := &Query{At: first.At, Body: p.setOps(asBody(first))}
	p.queryTail(q)
	return q
}

// continues reports whether what follows a query in parentheses makes it part of a larger one.
func (p *parser) continues() bool {
	_, ok := p.isAny("union", "intersect", "except", "order", "limit", "offset")
	return ok
}

// asBody removes parentheses that change nothing.
func asBody(q *Query) Body {
	if len(q.With) == 0 && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return q
}

func (p *parser) cte() CTE {
	c := CTE{Name: p.ident("a name for the query")}
	if p.is("(") {
		c.Columns = p.identList("a column's name")
	}
	p.expect("as", "AS")
	if p.is("materialized") || p.isAll("not", "materialized") {
		p.fail(p.tok().at, "MATERIALIZED is not supported", "Leave it out: a query of WITH is computed once where that pays.")
	}
	p.expect("(", "( and a query")
	if !p.startsQuery() && !p.is("(") {
		p.unexpected("a query")
	}
	c.Query = p.query()
	p.expect(")", ")")
	return c
}

// operand reads a SELECT, VALUES or a query in parentheses.
func (p *parser) operand() Body {
	switch {
	case p.is("select"):
		return p.selectFirst()
	case p.is("from"):
		return p.fromFirst()
	case p.is("values"):
		return p.values()
	case p.accept("("):
		if !p.startsQuery() && !p.is("(") {
			p.unexpected("a query")
		}
		q := p.query()
		p.expect(")", ")")
		return asBody(q)
	}
	p.unexpected("SELECT, FROM, VALUES or ( and a query")
	return nil
}

// setOps reads what follows the first operand. INTERSECT binds tighter than UNION and EXCEPT. All three associate to the
// left.
func (p *parser) setOps(left Body) Body {
	left = p.intersects(left)
	for {
		op, ok := p.isAny("union", "except")
		if !ok {
			return left
		}
		s := p.setOp(left)
		if op == "except" {
			s.Kind = Except
		}
		s.R = p.intersects(p.operand())
		left = s
	}
}

func (p *parser) intersects(left Body) Body {
	for p.is("intersect") {
		s := p.setOp(left)
		s.Kind = Intersect
		s.R = p.operand()
		left = s
	}
	return left
}

// setOp reads the operator with its words.
func (p *parser) setOp(left Body) *SetOp {
	t := p.take()
	s := &SetOp{At: t.at, L: left}
	s.All = p.accept("all")
	if !s.All {
		p.accept("distinct")
	}
	if at := p.tok().at; p.accept("by", "name") {
		if t.low != "union" {
			p.fail(at, "BY NAME is only for UNION", "")
		}
		s.ByName = true
	}
	return s
}

func (p *parser) queryTail(q *Query) {
	if p.accept("order") {
		p.expect("by", "BY")
		if at := p.tok().at; p.accept("all") {
			q.OrderAll = true
			q.OrderBy = []OrderItem{p.orderDirection(nil)}
			if p.is(",") {
				p.fail(at, "ORDER BY ALL stands alone", "Name the columns one by one.")
			}
		} else {
			q.OrderBy = p.orderItems()
		}
	}
	for {
		switch at := p.tok().at; {
		case p.accept("limit"):
			if q.Limit != nil {
				p.fail(at, "LIMIT stands here twice", "")
			}
			if n := p.peek().low; n == "percent" || n == "%" && p.i+2 < len(p.tokens) &&
				slices.Contains([]string{"", ";", ")", "offset"}, p.tokens[p.i+2].low) {
				p.fail(p.peek().at, "LIMIT in percent is not supported", "Write a number of rows.")
			}
			if q.Limit = p.expr(precLowest); p.is(",") {
				p.fail(p.tok().at, "LIMIT has one number", "Write LIMIT n OFFSET m.")
			}
		case p.accept("offset"):
			if q.Offset != nil {
				p.fail(at, "OFFSET stands here twice", "")
			}
			q.Offset = p.expr(precLowest)
			if !p.accept("rows") {
				p.accept("row")
			}
		default:
			if p.isAll("using", "sample") {
				p.fail(at, "SAMPLE is not supported", refusedWords["tablesample"])
			}
			return
		}
	}
}

func (p *parser) orderItems() (items []OrderItem) {
	for {
		items = append(items, p.orderDirection(p.expr(precLowest)))
		if !p.accept(",") {
			return items
		}
	}
}

func (p *parser) orderDirection(x Expr) OrderItem {
	o := OrderItem{X: x}
	o.Desc = p.accept("desc")
	if !o.Desc {
		p.accept("asc")
	}
	if p.accept("nulls") {
		o.NullsFirst = p.accept("first")
		if !o.NullsFirst && !p.accept("last") {
			p.unexpected("FIRST or LAST")
		}
	}
	return o
}

func (p *parser) values() Body {
	v := &Values{At: p.take().at}
	for {
		at := p.expect("(", "( and a row").at
		row := p.exprs()
		p.expect(")", ", or )")
		if len(v.Rows) > 0 && len(row) != len(v.Rows[0]) {
			p.fail(at, "rows of VALUES have different lengths", "")
		}
		v.Rows = append(v.Rows, row)
		if !p.accept(",") {
			return v
		}
	}
}

func (p *parser) exprs() (list []Expr) {
	for {
		list = append(list, p.expr(precLowest))
		if !p.accept(",") {
			return list
		}
	}
}

func (p *parser) selectFirst() Body {
	s := &Select{At: p.tok().at}
	p.selectList(s)
	if p.accept("from") {
		s.From = p.from()
	}
	p.clauses(s)
	return s
}

// fromFirst reads FROM t, which a SELECT may follow.
func (p *parser) fromFirst() Body {
	s := &Select{At: p.take().at}
	s.From = p.from()
	if p.is("select") {
		p.selectList(s)
	} else {
		s.Items = []Item{{X: &Star{At: s.At}}}
	}
	p.clauses(s)
	return s
}

func (p *parser) selectList(s *Select) {
	p.take()
	if p.accept("distinct") {
		if p.accept("on") {
			p.expect("(", "(")
			s.DistinctOn = p.exprs()
			p.expect(")", ", or )")
		} else {
			s.Distinct = true
		}
	} else {
		p.accept("all")
	}
	for {
		if _, ok := p.isAny("from", "where", "group", "order", "limit", ")", ";"); ok && len(s.Items) > 0 {
			p.fail(p.tokens[p.i-1].at, "no column follows this comma", "Remove the comma.")
		}
		s.Items = append(s.Items, p.item())
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) item() Item {
	if p.is("*") {
		return Item{X: p.star("")}
	}
	if p.isName() && p.peek().low == "." && p.i+2 < len(p.tokens) && p.tokens[p.i+2].low == "*" {
		t := p.take()
		p.take()
		s := p.star(t.text)
		s.At = t.at
		return Item{X: s}
	}
	if p.isName() && p.peek().low == ":" {
		p.fail(p.peek().at, "an alias in front is not supported", "Write it behind the expression: x AS name.")
	}
	it := Item{X: p.expr(precLowest)}
	it.Alias = p.alias()
	return it
}

// alias reads [AS] name, if that follows.
func (p *parser) alias() Ident {
	if p.accept("as") {
		return p.label("an alias")
	}
	if p.isName() {
		return p.ident("an alias")
	}
	if t := p.tok(); t.kind == text {
		p.label("an alias")
	}
	return Ident{}
}

func (p *parser) star(table string) *Star {
	s := &Star{At: p.take().at, Table: table}
	if p.is("except") && p.peek().low == "(" && !p.queryFollows(p.i+2) {
		p.fail(p.tok().at, "EXCEPT is for queries", "Write * EXCLUDE (column, …).")
	}
	if p.accept("exclude") {
		if p.is("(") {
			s.Exclude = p.identList("a column's name")
		} else {
			s.Exclude = []Ident{p.ident("a column's name")}
		}
	}
	if p.accept("replace") {
		p.expect("(", "(")
		for {
			it := Item{X: p.expr(precLowest)}
			p.expect("as", "AS and a column's name")
			it.Alias = p.label("a column's name")
			s.Replace = append(s.Replace, it)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")", ", or )")
	}
	if like := p.is("like") || p.is("ilike") || p.is("similar") || p.is("glob") || p.is("not"); like {
		p.fail(p.tok().at, "a pattern behind * is not supported", "Name the columns, or write * EXCLUDE (column, …).")
	}
	if p.is("rename") {
		p.fail(p.tok().at, "RENAME is not supported", "Write * EXCLUDE (old), old AS new.")
	}
	return s
}

// queryFollows reports whether the token at i begins a query, perhaps in parentheses.
func (p *parser) queryFollows(i int) bool {
	if i >= len(p.tokens) {
		return false
	}
	switch p.tokens[i].low {
	case "select", "with", "from", "values", "(":
		return true
	}
	return false
}

// clauses reads the clauses after FROM, in their order.
func (p *parser) clauses(s *Select) {
	if p.accept("where") {
		s.Where = p.expr(precLowest)
	}
	if at := p.tok().at; p.accept("group") {
		p.expect("by", "BY")
		s.GroupBy = &GroupBy{At: at}
		if p.accept("all") {
			s.GroupBy.All = true
		} else {
			s.GroupBy.Items = p.groupItems()
		}
	}
	if p.accept("having") {
		s.Having = p.expr(precLowest)
	}
	if p.accept("window") {
		for {
			w := NamedWindow{Name: p.ident("the window's name")}
			p.expect("as", "AS")
			if !p.is("(") {
				p.unexpected("( and the window")
			}
			w.Window = p.window()
			s.Windows = append(s.Windows, w)
			if !p.accept(",") {
				break
			}
		}
	}
	if p.accept("qualify") {
		s.Qualify = p.expr(precLowest)
	}
	if t, ok := p.isAny("where", "group", "having", "window", "qualify", "from", "select"); ok {
		if t == "select" {
			p.fail(p.tok().at, "a second SELECT begins here", "Is a ; missing in front of it, or UNION ALL?")
		}
		p.fail(p.tok().at, strings.ToUpper(t)+" stands in the wrong place, or twice",
			"The order is SELECT, FROM, WHERE, GROUP BY, HAVING, WINDOW, QUALIFY, ORDER BY, LIMIT.")
	}
}

func (p *parser) groupItems() (items []GroupItem) {
	p.enter()
	defer func() { p.depth-- }()
	for {
		items = append(items, p.groupItem())
		if !p.accept(",") {
			return items
		}
	}
}

func (p *parser) groupItem() GroupItem {
	g := GroupItem{At: p.tok().at}
	switch {
	case p.isAll("rollup", "("):
		g.Kind = GroupRollup
		p.i++
	case p.isAll("cube", "("):
		g.Kind = GroupCube
		p.i++
	case p.isAll("grouping", "sets"):
		g.Kind = GroupSets
		p.i += 2
	default:
		return p.groupExpr(g)
	}
	p.expect("(", "(")
	g.Items = p.groupItems()
	p.expect(")", ", or )")
	return g
}

// groupExpr reads an expression, or a list of expressions in parentheses. If tokens follow that continue an expression, the parentheses
// belong to it.
func (p *parser) groupExpr(g GroupItem) GroupItem {
	if p.accept("(", ")") {
		g.Kind = GroupTuple
		return g
	}
	if !p.is("(") {
		g.Exprs = []Expr{p.expr(precLowest)}
		return g
	}
	x, list := p.parenthesised(true)
	if list != nil {
		g.Kind, g.Exprs = GroupTuple, list
		return g
	}
	g.Exprs = []Expr{p.climb(p.postfix(x), precLowest)}
	return g
}
