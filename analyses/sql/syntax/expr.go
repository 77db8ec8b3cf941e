package syntax

import "strings"

// expr reads an expression whose operators bind at least as tight as min (precedence climbing). The loop is in climb, so it can
// start with an operand that was already read.
func (p *parser) expr(min int) Expr { return p.climb(p.prefix(min), min) }

func (p *parser) climb(left Expr, min int) Expr {
	for {
		x := p.infix(left, min)
		if x == nil {
			return left
		}
		left = x
	}
}

// infix reads one operator after left, with its right side. It returns nil if no operator follows that binds at least as
// tight as min.
func (p *parser) infix(left Expr, min int) Expr {
	t := p.tok()
	if t.kind != word && t.kind != symbol {
		return nil
	}
	if op, ok := infix[t.low]; ok {
		prec := ops[op].prec
		if prec < min {
			return nil
		}
		p.i++
		if p.is("any") || p.is("some") || p.is("all") {
			hint := refusedWords["any"]
			if op != Eq || p.is("all") {
				hint = "Compare with one value: x > (SELECT max(y) …)."
			}
			p.fail(p.tok().at, "comparing with "+strings.ToUpper(p.tok().low)+" is not supported", hint)
		}
		right := p.expr(prec + 1)
		if next, ok := infix[p.tok().low]; ok && prec == precCompare && ops[next].prec == precCompare && p.tok().kind == symbol {
			p.fail(p.tok().at, "comparisons do not chain", "Write a < b AND b < c, or put one into parentheses.")
		}
		return &Binary{t.at, op, left, right}
	}
	switch {
	case t.low == "is" && min <= precIs:
		return p.isTest(left)
	case min <= precIn:
		not := t.low == "not"
		word := t.low
		if not {
			word = p.peek().low
		}
		switch word {
		case "between", "in", "like", "ilike":
			if not {
				p.i++
			}
			p.i++
			return p.membership(left, t.at, word, not)
		}
	}
	if _, ok := refusedSymbols[t.low]; ok && t.kind == symbol {
		p.refuseWord(t)
	}
	if p.isAll("at", "time", "zone") {
		p.fail(t.at, "time zones are not supported", "TIMESTAMP has no zone; a value with Z or an offset is converted to UTC when it is read.")
	}
	switch t.low {
	case "collate", "similar", "glob", "isnull", "notnull":
		p.refuseWord(t)
	}
	return nil
}

// isTest reads what follows IS. x IS TRUE is x IS NOT DISTINCT FROM TRUE.
func (p *parser) isTest(x Expr) Expr {
	at := p.take().at
	not := p.accept("not")
	t := p.tok()
	switch {
	case p.accept("null"):
		return &IsNull{at, x, not}
	case p.accept("unknown"):
		return &IsNull{at, x, not}
	case p.is("true") || p.is("false"):
		p.i++
		op := IsNotDistinct
		if not {
			op = IsDistinct
		}
		return &Binary{at, op, x, &Bool{t.at, t.low == "true"}}
	case p.accept("distinct", "from"):
		op := IsDistinct
		if not {
			op = IsNotDistinct
		}
		return &Binary{at, op, x, p.expr(precIs + 1)}
	}
	p.unexpected("NULL, NOT NULL, TRUE, FALSE or DISTINCT FROM")
	return nil
}

// membership reads what follows BETWEEN, IN, LIKE or ILIKE.
func (p *parser) membership(x Expr, at Pos, word string, not bool) Expr {
	switch word {
	case "between":
		if p.is("symmetric") {
			p.fail(p.tok().at, "SYMMETRIC is not supported", "Write BETWEEN least(a, b) AND greatest(a, b).")
		}
		lo := p.expr(precIn + 1)
		p.expect("and", "AND")
		return &Between{at, x, lo, p.expr(precIn + 1), not}
	case "in":
		if !p.is("(") {
			p.fail(p.tok().at, "IN needs a list or a query in parentheses", "Write x IN (a, b), or list_contains(list, x).")
		}
		return p.in(x, at, not)
	}
	l := &Like{At: at, X: x, Pattern: p.expr(precIn + 1), Fold: word == "ilike", Not: not}
	if p.accept("escape") {
		l.Escape = p.expr(precIn + 1)
	}
	return l
}

func (p *parser) in(x Expr, at Pos, not bool) Expr {
	p.enter()
	defer func() { p.depth-- }()
	if n := p.peek(); n.low == ")" {
		p.fail(n.at, "the list is empty", "")
	}
	first, list := p.parenthesised(true)
	if s, ok := first.(*Subquery); ok && list == nil {
		return &InQuery{at, x, s.Query, not}
	}
	if list == nil {
		list = []Expr{first}
	}
	return &In{at, x, list, not}
}

// prefix reads an operand with the operators before and after it.
func (p *parser) prefix(min int) Expr {
	p.enter()
	defer func() { p.depth-- }()
	t := p.tok()
	switch {
	case p.is("not"):
		if min > precNot {
			p.fail(t.at, "NOT stands in parentheses here", "Write … (NOT x).")
		}
		p.i++
		return &Unary{t.at, Not, p.expr(precNot)}
	case p.is("-"):
		p.i++
		return &Unary{t.at, Neg, p.expr(precUnary)}
	case p.is("+"):
		p.i++
		return p.expr(precUnary)
	}
	return p.postfix(p.primary())
}

// postfix reads casts and indexes after x.
func (p *parser) postfix(x Expr) Expr {
	for {
		switch t := p.tok(); {
		case p.accept("::"):
			x = &Cast{At: t.at, X: x, Type: p.typeName()}
		case p.is("["):
			p.i++
			x = &Index{t.at, x, p.expr(precLowest)}
			if p.is(":") || p.tok().kind == param {
				p.fail(p.tok().at, "slices are not supported", "Of a text, write substring(x, from, length); of a list, single items: x[1].")
			}
			p.expect("]", "]")
		case p.is(".") && p.peek().kind == word:
			if n := p.i + 2; n < len(p.tokens) && p.tokens[n].low == "(" {
				p.fail(t.at, "a function behind a point is not supported", "Write the value as its first argument: "+clip(p.peek().text)+"(x).")
			}
			p.fail(t.at, "there are no schemas and no structures",
				"A column is written as column or table.column; what JSON holds is taken by column->>'key'.")
		default:
			return x
		}
	}
}

// parenthesised reads ( … ): an expression, a query as a *Subquery or, if allowed, a list. If further parentheses follow the
// first, it reads these before it decides, so nothing is read twice.
func (p *parser) parenthesised(allowList bool) (x Expr, list []Expr) {
	at := p.expect("(", "(").at
	if p.startsQuery() {
		q := p.query()
		p.expect(")", ")")
		return &Subquery{at, q}, nil
	}
	if p.is("(") {
		p.enter()
		inner, _ := p.parenthesised(false)
		p.depth--
		if s, ok := inner.(*Subquery); ok {
			if p.continues() {
				s.Query = p.continued(s.Query)
			}
			if p.accept(")") {
				return s, nil
			}
		}
		x = p.climb(p.postfix(inner), precLowest)
	} else {
		x = p.expr(precLowest)
	}
	if p.is(",") {
		if !allowList {
			p.fail(p.tok().at, "a row as a value is not supported", "Compare the values one by one: a = 1 AND b = 2.")
		}
		list = []Expr{x}
		for p.accept(",") {
			list = append(list, p.expr(precLowest))
		}
		x = nil
	}
	p.expect(")", ", or )")
	return x, list
}

// primary reads an operand.
func (p *parser) primary() Expr {
	t := p.tok()
	switch t.kind {
	case number:
		p.i++
		return &Number{t.at, t.text}
	case text:
		p.i++
		return &String{t.at, t.text}
	case param:
		p.i++
		return &Param{t.at, t.text}
	case symbol:
		return p.symbol(t)
	case word:
		if x := p.keyword(t); x != nil {
			return x
		}
	}
	if t.kind == word && p.peek().low == "(" && (!reserved[t.low] || t.low == "left" || t.low == "right" || t.low == "grouping") {
		c := p.call()
		p.refuseTyped(t)
		return c
	}
	if t.kind != quoted && (t.kind != word || reserved[t.low]) {
		p.unexpected("an expression")
	}
	if n := p.peek(); t.low == "lambda" && n.kind == word && p.i+2 < len(p.tokens) &&
		(p.tokens[p.i+2].low == ":" || p.tokens[p.i+2].low == "," || p.tokens[p.i+2].kind == param) {
		p.fail(t.at, "lambdas are not supported", lambdaHint)
	}
	if t.low == "map" && p.peek().low == "{" {
		p.fail(t.at, "maps are not supported", "Write CASE x WHEN … THEN … END, or join with a table of keys and values.")
	}
	p.i++
	if t.kind == quoted && p.is("(") {
		p.fail(t.at, "the name of a function stands without quotes", "")
	}
	p.refuseTyped(t)
	c := &Column{At: t.at, Name: t.text}
	if n := p.peek(); p.is(".") && (n.kind == word || n.kind == quoted) &&
		!(n.kind == word && p.i+2 < len(p.tokens) && p.tokens[p.i+2].low == "(") {
		p.i += 2
		c.Table, c.Name = t.text, n.text
	}
	return c
}

func (p *parser) symbol(t token) Expr {
	switch t.low {
	case "(":
		x, _ := p.parenthesised(false)
		return x
	case "[":
		p.i++
		l := &List{At: t.at}
		if !p.is("]") {
			l.Items = p.exprs()
		}
		if p.is("for") {
			p.fail(p.tok().at, "lists are not made by loops", lambdaHint)
		}
		p.expect("]", ", or ]")
		return l
	case "{":
		p.fail(t.at, "structures are not supported", "Only read_csv takes one: columns={'name': 'BIGINT'}.")
	case "*":
		p.fail(t.at, "* stands alone in SELECT, or in count(*)", "")
	}
	p.unexpected("an expression")
	return nil
}

// keyword reads an operand that begins with a keyword, nil if t is not such a keyword.
func (p *parser) keyword(t token) Expr {
	next := p.peek()
	switch t.low {
	case "null":
		p.i++
		return &Null{t.at}
	case "true", "false":
		p.i++
		return &Bool{t.at, t.low == "true"}
	case "case":
		return p.caseWhen()
	case "exists":
		p.i++
		if !p.is("(") || !p.queryFollows(p.i+1) {
			p.unexpected("( and a query")
		}
		x, _ := p.parenthesised(false)
		s, ok := x.(*Subquery)
		if !ok {
			p.fail(t.at, "EXISTS needs a query", "")
		}
		return &Exists{t.at, s.Query}
	case "cast", "try_cast":
		p.i++
		p.expect("(", "(")
		c := &Cast{At: t.at, X: p.expr(precLowest), Try: t.low == "try_cast"}
		p.expect("as", "AS and a type")
		c.Type = p.typeName()
		p.expect(")", ")")
		return c
	case "date", "timestamp":
		if next.kind == text { // refuseTyped refuses the other types
			p.i += 2
			return &Cast{At: t.at, X: &String{next.at, next.text}, Type: TypeName{At: t.at, Name: strings.ToUpper(t.low)}}
		}
	case "interval":
		if next.kind == text || next.kind == number || next.low == "(" {
			return p.interval()
		}
		if p.i+2 < len(p.tokens) && next.kind == word && units[p.tokens[p.i+2].low] != "" {
			p.fail(next.at, "the number of an interval that is computed stands in parentheses",
				"Write INTERVAL ("+clip(next.text)+") "+upper(p.tokens[p.i+2].low)+".")
		}
	case "extract", "substring", "position", "trim":
		if next.low == "(" {
			return p.withKeywords(t.low)
		}
	case "current_date":
		p.i++
		p.accept("(", ")")
		return &Call{At: t.at, Name: t.low}
	case "current_timestamp", "current_time", "localtime", "localtimestamp":
		p.fail(t.at, strings.ToUpper(t.low)+" is not supported",
			"Answers do not depend on when they are computed; current_date is the day when the session opens.")
	case "struct", "row", "map", "overlay":
		if next.low == "(" {
			p.fail(t.at, strings.ToUpper(t.low)+" is not supported", refusedWords[t.low])
		}
	}
	return nil
}

func (p *parser) caseWhen() Expr {
	c := &Case{At: p.take().at}
	if !p.is("when") {
		c.Operand = p.expr(precLowest)
	}
	for p.accept("when") {
		w := When{Cond: p.expr(precLowest)}
		p.expect("then", "THEN")
		w.Then = p.expr(precLowest)
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		p.unexpected("WHEN")
	}
	if p.accept("else") {
		c.Else = p.expr(precLowest)
	}
	p.expect("end", "WHEN, ELSE or END")
	return c
}

// units maps each name of an interval's unit to the unit.
var units = func() map[string]string {
	m := map[string]string{"centuries": "CENTURY", "millennia": "MILLENNIUM"}
	for _, u := range []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "DECADE",
		"CENTURY", "MILLENNIUM"} {
		m[strings.ToLower(u)], m[strings.ToLower(u)+"s"] = u, u
	}
	return m
}()

func (p *parser) interval() Expr {
	i := &Interval{At: p.take().at}
	switch t := p.tok(); t.kind {
	case text:
		p.i++
		i.X = &String{t.at, t.text}
	case number:
		p.i++
		i.X = &Number{t.at, t.text}
	default:
		i.X, _ = p.parenthesised(false)
	}
	t := p.tok()
	if u, ok := units[t.low]; ok && t.kind == word {
		p.i++
		i.Unit = u
		if p.is("to") {
			p.fail(p.tok().at, "an interval has one unit", "Write INTERVAL '1 day 2 hours'.")
		}
	} else if _, ok := i.X.(*String); !ok {
		p.unexpected("a unit: YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, …")
	}
	return i
}

// withKeywords reads calls whose arguments may have keywords between them, and returns plain calls.
func (p *parser) withKeywords(name string) Expr {
	t := p.take()
	c := &Call{At: t.at, Name: name}
	switch name {
	case "extract":
		p.take()
		field := p.tok()
		if field.kind != word && field.kind != text {
			p.unexpected("a field: year, month, day, hour, …")
		}
		p.i++
		p.expect("from", "FROM")
		c.Name, c.Args = "date_part", []Expr{&String{field.at, strings.ToLower(field.text)}, p.expr(precLowest)}
	case "position":
		p.take()
		first := p.expr(precIn + 1)
		if p.accept("in") {
			c.Args = []Expr{p.expr(precLowest), first}
		} else {
			p.expect(",", "IN")
			c.Args = []Expr{first, p.expr(precLowest)}
		}
		c.Name = "strpos"
	case "trim":
		return p.trim(c)
	case "substring":
		p.i--
		return p.substring()
	}
	p.expect(")", ")")
	return c
}

// trim reads trim([BOTH|LEADING|TRAILING] [characters] FROM x) and trim(x, characters).
func (p *parser) trim(c *Call) Expr {
	p.take()
	switch {
	case p.accept("both"):
	case p.accept("leading"):
		c.Name = "ltrim"
	case p.accept("trailing"):
		c.Name = "rtrim"
	}
	if p.accept("from") {
		c.Args = []Expr{p.expr(precLowest)}
	} else {
		c.Args = p.exprs()
		if len(c.Args) == 1 && p.accept("from") {
			c.Args = []Expr{p.expr(precLowest), c.Args[0]}
		}
	}
	p.expect(")", ", or )")
	return c
}

// substring reads substring(x FROM n FOR m), also with only one of both parts, and substring(x, n, m).
func (p *parser) substring() Expr {
	t := p.take()
	p.take()
	c := &Call{At: t.at, Name: "substring", Args: p.exprs()}
	if len(c.Args) == 1 {
		from, length := Expr(nil), Expr(nil)
		if p.accept("from") {
			from = p.expr(precLowest)
		}
		if at := p.tok().at; p.accept("for") {
			length = p.expr(precLowest)
			if from == nil {
				from = &Number{at, "1"}
			}
		}
		if from != nil {
			c.Args = append(c.Args, from)
		}
		if length != nil {
			c.Args = append(c.Args, length)
		}
	}
	p.expect(")", ", or )")
	return c
}

// call reads a function, an aggregate or a window function.
func (p *parser) call() Expr {
	t := p.take()
	c := &Call{At: t.at, Name: t.low, Summary: p.own}
	switch t.low {
	case "cube", "rollup":
		p.fail(t.at, upper(t.low)+" is not a function", "ROLLUP (…) and CUBE (…) stand in GROUP BY, outside of other parentheses.")
	case "columns":
		p.fail(t.at, "COLUMNS is not supported",
			"Name the columns one by one; * takes EXCLUDE and REPLACE, and SUMMARIZE shows figures of every column.")
	}
	p.take()
	switch {
	case p.accept("*"):
		c.Star = true
	case p.is(")"):
	default:
		if c.Distinct = p.accept("distinct"); !c.Distinct {
			p.accept("all")
		}
		c.Args = p.exprs()
	}
	if p.accept("order") {
		p.expect("by", "BY")
		c.OrderBy = p.orderItems()
	}
	p.nulls(c)
	if n := p.tok().low; n == ":=" || n == "=>" {
		p.fail(p.tok().at, "arguments with names are not supported here", "Give the arguments in their order.")
	}
	p.expect(")", ", or )")
	p.nulls(c)
	if p.isAll("within", "group") {
		p.fail(p.tok().at, "WITHIN GROUP is not supported", "Write quantile_cont(x, 0.5), or quantile_disc(x, 0.5).")
	}
	if p.isAll("filter", "(") {
		p.i += 2
		p.accept("where")
		c.Filter = p.expr(precLowest)
		p.expect(")", ")")
	}
	if over := p.tok(); over.low == "over" && (p.peek().low == "(" || p.peek().kind == word || p.peek().kind == quoted) {
		p.i++
		if p.is("(") {
			c.Over = p.window()
		} else {
			n := p.ident("the name of a window")
			c.Over = &Window{At: over.at, Name: n.Name}
		}
	}
	return c
}

// nulls takes IGNORE NULLS or RESPECT NULLS.
func (p *parser) nulls(c *Call) {
	if p.accept("ignore", "nulls") {
		c.IgnoreNulls = true
	} else {
		p.accept("respect", "nulls")
	}
}

// window reads the specification of a window in parentheses.
func (p *parser) window() *Window {
	w := &Window{At: p.take().at}
	if t := p.tok(); p.isName() && t.low != "partition" && t.low != "rows" && t.low != "range" && t.low != "groups" {
		p.fail(t.at, "a window that extends another one is not supported", "Write the whole window: PARTITION BY …, ORDER BY …")
	}
	if p.accept("partition") {
		p.expect("by", "BY")
		w.PartitionBy = p.exprs()
	}
	if p.accept("order") {
		p.expect("by", "BY")
		w.OrderBy = p.orderItems()
	}
	if _, ok := p.isAny("rows", "range", "groups"); ok {
		w.Frame = p.frame()
	}
	p.expect(")", "PARTITION BY, ORDER BY, ROWS, RANGE or )")
	return w
}

func (p *parser) frame() *Frame {
	t := p.take()
	if t.low == "groups" {
		p.fail(t.at, "GROUPS is not supported", "Write RANGE or ROWS.")
	}
	f := &Frame{At: t.at, Range: t.low == "range", Hi: Bound{Kind: CurrentRow}}
	if p.accept("between") {
		f.Lo = p.bound()
		p.expect("and", "AND")
		at := p.tok().at
		f.Hi = p.bound()
		if f.Hi.Kind == UnboundedPreceding || f.Lo.Kind == UnboundedFollowing || f.Hi.Kind < f.Lo.Kind {
			p.fail(at, "the frame ends before it begins", "")
		}
	} else {
		at := p.tok().at
		if f.Lo = p.bound(); f.Lo.Kind > CurrentRow {
			p.fail(at, "the frame ends before it begins", "Write BETWEEN CURRENT ROW AND … FOLLOWING.")
		}
	}
	if p.is("exclude") {
		p.fail(p.tok().at, "EXCLUDE in a frame is not supported", "")
	}
	return f
}

func (p *parser) bound() Bound {
	switch {
	case p.accept("unbounded", "preceding"):
		return Bound{Kind: UnboundedPreceding}
	case p.accept("unbounded", "following"):
		return Bound{Kind: UnboundedFollowing}
	case p.accept("current", "row"):
		return Bound{Kind: CurrentRow}
	}
	b := Bound{Kind: Preceding, X: p.expr(precAdd)}
	if !p.accept("preceding") {
		if !p.accept("following") {
			p.unexpected("PRECEDING or FOLLOWING")
		}
		b.Kind = Following
	}
	return b
}
