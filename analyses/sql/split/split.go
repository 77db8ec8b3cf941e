package split

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/optimize"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// Name is the name of the SQL analysis.
const Name = "sql"

// New returns the analysis that compiles plans; it goes into the set of a program that answers SQL.
func New() *analyses.Analysis {
	a := &analyses.Analysis{Name: Name, About: "statements of SQL"}
	a.Compile = func(plan []byte) (*analyses.Analysis, error) {
		p, err := Decode(plan)
		if err != nil {
			return nil, err
		}
		return Analysis(p)
	}
	return a
}

// Analysis makes the analysis of a plan's statements.
func Analysis(p *Plan) (*analyses.Analysis, error) {
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	return s.analysis()
}

func (s *statement) analysis() (*analyses.Analysis, error) {
	p := s.plan
	a := &analyses.Analysis{Name: Name}
	a.Asks, a.Outline = p.asks(s.script, s.roots[0].Name)
	for i, sc := range s.Order {
		stream, err := sc.Describe()
		if err != nil {
			return nil, err
		}
		stream.Name, stream.Reference = s.StreamName(i), s.Refs[sc.Of]
		for _, a := range sc.Alone {
			own, err := a.Scan.Describe()
			if err != nil {
				return nil, err
			}
			name := s.roots[a.Root].Name
			stream.Parties = append(stream.Parties, analyses.Party{Name: CountedFor(stream.Name, name), Query: name, Columns: own.Columns,
				Schema: own.Schema, NewParser: a.Scan.Parser})
		}
		a.Streams = append(a.Streams, stream)
	}
	if len(a.Streams) == 0 {
		return nil, fmt.Errorf("the statement %s reads no table", s.roots[0].Name)
	}
	s.Lead()
	a.Tables = s.numberTables()
	var err error
	if a.Queries, err = s.queries(); err != nil {
		return nil, err
	}
	s.roles(a)
	return a, nil
}

// numberTables returns the tables in which leaves and regions leave what they know, and numbers them.
func (s *statement) numberTables() []fold.Spec {
	for i, l := range s.Leaves {
		l.Table = len(s.Specs)
		specs := []fold.Spec{l.Spec("t"+exec.Itoa(i), s.StreamName(l.Scan.Stream))}
		if l.Groups != nil {
			specs = append(specs, l.Groups.DistinctSpecs(specs[0].Name, specs[0].Stream)...)
		}
		if l.Parts != nil && l.Groups != nil { // DISTINCT values go to the partition of their group
			for k := range specs[1:] {
				specs[1+k].PartitionBy = 1
			}
		}
		s.Specs, l.Tables = append(s.Specs, specs...), len(specs)
	}
	for i, r := range s.Regions {
		l := r.Leaf
		l.Table, l.Tables = len(s.Specs), 1
		spec := l.Spec("j"+exec.Itoa(i), s.StreamName(r.Sources[0].Scan.Stream))
		for _, from := range r.Sources {
			for t := range from.Tables {
				spec.From = append(spec.From, s.Specs[from.Table+t].Name)
			}
		}
		s.Specs = append(s.Specs, spec)
	}
	return s.Specs
}

// queries returns a query for each statement, and for each pass.
func (s *statement) queries() (all []analyses.Query, err error) {
	for i := range s.roots {
		r := &s.roots[i]
		query := analyses.Query{Name: r.Name}
		r.Tables = map[*exec.Leaf]int{}
		read := s.LeavesOf(r.Plan)
		for _, l := range s.Answering() {
			if !read[l] {
				continue
			}
			r.Tables[l] = len(query.Tables)
			for t := range l.Tables {
				query.Tables = append(query.Tables, s.Specs[l.Table+t].Name)
			}
		}
		for _, f := range r.Plan.Fields() {
			query.Columns = append(query.Columns, f.Name)
		}
		if r.Pass {
			query.Columns = []string{"row"}
		}
		if pass := s.passesOn(r); pass != nil {
			query.Order = pass.Order
			query.Rows = func(_ analyses.Args, t *fold.Table, emit func(row ...any)) error {
				return pass.Rows(s.Fragments, t, emit)
			}
		}
		if n := len(query.Columns); n > protocol.MaxColumns {
			return nil, fmt.Errorf("the statement %s gives %d columns, at most %d are possible: name those that are needed", r.Name, n,
				protocol.MaxColumns)
		}
		all = append(all, query)
	}
	return all, nil
}

// roles sets what the roles of the pipeline do.
func (s *statement) roles(a *analyses.Analysis) {
	a.NewParser = func(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) (func([][]byte) error, error) {
		return s.Order[stream].Parser(file, b), nil
	}
	a.NewRunParser = func(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) func(*csv.Run) (int, int) {
		return s.Order[stream].Runs(file, b)
	}
	a.ReferenceLater = true
	a.NewJoiner = func(_ analyses.Args, r analyses.Replica) (analyses.Joiner, error) { return s.NewJoiner(r) }
	a.NewFolder = func(_ analyses.Args, stream int) (analyses.Folder, error) { return s.NewFolder(stream) }
	a.Prune = s.pruneGroups()
	if len(s.Regions) > 0 {
		a.Finish = func(_ analyses.Args, table int, tables []*fold.Table, full func()) error {
			return s.FinishPart(table, tables, full)
		}
	}
	a.Reduce = func(_ analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
		return s.Reduce(&s.roots[query], tables, emit)
	}
}

// statement binds the statements of the plan, and splits them into leaves and tails.
func (p *Plan) statement() (*statement, error) { return p.takenApart(false) }

func (p *Plan) takenApart(trial bool) (*statement, error) {
	script, err := syntax.Parse(p.Text)
	if err != nil {
		return nil, err
	}
	return p.parsed(script, trial)
}

// parsed is takenApart for a text that has been parsed.
func (p *Plan) parsed(script *syntax.Script, trial bool) (*statement, error) {
	tables := p.tables()
	prog, err := bind.BindSome(p.Text, script, tables, p.Params, func(i int) bool {
		return slices.ContainsFunc(p.Parts(), func(part Part) bool { return part.Statement == i })
	})
	if err != nil {
		return nil, err
	}
	var roots []exec.Root
	for _, part := range p.Parts() {
		i := part.Statement
		if i >= len(prog.Statements) || slices.ContainsFunc(roots, func(r exec.Root) bool { return r.Name == prog.Statements[i].Name }) {
			return nil, fmt.Errorf("%w: it is about statement %d of %d", ErrPlan, i, len(prog.Statements))
		}
		st := &prog.Statements[i]
		if st.Kind != bind.Rows {
			return nil, fmt.Errorf("%w: statement %s asks for no rows", ErrPlan, st.Name)
		}
		r, err := part.passed(exec.Root{Name: st.Name, Plan: st.Plan}, prog.IDs)
		if err != nil {
			return nil, err
		}
		roots = append(roots, r)
	}
	about := map[*plan.Table]*sizes.Table{}
	for i := range tables {
		about[&tables[i]] = p.Tables[i].Sizes()
	}
	sized := func(plans []plan.Node) *sizes.Sizes {
		return sizes.Of(func(t *plan.Table) *sizes.Table { return about[t] }, plans...)
	}
	plans := make([]plan.Node, len(roots))
	for i, r := range roots {
		plans[i] = r.Plan
	}
	plans = optimize.PushDown(optimize.Constants(plans))
	plans = optimize.Arrange(plans, sized(plans), MaxReference)
	for i, n := range plans {
		if err := plan.Check(n); err != nil {
			return nil, err
		}
		roots[i].Plan = n
	}
	for large := map[*plan.Table]bool{}; ; {
		s := newStatement(p, prog.IDs, tables, roots, sized(plans))
		s.script, s.large, s.live, s.trial = script, large, live(roots), trial
		for _, r := range roots {
			if err := s.take(r.Plan); err != nil {
				return nil, err
			}
		}
		if s.conflicts() { // each repetition marks another table as large, so the loop ends
			continue
		}
		s.finish()
		if len(p.Also) > 0 {
			return s, s.shares()
		}
		return s, nil
	}
}

func newStatement(p *Plan, ids *plan.IDs, tables []plan.Table, roots []exec.Root, sized *sizes.Sizes) *statement {
	s := &statement{Fragments: &exec.Fragments{Text: p.Text, Scans: map[*plan.Table]*exec.Scan{}, ByNode: map[plan.Node]*exec.Leaf{},
		Refs: map[*plan.Table]bool{}, Size: sized.Read}, plan: p, ids: ids, tables: tables, roots: roots, Sizes: sized,
		seen: map[plan.Node]bool{}, plain: map[plan.Expr]bool{}}
	for n := range s.Uses() {
		scan, is := n.(*plan.Scan)
		if !is {
			continue
		}
		for i, f := range scan.Out {
			if !scan.Used[i] {
				s.unread.Add(f.ID)
			}
		}
	}
	return s
}

// finish numbers the streams, and determines which columns each of them reads.
func (s *statement) finish() {
	var order []*exec.Scan // reference streams first
	for i := range s.tables {
		if t := &s.tables[i]; s.Refs[t] {
			if s.Scans[t] == nil {
				s.Scans[t] = &exec.Scan{Of: t, Table: s.about(t)}
			}
			order = append(order, s.Scans[t])
		}
	}
	for _, sc := range s.Order {
		if !s.Refs[sc.Of] {
			order = append(order, sc)
		}
	}
	s.Order = order
	for i, sc := range s.Order {
		sc.Stream, sc.Used = i, s.Used(sc.Of)
		width := len(sc.Table.Columns)
		for c := range width {
			switch {
			case sc.Used[c] && sc.Table.Columns[c].Star > 0:
				sc.Stars = append(sc.Stars, c)
			case sc.Used[c]:
				sc.Wanted = append(sc.Wanted, c)
			}
		}
		sc.File, sc.Line = sc.Used[width], sc.Used[width+1]
	}
	s.push()
}
