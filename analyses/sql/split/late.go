package split

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// SELECT * FROM t WHERE … ORDER BY a LIMIT 10 needs all columns of ten rows, and only a and the columns of WHERE of all others. If t has
// files in which columns lie apart, two passes read less than one: the first reads those few columns and says where the ten rows are,
// and the second reads all columns of these rows alone (late materialisation).
//
//	pass 1:  limit 10                                    pass 2:  limit 10
//	           project _file || ' ' || _line                        sort a
//	             sort a                                               filter …
//	               filter …                                             filter _file = 'f' AND _line IN (7, 13, …)
//	                 scan t (a, columns of WHERE)                         scan t (all columns)
//
// Both passes order rows by the same keys and then by their place, so the rows of the second are the answer, in its order (D1). What the
// first leaves out cannot fail: only columns of other rows are not read that their file declares the type of, and no expression is left out
// that may fail.

// Late is the number of the pass that finds the rows of an ORDER BY with a LIMIT.
const Late = -1

const (
	// mostLate is how many rows the second pass reads at most. Rows that lie apart travel one by one.
	mostLate = 256
	// lateFrom is from how many values on that only the answer needs a session of its own costs less than to read them all.
	lateFrom = 2 << 20
	// textValues is how many values a text counts for.
	textValues = 4
)

// top is an ORDER BY with a LIMIT over one table.
type top struct {
	rows int64 // LIMIT and OFFSET
	sort *plan.Sort
	scan *plan.Scan
}

// topOf returns the ORDER BY with a LIMIT that a plan is made of, nil if it is another plan, or one for which Late is not possible.
func topOf(n plan.Node) *top {
	t := &top{rows: -1}
	for {
		switch x := n.(type) {
		case *plan.Project:
			if t.sort != nil && slices.ContainsFunc(x.Exprs, func(e plan.Expr) bool { return plan.MayFail(e) || exec.ContainsSubquery(e) }) {
				return nil
			}
			n = x.Input
		case *plan.Limit:
			if t.rows >= 0 || t.sort != nil || x.Count <= 0 || x.Count > mostLate || x.Offset > mostLate-x.Count {
				return nil
			}
			t.rows, n = x.Count+x.Offset, x.Input
		case *plan.Sort:
			if t.rows < 0 || t.sort != nil || !plainOrders(x.Keys) {
				return nil
			}
			t.sort, n = x, x.Input
		case *plan.Filter:
			if t.sort == nil || !exec.Computed(x.Cond) {
				return nil
			}
			n = x.Input
		case *plan.Scan:
			if t.sort == nil {
				return nil
			}
			t.scan = x
			return t
		default:
			return nil
		}
	}
}

// late returns the pass that finds the rows of a statement; nil if it does not pay.
func (p *Plan) late() *Plan {
	if p.Pass != 0 || p.Rows != nil {
		return nil
	}
	p, err := p.fixed()
	if err != nil {
		return nil
	}
	r, err := p.root()
	if err != nil {
		return nil
	}
	t := topOf(r.Plan)
	if t == nil {
		return nil
	}
	for i := range p.bound.tables {
		if &p.bound.tables[i] == t.scan.Table && t.saves(&p.Tables[i]) < lateFrom {
			return nil
		}
	}
	pass := p.of(Part{Statement: p.Statement, Pass: Late, Answers: p.Answers})
	if _, err := Analysis(pass); err != nil {
		return nil
	}
	return pass
}

// saves returns how many values of a table are not read in two passes.
func (t *top) saves(of *catalog.Table) (values int64) {
	first := &plan.IDs{}
	n, _, _ := placed(t.sort, plan.Set{}, first)
	var read *plan.Scan
	plan.Nodes(n, func(n plan.Node) {
		if s, is := n.(*plan.Scan); is {
			read = s
		}
	})
	for i, c := range of.Columns {
		switch {
		case c.Star > 0:
		case !c.Typed: // a row that the first pass takes may be one that the second rejects
			return 0
		case t.scan.Used[i] && !read.Used[i] && c.Type.Kind == types.Text:
			values += textValues * of.Rows
		case t.scan.Used[i] && !read.Used[i]:
			values += of.Rows
		}
	}
	return values
}

// ofPlaces returns a statement that reads only the rows at some places, or finds the places, if it is one of the two passes.
func (p *Plan) ofPlaces(r exec.Root) (_ exec.Root, err error) {
	if p.Pass != Late && p.Rows == nil {
		return r, nil
	}
	t := topOf(r.Plan)
	switch {
	case t == nil:
		err = fmt.Errorf("%w: it is about the first rows of statement %s, which has none", ErrPlan, r.Name)
	case p.Pass == Late:
		r.Plan, r.Pass = t.places(p.bound.program.IDs), true
	default:
		r.Plan, err = t.only(r.Plan, p.Rows)
	}
	return r, err
}

// places returns the plan of the first pass.
func (t *top) places(ids *plan.IDs) plan.Node {
	n, file, line := placed(t.sort, plan.Set{}, ids)
	text := types.Of(types.Text)
	place := plan.Call(text, 0, "||", plan.Call(text, 0, "||", file, plan.Value(text, 0, " ")),
		&plan.Cast{Base: plan.Base{T: text}, X: line})
	return &plan.Limit{Input: &plan.Project{Input: n, Exprs: []plan.Expr{place}, Out: []plan.Field{ids.Field("place", text)}}, Count: t.rows}
}

// placed returns a node like n that gives of its columns only those that are needed, and the place of each row.
func placed(n plan.Node, needed plan.Set, ids *plan.IDs) (_ plan.Node, file, line *plan.Column) {
	needed = slices.Clone(needed)
	switch x := n.(type) {
	case *plan.Sort:
		needed.Mark(plan.OrderExprs(x.Keys)...)
		in, file, line := placed(x.Input, needed, ids)
		return &plan.Sort{Input: in, Keys: x.Keys}, file, line
	case *plan.Filter:
		needed.Mark(x.Cond)
		in, file, line := placed(x.Input, needed, ids)
		return &plan.Filter{Input: in, Cond: x.Cond}, file, line
	case *plan.Project:
		to, below := &plan.Project{}, plan.Set{}
		for i, f := range x.Out {
			if needed.Has(f.ID) {
				to.Exprs, to.Out = append(to.Exprs, x.Exprs[i]), append(to.Out, f)
			}
		}
		below.Mark(to.Exprs...)
		in, file, line := placed(x.Input, below, ids)
		at := len(to.Out)
		to.Input, to.Exprs = in, append(to.Exprs, file, line)
		to.Out = append(to.Out, ids.Field(file.Name, file.T), ids.Field(line.Name, line.T))
		return to, to.Out[at].Ref(0), to.Out[at+1].Ref(0)
	}
	x := n.(*plan.Scan)
	to := &plan.Scan{Table: x.Table, Out: x.Out, Used: make([]bool, len(x.Used))}
	at := len(x.Out) - 2
	for i, f := range x.Out {
		to.Used[i] = i >= at || x.Used[i] && needed.Has(f.ID)
	}
	return to, x.Out[at].Ref(0), x.Out[at+1].Ref(0)
}

// only returns a plan that reads only the rows at some places.
func (t *top) only(root plan.Node, places []string) (plan.Node, error) {
	scan := &plan.Scan{Table: t.scan.Table, Out: t.scan.Out, Used: slices.Clone(t.scan.Used)}
	at := len(scan.Out) - 2
	scan.Used[at], scan.Used[at+1] = true, true
	file, line := scan.Out[at].Ref(0), scan.Out[at+1].Ref(0)
	boolean := types.Of(types.Bool)
	byFile, files := map[string][]plan.Expr{}, []string(nil)
	for i, p := range places {
		space := strings.LastIndexByte(p, ' ')
		number, err := strconv.ParseInt(p[space+1:], 10, 64)
		if space < 0 || err != nil {
			return nil, fmt.Errorf("%w: row %d of the answer of the first pass is no place", ErrPlan, i+1)
		}
		name := p[:space]
		if byFile[name] == nil {
			files, byFile[name] = append(files, name), []plan.Expr{line}
		}
		byFile[name] = append(byFile[name], plan.Value(line.T, 0, number))
	}
	var cond plan.Expr = plan.Value(boolean, 0, false)
	slices.Sort(files)
	for i, name := range files {
		one := plan.And(plan.Call(boolean, 0, "=", file, plan.Value(file.T, 0, name)), plan.Call(boolean, 0, "IN", byFile[name]...))
		if cond = plan.Expr(plan.Call(boolean, 0, "OR", cond, one)); i == 0 {
			cond = one
		}
	}
	return plan.Rebuild(func(n plan.Node) plan.Node {
		if n == plan.Node(t.scan) {
			return &plan.Filter{Input: scan, Cond: cond}
		}
		return n
	})(root), nil
}

// placesIn returns the texts of the rows of an answer.
func placesIn(rows []string) ([]string, error) {
	v := &eval.Vector{Kind: types.Text}
	for i, row := range rows {
		rest, err := values.Cut(v, i, []byte(row))
		if err != nil || len(rest) > 0 {
			return nil, fmt.Errorf("%w: row %d of the answer of the first pass is no text", ErrPlan, i+1)
		}
	}
	return append([]string{}, v.Texts...), nil
}
