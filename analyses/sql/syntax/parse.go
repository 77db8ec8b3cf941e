package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse reads every statement of text. The error is an *Error.
func Parse(text string) (script *Script, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			script, err = nil, e
		default:
			panic(e)
		}
	}()
	if len(text) > MaxText {
		return nil, NewError(text, MaxText, fmt.Sprintf("the text has %d bytes; at most %d are read", len(text), MaxText),
			"Put the statements into several files.")
	}
	if !utf8.ValidString(text) {
		at := 0
		for i, r := range text {
			if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
				at = i
				break
			}
		}
		return nil, NewError(text, Pos(at), "the text is not valid UTF-8", "Save the file as UTF-8.")
	}
	l := lexer{text: text}
	l.run()
	p := parser{text: text, tokens: l.tokens, names: l.names}
	return p.script(), nil
}

// Written reads a query that the program itself has written. All its positions are the same one, which errors about its values show. It may
// call the functions that no statement can call (Call.Summary).
func Written(text string, at Pos) *Query {
	l := lexer{text: text}
	l.run()
	for i := range l.tokens {
		l.tokens[i].at = at
	}
	p := parser{text: text, tokens: l.tokens, own: true}
	return p.script().Statements[0].Node.(*Query)
}

// ParseType reads the name of a type, such as DECIMAL(9, 2). Positions in the error refer to text.
func ParseType(text string) (typ TypeName, err error) {
	script, err := Parse("CREATE TABLE t FROM '*' (c " + text + ")")
	if err == nil {
		if c, ok := script.Statements[0].Node.(*CreateTable); ok && len(script.Statements) == 1 && len(c.Columns) == 1 && len(c.Options) == 0 {
			return c.Columns[0].Type, nil
		}
	}
	return typ, fmt.Errorf("'%s' is not a type", text)
}

// parser reads tokens from left to right and never goes back. Its methods leave by panic(*Error), which Parse returns.
type parser struct {
	text   string
	tokens []token
	names  []nameComment
	i      int
	depth  int
	own    bool // the text is Written
}

func (p *parser) tok() token  { return p.tokens[p.i] }
func (p *parser) peek() token { return p.tokens[min(p.i+1, len(p.tokens)-1)] }
func (p *parser) is(low string) bool {
	return p.tok().low == low
}

// isAll reports whether the next tokens have these texts.
func (p *parser) isAll(lows ...string) bool {
	for i, low := range lows {
		if p.i+i >= len(p.tokens) || p.tokens[p.i+i].low != low {
			return false
		}
	}
	return true
}

// isAny returns the next token's text if it is one of lows.
func (p *parser) isAny(lows ...string) (string, bool) {
	for _, low := range lows {
		if p.is(low) {
			return low, true
		}
	}
	return "", false
}

func (p *parser) take() token {
	t := p.tok()
	if t.kind != end {
		p.i++
	}
	return t
}

// accept reads the next tokens if they have these texts.
func (p *parser) accept(lows ...string) bool {
	if !p.isAll(lows...) {
		return false
	}
	p.i += len(lows)
	return true
}

func (p *parser) expect(low, what string) token {
	if !p.is(low) {
		p.unexpected(what)
	}
	return p.take()
}

func (p *parser) fail(at Pos, message, hint string) { panic(NewError(p.text, at, message, hint)) }

// unexpected refuses the next token. If it is a word close to a keyword, the hint suggests the keyword.
func (p *parser) unexpected(expected string) {
	t := p.tok()
	p.refuseWord(t)
	hint := ""
	for _, i := range []int{p.i, p.i - 1} {
		if i < 0 || p.tokens[i].kind != word || isKeyword(p.tokens[i].low) {
			continue
		}
		if near := Nearest(p.tokens[i].low, clauseWords); near != "" {
			hint = fmt.Sprintf("Did you mean %s instead of %s?", strings.ToUpper(near), clip(p.tokens[i].text))
			break
		}
	}
	if hint == "" && t.kind == word && reserved[t.low] && !separating[t.low] &&
		(expected == "an expression" || strings.HasPrefix(expected, "a")) {
		hint = fmt.Sprintf("If %s is a name, write it in double quotes: \"%s\".", t.text, t.text)
	}
	if hint == "" && t.kind == quoted && strings.HasPrefix(expected, "a string") {
		hint = "Double quotes are for names; strings stand in single quotes."
	}
	if p.i > 0 && p.tokens[p.i-1].low == "top" && t.kind == number {
		hint = "Write LIMIT n at the end."
	}
	p.fail(t.at, fmt.Sprintf("expected %s, found %s", expected, describe(t)), hint)
}

func describe(t token) string {
	switch t.kind {
	case end:
		return "the end of the text"
	case text:
		return "the string '" + clip(t.text) + "'"
	case quoted:
		return `the name "` + clip(t.text) + `"`
	case number:
		return "the number " + clip(t.text)
	case param:
		return "the parameter $" + clip(t.text)
	case word:
		if reserved[t.low] {
			return strings.ToUpper(t.low)
		}
	}
	return clip(t.text)
}

// enter counts nesting. The caller undoes it with p.depth--.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.fail(p.tok().at, fmt.Sprintf("this is nested more than %d deep", MaxDepth), "Put inner parts into WITH.")
	}
}

// ident reads a name.
func (p *parser) ident(what string) Ident {
	t := p.tok()
	if t.kind != quoted && (t.kind != word || reserved[t.low]) {
		p.unexpected(what)
	}
	p.i++
	return Ident{t.at, t.text}
}

// label reads a name after AS, where keywords need no quotes.
func (p *parser) label(what string) Ident {
	if t := p.tok(); t.kind == word {
		p.i++
		return Ident{t.at, t.text}
	}
	if t := p.tok(); t.kind == text {
		p.fail(t.at, "an alias is a name, not a string", `Write it in double quotes: "`+clip(t.text)+`".`)
	}
	return p.ident(what)
}

// isName reports whether the next token may be a name without AS before it.
func (p *parser) isName() bool {
	t := p.tok()
	return t.kind == quoted || t.kind == word && !reserved[t.low]
}

func (p *parser) identList(what string) (names []Ident) {
	p.expect("(", "(")
	for {
		names = append(names, p.ident(what))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")", ", or )")
	return names
}

func (p *parser) script() *Script {
	s := &Script{}
	names, answers := map[string]bool{}, 0
	for {
		for p.accept(";") {
		}
		name, named := p.nameBefore()
		if p.tok().kind == end {
			if named {
				p.fail(name.At, fmt.Sprintf("no statement follows the name %s", name.Name), "")
			}
			break
		}
		st := Statement{At: p.tok().at}
		st.Node = p.statement()
		if !p.is(";") && p.tok().kind != end {
			p.unexpected("the end of the statement or ;")
		}
		if len(p.names) > 0 && p.names[0].before <= p.i && (p.is(";") || p.names[0].before < p.i) {
			p.fail(p.names[0].ident.At, "a name stands within a statement", "Is the ; in front of it missing?")
		}
		switch st.Node.(type) {
		case *CreateTable, *CreateView:
			if named {
				p.fail(name.At, fmt.Sprintf("the name %s stands before a statement that has no answer", name.Name), "Put it in front of a SELECT.")
			}
		default:
			answers++
			if !named {
				name = Ident{st.At, fmt.Sprintf("query_%d", answers)}
			}
			if names[strings.ToLower(name.Name)] {
				p.fail(name.At, fmt.Sprintf("two answers are named %s", name.Name), "Give one of them another name: -- name: …")
			}
			names[strings.ToLower(name.Name)] = true
			st.Name = name
		}
		s.Statements = append(s.Statements, st)
	}
	if len(s.Statements) == 0 {
		p.fail(p.tok().at, "there is no statement", "For example: SELECT count(*) FROM 'trips/*.csv'")
	}
	return s
}

// nameBefore returns the name that a comment gives to the statement that begins here.
func (p *parser) nameBefore() (name Ident, found bool) {
	for len(p.names) > 0 && p.names[0].before <= p.i {
		if found {
			p.fail(p.names[0].ident.At, "one statement has two names", "Is the statement between them missing?")
		}
		name, found = p.names[0].ident, true
		p.names = p.names[1:]
	}
	return name, found
}

func (p *parser) statement() Node {
	switch t := p.tok(); {
	case p.startsQuery() || p.is("("):
		return p.query()
	case p.is("create"):
		return p.create()
	case p.is("describe") || p.is("summarize"):
		return p.describe()
	case p.is("show"):
		p.i++
		if !p.accept("tables") {
			p.unexpected("TABLES")
		}
		return &ShowTables{}
	default:
		if why, ok := refusedStatements[t.low]; ok && t.kind == word {
			p.fail(t.at, strings.ToUpper(t.low)+" is not supported", why)
		}
		p.unexpected("a statement: SELECT, FROM, WITH, VALUES, CREATE TABLE … FROM, CREATE VIEW, DESCRIBE, SUMMARIZE or SHOW TABLES")
		return nil
	}
}

func (p *parser) describe() Node {
	d := &Describe{Summarize: p.take().low == "summarize"}
	if p.startsQuery() || p.is("(") {
		d.Query = p.query()
		return d
	}
	at := p.tok().at
	t := &Table{}
	switch {
	case p.tok().kind == text:
		t.File = true
		t.Name = p.file()
	case p.isName():
		t.Name = p.ident("a table")
	default:
		p.unexpected("a table or a query")
	}
	d.Query = &Query{At: at, Body: &Select{At: at, Items: []Item{{X: &Star{At: at}}}, From: t}}
	return d
}

func (p *parser) create() Node {
	p.take()
	switch {
	case p.accept("view"):
		v := &CreateView{Name: p.ident("the view's name")}
		if p.is("(") {
			v.Columns = p.identList("a column's name")
		}
		p.expect("as", "AS")
		if !p.startsQuery() && !p.is("(") {
			p.unexpected("a query")
		}
		v.Query = p.query()
		return v
	case p.accept("table"):
		return p.createTable()
	case p.isAll("or", "replace"):
		p.fail(p.tok().at, "OR REPLACE is not supported", "A name is declared once in a text; leave OR REPLACE out.")
	case p.is("temp") || p.is("temporary"):
		p.fail(p.tok().at, "TEMPORARY is not supported", "Every declaration lasts as long as its text; write CREATE VIEW name AS SELECT …")
	}
	if p.is("macro") || p.is("function") {
		p.fail(p.tok().at, "functions of your own are not supported",
			"Write the expression where it is needed, or CREATE VIEW name AS SELECT …")
	}
	p.unexpected("TABLE or VIEW")
	return nil
}

func (p *parser) createTable() Node {
	if p.isAll("if", "not", "exists") {
		p.fail(p.tok().at, "IF NOT EXISTS is not supported", "A name is declared once in a text; leave IF NOT EXISTS out.")
	}
	c := &CreateTable{Name: p.ident("the table's name")}
	if p.is("as") {
		p.fail(p.tok().at, "CREATE TABLE … AS is not supported",
			"Write CREATE VIEW name AS SELECT …, or CREATE TABLE name FROM 'pattern of files'.")
	}
	if p.is("(") {
		p.fail(p.tok().at, "a table without files is not supported", "Write CREATE TABLE name FROM 'pattern of files' (column TYPE, …).")
	}
	p.expect("from", "FROM")
	if p.tok().kind != text {
		p.unexpected("a string with a pattern of files")
	}
	f := p.file()
	c.Files = &String{f.At, f.Name}
	if p.accept("(") {
		for {
			d := ColumnDef{Name: p.ident("a column's name")}
			d.Type = p.typeName()
			c.Columns = append(c.Columns, d)
			if !p.accept(",") {
				break
			}
		}
		if p.is("not") || p.is("primary") || p.is("default") || p.is("unique") || p.is("check") || p.is("references") {
			p.fail(p.tok().at, "constraints are not supported", "A column has a name and a type.")
		}
		p.expect(")", ", or )")
	}
	if p.accept("with") {
		p.expect("(", "(")
		for {
			o := Option{Name: p.ident("an option")}
			p.accept("=")
			o.Value = p.optionValue()
			c.Options = append(c.Options, o)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")", ", or )")
	}
	return c
}

func (p *parser) optionValue() Expr {
	t := p.tok()
	switch {
	case t.kind == text:
		p.i++
		return &String{t.at, t.text}
	case t.kind == number:
		p.i++
		return &Number{t.at, t.text}
	case p.is("true") || p.is("false"):
		p.i++
		return &Bool{t.at, t.low == "true"}
	case p.accept("["):
		list := &List{At: t.at}
		for !p.is("]") {
			item := p.tok()
			if item.kind != text {
				p.unexpected("a string")
			}
			p.i++
			list.Items = append(list.Items, &String{item.at, item.text})
			if !p.accept(",") {
				break
			}
		}
		p.expect("]", ", or ]")
		return list
	}
	p.unexpected("a string, a number, a list of strings, true or false")
	return nil
}

// file reads a pattern of files.
func (p *parser) file() Ident {
	t := p.take()
	if t.text == "" {
		p.fail(t.at, "the pattern of files is empty", "For example 'trips/*.csv', below --data.")
	}
	return Ident{t.at, t.text}
}

// typeName reads a type.
func (p *parser) typeName() TypeName {
	t := p.tok()
	if t.kind != word || reserved[t.low] {
		p.unexpected("a type")
	}
	p.i++
	ty := TypeName{At: t.at, Name: upper(t.low)}
	switch {
	case t.low == "double":
		p.accept("precision")
	case t.low == "character" && p.accept("varying"):
		ty.Name = "VARCHAR"
	case t.low == "timestamp" || t.low == "time":
		if p.isAll("with", "time", "zone") {
			p.fail(p.tok().at, "time zones are not supported",
				"TIMESTAMP has no zone; a value with Z or an offset is converted to UTC when it is read.")
		}
		p.accept("without", "time", "zone")
	case t.low == "struct" || t.low == "map" || t.low == "union" || t.low == "row":
		p.fail(t.at, ty.Name+" is not supported", "The only nested type is a list of TEXT: TEXT[].")
	}
	if p.accept("(") {
		for {
			n := p.tok()
			if n.kind != number || len(n.text) > 9 || strings.ContainsAny(n.text, ".eE") {
				p.unexpected("a whole number")
			}
			p.i++
			v := 0
			for _, c := range n.text {
				v = v*10 + int(c-'0')
			}
			ty.Args = append(ty.Args, v)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")", ", or )")
	}
	if p.accept("[", "]") {
		ty.List = true
		if p.isAll("[", "]") {
			p.fail(p.tok().at, "lists of lists are not supported", "The only nested type is a list of TEXT: TEXT[].")
		}
	}
	return ty
}
