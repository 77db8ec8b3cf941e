package fold

import "fmt"

// MoveTo moves all rows, and the table's error, to another table of the same spec. If the other table is empty and of the same
// kind, the two swap their memory. So a joiner that folds into its own tables moves them at no cost.
func (t *Table) MoveTo(to *Table) {
	switch {
	case to.Len() == 0 && to.err == nil && to.first == t.first && (to.outgoing || t.mode == t.first):
		t.mode, to.mode = to.mode, t.mode
		t.index, to.index = to.index, t.index
		t.aggs, to.aggs = to.aggs, t.aggs
		t.sums, to.sums = to.sums, t.sums
		to.merged += to.Len()
	case t.err == nil:
		t.copyTo(to, t.Rows())
	}
	if t.err != nil {
		to.fail(t.err)
	}
	t.Reset()
}

// copyTo merges rows into another table of the same spec. It does what Merge does with their wire form. An error is that of the other
// table, which must then not be used. In an empty table, rows whose keys all differ are not looked up: they are indexed if somebody
// searches for them.
func (t *Table) copyTo(to *Table, rows []int) {
	to.merged += len(rows)
	differ := to.Len() == 0 && t.mode == looks
	for len(rows) > 0 && to.err == nil {
		to.Pause()
		n := to.gatherRows(t, rows[:min(len(rows), mergeBlock)])
		if to.found = to.found[:0]; to.mode == looks && !differ {
			to.lookUp(n)
		} else {
			to.push(n)
		}
		for i := range to.aggs {
			if err := to.mergeCells(i, t, rows[:n]); err != nil {
				to.fail(fmt.Errorf("merge into %s: aggregate %s: %w", t.spec.Name, t.spec.Aggs[i].Name, err))
			}
		}
		rows = rows[n:]
	}
}

// gatherRows puts the keys of some rows of another table into t.query, or of the first of them if they are long, and returns of how many.
func (t *Table) gatherRows(of *Table, rows []int) int {
	q := &t.query
	q.reset(t.key.width())
	n := 0
	for _, row := range rows {
		q.keys = append(q.keys, of.index.key(row)...)
		if q.width == 0 {
			q.ends = append(q.ends, len(q.keys))
		}
		if n++; len(q.keys) >= gatherBytes {
			break
		}
	}
	return n
}

// mergeCells adds the cells of aggregate i of some rows of another table to those of t.found.
func (t *Table) mergeCells(i int, of *Table, rows []int) (err error) {
	c, from := &t.aggs[i], &of.aggs[i]
	switch c.agg.Kind {
	case Sum:
		t.values = t.values[:0]
		for _, row := range rows {
			t.values = append(t.values, of.sums.from(row, c.sum)[0])
		}
		return t.mergeSums(c.sum)
	case Exact:
		for i, row := range t.found {
			c.exacts.at(int(row)).AddSum(from.exacts.at(rows[i]))
		}
	default:
		for i, row := range t.found {
			if err = c.mergeOne(from, rows[i], int(row)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeOne is mergeCells of one cell that is no sum.
func (c *column) mergeOne(from *column, row, to int) (err error) {
	switch c.agg.Kind {
	case Counts:
		for _, x := range from.counts[row].list {
			if err = c.counts[to].add(x.value, x.n, &c.free); err != nil {
				return err
			}
		}
	case Histogram:
		// The numbers have lost bits, so they are added as those of a partial are.
		p := from.histograms[row].append(nil, c.agg.N, &from.free)
		return c.histograms[to].read(p, c.agg.N, &c.free)
	case Smallest:
		for _, v := range from.smallest[row].list {
			c.smallest[to].add(v, c.agg.N)
		}
	case MinText, MaxText:
		sign := 1
		if c.agg.Kind == MaxText {
			sign = -1
		}
		if r := *from.texts.ref(row); r.set() {
			c.texts.putLess(to, from.texts.view(r), sign)
		}
	case Least:
		for _, r := range from.texts.row(row) {
			if r.set() {
				c.texts.putLeast(to, from.texts.view(r))
			}
		}
	}
	return nil
}

// Retain removes the rows for which keep returns false, with their memory. The other rows keep their order and get new
// numbers. It costs time for each row that stays, so it is meant for keeping few of many.
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
	if t.copyTo(fresh, rows); fresh.err != nil {
		panic("fold: a table does not take its own rows: " + fresh.err.Error())
	}
	*t = *fresh
}
