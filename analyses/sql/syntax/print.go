package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Print returns the normal form of a script: one statement per line, with parentheses only where they are needed. Its parsed
// tree differs from the script only in positions.
func Print(s *Script) string {
	var p printer
	for _, st := range s.Statements {
		if st.Name.Name != "" {
			p.add("-- name: ", st.Name.Name, "\n")
		}
		p.node(st.Node)
		p.add(";\n")
	}
	return p.String()
}

// PrintExpr returns an expression as Print writes it. This is also the name of a column without an alias.
func PrintExpr(x Expr) string {
	var p printer
	p.expr(x, precLowest)
	return p.String()
}

type printer struct{ strings.Builder }

func (p *printer) add(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// each prints n things with commas between them.
func (p *printer) each(n int, print func(i int)) {
	for i := range n {
		if i > 0 {
			p.add(", ")
		}
		print(i)
	}
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *Query:
		p.query(n)
	case *CreateView:
		p.add("CREATE VIEW ", name(n.Name.Name))
		p.columns(n.Columns)
		p.add(" AS ")
		p.query(n.Query)
	case *Describe:
		p.add(map[bool]string{false: "DESCRIBE ", true: "SUMMARIZE "}[n.Summarize])
		p.query(n.Query)
	case *ShowTables:
		p.add("SHOW TABLES")
	case *CreateTable:
		p.createTable(n)
	}
}

func (p *printer) createTable(c *CreateTable) {
	p.add("CREATE TABLE ", name(c.Name.Name), " FROM ", str(c.Files.Value))
	if len(c.Columns) > 0 {
		p.add(" (")
		p.each(len(c.Columns), func(i int) { p.add(name(c.Columns[i].Name.Name), " ", c.Columns[i].Type.String()) })
		p.add(")")
	}
	if len(c.Options) > 0 {
		p.add(" WITH (")
		p.each(len(c.Options), func(i int) {
			p.add(name(c.Options[i].Name.Name), " ")
			p.expr(c.Options[i].Value, precLowest)
		})
		p.add(")")
	}
}

func (p *printer) columns(names []Ident) {
	if len(names) > 0 {
		p.add(" (")
		p.names(names)
		p.add(")")
	}
}

func (p *printer) names(names []Ident) {
	p.each(len(names), func(i int) { p.add(name(names[i].Name)) })
}

func (p *printer) query(q *Query) {
	if len(q.With) > 0 {
		p.add("WITH ")
		p.each(len(q.With), func(i int) {
			c := q.With[i]
			p.add(name(c.Name.Name))
			p.columns(c.Columns)
			p.add(" AS (")
			p.query(c.Query)
			p.add(")")
		})
		p.add(" ")
	}
	p.body(q.Body, 0)
	if q.OrderAll {
		p.add(" ORDER BY ALL")
		p.direction(q.OrderBy[0])
	} else {
		p.orderBy(q.OrderBy, " ORDER BY ")
	}
	if q.Limit != nil {
		p.add(" LIMIT ")
		p.expr(q.Limit, precLowest)
	}
	if q.Offset != nil {
		p.add(" OFFSET ")
		p.expr(q.Offset, precLowest)
	}
}

// body prints a body, in parentheses if it binds looser than level. Level 0 takes any body, 1 the right side of UNION or EXCEPT and the
// left side of INTERSECT, 2 the right side of INTERSECT.
func (p *printer) body(b Body, level int) {
	switch b := b.(type) {
	case *Select:
		p.sel(b)
	case *Values:
		p.add("VALUES ")
		p.each(len(b.Rows), func(i int) { p.list("(", b.Rows[i], ")") })
	case *Query:
		p.add("(")
		p.query(b)
		p.add(")")
	case *SetOp:
		mine := 0
		if b.Kind == Intersect {
			mine = 1
		}
		if level > mine {
			p.add("(")
			defer p.add(")")
		}
		p.body(b.L, mine)
		p.add([]string{" UNION", " EXCEPT", " INTERSECT"}[b.Kind])
		if b.All {
			p.add(" ALL")
		}
		if b.ByName {
			p.add(" BY NAME")
		}
		p.add(" ")
		p.body(b.R, mine+1)
	}
}

func (p *printer) sel(s *Select) {
	p.add("SELECT ")
	if s.Distinct {
		p.add("DISTINCT ")
	}
	if len(s.DistinctOn) > 0 {
		p.list("DISTINCT ON (", s.DistinctOn, ") ")
	}
	p.items(s.Items)
	if s.From != nil {
		p.add(" FROM ")
		p.from(s.From)
	}
	p.clause(" WHERE ", s.Where)
	if g := s.GroupBy; g != nil {
		p.add(" GROUP BY ")
		if g.All {
			p.add("ALL")
		}
		p.groupItems(g.Items)
	}
	p.clause(" HAVING ", s.Having)
	if len(s.Windows) > 0 {
		p.add(" WINDOW ")
		p.each(len(s.Windows), func(i int) {
			p.add(name(s.Windows[i].Name.Name), " AS ")
			p.window(s.Windows[i].Window)
		})
	}
	p.clause(" QUALIFY ", s.Qualify)
}

func (p *printer) clause(word string, x Expr) {
	if x != nil {
		p.add(word)
		p.expr(x, precLowest)
	}
}

func (p *printer) items(items []Item) {
	p.each(len(items), func(i int) {
		p.expr(items[i].X, precLowest)
		if a := items[i].Alias.Name; a != "" {
			p.add(" AS ", name(a))
		}
	})
}

func (p *printer) groupItems(items []GroupItem) {
	p.each(len(items), func(i int) {
		switch g := items[i]; g.Kind {
		case GroupExpr:
			p.expr(g.Exprs[0], precLowest)
		case GroupTuple:
			p.list("(", g.Exprs, ")")
		default:
			p.add(map[GroupKind]string{GroupRollup: "ROLLUP (", GroupCube: "CUBE (", GroupSets: "GROUPING SETS ("}[g.Kind])
			p.groupItems(g.Items)
			p.add(")")
		}
	})
}

func (p *printer) orderBy(items []OrderItem, word string) {
	if len(items) == 0 {
		return
	}
	p.add(word)
	p.each(len(items), func(i int) {
		p.expr(items[i].X, precLowest)
		p.direction(items[i])
	})
}

func (p *printer) direction(o OrderItem) {
	if o.Desc {
		p.add(" DESC")
	}
	if o.NullsFirst {
		p.add(" NULLS FIRST")
	}
}

func (p *printer) from(f From) {
	switch f := f.(type) {
	case *Table:
		if f.Read != nil {
			p.from(f.Read)
		} else if f.File {
			p.add(str(f.Name.Name))
		} else {
			p.add(name(f.Name.Name))
		}
		p.alias(f.Alias)
	case *TableFunc:
		p.add(f.Name.Name, "(")
		p.each(len(f.Args), func(i int) {
			if n := f.Args[i].Name.Name; n != "" {
				p.add(name(n), " = ")
			}
			p.expr(f.Args[i].X, precLowest)
		})
		p.add(")")
		p.alias(f.Alias)
	case *Derived:
		p.add("(")
		p.query(f.Query)
		p.add(")")
		p.alias(f.Alias)
	case *Join:
		p.join(f)
	}
}

func (p *printer) alias(a Alias) {
	if a.Name.Name != "" {
		p.add(" AS ", name(a.Name.Name))
		p.columns(a.Columns)
	}
}

func (p *printer) join(j *Join) {
	p.from(j.L)
	if j.Natural {
		p.add(" NATURAL")
	}
	p.add([]string{" ", " LEFT ", " RIGHT ", " FULL ", " SEMI ", " ANTI ", " CROSS "}[j.Kind], "JOIN ")
	if _, ok := j.R.(*Join); ok {
		p.add("(")
		p.from(j.R)
		p.add(")")
	} else {
		p.from(j.R)
	}
	p.clause(" ON ", j.On)
	if len(j.Using) > 0 {
		p.add(" USING (")
		p.names(j.Using)
		p.add(")")
	}
}

// precedence returns how tight the outermost operator of x binds.
func precedence(x Expr) int {
	switch x := x.(type) {
	case *Unary:
		return ops[x.Op].prec
	case *Binary:
		return ops[x.Op].prec
	case *IsNull:
		return precIs
	case *Between, *In, *InQuery, *Like:
		return precIn
	}
	return precPostfix
}

// expr prints x, in parentheses if it binds looser than min.
func (p *printer) expr(x Expr, min int) {
	if precedence(x) < min {
		p.add("(")
		defer p.add(")")
	}
	switch x := x.(type) {
	case *Null:
		p.add("NULL")
	case *Bool:
		p.add(strings.ToUpper(strconv.FormatBool(x.Value)))
	case *Number:
		p.add(x.Text)
	case *String:
		p.add(str(x.Value))
	case *Interval:
		p.interval(x)
	case *Param:
		p.add("$", x.Name)
	case *Column:
		if x.Table != "" {
			p.add(name(x.Table), ".")
		}
		p.add(name(x.Name))
	case *Star:
		p.star(x)
	case *List:
		p.list("[", x.Items, "]")
	case *Struct:
		p.add("{")
		p.each(len(x.Fields), func(i int) {
			p.add(str(x.Fields[i].Name.Name), ": ")
			p.expr(x.Fields[i].X, precLowest)
		})
		p.add("}")
	case *Case:
		p.caseWhen(x)
	case *Call:
		p.call(x)
	case *Exists:
		p.subquery("EXISTS ", x.Query)
	case *Subquery:
		p.subquery("", x.Query)
	default:
		p.operator(x)
	}
}

func (p *printer) operator(x Expr) {
	switch x := x.(type) {
	case *Unary:
		p.add(x.Op.String())
		if inner, ok := x.X.(*Unary); x.Op == Not || ok && inner.Op == Neg {
			p.add(" ") // two minus signs would begin a comment
		}
		p.expr(x.X, ops[x.Op].prec)
	case *Binary:
		prec := ops[x.Op].prec
		left := prec
		if prec == precCompare {
			left++ // comparisons do not chain
		}
		p.expr(x.L, left)
		p.add(" ", x.Op.String(), " ")
		p.expr(x.R, prec+1)
	case *IsNull:
		p.expr(x.X, precIs)
		p.add(" IS", not(x.Not), " NULL")
	case *Between:
		p.expr(x.X, precIn)
		p.add(not(x.Not), " BETWEEN ")
		p.expr(x.Lo, precIn+1)
		p.add(" AND ")
		p.expr(x.Hi, precIn+1)
	case *In:
		p.expr(x.X, precIn)
		p.add(not(x.Not), " IN ")
		p.list("(", x.List, ")")
	case *InQuery:
		p.expr(x.X, precIn)
		p.subquery(not(x.Not)+" IN ", x.Query)
	case *Like:
		p.expr(x.X, precIn)
		p.add(not(x.Not), map[bool]string{false: " LIKE ", true: " ILIKE "}[x.Fold])
		p.expr(x.Pattern, precIn+1)
		if x.Escape != nil {
			p.add(" ESCAPE ")
			p.expr(x.Escape, precIn+1)
		}
	case *Cast:
		if x.Try {
			p.add("TRY_CAST(")
			p.expr(x.X, precLowest)
			p.add(" AS ", x.Type.String(), ")")
			return
		}
		p.expr(x.X, precPostfix)
		p.add("::", x.Type.String())
	case *Index:
		p.expr(x.X, precPostfix)
		p.add("[")
		p.expr(x.I, precLowest)
		p.add("]")
	}
}

func (p *printer) interval(x *Interval) {
	p.add("INTERVAL ")
	switch v := x.X.(type) {
	case *String, *Number:
		p.expr(v, precLowest)
	default:
		p.add("(")
		p.expr(v, precLowest)
		p.add(")")
	}
	if x.Unit != "" {
		p.add(" ", x.Unit)
	}
}

func (p *printer) star(s *Star) {
	if s.Table != "" {
		p.add(name(s.Table), ".")
	}
	p.add("*")
	if len(s.Exclude) > 0 {
		p.add(" EXCLUDE (")
		p.names(s.Exclude)
		p.add(")")
	}
	if len(s.Replace) > 0 {
		p.add(" REPLACE (")
		p.items(s.Replace)
		p.add(")")
	}
}

func (p *printer) caseWhen(c *Case) {
	p.add("CASE")
	p.clause(" ", c.Operand)
	for _, w := range c.Whens {
		p.clause(" WHEN ", w.Cond)
		p.clause(" THEN ", w.Then)
	}
	p.clause(" ELSE ", c.Else)
	p.add(" END")
}

func (p *printer) call(c *Call) {
	p.add(c.Name)
	if c.Name == "current_date" {
		return
	}
	p.add("(")
	if c.Star {
		p.add("*")
	}
	if c.Distinct {
		p.add("DISTINCT ")
	}
	p.list("", c.Args, "")
	p.orderBy(c.OrderBy, " ORDER BY ")
	within := c.Star || len(c.Args) > 0 // without an argument, ignore would be read as a column
	if c.IgnoreNulls && within {
		p.add(" IGNORE NULLS")
	}
	p.add(")")
	if c.IgnoreNulls && !within {
		p.add(" IGNORE NULLS")
	}
	if c.Filter != nil {
		p.clause(" FILTER (WHERE ", c.Filter)
		p.add(")")
	}
	if c.Over != nil {
		p.add(" OVER ")
		p.window(c.Over)
	}
}

func (p *printer) window(w *Window) {
	if w.Name != "" {
		p.add(name(w.Name))
		return
	}
	p.add("(")
	sep := ""
	if len(w.PartitionBy) > 0 {
		p.list("PARTITION BY ", w.PartitionBy, "")
		sep = " "
	}
	if len(w.OrderBy) > 0 {
		p.orderBy(w.OrderBy, sep+"ORDER BY ")
		sep = " "
	}
	if f := w.Frame; f != nil {
		p.add(sep, map[bool]string{false: "ROWS", true: "RANGE"}[f.Range], " BETWEEN ")
		p.bound(f.Lo)
		p.add(" AND ")
		p.bound(f.Hi)
	}
	p.add(")")
}

func (p *printer) bound(b Bound) {
	if b.X != nil {
		p.expr(b.X, precAdd)
		p.add(" ")
	}
	p.add([]string{"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING"}[b.Kind])
}

func (p *printer) subquery(before string, q *Query) {
	p.add(before, "(")
	p.query(q)
	p.add(")")
}

func (p *printer) list(before string, list []Expr, after string) {
	p.add(before)
	p.each(len(list), func(i int) { p.expr(list[i], precLowest) })
	p.add(after)
}

func not(not bool) string {
	if not {
		return " NOT"
	}
	return ""
}

// String returns the type as Print writes it.
func (t TypeName) String() string {
	s := t.Name
	for i, a := range t.Args {
		s += fmt.Sprintf("%s%d", []string{"(", ", "}[min(i, 1)], a)
	}
	if len(t.Args) > 0 {
		s += ")"
	}
	if t.List {
		s += "[]"
	}
	return s
}

func str(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// PrintName returns a name as a statement has to write it: in quotes if it needs them.
func PrintName(s string) string { return name(s) }

// name returns a name, in quotes if it needs them.
func name(s string) string {
	plain := s != "" && !isKeyword(lower(s))
	for i, r := range s {
		plain = plain && (isLetter(r) || i > 0 && unicode.IsDigit(r))
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
