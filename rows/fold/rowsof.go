package fold

// KeyValues are the values of one key of the rows of a batch.
type KeyValues struct {
	Ints  []int64  // of a KeyInt
	Texts []string // of a KeyText
	Nulls []uint64 // bit i is set if row i has NULL; nil: no row has
}

// RowsOf is Row for the rows of a batch that sel names: it appends to `into` the row of the table that each of them has. keys are in the
// order of the spec. Keys are looked up in blocks, so that the processor waits for the memory of many at a time.
func (t *Table) RowsOf(keys []KeyValues, sel, into []int32) []int32 {
	if t.mode != appends {
		t.indexed()
	}
	for len(sel) > 0 {
		n := t.gatherValues(keys, sel[:min(len(sel), mergeBlock)])
		if t.found = t.found[:0]; t.mode == appends {
			t.push(n)
		} else {
			t.lookUp(n)
		}
		for _, row := range t.found {
			into = append(into, int32(row))
		}
		sel = sel[n:]
		t.rows.Add(n)
		if t.pause != nil {
			t.pause()
		}
	}
	for k := range keys { // the batch must not stay in memory
		t.source.columns[k].strings, t.source.columns[k].ints = nil, nil
	}
	t.source.sel = nil
	return into
}

// gatherValues makes the keys of some rows, or of the first of them, and returns of how many.
func (t *Table) gatherValues(keys []KeyValues, sel []int32) int {
	src := &t.source
	src.sel, src.nulls = sel, src.nulls[:0]
	for k := range keys {
		src.columns[k].strings, src.columns[k].ints = keys[k].Texts, keys[k].Ints
		if keys[k].Nulls == nil {
			continue
		}
		if len(src.nulls) == 0 {
			src.nulls = append(src.nulls, make([]int64, len(sel))...)
		}
		for i, row := range sel {
			src.nulls[i] |= int64(keys[k].Nulls[row>>6]>>(row&63)&1) << k
		}
	}
	return t.query.gather(t.key, src, len(sel))
}

// RowsAs returns the rows whose keys are the first keys of some rows of another table; false if there is none for one of them. The other
// spec begins with the keys of this one.
func (t *Table) RowsAs(of *Table, rows []int) (found []int32, ok bool) {
	if len(t.spec.Keys) == 0 {
		return make([]int32, len(rows)), t.Len() > 0
	}
	t.indexed()
	q := &t.query
	for len(rows) > 0 {
		q.reset(t.key.width())
		n := min(len(rows), mergeBlock)
		for _, row := range rows[:n] {
			if q.keys = of.key.first(q.keys, of.index.key(row), len(t.spec.Keys)); q.width == 0 {
				q.ends = append(q.ends, len(q.keys))
			}
		}
		q.hashAll(n)
		t.index.prefetch(q)
		for i := range n {
			row, _, ok := t.index.search(q, i, q.key(i))
			if !ok {
				return nil, false
			}
			found = append(found, int32(row))
		}
		rows = rows[n:]
	}
	return found, true
}
