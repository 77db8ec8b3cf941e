package split

import (
	"slices"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

// Known is what the files of a table say about it without being read.
type Known struct {
	Rows    int64
	Columns []csv.Known // those that were asked for
}

// Knows asks what the files of a table, by its index, say of some columns. It returns nil if they do not say it.
type Knows func(table int, columns []csv.Column) *Known

// FromFooters returns the plan of the statement with values in place of count(*), count(x), min(x) and max(x) over whole tables. It returns
// nil if the plan still reads a table then: reading some tables is not worth it if others are read anyway.
func (p *Plan) FromFooters(of Knows) plan.Node {
	p, err := p.fixed()
	if err != nil || p.Pass != 0 || len(p.Also) > 0 || p.bound.program.Statements[p.Statement].Kind != bind.Rows {
		return nil
	}
	root := p.bound.program.Statements[p.Statement].Plan
	trial := func(_ int, columns []csv.Column) *Known { // so that no file is asked in vain
		k := &Known{Columns: make([]csv.Known, len(columns))}
		for i := range k.Columns {
			k.Columns[i].Counted = true
		}
		return k
	}
	if plan.ReadsTables(p.withValues(root, trial)) {
		return nil
	}
	if root = p.withValues(root, of); plan.ReadsTables(root) {
		return nil
	}
	return root
}

func (p *Plan) withValues(root plan.Node, of Knows) plan.Node {
	return plan.Rebuild(func(n plan.Node) plan.Node {
		if a, is := n.(*plan.Aggregation); is {
			if row := p.valuesOf(a, of); row != nil {
				return &plan.Inline{Rows: [][]plan.Expr{row}, Out: a.Out}
			}
		}
		return n
	})(root)
}

// valuesOf returns the values of aggregates over all rows of a table, nil if they are not known.
func (p *Plan) valuesOf(n *plan.Aggregation, of Knows) (row []plan.Expr) {
	if len(n.Keys) > 0 || len(n.Sets) != 1 {
		return nil
	}
	args, below := make([]plan.Expr, len(n.Aggs)), n.Input
	for i, a := range n.Aggs {
		if a.Filter != nil || len(a.Order) > 0 || len(a.Args) > 1 || a.Distinct && a.Func == "count" {
			return nil
		}
		if len(a.Args) == 1 {
			args[i] = a.Args[0]
		}
	}
	for {
		x, is := below.(*plan.Project)
		if !is {
			break
		}
		for i, e := range args {
			args[i] = plan.Substitute(e, x.Columns())
		}
		below = x.Input
	}
	scan, is := below.(*plan.Scan)
	if !is {
		return nil
	}
	table := 0
	for &p.bound.tables[table] != scan.Table {
		table++
	}
	all, at, columns, asked := p.Tables[table].Columns, plan.LayoutOf(scan.Out), []csv.Column(nil), make([]int, len(args))
	if slices.ContainsFunc(all, func(c catalog.Column) bool { return !c.Typed }) {
		return nil // rows may be rejected
	}
	for i, e := range args {
		c, is := e.(*plan.Column)
		if e == nil {
			continue
		}
		if !is || at[c.ID] >= len(all) {
			return nil
		}
		asked[i] = len(columns)
		columns = append(columns, csv.Column{Name: all[at[c.ID]].Name, Distinct: true, Optional: true})
	}
	known := of(table, columns)
	if known == nil {
		return nil
	}
	for i, a := range n.Aggs {
		v, ok := any(known.Rows), a.Func == "count"
		if args[i] != nil {
			v, ok = valueOf(a, &known.Columns[asked[i]])
		}
		if !ok {
			return nil
		}
		row = append(row, plan.Value(a.T, a.At, v))
	}
	return row
}

// valueOf returns the value of an aggregate of a column; nil is NULL.
func valueOf(a *plan.Aggregate, c *csv.Known) (v any, ok bool) {
	switch a.Func {
	case "count":
		return c.Values, c.Counted
	case "min", "max":
	default:
		return nil, false
	}
	if a.T.Kind != types.BigInt && a.T.Kind != types.Decimal && a.T.Kind != types.Date && a.T.Kind != types.Timestamp {
		return nil, false
	}
	for _, r := range c.Ranges {
		if r.Kind == csv.KindNone {
			continue
		}
		read := exec.Reader(a.T, r.Kind)
		if read == nil {
			return nil, false
		}
		least, ok := read(r.Least)
		most, also := read(r.Most)
		if !ok || !also || least > most {
			return nil, false
		}
		n := int64(least ^ 1<<63)
		if a.Func == "max" {
			n = int64(most ^ 1<<63)
		}
		if v == nil || a.Func == "min" && n < v.(int64) || a.Func == "max" && n > v.(int64) {
			v = n
		}
	}
	return v, true
}
