package columnar

import (
	"encoding/binary"
	"math"
	"slices"

	"posta.dev/posta/rows/internal/fixed"
)

// Writer collects rows, column by column. After Reset it can be used again. Only one goroutine at a time may use it.
type Writer struct{ columns []Column }

// NewWriter returns an empty writer with the given number of columns.
func NewWriter(columns int) *Writer { return &Writer{columns: make([]Column, columns)} }

// Column returns a column; the pointer stays valid.
func (w *Writer) Column(i int) *Column { return &w.columns[i] }

// Rows returns the number of rows of the first column.
func (w *Writer) Rows() int { return w.columns[0].rows }

// Reset forgets all rows and keeps the memory.
func (w *Writer) Reset() {
	for i := range w.columns {
		w.columns[i].reset()
	}
}

// Size returns an upper bound of what Append appends. It depends only on the rows.
func (w *Writer) Size() int {
	n := 16
	for i := range w.columns {
		n += w.columns[i].size()
	}
	return n
}

// Append appends the chunk to dst.
func (w *Writer) Append(dst []byte) []byte {
	dst = slices.Grow(dst, w.Size())
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, uint64(w.Rows()))
	dst = binary.AppendUvarint(dst, uint64(len(w.columns)))
	for i := range w.columns {
		dst = w.columns[i].append(dst)
	}
	return dst
}

// MoveLast removes the last row, and adds it to another writer with the same number of columns.
func (w *Writer) MoveLast(to *Writer) {
	for i := range w.columns {
		w.columns[i].moveLast(&to.columns[i])
	}
}

// Column is a column of a [Writer]. Its first value that is not NULL determines its kind.
type Column struct {
	kind Kind
	rows int

	ints  []int64 // all kinds but null, text and dict; the bits of Float
	least int64   // no value of ints is below it, and none is above most
	most  int64
	codes []uint32 // dict

	bytes   []byte   // texts, or entries
	lengths []uint32 // lengths of these
	texts   int      // dict: bytes of the entries, each counted as often as rows refer to it
	nulls   []uint64 // a bit for each row
	some    bool     // there are NULLs

	words []word // by the index of a word in the file's dictionary
	round uint32 // a word whose round is another one has no entry
}

// word has the entry for a word of the file's dictionary, and the length of its text.
type word struct{ round, entry, size uint32 }

func (c *Column) reset() {
	c.kind, c.rows, c.some, c.texts = null, 0, false, 0
	c.ints, c.codes, c.bytes, c.lengths, c.nulls = c.ints[:0], c.codes[:0], c.bytes[:0], c.lengths[:0], c.nulls[:0]
	c.forget()
}

// forget discards the entries of all words.
func (c *Column) forget() {
	if c.round++; c.round == 0 {
		clear(c.words[:cap(c.words)])
		c.round = 1
	}
}

// Dictionary sets the dictionary to which the next calls of [Column.AppendWord] refer, by its number of words.
func (c *Column) Dictionary(words int) {
	c.words = slices.Grow(c.words[:0], words)[:words]
	c.forget()
}

// SizeOfWord is the memory that a word of a dictionary takes in a [Column].
const SizeOfWord = 12

// AppendNull adds a NULL.
func (c *Column) AppendNull() { c.AppendNulls(1) }

// become gives the column its kind, and makes the earlier rows NULL.
func (c *Column) become(kind Kind) {
	rows := c.rows
	c.kind, c.rows, c.least, c.most = kind, 0, math.MaxInt64, math.MinInt64
	c.AppendNulls(rows)
}

// AppendInt adds a value of any kind but Float.
func (c *Column) AppendInt(kind Kind, v int64) {
	if c.kind == kind && inRange(kind, v) {
		c.ints = append(c.ints, v)
		c.least, c.most = min(c.least, v), max(c.most, v)
		c.rows++
		return
	}
	c.appendOther(kind, v)
}

// AppendFloat adds a value of kind Float.
func (c *Column) AppendFloat(v float64) { c.AppendInt(Float, int64(math.Float64bits(v))) }

// appendOther adds a value that is the first, has another kind than those before it, or must be a text.
func (c *Column) appendOther(kind Kind, v int64) {
	if c.kind == null && inRange(kind, v) {
		c.become(kind)
		c.AppendInt(kind, v)
		return
	}
	var room [40]byte
	c.AppendText(appendValue(room[:0], kind, v))
}

// inRange reports whether the text of a value parses to the same value.
func inRange(kind Kind, v int64) bool {
	switch kind {
	case Days:
		return firstDay <= v && v <= lastDay
	case Micros:
		return firstDay*microsPerDay <= v && v < (lastDay+1)*microsPerDay
	case Bool:
		return v == 0 || v == 1
	}
	return true
}

// AppendText adds a text, which may be empty.
func (c *Column) AppendText(p []byte) {
	switch c.kind {
	case dict:
		c.codes = append(c.codes, c.entry(p))
		c.texts += len(p)
		c.rows++
		return
	case null:
		c.become(text)
	case text:
	default:
		c.toText()
	}
	c.bytes = append(c.bytes, p...)
	c.lengths = append(c.lengths, uint32(len(p)))
	c.rows++
}

// AppendWord adds a word of the file's dictionary. Its number must be below the number of words given to [Column.Dictionary].
func (c *Column) AppendWord(number uint32, p []byte) {
	if c.kind != dict {
		if c.kind != null {
			c.AppendText(p)
			return
		}
		c.become(dict)
	}
	w := &c.words[number]
	if w.round != c.round {
		*w = word{c.round, c.entry(p), uint32(len(p))}
	}
	c.codes = append(c.codes, w.entry)
	c.texts += len(p)
	c.rows++
}

// entry adds an entry, and returns its code.
func (c *Column) entry(p []byte) uint32 {
	c.bytes = append(c.bytes, p...)
	c.lengths = append(c.lengths, uint32(len(p)))
	return uint32(len(c.lengths))
}

// toText turns the typed values of a column into texts, because the column also has values of another kind.
func (c *Column) toText() {
	for i, v := range c.ints {
		from := len(c.bytes)
		if !isNull(c.nulls, i) {
			c.bytes = appendValue(c.bytes, c.kind, v)
		}
		c.lengths = append(c.lengths, uint32(len(c.bytes)-from))
	}
	c.kind, c.ints = text, c.ints[:0]
}

func isNull(nulls []uint64, row int) bool {
	return row/64 < len(nulls) && nulls[row/64]>>(row%64)&1 != 0
}

// moveLast moves the column's last value. A dictionary entry that only this value uses stays in c.
func (c *Column) moveLast(to *Column) {
	last := c.rows - 1
	c.rows = last
	switch {
	case c.kind == null:
		to.AppendNull()
		return
	case c.kind == dict:
		code := c.codes[last]
		if c.codes = c.codes[:last]; code == 0 {
			to.AppendNull()
			return
		}
		from, n := 0, c.lengths[code-1]
		for _, other := range c.lengths[:code-1] {
			from += int(other)
		}
		p := c.bytes[from : from+int(n)]
		c.texts -= len(p)
		if to.kind == null {
			to.become(dict)
		}
		to.AppendText(p)
		if int(code) == len(c.lengths) && !slices.Contains(c.codes, code) {
			c.bytes, c.lengths = c.bytes[:from], c.lengths[:code-1]
			c.forget()
		}
		return
	case isNull(c.nulls, last):
		c.nulls[last/64] &^= 1 << (last % 64)
		to.AppendNull()
	case c.kind == text:
		to.AppendText(c.bytes[len(c.bytes)-int(c.lengths[last]):])
	default:
		to.AppendInt(c.kind, c.ints[last])
	}
	if c.kind == text {
		c.bytes = c.bytes[:len(c.bytes)-int(c.lengths[last])]
		c.lengths = c.lengths[:last]
		return
	}
	c.ints = c.ints[:last]
}

// head is an upper bound for the bytes of a column's kind, size, counts, widths and least number.
const head = 32

// nullSize is what size counts for a row of a column that has only NULLs. Such a row takes no byte in the chunk, but memory in the parser,
// and one later value makes all of them as large as numbers.
const nullSize = 2

// repeated is how many times larger the texts of a dictionary may be than what size counts for them, because the parser has each text as
// often as rows refer to it.
const repeated = 4

func (c *Column) size() int {
	switch c.kind {
	case null:
		return head + nullSize*c.rows
	case dict:
		return max(head+len(c.bytes)+4*len(c.lengths)+4*c.rows, c.texts/repeated)
	case text:
		return head + len(c.bytes) + 4*c.rows + c.rows/8
	}
	return head + 8*c.rows + c.rows/8
}

func (c *Column) append(dst []byte) []byte {
	dst = append(dst, byte(c.kind))
	// The size stands before the body, but is known only after it. So it gets enough bytes for the largest size.
	const room = 5
	at := len(dst)
	dst = append(dst, make([]byte, room)...)
	switch c.kind {
	case null:
	case text:
		dst = c.appendNulls(dst)
		dst = append(appendLengths(dst, c.lengths), c.bytes...)
	case dict:
		dst = binary.AppendUvarint(dst, uint64(len(c.lengths)))
		dst = append(appendLengths(dst, c.lengths), c.bytes...)
		width := fixed.Width(uint64(len(c.lengths)))
		dst = fixed.Append(append(dst, byte(width)), c.codes, 0, width)
	case Float:
		dst = fixed.Append(c.appendNulls(dst), c.ints, 0, 8)
	default:
		dst = c.appendNulls(dst)
		width := fixed.Width(uint64(c.most) - uint64(c.least)) // the difference of two int64 fits a uint64
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c.least))
		dst = fixed.Append(append(dst, byte(width)), c.ints, c.least, width)
	}
	size := uint64(len(dst) - at - room)
	for i := range room {
		dst[at+i] = byte(size>>(7*i))&0x7f | 0x80
	}
	dst[at+room-1] &^= 0x80
	return dst
}

func (c *Column) appendNulls(dst []byte) []byte {
	if !c.some {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for i := range (c.rows + 7) / 8 {
		b := byte(0)
		if i/8 < len(c.nulls) {
			b = byte(c.nulls[i/8] >> (i % 8 * 8))
		}
		dst = append(dst, b)
	}
	return dst
}

func appendLengths(dst []byte, lengths []uint32) []byte {
	most := uint32(0)
	for _, n := range lengths {
		most = max(most, n)
	}
	width := max(1, fixed.Width(uint64(most)))
	return fixed.Append(append(dst, byte(width)), lengths, 0, width)
}
