package aggregate

import (
	"math"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

var least = Aggregate{
	Function: types.Function{Name: "min", Forms: []string{"T -> T"}, Nulls: types.Skips, Over: true, Once: true, Unordered: true,
		About: "The least value."},
	New: extreme(false), Parts: "min",
}

var greatest = Aggregate{
	Function: types.Function{Name: "max", Forms: []string{"T -> T"}, Nulls: types.Skips, Over: true, Once: true, Unordered: true,
		About: "The greatest value."},
	New: extreme(true), Parts: "max",
}

var boolAnd = Aggregate{
	Function: types.Function{Name: "bool_and", Forms: []string{"BOOLEAN -> BOOLEAN"}, Nulls: types.Skips, Once: true, Unordered: true,
		About: "Whether all are true."},
	New: extreme(false),
}

var boolOr = Aggregate{
	Function: types.Function{Name: "bool_or", Forms: []string{"BOOLEAN -> BOOLEAN"}, Nulls: types.Skips, Once: true, Unordered: true,
		About: "Whether one is true."},
	New: extreme(true),
}

func extreme(greatest bool) func(Call) State {
	return func(c Call) State {
		kind := c.kind(0)
		if values.IsInteger(kind) || kind == types.Double || kind == types.Bool {
			n := &bestNumbers{kind: kind, greatest: greatest}
			if !greatest {
				n.turned = math.MaxUint64
			}
			return n
		}
		return &bestValues{cells: newCells(kind), greatest: greatest}
	}
}

// extremeCell returns the cell of the least or the greatest of texts.
func extremeCell(greatest bool) []fold.Agg {
	if greatest {
		return []fold.Agg{{Kind: fold.MaxText}}
	}
	return []fold.Agg{{Kind: fold.MinText}}
}

// put adds a text to the cell of extremeCell.
func put(t *fold.Table, row, cell int, greatest bool, text []byte) {
	if greatest {
		t.PutMaxText(row, cell, text)
	} else {
		t.PutMinText(row, cell, text)
	}
}

// text returns what the cell of extremeCell has.
func text(t *fold.Table, row, cell int, greatest bool) ([]byte, bool) {
	if greatest {
		return t.MaxText(row, cell)
	}
	return t.MinText(row, cell)
}

// bestNumbers keeps the least or the greatest of values that fit a word.
type bestNumbers struct {
	present
	kind     types.Kind
	greatest bool
	turned   uint64   // reverses the order of numbers if the least one is wanted; else 0
	best     []uint64 // the value as eval.Sortable maps it, turned
	some     []bool
	scratch  []byte
}

func (e *bestNumbers) Greatest() bool { return e.greatest }

func (e *bestNumbers) Grow(groups int) int64 {
	return 8*longer(&e.best, groups) + longer(&e.some, groups)
}

// Add has no branch on what is better, because of many groups new best numbers are frequent.
func (e *bestNumbers) Add(r *Rows) (int64, error) {
	v := r.Args[0]
	sel, groups, _ := e.of(r, v)
	best, some, turned, groups := e.best, e.some, e.turned, groups[:len(sel)]
	switch v.Kind {
	case types.Double:
		for k, i := range sel {
			g := groups[k]
			some[g] = true
			best[g] = max(best[g], eval.SortableDouble(v.Floats[i])^turned)
		}
	case types.Bool:
		for k, i := range sel {
			g := groups[k]
			some[g] = true
			best[g] = max(best[g], eval.Sortable(v, i)^turned)
		}
	default:
		for k, i := range sel {
			g := groups[k]
			some[g] = true
			best[g] = max(best[g], uint64(v.Ints[i])^1<<63^turned)
		}
	}
	return 0, nil
}

func (e *bestNumbers) Value(g int32, out *eval.Vector, row int32) error {
	if !e.some[g] {
		out.SetNull(row)
		return nil
	}
	eval.Unsort(out, row, e.best[g]^e.turned)
	return nil
}

func (e *bestNumbers) Cells() []fold.Agg { return extremeCell(e.greatest) }

func (e *bestNumbers) Encode(t *fold.Table, cell int) {
	v := eval.NewVector(e.kind, 1)
	for row, some := range e.some {
		if some {
			eval.Unsort(v, 0, e.best[row]^e.turned)
			e.scratch = values.Append(e.scratch[:0], v, 0, true)
			put(t, row, cell, e.greatest, e.scratch)
		}
	}
	e.best, e.some = e.best[:0], e.some[:0]
}

func (e *bestNumbers) Decode(t *fold.Table, cell, row int, g int32) error {
	b, some := text(t, row, cell, e.greatest)
	if !some {
		return nil
	}
	v := eval.Vector{Kind: e.kind}
	if _, err := values.Cut(&v, 0, b); err != nil {
		return err
	}
	e.some[g], e.best[g] = true, eval.Sortable(&v, 0)^e.turned
	return nil
}

// bestValues keeps the least or the greatest of values of other types.
type bestValues struct {
	cells
	greatest bool
}

func (e *bestValues) Greatest() bool { return e.greatest }

func (e *bestValues) Add(r *Rows) (bytes int64, _ error) {
	v := r.Args[0]
	for k, i := range r.Sel {
		if g := r.Groups[k]; !v.IsNull(i) && (e.v.IsNull(g) || before(v, i, e.v, g, e.greatest)) {
			bytes += e.set(g, v, i)
		}
	}
	return bytes, nil
}

// before reports whether a value comes before another one, in the ascending or the descending order.
func before(v *eval.Vector, i int32, than *eval.Vector, j int32, desc bool) bool {
	c := values.Compare(v, i, than, j)
	return c != 0 && c > 0 == desc
}

func (e *bestValues) Cells() []fold.Agg {
	if !values.Ordered(e.v.Kind) {
		return nil
	}
	return extremeCell(e.greatest)
}

func (e *bestValues) Encode(t *fold.Table, cell int) {
	for row := range int32(e.n) {
		if !e.v.IsNull(row) {
			e.scratch = values.Append(e.scratch[:0], e.v, row, true)
			put(t, int(row), cell, e.greatest, e.scratch)
		}
	}
	e.reset()
}

func (e *bestValues) Decode(t *fold.Table, cell, row int, g int32) error {
	if b, some := text(t, row, cell, e.greatest); some {
		return e.decode(g, b)
	}
	return nil
}
