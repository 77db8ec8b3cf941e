package exec

import (
	"math"

	"posta.dev/posta/analyses/sql/bounds"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// Condition is what WHERE says of one column alone: an expression that never fails.
type Condition struct {
	Column plan.ColumnID
	Type   types.Type
	Cond   plan.Expr
	null   bool // it is true for NULL
}

// Conditions has what WHERE says of single columns, by their places in the table. It holds for all rows that count.
type Conditions map[int]*Condition

// Add adds the parts of a condition that read one column each. It reports whether later conditions may be added, too. They may not if a
// part may fail for a row that they would exclude.
func (all *Conditions) Add(cond plan.Expr, at plan.Layout, usable func(place int) bool) (more bool) {
	for _, part := range plan.Conjuncts(cond) {
		if !plan.Pushable(part) {
			return false
		}
		column := onlyColumn(part)
		if column == nil {
			continue
		}
		place, found := at[column.ID]
		if !found || !usable(place) {
			continue
		}
		if *all == nil {
			*all = Conditions{}
		}
		c := (*all)[place]
		if c == nil {
			c = &Condition{Column: column.ID, Type: column.T}
			(*all)[place] = c
		}
		c.add(part)
	}
	return true
}

// onlyColumn returns the column that an expression reads, nil if it reads none or several.
func onlyColumn(e plan.Expr) (column *plan.Column) {
	several := plan.Find(e, func(e plan.Expr) bool {
		c, is := e.(*plan.Column)
		if is && column == nil {
			column = c
		}
		return is && c.ID != column.ID
	}, nil)
	if several != nil {
		return nil
	}
	return column
}

func (c *Condition) add(part plan.Expr) {
	one := Condition{Column: c.Column, Type: c.Type, Cond: part}
	only, pass := one.tester(), []bool{true}
	only.vector.Reset(1)
	only.vector.SetNull(0)
	only.run(1, pass)
	c.null = pass[0] && (c.Cond == nil || c.null)
	c.Cond = plan.And(c.Cond, part)
}

// tests returns what formats that read single columns need to leave out rows that WHERE excludes.
func (s *Scan) tests() (all []columnar.Test) {
	for k, i := range s.Wanted {
		of := s.Where[i]
		if of == nil {
			continue
		}
		c := &s.Table.Columns[i]
		all = append(all, columnar.Test{Column: k, Ask: askOf(c.Type), Null: of.null,
			May: func(r csv.Range) bool { return of.may(c, &r) }, Only: of.only(),
			New: func() columnar.Tester { return of.tester() }})
	}
	return all
}

// only returns the only values that may pass, nil if there may be others.
func (c *Condition) only() *columnar.Only {
	values, ok := bounds.Only(c.Cond, c.Type)
	if !ok || c.null {
		return nil
	}
	all := &columnar.Only{}
	for _, v := range values {
		switch v := v.(type) {
		case string:
			all.Texts = append(all.Texts, v)
		case float64:
			all.Ints = append(all.Ints, int64(math.Float64bits(v)))
		case int64:
			all.Ints = append(all.Ints, v)
		}
	}
	return all
}

// within returns the bounds by which a parser skips rows, nil if there are none for a column. Where the formats that know the tests send
// NULL for values of rows that do not count, and NULL is excluded, it says that any value is within bounds, which NULL is not.
func (s *Scan) within(i int) *bounds.Range {
	if w := s.Within[i]; w != nil {
		return w
	}
	if of := s.Where[i]; of != nil && !of.null {
		return bounds.Any()
	}
	return nil
}

// may reports whether the condition may be true for a value in a range.
func (c *Condition) may(of *catalog.Column, r *csv.Range) bool {
	v := bounds.Values{Type: of.Type, Nulls: !r.NoNulls, None: r.Kind == csv.KindNone, Least: 0, Most: math.MaxUint64}
	switch read := Reader(of.Type, r.Kind); {
	case of.Type.Kind == types.Text && r.Kind == csv.KindBytes && string(r.Least) <= string(r.Most):
		v.Texts, v.First, v.Last, v.Cut = true, string(r.Least), string(r.Most), r.Cut
	case read != nil:
		least, ok := read(r.Least)
		most, also := read(r.Most)
		if ok && also && least <= most {
			v.Numbers, v.Least, v.Most = true, least, most
		}
	}
	is, _ := v.Outcomes(c.Cond)
	return is
}

// columnTest implements columnar.Tester by the program that a joiner runs.
type columnTest struct {
	by      *eval.Program // nil: everything passes
	meter   *eval.Meter
	vector  eval.Vector
	columns []*eval.Vector
	none    [columnar.MaxRun / 64]uint64 // bits of numbers none of which is NULL
	sel     []int32
	passed  []int32
}

func (c *Condition) tester() *columnTest {
	t := &columnTest{meter: eval.NewMeter(), vector: eval.Vector{Kind: c.Type.Kind}}
	t.columns = []*eval.Vector{&t.vector}
	by, err := eval.CompileFor(c.Cond, plan.Layout{c.Column: 0}, t.meter)
	if err == nil {
		t.by = by
	}
	return t
}

func (t *columnTest) Numbers(values []int64, pass []bool) {
	v := &t.vector
	switch v.Kind {
	case types.Double:
		v.Reset(len(values))
		for i, bits := range values {
			v.Floats[i] = math.Float64frombits(uint64(bits))
		}
	case types.Bool:
		v.Reset(len(values))
		for i, n := range values {
			v.Bools[i] = n != 0
		}
	default:
		v.Ints, v.Nulls = values, t.none[:(len(values)+63)/64]
	}
	t.run(len(values), pass)
}

func (t *columnTest) Texts(values *columnar.Texts, pass []bool) {
	t.vector.Reset(len(values.From))
	for i, from := range values.From {
		t.vector.Texts[i] = field.Text(values.Bytes[from:values.To[i]])
	}
	t.run(len(values.From), pass)
}

// run sets which of n rows pass. All do if the condition cannot be computed here: then it is computed later.
func (t *columnTest) run(n int, pass []bool) {
	for i := range pass[:n] {
		pass[i] = t.by == nil
	}
	if t.by == nil {
		return
	}
	t.meter.Begin()
	t.meter.Release()
	t.sel = everyRow(t.sel, n)
	err := eval.Pieces(t.sel, func(sel []int32) error {
		v, err := t.by.Run(t.columns, n, sel)
		if err == nil {
			t.passed = operators.Passing(t.passed[:0], v, sel)
			for _, i := range t.passed {
				pass[i] = true
			}
		}
		return err
	})
	for i := range pass[:n] {
		pass[i] = pass[i] || err != nil
	}
}
