package aggregate

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

var minBy = Aggregate{
	Function: types.Function{Name: "min_by", Aliases: []string{"arg_min", "argmin"}, Forms: []string{"T, ANY -> T"}, Nulls: types.Skips,
		About: "The first argument where the second is least."},
	New: extremeBy(false), Placed: true,
}

var maxBy = Aggregate{
	Function: types.Function{Name: "max_by", Aliases: []string{"arg_max", "argmax"}, Forms: []string{"T, ANY -> T"}, Nulls: types.Skips,
		About: "The first argument where the second is greatest."},
	New: extremeBy(true), Placed: true,
}

func extremeBy(greatest bool) func(Call) State {
	return func(c Call) State {
		return &picksBy{cells: newCells(c.kind(0)), keys: newCells(c.kind(1)), order: plan.Order{Desc: greatest}}
	}
}

// picksBy keeps the value of the row with the least or the greatest key. Of equal keys the first row wins.
type picksBy struct {
	cells
	placed
	keys  cells
	order plan.Order // of keys
}

func (p *picksBy) Grow(groups int) int64 {
	return p.cells.Grow(groups) + p.keys.Grow(groups) + p.grow(groups)
}

func (p *picksBy) Add(r *Rows) (bytes int64, _ error) {
	v, by := r.Args[0], r.Args[1]
	for k, i := range r.Sel {
		if g := r.Groups[k]; !v.IsNull(i) && !by.IsNull(i) && p.wins(r, by, g, i) {
			bytes += p.take(r, g, i) + p.set(g, v, i) + p.keys.set(g, by, i)
		}
	}
	return bytes, nil
}

func (p *picksBy) wins(r *Rows, by *eval.Vector, g, row int32) bool {
	if !p.found[g] {
		return true
	}
	if c := values.Compare(by, row, p.keys.v, g); c != 0 {
		return c > 0 == p.order.Desc
	}
	return p.earlier(r, g, row)
}

// Its cell is a text: the key, in its order, as a text; then the place and the value.
func (p *picksBy) Cells() []fold.Agg {
	if !values.Ordered(p.keys.v.Kind) {
		return nil
	}
	return extremeCell(false)
}

func (p *picksBy) Encode(t *fold.Table, cell int) {
	var key []byte
	for row, found := range p.found {
		if found {
			key = values.AppendOrdered(key[:0], p.keys.v, int32(row), &p.order)
			b := fold.AppendText(p.scratch[:0], key)
			p.scratch = p.appendPlaced(b, p.of[row], int32(row))
			t.PutMinText(row, cell, p.scratch)
		}
	}
	p.cells.reset()
	p.keys.reset()
	p.placed.reset()
}

func (p *picksBy) Decode(t *fold.Table, cell, row int, g int32) (err error) {
	b, some := t.MinText(row, cell)
	if !some {
		return nil
	}
	for range 2 {
		if _, b, err = fold.CutText(b); err != nil {
			return err
		}
	}
	return p.decode(g, b)
}
