package split

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"

	"posta.dev/posta/analyses"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// Name is the name of the SQL analysis.
const Name = "sql"

// New returns the analysis that compiles plans; it goes into the set of a program that answers SQL.
func New() *analyses.Analysis {
	a := &analyses.Analysis{Name: Name, About: "statements of SQL"}
	a.Compile = func(plan []byte) (*analyses.Analysis, error) {
		s, err := Decode(plan)
		if err != nil {
			return nil, err
		}
		return s.Analysis()
	}
	return a
}

// Analysis makes the analysis of a session.
func (p *Session) Analysis() (*analyses.Analysis, error) {
	s, err := p.split(false)
	if err != nil {
		return nil, err
	}
	return s.analysis()
}

func (s *statement) analysis() (*analyses.Analysis, error) {
	a := &analyses.Analysis{Name: Name}
	a.Asks, a.Outline = s.of.Asks, s.of.Outline
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
		if l.Groups != nil {
			l.Groups.KeyColumns()
		}
		specs := []fold.Spec{l.Spec("t"+exec.Itoa(i), s.StreamName(l.Scan.Stream))}
		if l.Groups != nil {
			specs = append(specs, l.Groups.DistinctSpecs(specs[0].Name, specs[0].Stream)...)
		}
		s.Specs, l.Tables = append(s.Specs, specs...), len(specs)
	}
	for i, r := range s.Regions {
		l := r.Leaf
		l.Table, l.Tables = len(s.Specs), 1
		if l.Groups != nil {
			l.Groups.KeyColumns()
		}
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
	a.NewColumnParser = func(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) func(*columnar.Run) (int, int) {
		return s.Order[stream].Columns(file, b)
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
	a.Moves = s.Moves
	a.Reduce = func(_ analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
		return s.Reduce(&s.roots[query], tables, emit)
	}
}

// split splits the plans of a session into leaves and tails. With trial, queries over large tables count as answered.
func (p *Session) split(trial bool) (*statement, error) {
	plans := make([]plan.Node, len(p.Roots))
	for i, r := range p.Roots {
		plans[i] = r.Plan
	}
	ids := p.ids
	for large := map[*plan.Table]bool{}; ; {
		s := newStatement(p, &ids, sizesOf(p.Tables, p.tables, plans))
		s.large, s.live, s.trial = large, live(s.roots), trial
		for _, n := range plans {
			if err := s.take(n); err != nil {
				return nil, err
			}
		}
		if s.conflicts() { // each repetition marks another table as large, so the loop ends
			continue
		}
		s.finish()
		s.cut()
		s.unordered()
		if len(p.Roots) > 1 {
			return s, s.shares()
		}
		return s, nil
	}
}

func newStatement(p *Session, ids *plan.IDs, sized *sizes.Sizes) *statement {
	s := &statement{Fragments: &exec.Fragments{Text: p.Text, Scans: map[*plan.Table]*exec.Scan{}, ByNode: map[plan.Node]*exec.Leaf{},
		Refs: map[*plan.Table]bool{}, Size: sized.Read}, of: p, ids: ids, roots: slices.Clone(p.Roots), Sizes: sized,
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
	for i := range s.of.tables {
		if t := &s.of.tables[i]; s.Refs[t] {
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
