package output

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/progress"
)

// A run is a sequence of pages of sorted rows. Each page is read and checked by itself:
//
//	0        4     8
//	┌────────┬─────┬───────────────────┐
//	│ length │ sum │ rows, as in role.Passed │   numbers are LE; sum is CRC32C of the rows
//	└────────┴─────┴───────────────────┘
const pageHead = 8

// sortRun sorts rows and returns them as a run.
func sortRun(pending []byte, pageBytes int) ([]byte, error) {
	rows := 0
	for rest := pending; len(rest) > 0; rows++ {
		var err error
		if _, rest, err = role.CutRow(rest); err != nil {
			return nil, err
		}
	}
	all := make([][]byte, rows)
	for i, rest := 0, pending; i < rows; i++ {
		all[i], rest, _ = role.CutRow(rest) // no error: counting read the same
	}
	progress.Mark()
	slices.SortFunc(all, bytes.Compare)
	progress.Mark()
	run := make([]byte, 0, len(pending)+pageHead*(1+len(pending)/pageBytes))
	var page []byte
	end := func() {
		if len(page) > 0 {
			run = binary.LittleEndian.AppendUint32(run, uint32(len(page)))
			run = binary.LittleEndian.AppendUint32(run, crc32.Checksum(page, castagnoli))
			run, page = append(run, page...), page[:0]
		}
	}
	for _, row := range all {
		if len(page) > 0 && len(page)+len(row) > pageBytes-pageHead-binary.MaxVarintLen32 {
			end()
		}
		page = role.AppendRow(page, row)
	}
	end()
	return run, nil
}

// merge is a k-way merge of all runs of a query: it makes parts of their rows in order. Every merge of the same runs makes the same parts,
// so that parts can be numbered. It has one page of each run in memory.
type merge struct {
	r     *result
	q     *sorted
	from  role.SavedReader
	limit int // bytes of rows in a part
	place
	before place // where the previous request began: a client that has missed the answer asks again
}

// place is the position of a merge. clone copies it without the pages, which never change.
type place struct {
	parts uint64 // number of parts made so far
	rows  uint64 // number of rows in them
	heads heads
	over  bool
}

func (p *place) clone() place {
	c := *p
	c.heads = slices.Clone(p.heads)
	return c
}

// head is the next row of a run, with the position of the rows after it.
type head struct {
	run  int // file
	row  []byte
	page []byte // rest of the page behind row
	next int    // offset of the next page in the file
}

// heads is a heap: the smallest row is first, and among equal rows that of the earliest run.
type heads []head

func (h heads) Len() int { return len(h) }
func (h heads) Less(i, j int) bool {
	c := bytes.Compare(h[i].row, h[j].row)
	return c < 0 || c == 0 && h[i].run < h[j].run
}
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)   { *h = append(*h, x.(head)) }
func (h *heads) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}

func newMerge(r *result, q *sorted, from role.SavedReader, limit int) (*merge, error) {
	m := &merge{r: r, q: q, from: from, limit: limit}
	if err := m.restart(); err != nil {
		return nil, err
	}
	m.before = m.place.clone()
	return m, nil
}

// restart goes back to the first row.
func (m *merge) restart() error {
	m.place = place{}
	for _, run := range m.q.runs {
		h := head{run: run}
		if more, err := m.advance(&h); err != nil {
			return err
		} else if more {
			m.heads = append(m.heads, h)
		}
	}
	heap.Init(&m.heads)
	return nil
}

// advance moves h to the run's next row; more is false if there is none.
func (m *merge) advance(h *head) (more bool, err error) {
	if len(h.page) == 0 {
		size := m.r.files[h.run].size
		if h.next == size {
			return false, nil
		}
		if h.page, err = m.page(h.run, h.next, size); err != nil {
			return false, fmt.Errorf("%s: %w", m.r.files[h.run].name, err)
		}
		h.next += pageHead + len(h.page)
	}
	h.row, h.page, err = role.CutRow(h.page)
	return true, err
}

// page reads a page. One read fetches the header and, of most pages, all rows.
func (m *merge) page(run, at, size int) ([]byte, error) {
	b := make([]byte, min(pageBytes, size-at))
	if len(b) < pageHead {
		return nil, errDamaged
	}
	if err := m.r.read(m.from, run, at, b); err != nil {
		return nil, err
	}
	n, sum := int(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
	b = b[pageHead:]
	switch {
	case n > size-at-pageHead:
		return nil, errDamaged
	case n <= len(b):
		b = b[:n:n]
	default: // a single row longer than pageBytes
		b = make([]byte, n)
		if err := m.r.read(m.from, run, at+pageHead, b); err != nil {
			return nil, err
		}
	}
	if crc32.Checksum(b, castagnoli) != sum {
		return nil, errDamaged
	}
	return b, nil
}

// seek moves to the part after the first n parts, with n = parts, in steps of about sliceBytes; there is false if another call is needed.
func (m *merge) seek(parts uint64) (there bool, err error) {
	if m.parts > parts {
		if m.before.parts <= parts {
			m.place = m.before.clone()
		} else if err := m.restart(); err != nil {
			return false, err
		}
	}
	for passed := 0; !m.over && m.parts < parts; {
		if passed > sliceBytes {
			return false, nil
		}
		p, err := m.part()
		if err != nil {
			return false, err
		}
		passed += p.Rows.Size()
	}
	m.before = m.place.clone()
	return true, nil
}

// sliceBytes is how many bytes seek merges within one turn of the node's loop.
const sliceBytes = 16 << 20

// nextBytes estimates the largest size of the next part.
func (m *merge) nextBytes() int {
	empty := protocol.Part{Query: m.q.query, Columns: m.q.columns}
	n := m.limit
	if len(m.heads) > 0 {
		n = max(n, len(m.heads[0].row)+5*len(m.q.columns))
	}
	return n + partBytes(&empty)
}

// part makes the next part. A part is the last one if no row follows it. There is at least one part, to carry the columns.
func (m *merge) part() (p protocol.Part, err error) {
	p = protocol.Part{Query: m.q.query, Columns: m.q.columns, Offset: m.rows, Rows: protocol.NewRows(len(m.q.columns))}
	if len(m.heads) > 0 {
		p.Rows.Grow(m.limit)
	}
	cells := make([]protocol.OrderedCell, len(m.q.columns))
	for len(m.heads) > 0 {
		h := &m.heads[0]
		if p.Rows.Len() > 0 && p.Rows.Size()+len(h.row) > m.limit {
			break
		}
		progress.Mark()
		if err := m.q.order.ReadRow(h.row, cells); err != nil {
			return p, err
		}
		if err := p.Rows.AddOrdered(cells); err != nil {
			return p, err
		}
		more, err := m.advance(h)
		switch {
		case err != nil:
			return p, err
		case more:
			heap.Fix(&m.heads, 0)
		default:
			heap.Pop(&m.heads)
		}
	}
	m.rows += uint64(p.Rows.Len())
	m.parts++
	p.Last = len(m.heads) == 0
	if m.over = p.Last; p.Last {
		if m.rows != m.q.rows {
			return p, fmt.Errorf("%d of %d rows are there: %w", m.rows, m.q.rows, errDamaged)
		}
		m.q.parts = m.parts
	}
	return p, nil
}
