package compile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/optimize"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// Name is the name of the SQL analysis.
const Name = "sql"

// TailBytes bounds the bytes of rows, groups and values that the reducer keeps for a statement.
const TailBytes = 512 << 20

// New returns the analysis that compiles plans; it goes into the set of a program that answers SQL.
func New() *analyses.Analysis {
	return &analyses.Analysis{Name: Name, About: "statements of SQL", Compile: func(plan []byte) (*analyses.Analysis, error) {
		p, err := Decode(plan)
		if err != nil {
			return nil, err
		}
		return Analysis(p)
	}}
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
	a.Asks, a.Outline = p.asks(s.script, s.roots[0].name)
	for i, sc := range s.order {
		stream, err := sc.describe()
		if err != nil {
			return nil, err
		}
		stream.Name, stream.Reference = s.streamName(i), s.refs[sc.of]
		for _, a := range sc.alone {
			own, err := a.scan.describe()
			if err != nil {
				return nil, err
			}
			name := s.roots[a.root].name
			stream.Parties = append(stream.Parties, analyses.Party{Name: CountedFor(stream.Name, name), Query: name, Columns: own.Columns,
				Schema: own.Schema, NewParser: a.scan.parser})
		}
		a.Streams = append(a.Streams, stream)
	}
	if len(a.Streams) == 0 {
		return nil, fmt.Errorf("the statement %s reads no table", s.roots[0].name)
	}
	s.lead()
	for i, l := range s.leaves {
		l.table = len(s.specs)
		specs := []fold.Spec{l.spec("t"+itoa(i), s.streamName(l.scan.stream))}
		if l.groups != nil {
			specs = append(specs, l.groups.distinctSpecs(specs[0].Name, specs[0].Stream)...)
		}
		if l.parts != nil && l.groups != nil { // DISTINCT values go to the partition of their group
			for k := range specs[1:] {
				specs[1+k].PartitionBy = 1
			}
		}
		s.specs, l.tables = append(s.specs, specs...), len(specs)
	}
	for i, r := range s.regions {
		l := r.leaf
		l.table, l.tables = len(s.specs), 1
		spec := l.spec("j"+itoa(i), s.streamName(r.sources[0].scan.stream))
		for _, from := range r.sources {
			for t := range from.tables {
				spec.From = append(spec.From, s.specs[from.table+t].Name)
			}
		}
		s.specs = append(s.specs, spec)
	}
	a.Tables = s.specs
	for i := range s.roots {
		r := &s.roots[i]
		query := analyses.Query{Name: r.name}
		r.tables = map[*leaf]int{}
		read := s.leavesOf(r.plan)
		for _, l := range s.answering() {
			if !read[l] {
				continue
			}
			r.tables[l] = len(query.Tables)
			for t := range l.tables {
				query.Tables = append(query.Tables, s.specs[l.table+t].Name)
			}
		}
		for _, f := range r.plan.Fields() {
			query.Columns = append(query.Columns, f.Name)
		}
		if r.pass {
			query.Columns = []string{"row"}
		}
		if pass := s.passesOn(r); pass != nil {
			query.Order = pass.order
			query.Rows = func(_ analyses.Args, t *fold.Table, emit func(row ...any)) error { return pass.rows(s, t, emit) }
		}
		if n := len(query.Columns); n > protocol.MaxColumns {
			return nil, fmt.Errorf("the statement %s gives %d columns, at most %d are possible: name those that are needed", r.name, n,
				protocol.MaxColumns)
		}
		a.Queries = append(a.Queries, query)
	}
	a.NewParser = func(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) (func([][]byte) error, error) {
		return s.order[stream].parser(file, b), nil
	}
	a.NewRunParser = func(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) func(*csv.Run) (int, int) {
		return s.order[stream].runs(file, b)
	}
	a.ReferenceLater = true
	a.NewJoiner = func(_ analyses.Args, r analyses.Replica) (analyses.Joiner, error) { return s.newJoiner(r) }
	a.NewFolder = func(_ analyses.Args, stream int) (analyses.Folder, error) { return s.newFolder(stream) }
	a.Prune = s.pruneGroups()
	if len(s.regions) > 0 {
		a.Finish = func(_ analyses.Args, table int, tables []*fold.Table, full func()) error {
			return s.finishPart(table, tables, full)
		}
	}
	a.Reduce = func(_ analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
		return s.reduce(&s.roots[query], tables, emit)
	}
	return a, nil
}

// answering returns the leaves whose tables the reducer gets.
func (s *statement) answering() (all []*leaf) {
	for _, l := range s.leaves {
		if l.parts == nil {
			all = append(all, l)
		}
	}
	for _, r := range s.regions {
		all = append(all, r.leaf)
	}
	return all
}

// leavesOf returns the leaves that a plan reads, and the leaves of the regions that these read.
func (s *statement) leavesOf(root plan.Node) map[*leaf]bool {
	read, seen := map[*leaf]bool{}, map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if l := s.byNode[n]; l != nil {
			read[l] = true
			if l.region != nil {
				for _, from := range l.region.sources {
					read[from] = true
				}
			}
			return
		}
		for _, in := range append(plan.Inputs(n), queries(plan.Exprs(n))...) {
			visit(in)
		}
	}
	visit(root)
	return read
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
	var roots []root
	for _, part := range p.Parts() {
		i := part.Statement
		if i >= len(prog.Statements) || slices.ContainsFunc(roots, func(r root) bool { return r.name == prog.Statements[i].Name }) {
			return nil, fmt.Errorf("%w: it is about statement %d of %d", ErrPlan, i, len(prog.Statements))
		}
		st := &prog.Statements[i]
		if st.Kind != bind.Rows {
			return nil, fmt.Errorf("%w: statement %s asks for no rows", ErrPlan, st.Name)
		}
		r, err := part.passed(root{name: st.Name, plan: st.Plan}, prog.IDs)
		if err != nil {
			return nil, err
		}
		roots = append(roots, r)
	}
	about := map[*plan.Table]*sizes.Table{}
	for i := range tables {
		about[&tables[i]] = p.Tables[i].sizes()
	}
	sized := func(plans []plan.Node) *sizes.Sizes {
		return sizes.Of(func(t *plan.Table) *sizes.Table { return about[t] }, plans...)
	}
	plans := make([]plan.Node, len(roots))
	for i, r := range roots {
		plans[i] = r.plan
	}
	plans = optimize.PushDown(optimize.Constants(plans))
	plans = optimize.Arrange(plans, sized(plans), MaxReference)
	for i, n := range plans {
		if err := plan.Check(n); err != nil {
			return nil, err
		}
		roots[i].plan = n
	}
	for large := map[*plan.Table]bool{}; ; {
		s := newStatement(p, prog.IDs, tables, roots, sized(plans))
		s.script, s.large, s.live, s.trial = script, large, live(roots), trial
		for _, r := range roots {
			if err := s.take(r.plan); err != nil {
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

func newStatement(p *Plan, ids *plan.IDs, tables []plan.Table, roots []root, sized *sizes.Sizes) *statement {
	s := &statement{plan: p, ids: ids, tables: tables, roots: roots, Sizes: sized, scans: map[*plan.Table]*scan{},
		byNode: map[plan.Node]*leaf{}, seen: map[plan.Node]bool{}, refs: map[*plan.Table]bool{}, plain: map[plan.Expr]bool{}}
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
	var order []*scan // reference streams first
	for i := range s.tables {
		if t := &s.tables[i]; s.refs[t] {
			if s.scans[t] == nil {
				s.scans[t] = &scan{of: t, table: s.about(t)}
			}
			order = append(order, s.scans[t])
		}
	}
	for _, sc := range s.order {
		if !s.refs[sc.of] {
			order = append(order, sc)
		}
	}
	s.order = order
	for i, sc := range s.order {
		sc.stream, sc.used = i, s.Used(sc.of)
		width := len(sc.table.Columns)
		for c := range width {
			switch {
			case sc.used[c] && sc.table.Columns[c].Star > 0:
				sc.stars = append(sc.stars, c)
			case sc.used[c]:
				sc.wanted = append(sc.wanted, c)
			}
		}
		sc.file, sc.line = sc.used[width], sc.used[width+1]
	}
	s.push()
}

// streamName returns the name of a table. It is made unique if a name and a pattern are equal.
func (s *statement) streamName(i int) string {
	short := func(name string) string {
		return strings.ToValidUTF8(name[:min(len(name), protocol.MaxName-10)], "")
	}
	name := short(s.order[i].table.Name)
	for _, other := range s.order[:i] {
		if short(other.table.Name) == name {
			return name + " " + itoa(i+1)
		}
	}
	return name
}

// spec describes the table that a leaf folds into.
func (l *leaf) spec(name, stream string) fold.Spec {
	switch l.keep {
	case keepGroups:
		return l.groups.spec(name, stream)
	case keepBest:
		return fold.Spec{Name: name, Stream: stream, Aggs: []fold.Agg{{Name: "best", Kind: fold.Least, N: l.best.n}}}
	case keepDistinct:
		return fold.Spec{Name: name, Stream: stream, Keys: []fold.Key{{Name: "row", Kind: fold.KeyText}},
			Aggs: []fold.Agg{{Name: "first", Kind: fold.MinText}}}
	}
	if l.keep == keepParts {
		return fold.Spec{Name: name, Stream: stream, Merge: fold.Never, PartitionBy: 1,
			Keys: []fold.Key{{Name: "key", Kind: fold.KeyText}, {Name: "row", Kind: fold.KeyText}}}
	}
	return fold.Spec{Name: name, Stream: stream, Merge: fold.Never,
		Keys: []fold.Key{{Name: "position", Kind: fold.KeyText}, {Name: "row", Kind: fold.KeyText}}}
}

// reduce computes the rows of a statement from complete tables.
func (s *statement) reduce(r *root, tables []*fold.Table, emit func(row ...any)) error {
	src := &source{s: s, root: r, tables: tables}
	most, memory := TailBytes, 0
	if len(tables) > 0 {
		memory = tables[0].Memory()
		most = withinMemory(TailBytes, memory)
	}
	x := tail.New(src, int64(most), r.plan)
	if len(tables) > 0 {
		x.SetPause(tables[0].Pause)
		x.Limit(memory)
	}
	rows, err := x.Run(r.plan)
	if err != nil {
		return lowered(s.located(err), most, TailBytes)
	}
	if r.pass {
		emitPass(rows, emit)
		return nil
	}
	return emitRows(r.plan.Fields(), rows, emit)
}

// lowered names limits.memory in an error about memory if that has lowered the bound.
func lowered(err error, most, bound int) error {
	if most == bound || !errors.Is(err, tail.ErrMemory) {
		return err
	}
	return fmt.Errorf("%w; limits.memory of the topology allows %d MiB", err, most>>20)
}

func itoa(n int) string { return strconv.Itoa(n) }
