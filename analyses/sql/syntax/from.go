package syntax

import "fmt"

// from reads the tables after FROM. A comma is a cross join.
func (p *parser) from() From {
	left := p.joins(p.fromItem())
	for p.is(",") {
		j := &Join{At: p.take().at, Kind: Cross, L: left}
		if p.is("lateral") {
			p.refuseWord(p.tok())
		}
		j.R = p.joins(p.fromItem())
		left = j
	}
	return left
}

// joins reads the joins that follow left, from left to right.
func (p *parser) joins(left From) From {
	for {
		j := &Join{At: p.tok().at, L: left}
		if !p.joinWords(j) {
			return left
		}
		if p.is("lateral") {
			p.refuseWord(p.tok())
		}
		j.R = p.fromItem()
		p.joinCondition(j)
		left = j
	}
}

// joinWords reads [NATURAL] [kind] JOIN, if that follows.
func (p *parser) joinWords(j *Join) bool {
	if t := p.tok(); t.low == "asof" || t.low == "positional" || t.low == "tablesample" || t.low == "pivot" || t.low == "unpivot" {
		p.refuseWord(t)
	}
	if p.isAll("using", "sample") {
		p.fail(p.tok().at, "SAMPLE is not supported", refusedWords["tablesample"])
	}
	j.Natural = p.accept("natural")
	if t := p.tok(); t.low == "asof" {
		p.refuseWord(t)
	}
	kinds := []struct {
		word  string
		kind  JoinKind
		outer bool
	}{{"inner", Inner, false}, {"left", Left, true}, {"right", Right, true}, {"full", Full, true}, {"semi", Semi, false},
		{"anti", Anti, false}, {"cross", Cross, false}}
	for _, k := range kinds {
		if p.accept(k.word) {
			j.Kind = k.kind
			if k.outer {
				p.accept("outer")
			}
			if !p.is("join") {
				p.unexpected("JOIN")
			}
			if j.Natural && k.kind == Cross {
				p.fail(j.At, "a join is either NATURAL or CROSS", "")
			}
		}
	}
	if !p.accept("join") {
		if j.Natural {
			p.unexpected("JOIN")
		}
		return false
	}
	return true
}

func (p *parser) joinCondition(j *Join) {
	has := p.is("on") || p.is("using")
	switch {
	case (j.Natural || j.Kind == Cross) && has:
		p.fail(p.tok().at, "a NATURAL or CROSS join has no condition", "Write JOIN … ON, or JOIN … USING.")
	case j.Natural || j.Kind == Cross:
	case p.accept("on"):
		j.On = p.expr(precLowest)
	case p.accept("using"):
		j.Using = p.identList("a column's name")
	default:
		p.unexpected("ON or USING")
	}
}

// fromItem reads one table, or several in parentheses.
func (p *parser) fromItem() From {
	t := p.tok()
	switch {
	case p.is("("):
		return p.fromParentheses()
	case t.kind == text:
		return &Table{Name: p.file(), File: true, Alias: p.tableAlias()}
	case p.is("values"):
		p.fail(t.at, "VALUES in FROM stands in parentheses", "Write FROM (VALUES (…), (…)) AS t(a, b).")
	case t.kind == word && p.peek().low == "(" && !reserved[t.low]:
		return p.tableFunc()
	}
	name := p.ident("a table")
	if p.is(".") {
		p.fail(p.tok().at, "there are no schemas", "Write the table's name alone.")
	}
	return &Table{Name: name, Alias: p.tableAlias()}
}

// fromParentheses reads a subquery or joined tables. It reads any further parentheses before it decides which.
func (p *parser) fromParentheses() From {
	p.enter()
	defer func() { p.depth-- }()
	at := p.take().at
	if p.startsQuery() {
		d := &Derived{At: at, Query: p.query()}
		p.expect(")", ")")
		d.Alias = p.tableAlias()
		return d
	}
	inner := p.fromItem()
	if d, ok := inner.(*Derived); ok && d.Alias.Name.Name == "" && len(d.Alias.Columns) == 0 {
		if p.continues() {
			d.Query = p.continued(d.Query)
		}
		if p.accept(")") {
			return &Derived{At: at, Query: d.Query, Alias: p.tableAlias()}
		}
	}
	inner = p.joins(inner)
	if p.is(",") {
		p.fail(p.tok().at, "a comma within parentheses is not supported", "Write CROSS JOIN.")
	}
	p.expect(")", ")")
	if p.is("as") || p.isName() {
		p.fail(p.tok().at, "tables in parentheses have no alias", "Give each table its own.")
	}
	return inner
}

// tableAlias reads [AS] name [(columns)], if that follows.
func (p *parser) tableAlias() (a Alias) {
	if p.is("tablesample") {
		p.refuseWord(p.tok())
	}
	switch {
	case p.accept("as"):
		a.Name = p.ident("an alias")
	case p.isName():
		a.Name = p.ident("an alias")
	default:
		return a
	}
	if p.is("(") {
		a.Columns = p.identList("a column's name")
	}
	return a
}

func (p *parser) tableFunc() From {
	t := p.take()
	f := &TableFunc{Name: Ident{t.at, t.low}}
	p.enter()
	defer func() { p.depth-- }()
	p.take()
	for !p.is(")") {
		a := Arg{}
		if n := p.peek().low; (n == "=" || n == ":=" || n == "=>") && (p.tok().kind == word || p.tok().kind == quoted) {
			a.Name = p.label("a name")
			p.take()
		}
		if p.is("{") {
			a.X = p.structure()
		} else {
			a.X = p.expr(precLowest)
		}
		f.Args = append(f.Args, a)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")", ", or )")
	if p.isAll("with", "ordinality") {
		p.fail(p.tok().at, "WITH ORDINALITY is not supported", "")
	}
	if readers[f.Name.Name] {
		return p.reader(f)
	}
	f.Alias = p.tableAlias()
	return f
}

// readers are the functions of the dialect that read files. Here they all do the same, because Posta recognizes a file's format
// from the file itself.
var readers = words(
	"read_csv read_csv_auto read_json read_json_auto read_ndjson read_ndjson_auto read_json_objects read_parquet parquet_scan")

// reader makes a table from a call such as read_csv('pattern', delim = ';'). Its options are literals, because the set of files must not
// depend on parameters.
func (p *parser) reader(f *TableFunc) From {
	if len(f.Args) == 0 || f.Args[0].Name.Name != "" {
		p.fail(f.Name.At, f.Name.Name+" needs a pattern of files in quotes", "Write "+f.Name.Name+"('trips/*.csv').")
	}
	if _, ok := f.Args[0].X.(*String); !ok {
		p.fail(f.Args[0].X.Pos(), f.Name.Name+" needs a pattern of files in quotes", "Several patterns are put together by UNION ALL BY NAME.")
	}
	for _, a := range f.Args[1:] {
		if a.Name.Name == "" {
			p.fail(a.X.Pos(), "an option of "+f.Name.Name+" has a name", "Write delim = ';'.")
		}
	}
	var printed printer
	printed.from(f)
	return &Table{Name: Ident{f.Name.At, printed.String()}, File: true, Read: f, Alias: p.tableAlias()}
}

// structure reads {name: literal, …}.
func (p *parser) structure() Expr {
	s := &Struct{At: p.take().at}
	for !p.is("}") {
		t := p.tok()
		if t.kind != text && t.kind != word && t.kind != quoted {
			p.unexpected("a name")
		}
		p.i++
		if v := p.tok(); v.kind == param { // the lexer reads {name:value} without a blank as a parameter
			p.fail(v.at, fmt.Sprintf("expected : and a blank, found :%s", clip(v.text)), "Strings stand in single quotes: {'name': 'BIGINT'}.")
		}
		p.expect(":", ":")
		f := Arg{Name: Ident{t.at, t.text}, X: p.optionValue()}
		s.Fields = append(s.Fields, f)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}", ", or }")
	return s
}
