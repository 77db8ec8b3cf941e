package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/klauspost/compress/snappy"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

// DefaultGroup is how many bytes of values a [Writer] gathers before it writes a row group.
const DefaultGroup = 4 << 20

// Writer writes rows as a Parquet file: columns of integers, double, booleans, decimals, days, times and UTF-8 text, each row group in one
// page for each column, packed with Snappy and with a checksum, and with statistics. Values that are often the same are in a dictionary.
// Any value may be null. It keeps one row group in memory, and some hundred bytes for each column of each row group that it has written.
type Writer struct {
	Group int // bytes of values in a row group: larger ones are read faster, and take more memory

	w       io.Writer
	at      int64
	columns []gathered
	rows    int64 // of the row group
	all     int64 // of the row groups before it
	groups  []byte
	number  int    // of row groups written
	plain   []byte // a page before it is packed
	page    []byte // a page after it is packed
	words   dictionary
	bytes   int64 // of the row group's pages, with their headers, as if they were not packed
	err     error
}

// gathered is a column of the row group that is being gathered.
type gathered struct {
	name string
	typ  types.Type
	kind int64 // the physical type
	wide int64 // bits of integers that are narrower than a BIGINT, or 0
	data []byte
	bits int // number of booleans in data

	levels []byte // runs of values that are there or NULL, each with its length; the last run, of run values, is not in it yet
	run    uint64
	there  byte

	nulls int64
	some  bool // there are values, so the bounds are set
	none  bool // a value is NaN, which has no order

	// The least and the greatest value, by kind. Of a long text, only enough is kept to know that it is too long.
	ints   [2]int64
	floats [2]float64
	texts  [2][]byte
}

// longestBound is how many bytes a text in statistics may have.
const longestBound = 64

// takeInt, takeFloat and takeText include a value in the statistics. Booleans have none.
func (c *gathered) takeInt(v int64) {
	if !c.some {
		c.ints[0], c.ints[1], c.some = v, v, true
	}
	c.ints[0], c.ints[1] = min(c.ints[0], v), max(c.ints[1], v)
}

func (c *gathered) takeFloat(v float64) {
	switch {
	case v != v:
		c.none = true
	case !c.some:
		c.floats[0], c.floats[1], c.some = v, v, true
	case v < c.floats[0]:
		c.floats[0] = v
	case v > c.floats[1]:
		c.floats[1] = v
	}
}

func (c *gathered) takeText(v string) {
	kept := v[:min(len(v), longestBound+1)]
	if !c.some || v < string(c.texts[0]) {
		c.texts[0] = append(c.texts[0][:0], kept...)
	}
	if !c.some || v > string(c.texts[1]) {
		c.texts[1] = append(c.texts[1][:0], kept...)
	}
	c.some = true
}

// statistics appends the statistics of a row group, and resets them.
func (c *gathered) statistics(m *made) {
	m.begin(12)
	m.int(3, thriftI64, c.nulls)
	if least, most := c.bound(0), c.bound(1); c.some && !c.none && len(most) <= longestBound {
		m.field(5, thriftBinary)
		m.text(string(most))
		m.field(6, thriftBinary)
		m.text(string(least[:min(len(least), longestBound)])) // a prefix of a text is never greater than the text
	}
	m.end()
	c.nulls, c.some, c.none = 0, false, false
}

// bound returns the least value (end 0) or the greatest (end 1) as statistics have it. A zero gets the sign with which it bounds both
// zeros: -0 as the least, +0 as the greatest.
func (c *gathered) bound(end int) []byte {
	switch c.kind {
	case kindInt32:
		return binary.LittleEndian.AppendUint32(nil, uint32(c.ints[end]))
	case kindInt64:
		return binary.LittleEndian.AppendUint64(nil, uint64(c.ints[end]))
	case kindDouble:
		v := c.floats[end]
		if v == 0 {
			v = math.Copysign(0, float64(end)-0.5)
		}
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
	}
	return c.texts[end]
}

// level adds a value to the levels: there is 1, or 0 for null.
func (c *gathered) level(there byte) {
	if there != c.there {
		c.endRun()
	}
	c.there = there
	c.run++
}

func (c *gathered) endRun() {
	if c.run > 0 {
		c.levels = append(binary.AppendUvarint(c.levels, c.run<<1), c.there)
	}
	c.run = 0
}

// take appends the gathered values to page, and starts the next page.
func (c *gathered) take(page []byte) []byte {
	c.endRun()
	page = binary.LittleEndian.AppendUint32(page, uint32(len(c.levels)))
	page = append(append(page, c.levels...), c.data...)
	c.levels, c.data, c.bits = c.levels[:0], c.data[:0], 0
	return page
}

// NewWriter returns a writer of columns with these names and types. Types of which a file has no columns, like INTERVAL, are written as
// text.
func NewWriter(w io.Writer, names []string, of []types.Type) *Writer {
	f := &Writer{Group: DefaultGroup, w: w}
	for i, name := range names {
		f.columns = append(f.columns, gathered{name: protocol.UTF8(name), typ: of[i], kind: physical(of[i].Kind)})
	}
	f.write([]byte(Magic))
	return f
}

// Narrow declares that the integers of a column have 16 or 32 bits. It precedes the first row.
func (f *Writer) Narrow(column int, bits int64) {
	f.columns[column].kind, f.columns[column].wide = kindInt32, bits
}

func (f *Writer) write(p []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(p)
	}
	f.at += int64(len(p))
}

// ErrValue is wrapped by the errors of [Writer.Row] for a value that is not of its column's type.
var ErrValue = errors.New("a value is not of its column's type")

// integer returns the number as which a value of a column of integers is stored. Decimals, days and times come as the texts of an answer.
func (c *gathered) integer(v protocol.Value) (n int64, ok bool) {
	switch p := []byte(v.Text); {
	case c.typ.Kind == types.BigInt:
		return v.Int, v.Kind == protocol.Int && (c.wide == 0 || v.Int == v.Int<<(64-c.wide)>>(64-c.wide))
	case v.Kind != protocol.Text:
	case c.typ.Kind == types.Decimal:
		return field.Decimal(p, c.typ)
	case c.typ.Kind == types.Date:
		n, ok = field.AnyDate(p)
		return n, ok && n == int64(int32(n))
	case c.typ.Kind == types.Timestamp:
		return field.AnyTimestamp(p)
	}
	return 0, false
}

// Row writes a row. A value is of its column's type, or one that the type holds: any value in a column of text, and an integer in one of
// doubles. DECIMAL, DATE and TIMESTAMP come as the texts of an answer.
func (f *Writer) Row(row []protocol.Value) error {
	size := 0
	for i, v := range row {
		c := &f.columns[i]
		if v.Kind == protocol.Null {
			c.level(0)
			c.nulls++
			size += len(c.data) + len(c.levels)
			continue
		}
		c.level(1)
		switch {
		case c.kind != kindBytes && c.kind != kindInt32 && c.kind != kindInt64 && v.Kind == protocol.Text,
			c.kind == kindBool && v.Kind != protocol.Bool:
			return f.not(c, v)
		case c.kind == kindBool:
			if c.bits%8 == 0 {
				c.data = append(c.data, 0)
			}
			c.data[len(c.data)-1] |= byte(v.Int&1) << (c.bits % 8)
			c.bits++
		case c.kind == kindInt32, c.kind == kindInt64:
			n, ok := c.integer(v)
			if !ok {
				return f.not(c, v)
			}
			if c.takeInt(n); c.kind == kindInt32 {
				c.data = binary.LittleEndian.AppendUint32(c.data, uint32(n))
			} else {
				c.data = binary.LittleEndian.AppendUint64(c.data, uint64(n))
			}
		case c.kind == kindDouble && v.Kind == protocol.Int:
			c.takeFloat(float64(v.Int))
			c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(float64(v.Int)))
		case c.kind == kindDouble:
			c.takeFloat(v.Float)
			c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(v.Float))
		default:
			text := v.Text
			if v.Kind != protocol.Text {
				text = v.String()
			}
			text = protocol.UTF8(text)
			c.takeText(text)
			c.data = binary.LittleEndian.AppendUint32(c.data, uint32(len(text)))
			c.data = append(c.data, text...)
		}
		size += len(c.data) + len(c.levels)
	}
	f.rows++
	if size >= f.Group || f.rows == math.MaxInt32 {
		f.flush()
	}
	return f.err
}

// not returns the error for a value that is not of its column's type; nothing can be written after it.
func (f *Writer) not(c *gathered, v protocol.Value) error {
	f.err = fmt.Errorf("%w: row %d, column %q, %s: %.40q", ErrValue, f.all+f.rows+1, c.name, c.typ, v.String())
	return f.err
}

// flush writes the row group.
func (f *Writer) flush() {
	if f.rows == 0 {
		return
	}
	begin := f.at
	var columns []byte
	f.bytes = 0
	for i := range f.columns {
		columns = append(columns, f.chunk(&f.columns[i])...)
	}
	var g made
	g.list(1, thriftStruct, len(f.columns))
	g.p = append(g.p, columns...)
	g.int(2, thriftI64, f.bytes)
	g.int(3, thriftI64, f.rows)
	g.int(5, thriftI64, begin)
	g.end()
	f.groups = append(f.groups, g.p...)
	f.number++
	f.all += f.rows
	f.rows = 0
}

// chunk writes the pages of a column, and returns what the file's end says of them.
func (f *Writer) chunk(c *gathered) []byte {
	from, before, encoding := f.at, f.bytes, int64(encodingPlain)
	if f.words.encode(c) {
		encoding = encodingDictionary
		f.plain = append(f.plain[:0], f.words.values...)
		f.writePage(pageDictionary, 7, int64(len(f.words.codes)), encodingPlain)
	}
	data := f.at
	f.plain = c.take(f.plain[:0])
	f.writePage(pageData, 5, f.rows, encoding)
	var m made
	m.int(2, thriftI64, from)
	m.begin(3)
	m.int(1, thriftI32, c.kind)
	m.list(2, thriftI32, 3)
	m.p = append(m.p, encodingPlain<<1, encodingRLE<<1, byte(encoding)<<1)
	m.list(3, thriftBinary, 1)
	m.text(c.name)
	m.int(4, thriftI32, codecSnappy)
	m.int(5, thriftI64, f.rows)
	m.int(6, thriftI64, f.bytes-before)
	m.int(7, thriftI64, f.at-from)
	m.int(9, thriftI64, data)
	if data > from {
		m.int(11, thriftI64, from)
	}
	c.statistics(&m)
	m.end()
	m.end()
	return m.p
}

// writePage packs and writes the page in f.plain, with its header, in which field describes pages of this kind.
func (f *Writer) writePage(kind int64, field int, values, encoding int64) {
	f.page = snappy.Encode(f.page[:cap(f.page)], f.plain)
	var head made
	head.int(1, thriftI32, kind)
	head.int(2, thriftI32, int64(len(f.plain)))
	head.int(3, thriftI32, int64(len(f.page)))
	head.int(4, thriftI32, int64(int32(crc32.ChecksumIEEE(f.page))))
	head.begin(field)
	head.int(1, thriftI32, values)
	head.int(2, thriftI32, encoding)
	if kind == pageData {
		head.int(3, thriftI32, encodingRLE)
		head.int(4, thriftI32, encodingRLE)
	}
	head.end()
	head.end()
	f.write(head.p)
	f.write(f.page)
	f.bytes += int64(len(head.p) + len(f.plain))
}

func physical(kind types.Kind) int64 {
	switch kind {
	case types.BigInt, types.Decimal, types.Timestamp:
		return kindInt64
	case types.Date:
		return kindInt32
	case types.Double:
		return kindDouble
	case types.Bool:
		return kindBool
	}
	return kindBytes
}

// meaning appends what the values of a column mean: the converted type, which older readers know, and the logical one.
func (c *gathered) meaning(e *made) {
	switch c.typ.Kind {
	case types.BigInt:
		if c.wide > 0 {
			e.int(6, thriftI32, 15+c.wide/16) // INT_16 or INT_32
			e.begin(10)
			e.begin(logicalInteger)
			e.field(1, thriftByte)
			e.p = append(e.p, byte(c.wide))
			e.field(2, thriftTrue)
			e.end()
			e.end()
		}
	case types.Double, types.Bool:
	case types.Decimal:
		e.int(6, thriftI32, 5)
		e.int(7, thriftI32, int64(c.typ.Scale))
		e.int(8, thriftI32, int64(c.typ.Precision))
		e.begin(10)
		e.begin(logicalDecimal)
		e.int(1, thriftI32, int64(c.typ.Scale))
		e.int(2, thriftI32, int64(c.typ.Precision))
		e.end()
		e.end()
	case types.Date:
		e.int(6, thriftI32, 6)
		e.begin(10)
		e.begin(logicalDate)
		e.end()
		e.end()
	case types.Timestamp: // of no zone, which the converted type cannot say
		e.begin(10)
		e.begin(logicalTimestamp)
		e.field(1, thriftFalse)
		e.begin(2)
		e.begin(2) // microseconds
		e.end()
		e.end()
		e.end()
		e.end()
	default:
		e.int(6, thriftI32, 0) // UTF8
		e.begin(10)
		e.begin(logicalString)
		e.end()
		e.end()
	}
}

// Close writes the end of the file. It does not close the underlying writer.
func (f *Writer) Close() error {
	f.flush()
	var m made
	m.int(1, thriftI32, 1)
	m.list(2, thriftStruct, len(f.columns)+1)
	var root made
	root.field(4, thriftBinary)
	root.text("rows")
	root.int(5, thriftI32, int64(len(f.columns)))
	root.end()
	m.p = append(m.p, root.p...)
	for _, c := range f.columns {
		var e made
		e.int(1, thriftI32, c.kind)
		e.int(3, thriftI32, optional)
		e.field(4, thriftBinary)
		e.text(c.name)
		c.meaning(&e)
		e.end()
		m.p = append(m.p, e.p...)
	}
	m.int(3, thriftI64, f.all)
	m.list(4, thriftStruct, f.number)
	m.p = append(m.p, f.groups...)
	m.field(6, thriftBinary)
	m.text("posta")
	m.list(7, thriftStruct, len(f.columns))
	for range f.columns {
		var order made
		order.begin(1) // the order of the type
		order.end()
		order.end()
		m.p = append(m.p, order.p...)
	}
	m.end()
	f.write(m.p)
	f.write(binary.LittleEndian.AppendUint32(nil, uint32(len(m.p))))
	f.write([]byte(Magic))
	return f.err
}

// made is a Thrift structure in the compact protocol, while it is written.
type made struct {
	p    []byte
	last int
	up   []int // last of each enclosing structure
}

func (m *made) field(id int, kind byte) {
	m.p = append(m.p, byte(id-m.last)<<4|kind) // fields are written in their order, no two more than 15 apart
	m.last = id
}

func (m *made) int(id int, kind byte, v int64) {
	m.field(id, kind)
	m.p = binary.AppendVarint(m.p, v)
}

// begin begins a structure as field id; end ends it, or the outermost structure.
func (m *made) begin(id int) {
	m.field(id, thriftStruct)
	m.up, m.last = append(m.up, m.last), 0
}

func (m *made) end() {
	m.p = append(m.p, 0)
	if n := len(m.up); n > 0 {
		m.last, m.up = m.up[n-1], m.up[:n-1]
	}
}

// list begins a list of n items, which follow.
func (m *made) list(id int, of byte, n int) {
	m.field(id, thriftList)
	if n < 15 {
		m.p = append(m.p, byte(n)<<4|of)
		return
	}
	m.p = binary.AppendUvarint(append(m.p, 15<<4|of), uint64(n))
}

func (m *made) text(s string) {
	m.p = append(binary.AppendUvarint(m.p, uint64(len(s))), s...)
}
