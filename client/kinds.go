package client

import (
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

// exactInt bounds the integers that a double holds exactly.
const exactInt = 1 << 53

// Kinds returns for each column a kind that holds all of its values exactly, NULL aside: integers, numbers, booleans, or text. Cells of one
// column may be of different kinds. A column without values is text.
func (t *Table) Kinds() []protocol.Kind {
	kinds := make([]protocol.Kind, len(t.Columns))
	for i := range kinds {
		kinds[i] = protocol.Null
	}
	large := make([]bool, len(t.Columns)) // has integers that a double does not hold
	number := func(k protocol.Kind) bool { return k == protocol.Int || k == protocol.Float }
	for row := range t.All() {
		for i, v := range row {
			large[i] = large[i] || v.Kind == protocol.Int && (v.Int > exactInt || v.Int < -exactInt)
			switch {
			case v.Kind == protocol.Null || v.Kind == kinds[i]:
			case kinds[i] == protocol.Null:
				kinds[i] = v.Kind
			case number(kinds[i]) && number(v.Kind):
				kinds[i] = protocol.Float
			default:
				kinds[i] = protocol.Text
			}
		}
	}
	for i := range kinds {
		if kinds[i] == protocol.Float && large[i] || kinds[i] == protocol.Null {
			kinds[i] = protocol.Text
		}
	}
	return kinds
}

// ColumnTypes returns the type of each column: the one that the statement gives it, whatever the values are. Of an answer to another
// analysis it is the one that holds all values exactly, see Kinds.
func (t *Table) ColumnTypes() []types.Type {
	if t.Types != nil {
		return t.Types
	}
	all := make([]types.Type, len(t.Columns))
	for i, k := range t.Kinds() {
		all[i] = types.Of([...]types.Kind{protocol.Text: types.Text, protocol.Int: types.BigInt, protocol.Float: types.Double,
			protocol.Bool: types.Bool}[k])
	}
	return all
}
