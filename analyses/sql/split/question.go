package split

import (
	"fmt"
	"maps"
	"reflect"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/optimize"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/protocol"
)

var _ [0]struct{} = [bind.MaxName - protocol.MaxName]struct{}{} // both bound the same names

// Plan is what the client asks: a text, the tables that its names stand for, and what of the text a session answers. What nodes get is its
// [Session].
//
// Once it is bound (Bind), all plans that are made of it share the bound text, and each is compiled once. Its fields must not change then.
type Plan struct {
	Text      string
	Statement int        // index of the text's statement that is answered
	Pass      int        // number of the query, used as a value, that is answered instead of the statement, from 1; 0: none; or [Late]
	Answers   [][]string // of earlier passes, by query; nil: no answer yet. See [Plan.NextPass]
	Rows      []string   // the places of the only rows that are read, which the pass Late has found; nil: all rows
	Also      []Part     // what else the same session answers, from the same scan
	Tables    []catalog.Table
	Params    bind.Params

	// PartitionFrom is the estimated number of bytes from which on tables that are not small are joined in the aggregators. 0 stands
	// for the constant of that name; with a negative number, tables are never joined there.
	PartitionFrom int64
	// Small is how many bytes of small tables every joiner gets at most. 0 stands for MaxReference; with a negative number, no table is small.
	Small int64

	bound     *boundText
	alone     []*Plan   // by part, the plans that were put together
	optimised exec.Root // of the first part
	encoded   []byte
	session   *Session
}

// Part is one of several things that a session answers: a statement, or a pass of one. Its fields mean what those of a Plan mean.
type Part struct {
	Statement int
	Pass      int
	Answers   [][]string
	Rows      []string
}

// boundText is a text whose statements are bound.
type boundText struct {
	script  *syntax.Script
	program *bind.Program
	tables  []plan.Table
}

// Parts returns all that the plan answers.
func (p *Plan) Parts() []Part {
	return append([]Part{{p.Statement, p.Pass, p.Answers, p.Rows}}, p.Also...)
}

// of returns a plan about the same text that answers other parts.
func (p *Plan) of(first Part, also ...Part) *Plan {
	to := *p
	to.Statement, to.Pass, to.Answers, to.Rows, to.Also = first.Statement, first.Pass, first.Answers, first.Rows, also
	to.alone, to.optimised, to.encoded, to.session = nil, exec.Root{}, nil, nil
	return &to
}

// Of returns the plan of another statement of the text.
func (p *Plan) Of(statement int) *Plan { return p.of(Part{Statement: statement}) }

// Alone returns a plan that answers only one of the plan's parts; 0 is the first of them.
func (p *Plan) Alone(part int) *Plan {
	switch {
	case p.alone != nil:
		return p.alone[part]
	case len(p.Also) == 0:
		return p
	}
	return p.of(p.Parts()[part])
}

// Together returns the plan of a session that answers what several plans answer alone, nil if the plans are not about the same text,
// parameters and tables: then they know different things of a table, so that none of them can stand for the others.
func Together(plans []*Plan) *Plan {
	var parts []Part
	for _, p := range plans {
		if !p.same(plans[0]) {
			return nil
		}
		parts = append(parts, p.Parts()...)
	}
	all := plans[0].of(parts[0], parts[1:]...)
	if all.bound != nil && len(parts) == len(plans) {
		all.alone = plans
	}
	return all
}

// same reports whether two plans are about the same text, parameters and tables.
func (p *Plan) same(q *Plan) bool {
	return p.bound != nil && p.bound == q.bound || p.Text == q.Text && maps.Equal(p.Params, q.Params) && p.PartitionFrom == q.PartitionFrom &&
		p.Small == q.Small && reflect.DeepEqual(p.Tables, q.Tables)
}

// Bind parses and binds the text, unless that has been done. The error is a *syntax.Error.
func (p *Plan) Bind() (*bind.Program, error) {
	if p.bound != nil {
		return p.bound.program, nil
	}
	script, err := syntax.Parse(p.Text)
	if err != nil {
		return nil, err
	}
	b := &boundText{script: script, tables: tablesOf(p.Tables)}
	if b.program, err = bind.Bind(p.Text, script, b.tables, p.Params); err != nil {
		return nil, err
	}
	p.bound = b
	return b.program, nil
}

// fixed returns the plan if it is bound. Otherwise it returns a bound copy, so that the caller can still change the fields of the plan.
func (p *Plan) fixed() (*Plan, error) {
	if p.bound != nil {
		return p, nil
	}
	to := *p
	_, err := to.Bind()
	return &to, err
}

// Session returns what nodes get of the plan: its statements are bound and optimised, and read back from the form in which they travel, so
// that the client sees what nodes see.
func (p *Plan) Session() (*Session, error) {
	p, err := p.fixed()
	if err != nil || p.session != nil {
		return p.session, err
	}
	b, err := p.Encode()
	if err != nil {
		return nil, err
	}
	if len(b) > MaxPlan {
		return nil, fmt.Errorf("sql: the plan of the statement has %d bytes, at most %d are taken: declare the columns that are needed with "+
			"CREATE TABLE, or ask for less at once", len(b), MaxPlan)
	}
	if p.session, err = Decode(b); err != nil {
		return nil, err
	}
	for i, from := range p.Tables { // with what does not travel
		to := &p.session.Tables[i]
		to.Form = from.Form
		for k, c := range from.Columns {
			to.Columns[k].Key, to.Columns[k].Keyed = c.Key, c.Keyed
		}
	}
	return p.session, nil
}

// Encode returns the wire form of the plan's session. It may be too long to travel.
func (p *Plan) Encode() ([]byte, error) {
	p, err := p.fixed()
	if err == nil && p.encoded == nil {
		var s *Session
		if s, err = p.compiled(); err == nil {
			p.encoded = s.Encode()
		}
	}
	return p.encoded, err
}

// compiled optimises what a bound plan asks.
func (p *Plan) compiled() (*Session, error) {
	s := &Session{Text: p.Text, Tables: p.Tables, PartitionFrom: p.PartitionFrom, Small: p.Small, tables: p.bound.tables}
	for i := range p.Parts() {
		r, err := p.Alone(i).root()
		if err != nil {
			return nil, err
		}
		s.Roots = append(s.Roots, r)
	}
	s.Asks, s.Outline = p.asks(p.bound.script, s.Roots[0].Name)
	return s, nil
}

// root returns the optimised plan of the first part.
func (p *Plan) root() (r exec.Root, err error) {
	if p.optimised.Plan != nil {
		return p.optimised, nil
	}
	i, all := p.Statement, p.bound.program.Statements
	if i >= len(all) {
		return r, fmt.Errorf("%w: it is about statement %d of %d", ErrPlan, i, len(all))
	}
	if all[i].Kind != bind.Rows {
		return r, fmt.Errorf("%w: statement %s asks for no rows", ErrPlan, all[i].Name)
	}
	if r, err = p.passed(exec.Root{Name: all[i].Name, Plan: all[i].Plan}, p.bound.program.IDs); err != nil {
		return r, err
	}
	plans := optimize.Unread(optimize.PushDown(optimize.Constants([]plan.Node{r.Plan})))
	sized := sizesOf(p.Tables, p.bound.tables, plans)
	small := mostSmall(p.Small)
	r.Plan = optimize.Keys(optimize.Associate(optimize.Arrange(plans, sized, small)), sized, small)[0]
	if r, err = p.ofPlaces(r); err != nil {
		return r, err
	}
	p.optimised = r
	return r, nil
}

// sizesOf returns the sizes of what plans read.
func sizesOf(list []catalog.Table, tables []plan.Table, plans []plan.Node) *sizes.Sizes {
	about := map[*plan.Table]*sizes.Table{}
	for i := range tables {
		about[&tables[i]] = list[i].Sizes()
	}
	return sizes.Of(func(t *plan.Table) *sizes.Table { return about[t] }, plans...)
}

// Analysis makes the analysis of a plan's statements.
func Analysis(p *Plan) (*analyses.Analysis, error) {
	s, err := p.Session()
	if err != nil {
		return nil, err
	}
	return s.Analysis()
}

// statement splits what the plan asks.
func (p *Plan) statement() (*statement, error) {
	s, err := p.Session()
	if err != nil {
		return nil, err
	}
	return s.split(false)
}
