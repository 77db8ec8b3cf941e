package client

import "posta.dev/posta/protocol"

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
