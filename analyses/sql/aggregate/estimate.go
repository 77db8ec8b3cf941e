package aggregate

import "posta.dev/posta/rows/fold"

// estimate is a state that is in a cell of a table from the beginning. A state that does not travel has a table of its own.
type estimate struct {
	cell   []fold.Agg
	groups int
	own    *fold.Table // nil until it is needed
	from   []cellOf    // by group, if the state was decoded
	bytes  int64       // of own
}

// cellOf is a cell of a table.
type cellOf struct {
	t         *fold.Table
	row, cell int
}

// to returns the table that rows are added to, whose rows are the groups, and the place of the cell.
func (e *estimate) to(r *Rows) (t *fold.Table, cell int) {
	if r.Table != nil {
		return r.Table, r.Cell
	}
	return e.table(), 0
}

// of returns the cell of a group.
func (e *estimate) of(g int32) cellOf {
	if e.from != nil {
		return e.from[g]
	}
	return cellOf{e.table(), int(g), 0}
}

// table returns the state's own table.
func (e *estimate) table() *fold.Table {
	if e.own == nil {
		e.own = fold.NewTable(&fold.Spec{Name: "estimates", Keys: []fold.Key{{Name: "g", Kind: fold.KeyInt}}, Aggs: e.cell})
	}
	for e.own.Len() < e.groups {
		e.own.Row(e.own.Key().Int(int64(e.own.Len())))
	}
	return e.own
}

func (e *estimate) Grow(groups int) int64 {
	e.groups = groups
	return 0
}

// grown returns how many more bytes are kept than at the last call.
func (e *estimate) grown() int64 {
	if e.own == nil {
		return 0
	}
	before := e.bytes
	e.bytes = int64(e.own.Bytes())
	return e.bytes - before
}

func (e *estimate) Cells() []fold.Agg { return e.cell }

func (e *estimate) Decode(t *fold.Table, cell, row int, g int32) error {
	longer(&e.from, int(g)+1)
	e.from[g] = cellOf{t, row, cell}
	return nil
}
