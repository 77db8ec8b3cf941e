package fold

// MoveTo moves all rows, and the table's error, to another table of the same spec. If the other table is empty and of the same
// kind, the two swap their memory. So a joiner that folds into its own tables moves them at no cost.
func (t *Table) MoveTo(to *Table) {
	switch {
	case to.Len() == 0 && to.err == nil && to.mode == t.mode:
		t.index, to.index = to.index, t.index
		t.aggs, to.aggs = to.aggs, t.aggs
	case t.err == nil:
		_ = t.copyTo(to, t.Rows()) // to has the error, and must not be used
	}
	if t.err != nil {
		to.fail(t.err)
	}
	t.Reset()
}

// copyBytes is about how much of a table is copied at a time.
const copyBytes = 1 << 20

// copyTo merges rows into another table of the same spec, through their wire form.
func (t *Table) copyTo(to *Table, rows []int) error {
	var wire []byte
	for _, chunk := range t.Chunks(rows, copyBytes) {
		t.Pause()
		wire = t.AppendRows(wire[:0], chunk)
		if err := to.Merge(wire); err != nil {
			return err
		}
	}
	return nil
}

// Retain removes the rows for which keep returns false, with their memory. The other rows keep their order and get new
// numbers. It costs time for each row that stays, through its wire form, so it is meant for keeping few of many.
func (t *Table) Retain(keep func(row int) bool) {
	if t.err != nil {
		return
	}
	var rows []int
	for row := range t.Len() {
		t.step()
		if keep(row) {
			rows = append(rows, row)
		}
	}
	if len(rows) == t.Len() {
		return
	}
	fresh := newTable(t.spec, t.mode)
	fresh.pause = t.pause
	if err := t.copyTo(fresh, rows); err != nil {
		panic("fold: a table does not take its own rows: " + err.Error())
	}
	*t = *fresh
}
