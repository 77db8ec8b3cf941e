package bind

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Params are the values of parameters, by name. They are never read as SQL.
type Params map[string]Param

// Param is the value of a parameter. Kind is Text for a text without a type of its own, which becomes what its place needs, as a text in
// quotes does. Otherwise it is Null, Bool, BigInt or Double, and Text what such a literal looks like.
type Param struct {
	Kind types.Kind
	Text string
}

// Untyped returns texts without types of their own.
func Untyped(texts map[string]string) Params {
	params := Params{}
	for name, text := range texts {
		params[name] = Param{types.Text, text}
	}
	return params
}

// Valid reports whether the kind is one that a parameter may have.
func (p Param) Valid() bool {
	switch p.Kind {
	case types.Null, types.Bool, types.BigInt, types.Double, types.Text:
		return true
	}
	return false
}

// Bind binds every statement of a script. tables holds all tables, including those of the script's CREATE TABLE. params holds
// the values of $name, as text. The error is a *syntax.Error.
func Bind(text string, script *syntax.Script, tables []plan.Table, params Params) (p *Program, err error) {
	b := &binder{text: text, tables: tables, params: params, sizes: map[plan.Expr]int{}, joinedBefore: map[plan.Node]bool{}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *syntax.Error:
			p, err = nil, e
		default:
			panic(e)
		}
	}()
	p = &Program{IDs: &b.ids}
	for _, st := range script.Statements { // first the views, because a statement may use one that is declared after it
		if n, ok := st.Node.(*syntax.CreateView); ok {
			if b.table(n.Name.Name, false) != nil || b.views.find(n.Name.Name) != nil {
				b.fail(n.Name.At, fmt.Sprintf("the name %s is taken", n.Name.Name), "")
			}
			b.named = map[*ctes]bool{}
			b.views = &ctes{name: n.Name.Name, columns: n.Columns, query: n.Query, scope: b.views, outer: b.views}
			b.cte(b.views) // bind unused views, too, to find their errors
		}
	}
	inViews := b.queries
	for _, st := range script.Statements {
		s := Statement{Name: st.Name.Name}
		b.queries = inViews // so the numbers of a statement's queries do not depend on the others
		b.joins, b.width, b.named = 0, 0, map[*ctes]bool{}
		switch n := st.Node.(type) {
		case *syntax.Query:
			s.Plan = b.query(n, nil, b.views)
			b.answerNames(st.At, s.Plan.Fields())
		case *syntax.Describe:
			if n.Summarize {
				s.Plan = b.summary(n, st.At, b.views)
			} else {
				b.describing = true
				s.Kind, s.Plan = Description, b.query(n.Query, nil, b.views)
				b.describing = false
			}
		case *syntax.ShowTables:
			s.Kind = Tables
		default:
			continue // a declaration, which has no answer
		}
		p.Statements = append(p.Statements, s)
	}
	return p, nil
}

// binder binds one script. Its methods leave by panic(*syntax.Error), which Bind returns.
type binder struct {
	text    string
	tables  []plan.Table
	params  Params
	views   *ctes
	sizes   map[plan.Expr]int
	ids     plan.IDs
	queries int // how many queries are used as values so far
	// joinedBefore has the plans of correlated queries that have been joined to the rows around them.
	joinedBefore map[plan.Node]bool
	named        map[*ctes]bool // queries of WITH and views that the statement has named so far
	joins        int            // how many joins the statement has so far; see maxJoins
	width        int            // how many columns its tables have together; see maxSize

	describing bool // the statement is a DESCRIBE, so no value is read

	inside syntax.Expr // the expression that is being bound; of nested ones the innermost

	// State of the SELECT that is being bound:
	items   []selectItem
	bound   []plan.Expr
	binding []bool // by item: it is being bound; guards against an item that needs itself
	windows []syntax.NamedWindow
}

func (b *binder) fail(at syntax.Pos, message, hint string) {
	b.raise(syntax.NewError(b.text, at, message, hint))
}

func (b *binder) raise(e *syntax.Error) {
	e.Columns = columnsIn(b.inside)
	panic(e)
}

// check fails with an error of package types.
func (b *binder) check(at syntax.Pos, err error) {
	if err == nil {
		return
	}
	e := syntax.NewError(b.text, at, err.Error(), "")
	if t := (*types.Error)(nil); errors.As(err, &t) {
		e.Hint, e.Text = t.Hint, slices.ContainsFunc(t.Types, func(t types.Type) bool { return t.Kind == types.Text })
	}
	b.raise(e)
}

func (b *binder) table(name string, file bool) *plan.Table {
	for i := range b.tables {
		if t := &b.tables[i]; t.File == file && (file && t.Name == name || !file && equalFold(t.Name, name)) {
			return t
		}
	}
	return nil
}
