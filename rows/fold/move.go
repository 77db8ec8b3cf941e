package fold

// MoveTo adds all rows to another table of the same spec, and forgets them here, with the error that there is. Where the other one is empty
// and of the same kind they change hands as they are, with their memory, and the other's memory is used here for the next rows: it is how a
// joiner that folds into tables of its own hands them over for nothing.
func (t *Table) MoveTo(to *Table) {
	switch {
	case to.Len() == 0 && to.err == nil && to.mode == t.mode:
		t.index, to.index = to.index, t.index
		t.aggs, to.aggs = to.aggs, t.aggs
	case t.err == nil:
		_ = t.copyTo(to, t.Rows()) // to says it, and is not to be used
	}
	if t.err != nil {
		to.fail(t.err)
	}
	t.Reset()
}

// copyBytes is about how much of a table is copied at a time.
const copyBytes = 1 << 20

// copyTo merges rows into another table of the same spec, by way of their wire form.
func (t *Table) copyTo(to *Table, rows []int) error {
	var wire []byte
	for _, chunk := range t.Chunks(rows, copyBytes) {
		wire = t.AppendRows(wire[:0], chunk)
		if err := to.Merge(wire); err != nil {
			return err
		}
	}
	return nil
}

// Retain forgets the rows that keep does not want, with their memory. Rows that stay keep their order and get new numbers.
// It costs time for the rows that stay, by way of their wire form: it is meant for few of many.
func (t *Table) Retain(keep func(row int) bool) {
	if t.err != nil {
		return
	}
	var rows []int
	for row := range t.Len() {
		t.rows.Row()
		if keep(row) {
			rows = append(rows, row)
		}
	}
	if len(rows) == t.Len() {
		return
	}
	fresh := newTable(t.spec, t.mode)
	if err := t.copyTo(fresh, rows); err != nil {
		panic("fold: a table does not take its own rows: " + err.Error())
	}
	*t = *fresh
}
