package fold

import (
	"fmt"

	"posta.dev/posta/rows/exact"
)

// column holds the cells of one aggregate. Its kind determines which slice is used.
type column struct {
	agg    Agg
	sum    int // of a Sum, its place in Table.sums
	exacts cells[exact.Sum]
	texts  texts
	counts []counts
	free   []count // memory of counts and histograms for sorting

	histograms []stepCounts
	smallest   []smallest
}

func newColumn(a Agg) column {
	if a.Kind == Least {
		return column{agg: a, texts: newTexts(a.N)}
	}
	return column{agg: a, texts: newTexts(1)}
}

// addRows adds cells with the aggregate's identity.
func (c *column) addRows(n int) {
	switch c.agg.Kind {
	case Sum: // in Table.sums
	case Exact:
		c.exacts.add(exact.Sum{}, n)
	case Counts:
		for range n {
			c.counts = addCell(c.counts)
		}
	case Histogram:
		for range n {
			c.histograms = addCell(c.histograms)
		}
	case Smallest:
		for range n {
			c.smallest = addCell(c.smallest)
		}
	default:
		for range n {
			c.texts.addRow()
		}
	}
}

// addCell adds a cell. If a freed cell exists, it reuses this cell with its memory.
func addCell[T any, P interface {
	*T
	reset()
}](cells []T) []T {
	if n := len(cells); n < cap(cells) {
		cells = cells[:n+1]
		P(&cells[n]).reset()
		return cells
	}
	var none T
	return append(cells, none)
}

func (c *column) reset() {
	c.exacts.reset()
	c.counts, c.histograms, c.smallest = c.counts[:0], c.histograms[:0], c.smallest[:0]
	c.texts.reset()
}

func (c *column) memory() int {
	n := 32*c.exacts.room() + c.texts.memory() + 40*cap(c.counts) + 16*cap(c.free)
	for i := range c.counts[:cap(c.counts)] {
		n += c.counts[:cap(c.counts)][i].memory()
	}
	n += 48*cap(c.histograms) + 48*cap(c.smallest)
	for i := range c.histograms[:cap(c.histograms)] {
		n += c.histograms[:cap(c.histograms)][i].memory()
	}
	for i := range c.smallest[:cap(c.smallest)] {
		n += c.smallest[:cap(c.smallest)][i].memory()
	}
	return n
}

// of returns the column of aggregate agg, which must be of the given kind.
func (t *Table) of(agg int, kind AggKind) *column {
	c := &t.aggs[agg]
	if c.agg.Kind != kind {
		panic(fmt.Sprintf("fold: aggregate %s of %s is of kind %d, used as %d", c.agg.Name, t.spec.Name, c.agg.Kind, kind))
	}
	return c
}

// AddSum adds v to a Sum. An overflow does not change the cell and sets [Table.Err].
func (t *Table) AddSum(row, agg int, v int64) {
	cell := &t.sums.from(row, t.of(agg, Sum).sum)[0]
	r := *cell + v
	if (*cell^r)&(v^r) < 0 {
		t.fail(fmt.Errorf("%w: %s of table %s", ErrOverflow, t.spec.Aggs[agg].Name, t.spec.Name))
		return
	}
	*cell = r
}

// AddSums adds values[row] to a Sum of each row. An overflow sets [Table.Err].
func (t *Table) AddSums(agg int, values []int64) {
	overflow, at := int64(0), t.of(agg, Sum).sum
	for row := 0; row < len(values); row += cellBlock {
		sums := t.sums.from(row, at)
		for i, v := range values[row:min(row+cellBlock, len(values))] {
			cell := &sums[i*t.sums.width]
			r := *cell + v
			overflow |= (*cell ^ r) & (v ^ r)
			*cell = r
		}
	}
	if overflow < 0 {
		t.fail(fmt.Errorf("%w: %s of table %s", ErrOverflow, t.spec.Aggs[agg].Name, t.spec.Name))
	}
}

// AddExact adds s to an Exact.
func (t *Table) AddExact(row, agg int, s *exact.Sum) { t.of(agg, Exact).exacts.at(row).AddSum(s) }

// AddFloat adds v to an Exact.
func (t *Table) AddFloat(row, agg int, v float64) { t.of(agg, Exact).exacts.at(row).Add(v) }

// PutMinText makes v the text of a MinText if v is smaller. It copies v.
func (t *Table) PutMinText(row, agg int, v []byte) {
	if c := t.of(agg, MinText); t.within(c.texts.bytes.held, v) {
		c.texts.putLess(row, v, 1)
	}
}

// PutMaxText makes v the text of a MaxText if v is larger. It copies v.
func (t *Table) PutMaxText(row, agg int, v []byte) {
	if c := t.of(agg, MaxText); t.within(c.texts.bytes.held, v) {
		c.texts.putLess(row, v, -1)
	}
}

// PutLeast keeps v in a Least if v is among the smallest. It copies v.
func (t *Table) PutLeast(row, agg int, v []byte) {
	if c := t.of(agg, Least); t.within(c.texts.bytes.held, v) {
		c.texts.putLeast(row, v)
	}
}

// Sum returns the value of a Sum.
func (t *Table) Sum(row, agg int) int64 { return t.sums.from(row, t.of(agg, Sum).sum)[0] }

// Exact returns the value of an Exact, valid until the next call of Row, Merge or Reset.
func (t *Table) Exact(row, agg int) *exact.Sum { return t.of(agg, Exact).exacts.at(row) }

// MinText returns the value of a MinText, false if there is none; valid until the table changes.
func (t *Table) MinText(row, agg int) ([]byte, bool) { return t.text(t.of(agg, MinText), row) }

// MaxText returns the value of a MaxText, false if there is none; valid until the table changes.
func (t *Table) MaxText(row, agg int) ([]byte, bool) { return t.text(t.of(agg, MaxText), row) }

func (t *Table) text(c *column, row int) ([]byte, bool) {
	r := *c.texts.ref(row)
	return c.texts.view(r), r.set()
}

// Least returns the texts of a Least in order; valid until the table changes.
func (t *Table) Least(row, agg int) [][]byte {
	c := t.of(agg, Least)
	var out [][]byte
	for _, r := range c.texts.row(row) {
		if r.set() {
			out = append(out, c.texts.view(r))
		}
	}
	return out
}
