package bind

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// visible is a column that a name in a SELECT can refer to.
type visible struct {
	table  string // the table's name or alias in this SELECT
	name   string
	field  plan.Field  // of the rows of FROM
	hidden bool        // * leaves it out
	merged bool        // a column of USING; its name without a table finds another column instead
	scan   *plan.Scan  // the table that it comes from, if it comes straight from a Scan
	at     int         // its index in scan
	both   *plan.Apply // of a FULL JOIN … USING: coalesce of both columns
}

// scope resolves the names of one SELECT.
type scope struct {
	columns []visible
	outer   *scope // the scope of the query around this one
	ctes    *ctes
	aliases []aliasOf
	visible int // how many of aliases can be used here; while an item is bound, those before it
}

type aliasOf struct {
	name string
	item int
}

// ctes is a list of the names of WITH and of views, the innermost first.
type ctes struct {
	name    string
	columns []syntax.Ident
	query   *syntax.Query
	scope   *ctes // the names that the query itself can use
	outer   *ctes
	plan    plan.Node // nil until the query is bound
}

func (c *ctes) find(name string) *ctes {
	for ; c != nil; c = c.outer {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

// find returns the visible columns that a name refers to.
func (s *scope) find(table, name string) (found []visible) {
	for _, c := range s.columns {
		if strings.EqualFold(c.name, name) && (table == "" && !c.merged || table != "" && strings.EqualFold(c.table, table)) {
			found = append(found, c)
		}
	}
	return found
}

// column binds a name. A column wins over an alias.
func (b *binder) column(c *syntax.Column, s *scope) plan.Expr {
	found := s.find(c.Table, c.Name)
	switch {
	case len(found) == 1:
		return b.use(found[0], c.At)
	case len(found) > 1 && !s.hiddenAlike(found) && strings.EqualFold(found[0].table, found[1].table):
		b.fail(c.At, fmt.Sprintf("two columns are called %s", c.Name),
			"Names are equal whatever their case. Give one another name where it comes from: x AS name.")
	case len(found) > 1 && !s.hiddenAlike(found):
		b.fail(c.At, fmt.Sprintf("the column %s is in several tables", c.Name), within(c, found[:2]))
	case len(found) > 1:
		b.fail(c.At, fmt.Sprintf("every table has a column %s", c.Name), within(c, found[:1]))
	}
	if c.Table == "" && b.items != nil {
		if e := b.alias(c, s); e != nil {
			return e
		}
	}
	if e := b.outer(c, s); e != nil {
		return e
	}
	b.unknownColumn(c, s)
	return nil
}

// within says how a column is named together with its table, in words that a statement may have.
func within(c *syntax.Column, tables []visible) string {
	var forms []string
	for _, v := range tables {
		if v.table == "" {
			return "Name the query in FROM: (SELECT …) AS q. Then write q." + syntax.PrintName(c.Name) + "."
		}
		forms = append(forms, syntax.PrintName(v.table)+"."+syntax.PrintName(c.Name))
	}
	return "Write " + strings.Join(forms, ", or ") + "."
}

func (s *scope) hiddenAlike(found []visible) bool { return found[0].hidden }

// use notes that a column is read, and returns it. A column without a type can only be described.
func (b *binder) use(v visible, at syntax.Pos) plan.Expr {
	if v.both != nil {
		return v.both
	}
	if v.scan != nil && v.field.Type.Kind == types.Null && !b.describing {
		e := syntax.NewError(b.text, at, fmt.Sprintf("the column %s is not read", v.name), "")
		e.Unread = v.scan.Table.Fields[v.at].Name
		panic(e)
	}
	if v.scan != nil {
		v.scan.Used[v.at] = true
	}
	return &plan.Column{Base: plan.Base{T: v.field.Type, At: at}, ID: v.field.ID, Name: v.name}
}

func (b *binder) unknownColumn(c *syntax.Column, s *scope) {
	if c.Table != "" {
		var tables []string
		for _, v := range s.columns {
			if strings.EqualFold(v.table, c.Table) {
				tables = nil
				break
			}
			tables = append(tables, v.table)
		}
		if tables != nil || len(s.columns) == 0 {
			hint := didYouMean(c.Table, tables)
			if slices.ContainsFunc(s.columns, func(v visible) bool { return !v.hidden && strings.EqualFold(v.name, c.Table) }) {
				hint = fmt.Sprintf("%s is a column; if it holds JSON, write %s->>'%s'.", c.Table, syntax.PrintName(c.Table), c.Name)
			}
			b.fail(c.At, fmt.Sprintf("there is no table %s in FROM", c.Table), hint)
		}
	}
	var names []string
	for _, v := range s.columns {
		if !v.hidden && (c.Table == "" || strings.EqualFold(v.table, c.Table)) {
			names = append(names, v.name)
		}
	}
	for _, a := range s.aliases {
		if strings.EqualFold(a.name, c.Name) {
			b.fail(c.At, fmt.Sprintf("the alias %s is used before it is defined", c.Name), "Put its column in front of this one.")
		}
		names = append(names, a.name)
	}
	hint := didYouMean(c.Name, names)
	if equalFold(c.Name, "filename") {
		hint = "Every table has the column _file, and _line." // as DuckDB calls it
	}
	has := func(name string, of func(v visible) string) bool {
		return slices.ContainsFunc(s.columns, func(v visible) bool { return !v.hidden && strings.EqualFold(of(v), name) })
	}
	switch {
	case hint != "":
	case c.Table != "" && has(c.Table, func(v visible) string { return v.name }):
		hint = fmt.Sprintf("%s is a table and a column in it; if the column holds JSON, write %s->>'%s'.", c.Table, syntax.PrintName(c.Table),
			c.Name)
	case c.Table == "" && has(c.Name, func(v visible) string { return v.table }):
		hint = fmt.Sprintf("%s is a table, and a row is no value: write its columns, or %s.*.", c.Name, syntax.PrintName(c.Name))
	case len(names) > 0:
		hint = "There are: " + list(names) + "."
		if c.Table == "" && strings.HasPrefix(b.text[c.At:], `"`) {
			hint += fmt.Sprintf(" A string stands in single quotes: '%s'.", c.Name)
		}
	}
	b.fail(c.At, fmt.Sprintf("there is no column %s", c.Name), hint)
}

func didYouMean(name string, names []string) string {
	if near := syntax.Nearest(name, names); near != "" {
		return "Did you mean " + syntax.PrintName(near) + "?"
	}
	return ""
}

// list joins names, at most ten of them.
func list(names []string) string {
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// alias binds the item that an alias of this SELECT names, nil if there is none.
func (b *binder) alias(c *syntax.Column, s *scope) plan.Expr {
	for _, a := range s.aliases[:min(s.visible, len(s.aliases))] {
		if strings.EqualFold(a.name, c.Name) {
			e := b.item(a.item, s)
			if b.size(e) > maxSize {
				b.fail(c.At, "the aliases stand for too large an expression", "Compute it in a subquery in FROM, step by step.")
			}
			return e
		}
	}
	return nil
}

// maxSize bounds the parts of an expression after its aliases have been replaced. A shared part counts each time it is used.
const maxSize = 100_000

// fits refuses a SELECT whose columns, or whose condition, have too many parts in total. Each step of a plan walks through
// all of them.
func (b *binder) fits(at syntax.Pos, size int) {
	if size > maxSize {
		b.fail(at, fmt.Sprintf("the columns and aliases stand for too large an expression: more than %d parts", maxSize),
			"Compute them in a subquery in FROM, step by step.")
	}
}

// size counts the parts of an expression, shared ones as often as they are used.
func (b *binder) size(e plan.Expr) int {
	if n, ok := b.sizes[e]; ok {
		return n
	}
	n := 1
	for _, c := range plan.Children(e) {
		n = min(n+b.size(c), maxSize+1)
	}
	b.sizes[e] = n
	return n
}
