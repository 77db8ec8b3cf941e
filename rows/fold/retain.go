package fold

// retainBytes is about how much of a table is copied at a time.
const retainBytes = 1 << 20

// Retain forgets the rows that keep does not want, with their memory. Rows that stay keep their order and get new numbers.
// It costs time for the rows that stay, by way of their wire form: it is meant for few of many.
func (t *Table) Retain(keep func(row int) bool) {
	if t.err != nil {
		return
	}
	var rows []int
	for row := range t.Len() {
		if keep(row) {
			rows = append(rows, row)
		}
	}
	if len(rows) == t.Len() {
		return
	}
	fresh := t.empty()
	var wire []byte
	for _, chunk := range t.Chunks(rows, retainBytes) {
		wire = t.AppendRows(wire[:0], chunk)
		if err := fresh.Merge(wire); err != nil {
			panic("fold: a table does not take its own rows: " + err.Error())
		}
	}
	*t = *fresh
}
