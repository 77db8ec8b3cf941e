package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

const (
	stateRows   = 400
	stateGroups = 9 // the rows of group 7 are NULL, and group 8 has none
	allNull     = 7
)

var stateKinds = []types.Kind{types.BigInt, types.Decimal, types.Double, types.Text, types.Bool, types.Date, types.Timestamp,
	types.Interval, types.TextList}

// TestEveryStateKeepsItsPromises: what State says holds for every aggregate and every type of argument.
func TestEveryStateKeepsItsPromises(t *testing.T) {
	for _, a := range All {
		tried := 0
		for _, args := range argumentsOf(a) {
			r := newStateRows(args)
			if a.Summary {
				clear(r.groups)
			}
			c := Call{Type: r.resultOf(a), Args: args}
			if c.Type.Kind == types.Null {
				continue
			}
			tried++
			r.result = c.Type.Kind
			name := fmt.Sprint(a.Name, " of ", r.kinds)
			want := r.alone(t, name, a.New(c), r.all())
			r.travels(t, name, a, c, want)
			r.slides(t, name, a.New(c), a.New(c))
		}
		if tried == 0 {
			t.Errorf("%s takes no arguments of this test", a.Name)
		}
	}
}

// argumentsOf returns the arguments that an aggregate may take: none, one of each type, two, or one and a share.
func argumentsOf(a *Aggregate) (all [][]plan.Expr) {
	column := func(k types.Kind) plan.Expr {
		typ := types.Of(k)
		if k == types.Decimal {
			typ.Precision, typ.Scale = 18, 2
		}
		return plan.Typed(&plan.Column{}, typ, 0)
	}
	if a.Name == "count" {
		all = append(all, nil)
	}
	for _, k := range stateKinds {
		if a == &quartiles && k != types.Double && !values.IsInteger(k) || a == &approxUnique && k == types.TextList {
			continue // SUMMARIZE does not ask for them
		}
		if strings.HasPrefix(a.Name, "quantile") {
			all = append(all, []plan.Expr{column(k), plan.Value(types.Of(types.Double), 0, 0.3)})
			continue
		}
		all = append(all, []plan.Expr{column(k)})
		for _, by := range stateKinds {
			all = append(all, []plan.Expr{column(k), column(by)})
		}
	}
	return all
}

// stateRowsOf are rows of some arguments, and their groups.
type stateRowsOf struct {
	args   []*eval.Vector
	kinds  []types.Type
	groups []int32
	result types.Kind
}

func newStateRows(args []plan.Expr) *stateRowsOf {
	r := &stateRowsOf{groups: make([]int32, stateRows)}
	chance := rand.New(rand.NewPCG(3, 4))
	for i := range r.groups {
		r.groups[i] = int32(chance.IntN(stateGroups - 1))
	}
	for _, e := range args {
		v := eval.NewVector(e.Type().Kind, stateRows)
		for i, g := range r.groups {
			if g == allNull || chance.IntN(9) == 0 {
				v.SetNull(int32(i))
			} else {
				setAny(v, i, g, chance)
			}
		}
		r.args, r.kinds = append(r.args, v), append(r.kinds, e.Type())
	}
	return r
}

// setAny sets a value. The first groups have the values that are hard for sums.
func setAny(v *eval.Vector, i int, g int32, chance *rand.Rand) {
	pick := func(list ...float64) float64 { return list[chance.IntN(len(list))] }
	switch n := chance.Int64N(50) - 20; v.Kind {
	case types.Double:
		switch g {
		case 0:
			v.Floats[i] = pick(1, math.Inf(1), math.Inf(-1))
		case 1:
			v.Floats[i] = pick(1e308, -1e308, 0x1p510, 5e-324, -1e-300, 0x1p100)
		case 2:
			v.Floats[i] = pick(2, math.NaN())
		case 3:
			v.Floats[i] = pick(-3, math.Inf(1))
		case 4:
			v.Floats[i] = pick(math.Copysign(0, -1), 0)
		case 5:
			v.Floats[i] = pick(1e-300, 3e-300)
		default:
			v.Floats[i] = float64(n) / 10
		}
	case types.Text:
		v.Texts[i] = strings.Repeat("x", int(n+20)*10) + fmt.Sprint(i%40)
	case types.Bool:
		v.Bools[i] = g == 0 || g > 1 && n > 0
	case types.Interval:
		v.Intervals[i] = plan.Interval{Months: int32(n), Days: int32(-n * 3), Micros: n * 1e9}
	case types.TextList:
		v.Lists[i] = eval.List{Items: []string{fmt.Sprint(n), "b"}, Nulls: []bool{false, n > 0}}
	case types.BigInt:
		if v.Ints[i] = n; g == 1 { // of each pair that follows in the group the sum is -1
			v.Ints[i] = []int64{math.MaxInt64, math.MinInt64}[i%2]
		}
	case types.Decimal:
		if v.Ints[i] = n; g == 1 {
			v.Ints[i] = []int64{1e18 - 1, 1 - 1e18}[i%2]
		}
	default:
		v.Ints[i] = n * 1000
	}
}

// resultOf returns the type of the aggregate's values, types.Null if it does not take the arguments as they are.
func (r *stateRowsOf) resultOf(a *Aggregate) types.Type {
	args := make([]types.Arg, len(r.kinds))
	for i, k := range r.kinds {
		args[i].Type = k
	}
	form, err := a.Resolve(args)
	for i := range form.Args {
		if form.Args[i].Kind != r.kinds[i].Kind {
			return types.Type{}
		}
	}
	if err != nil {
		return types.Type{}
	}
	return form.Result
}

func (r *stateRowsOf) all() (sel []int32) {
	for i := range int32(stateRows) {
		sel = append(sel, i)
	}
	return sel
}

func (r *stateRowsOf) rows(sel []int32) *Rows {
	rows := &Rows{Args: r.args, Sel: sel}
	for _, i := range sel {
		rows.Groups = append(rows.Groups, r.groups[i])
	}
	return rows
}

// alone adds rows to a state that does not travel, and checks what it says to keep.
func (r *stateRowsOf) alone(t *testing.T, name string, s State, sel []int32) (want []string) {
	t.Helper()
	kept := s.Grow(stateGroups)
	if more := s.Grow(stateGroups); more != 0 {
		t.Errorf("%s: %d bytes more for groups that have room", name, more)
	}
	for _, part := range [][]int32{sel[:len(sel)/3], sel[len(sel)/3:]} {
		bytes, err := s.Add(r.rows(part))
		if err != nil {
			t.Fatal(name, err)
		}
		kept += bytes
	}
	want, texts := r.values(s)
	if least := int64(8*min(stateGroups, len(want)) + texts); kept < least {
		t.Errorf("%s: %d bytes are kept, and at least %d are", name, kept, least)
	}
	const more = 1000
	before := sizeOf(reflect.ValueOf(s))
	grown := s.Grow(stateGroups + more)
	if now := sizeOf(reflect.ValueOf(s)) - before; grown < now*9/10 {
		t.Errorf("%s: %d bytes more for %d groups, and %d are", name, grown, more, now)
	}
	return want
}

// sizeOf returns about how many bytes a state takes.
func sizeOf(v reflect.Value) (bytes int64) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			bytes = sizeOf(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += sizeOf(v.Field(i))
		}
	case reflect.Slice:
		bytes = int64(v.Len()) * int64(v.Type().Elem().Size())
	}
	return bytes
}

// TestPicksKeepTheSign: what picks a row's value returns that value, and -0 is not 0. What picks one of equal values returns 0.
func TestPicksKeepTheSign(t *testing.T) {
	for _, a := range []*Aggregate{&first, &last, &anyValue, &minBy, &maxBy, &mode, &least, &greatest} {
		e := plan.Typed(&plan.Column{}, types.Of(types.Double), 0)
		s := a.New(Call{Type: e.Type(), Args: []plan.Expr{e, e}})
		s.Grow(1)
		v := &eval.Vector{Kind: types.Double, Floats: []float64{math.Copysign(0, -1)}}
		if _, err := s.Add(&Rows{Args: []*eval.Vector{v, v}, Sel: []int32{0}, Groups: []int32{0}}); err != nil {
			t.Fatal(err)
		}
		if out, err := Values(s, types.Double, 1); err != nil || math.Signbit(out.Floats[0]) != a.Placed {
			t.Errorf("%s of -0 is %v, %v", a.Name, out.Floats, err)
		}
	}
}

// TestWhatRowsAddIsCounted: memory that a state takes for some values only, and what it keeps of each row.
func TestWhatRowsAddIsCounted(t *testing.T) {
	e := plan.Typed(&plan.Column{}, types.Of(types.Double), 0)
	c := Call{Type: e.Type(), Args: []plan.Expr{e, e}}
	for _, w := range []struct {
		of    *Aggregate
		value float64
		least int64
	}{{&sum, 1e300, wideBytes}, {&sum, math.NaN(), oddBytes}, {&varPop, 1e300, farBytes}, {&varPop, 1e-300, farBytes},
		{&corr, 1e300, 3 * farBytes}, {&median, 1, 17}} {
		s := w.of.New(c)
		s.Grow(1)
		v := &eval.Vector{Kind: types.Double, Floats: []float64{w.value}}
		if bytes, err := s.Add(&Rows{Args: []*eval.Vector{v, v}, Sel: []int32{0}, Groups: []int32{0}}); err != nil || bytes < w.least {
			t.Errorf("%s of %v keeps %d bytes more, want at least %d; %v", w.of.Name, w.value, bytes, w.least, err)
		}
	}
}

// values returns the values of all groups in the form in which they travel, or their errors, and how many bytes of texts they have.
func (r *stateRowsOf) values(s State) (all []string, texts int) {
	for g := range int32(stateGroups) {
		out := eval.NewVector(r.result, 1)
		if err := s.Value(g, out, 0); err != nil {
			all = append(all, err.Error())
			continue
		}
		all = append(all, string(values.Append(nil, out, 0, false)))
		texts += int(values.Beside(out, 0))
	}
	return all, texts
}

// travels adds the same rows to one state in parts, out of order. What each part adds goes to the cells of a table, these are merged, and
// read into another state.
func (r *stateRowsOf) travels(t *testing.T, name string, a *Aggregate, c Call, want []string) {
	t.Helper()
	s := a.New(c)
	if s.Cells() == nil {
		return
	}
	const first = 2 // behind other cells
	spec := &fold.Spec{Name: "t", Keys: []fold.Key{{Name: "g", Kind: fold.KeyInt}},
		Aggs: []fold.Agg{{Name: "one", Kind: fold.Sum}, {Name: "two", Kind: fold.Sum}}}
	for i, cell := range s.Cells() {
		cell.Name = fmt.Sprint("a", i)
		spec.Aggs = append(spec.Aggs, cell)
	}
	all, added := fold.NewTable(spec), int64(0)
	for part := range 3 {
		table := fold.NewOutgoing(spec)
		for from := stateRows - 100; from >= 0; from -= 100 {
			rows := &Rows{Args: r.args, Table: table, Cell: first,
				Place: func(b []byte, row int32) []byte { return fold.AppendInt(b, int64(row)) }}
			for i := from; i < from+100; i++ {
				parts := 3
				if r.groups[i] > 3 { // the last part has fewer groups
					parts = 2
				}
				if i/7%parts != part {
					continue
				}
				rows.Sel = append(rows.Sel, int32(i))
				rows.Groups = append(rows.Groups, int32(table.Row(table.Key().Int(int64(r.groups[i])))))
			}
			rows.Counts = make([]int64, table.Len())
			for _, g := range rows.Groups {
				rows.Counts[g]++
			}
			s.Grow(table.Len())
			bytes, err := s.Add(rows)
			if err != nil {
				t.Fatal(name, err)
			}
			added += bytes
		}
		s.Encode(table, first)
		if err := all.Merge(table.AppendRows(nil, table.Rows())); err != nil {
			t.Fatal(name, err)
		}
	}
	if a.Placed && added < stateGroups {
		t.Errorf("%s: %d bytes are added with the places of rows", name, added)
	}
	read := a.New(c)
	read.Grow(stateGroups)
	for g := range int32(stateGroups) {
		if err := read.Decode(all, first, all.Row(all.Key().Int(int64(g))), g); err != nil {
			t.Fatal(name, err)
		}
	}
	if got, _ := r.values(read); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%s: %q have travelled, want %q", name, got, want)
	}
}

// slides removes rows from a state; what remains is the state of the others.
func (r *stateRowsOf) slides(t *testing.T, name string, s, fresh State) {
	t.Helper()
	slider, ok := s.(Slider)
	if !ok {
		return
	}
	want := r.alone(t, name, fresh, r.all()[100:300])
	s.Grow(stateGroups)
	if _, err := s.Add(r.rows(r.all()[:300])); err != nil {
		t.Fatal(name, err)
	}
	slider.Remove(r.rows(r.all()[:100]))
	if got, _ := r.values(s); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%s: %q remain, want %q", name, got, want)
	}
}
