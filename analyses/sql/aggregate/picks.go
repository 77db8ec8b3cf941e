package aggregate

import (
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

var anyValue = Aggregate{
	Function: types.Function{Name: "any_value", Aliases: []string{"arbitrary"}, Forms: []string{"T -> T"}, Nulls: types.Skips,
		Ordered: true, About: "The first value that is not NULL."},
	New: func(c Call) State { return &picks{cells: newCells(c.kind(0))} }, Placed: true,
}

var first = Aggregate{
	Function: types.Function{Name: "first", Forms: []string{"T -> T"}, Nulls: types.Own, Ordered: true,
		About: "The value of the first row, which may be NULL."},
	New: func(c Call) State { return &picks{cells: newCells(c.kind(0)), nulls: true} }, Placed: true,
}

var last = Aggregate{
	Function: types.Function{Name: "last", Forms: []string{"T -> T"}, Nulls: types.Own, Ordered: true,
		About: "The value of the last row, which may be NULL."},
	New: func(c Call) State { return &picks{cells: newCells(c.kind(0)), nulls: true, last: true} }, Placed: true,
}

// picks keeps the value of the first or the last row.
type picks struct {
	cells
	placed
	nulls bool // NULL counts
	last  bool
}

func (p *picks) Grow(groups int) int64 { return p.cells.Grow(groups) + p.grow(groups) }

func (p *picks) Add(r *Rows) (bytes int64, _ error) {
	v := r.Args[0]
	for k, i := range r.Sel {
		g := r.Groups[k]
		if !p.nulls && v.IsNull(i) || p.found[g] && p.earlier(r, g, i) == p.last {
			continue
		}
		bytes += p.take(r, g, i) + p.set(g, v, i)
	}
	return bytes, nil
}

func (p *picks) Cells() []fold.Agg { return extremeCell(p.last) }

func (p *picks) Encode(t *fold.Table, cell int) {
	for row, found := range p.found {
		if found {
			p.scratch = p.appendPlaced(p.scratch[:0], p.of[row], int32(row))
			put(t, row, cell, p.last, p.scratch)
		}
	}
	p.cells.reset()
	p.placed.reset()
}

func (p *picks) Decode(t *fold.Table, cell, row int, g int32) error {
	b, some := text(t, row, cell, p.last)
	if !some {
		return nil
	}
	_, b, err := fold.CutText(b)
	if err != nil {
		return err
	}
	return p.decode(g, b)
}
