package fold

import (
	"encoding/binary"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/progress"
)

// A partial is a batch (package batch) with a column per key, one for Spec.Nulls, then a column per aggregate:
//
//	KeyInt, Sum               int
//	KeyText                   text
//	Exact                     text: the wire form of exact.Sum
//	Spec.Nulls                int: which keys are NULL, bit k for key k; such a key is 0 or an empty text
//	MinText, MaxText          text: empty if there is none, else 0x01 and the text
//	Least                     text: msgpack array of bin, in order
//	Counts                    text: see counts.append
//	Histogram                 text: see histogram.append
//	Smallest                  text: see smallest.append
//
// Keys are texts and not dictionary entries, because they are distinct: a dictionary would cost a hash per row, and save
// bytes only if several keys of low cardinality are combined.
const textPresent = 0x01

// AppendRows appends the wire form of the given rows to dst. The caller must give only as many rows as fit a frame: see
// Chunks.
func (t *Table) AppendRows(dst []byte, rows []int) []byte {
	if t.out == nil {
		t.out = batch.NewBuilder(t.fields)
	}
	t.out.Reset()
	progress.Mark()
	for k, key := range t.spec.Keys {
		t.appendKeys(rows, k, key.Kind)
	}
	if t.spec.Nulls {
		out := t.out.Int(len(t.spec.Keys))
		for _, row := range rows {
			out.Append(int64(t.key.nullsAt(t.index.key(row))))
		}
	}
	var scratch []byte
	for i := range t.aggs {
		c, field := &t.aggs[i], t.spec.keyColumns()+i
		if c.agg.Kind != Sum {
			scratch = c.appendTo(t.out.Text(field), rows, scratch)
			continue
		}
		out := t.out.Int(field)
		for _, row := range rows {
			out.Append(t.sums.from(row, c.sum)[0])
		}
	}
	return t.out.Append(dst)
}

func (t *Table) appendKeys(rows []int, k int, kind KeyKind) {
	if kind == KeyInt {
		out := t.out.Int(k)
		if flat := &t.index.flat; flat.width > 0 {
			place, room := t.key.places[k], out.Room(len(rows))
			for _, row := range rows {
				room = append(room, int64(binary.LittleEndian.Uint64(flat.from(row, place))))
			}
			out.AppendAll(room)
			return
		}
		for _, row := range rows {
			out.Append(t.key.intAt(t.index.key(row), k))
		}
		return
	}
	out := t.out.Text(k)
	for _, row := range rows {
		out.Append(t.key.textAt(t.index.key(row), k))
	}
}

func (c *column) appendTo(out *batch.TextBuilder, rows []int, scratch []byte) []byte {
	for _, row := range rows {
		scratch = c.appendCell(scratch[:0], row)
		out.Append(scratch)
	}
	return scratch
}

func (c *column) appendCell(b []byte, row int) []byte {
	switch c.agg.Kind {
	case Exact:
		return c.exacts.at(row).Append(b)
	case Least:
		return c.appendLeast(b, row)
	case Counts:
		return c.counts[row].append(b, &c.free)
	case Histogram:
		return c.histograms[row].append(b, c.agg.N, &c.free)
	case Smallest:
		return c.smallest[row].append(b, c.agg.N)
	}
	if r := *c.texts.ref(row); r.set() {
		b = append(append(b, textPresent), c.texts.view(r)...)
	}
	return b
}

func (c *column) appendLeast(b []byte, row int) []byte {
	refs := c.texts.row(row)
	n := 0
	for n < len(refs) && refs[n].set() {
		n++
	}
	b = wire.AppendArray(b, n)
	for _, r := range refs[:n] {
		b = wire.AppendBin(b, c.texts.view(r))
	}
	return b
}

// Chunks cuts rows into runs of at least one row. The wire form of a run has at most about maxBytes.
func (t *Table) Chunks(rows []int, maxBytes int) [][]int {
	var chunks [][]int
	if width := t.index.flat.width; width > 0 && len(t.varying) == 0 { // all rows have as many bytes
		for n := min(max(1, maxBytes/(width+t.constant)), batch.MaxRows); len(rows) > 0; rows = rows[len(chunks[len(chunks)-1]):] {
			chunks = append(chunks, rows[:min(n, len(rows))])
		}
		return chunks
	}
	start, size := 0, 0
	for i, row := range rows {
		if i%progress.Every == 0 {
			progress.Mark()
		}
		n := t.rowBytes(row)
		if i > start && (size+n > maxBytes || i-start >= batch.MaxRows) {
			chunks = append(chunks, rows[start:i])
			start, size = i, 0
		}
		size += n
	}
	if start < len(rows) {
		chunks = append(chunks, rows[start:])
	}
	return chunks
}

// Page returns the end of a page that begins with row from. A page has at most maxRows rows, at most about maxBytes in wire form, and at
// least one row. It depends only on the contents of the rows, so a table that was sent and merged again has the same pages.
func (t *Table) Page(from, maxRows, maxBytes int) (to int) {
	size := 0
	for to = from; to < t.Len() && to-from < maxRows; to++ {
		t.normalize(to)
		size += t.rowBytes(to)
		if to > from && size > maxBytes {
			break
		}
	}
	return to
}

// normalize brings a row's numbers into their one normal form, in whatever order they came.
func (t *Table) normalize(row int) {
	for _, i := range t.varying {
		var err error
		switch c := &t.aggs[i]; c.agg.Kind {
		case Counts:
			err = c.counts[row].normalize(&c.free)
		case Histogram:
			err = c.histograms[row].settle(c.agg.N, &c.free)
		case Smallest:
			c.smallest[row].settle(c.agg.N)
		}
		if err != nil {
			t.fail(fmt.Errorf("%s of table %s: %w", t.aggs[i].agg.Name, t.spec.Name, err))
		}
	}
}

// Describe names a row for people: its table and the beginning of its key.
func (t *Table) Describe(row int) string {
	const most = 40
	text := "a row of table " + t.spec.Name
	for k, key := range t.spec.Keys {
		switch {
		case t.KeyNull(row, k):
			text += fmt.Sprintf(", %s NULL", key.Name)
			continue
		case key.Kind == KeyInt:
			text += fmt.Sprintf(", %s %d", key.Name, t.KeyInt(row, k))
			continue
		}
		v := t.KeyText(row, k)
		text += fmt.Sprintf(", %s %q", key.Name, v[:min(len(v), most)])
	}
	return text
}

// rowBytes estimates the bytes of a row on the wire, rather too high than too low.
func (t *Table) rowBytes(row int) int {
	n := len(t.index.key(row)) + t.constant
	for _, i := range t.varying {
		c := &t.aggs[i]
		switch c.agg.Kind {
		case Counts:
			n += 16 + 4*len(c.counts[row].list)
		case Histogram:
			n += 24 + 8*len(c.histograms[row].list)
		case Smallest:
			n += 24 + 8*len(c.smallest[row].list)
		default:
			n += 8
			for _, r := range c.texts.row(row) {
				n += int(r.size) + 5
			}
		}
	}
	return n
}

// measure notes how many bytes of a row are the same for all rows, and which aggregates have others.
func (t *Table) measure() {
	for i, a := range t.spec.Aggs {
		switch a.Kind {
		case Sum:
			t.constant += 8
		case Exact:
			t.constant += 48
		default:
			t.varying = append(t.varying, i)
		}
	}
}
