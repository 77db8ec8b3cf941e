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
		var wire []byte
		for _, chunk := range t.Chunks(t.Rows(), retainBytes) {
			wire = t.AppendRows(wire[:0], chunk)
			if to.Merge(wire) != nil {
				break // to says so, and is not to be used
			}
		}
	}
	if t.err != nil {
		to.fail(t.err)
	}
	t.Reset()
}
