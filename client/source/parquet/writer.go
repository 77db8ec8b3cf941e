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

// Bounds of what is written at once, as other writers have them.
const (
	groupRows = 122_880
	pageRows  = 20_000
	pageBytes = 1 << 20 // of values, before they become codes of a dictionary
)

// Writer writes rows as a Parquet file: columns of integers, double, booleans, decimals, days, times and UTF-8 text, in pages that are
// packed with Snappy and have a checksum, with statistics of each row group and page, and with an index of the pages. Values that are often
// the same are in a dictionary. Any value may be null. It keeps one row group in memory, and some hundred bytes for each column of each row
// group that it has written.
type Writer struct {
	Group int // bytes of values in a row group: larger ones are read faster, and take more memory

	w       io.Writer
	at      int64
	columns []gathered
	rows    int64 // of the row group
	all     int64 // of the row groups before it
	groups  []writtenGroup
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
	bits int // number of booleans in the page

	levels []byte // runs of values that are there or NULL, each with its length; the last run, of run values, is not in it yet
	run    uint64
	there  byte

	bounds        // of the page
	rows   int64  // of the page
	all    bounds // of the pages before it
	pages  []gatheredPage
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

// ended counts a row, and returns how many bytes the column has gathered.
func (c *gathered) ended() int {
	begin := 0
	if n := len(c.pages); n > 0 {
		begin = c.pages[n-1].data
	}
	if c.rows++; c.rows == pageRows || len(c.data)-begin >= pageBytes {
		c.endPage()
	}
	return len(c.data) + len(c.levels)
}

// endPage ends the page, unless it has no rows.
func (c *gathered) endPage() {
	if c.rows == 0 {
		return
	}
	c.endRun()
	p := gatheredPage{rows: c.rows, nulls: c.nulls, data: len(c.data), levels: len(c.levels)}
	p.least, p.most = c.ends(c.kind)
	c.pages = append(c.pages, p)
	c.all.include(&c.bounds, c.kind)
	c.bounds.reset()
	c.rows, c.bits = 0, 0
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
			size += c.ended()
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
		size += c.ended()
	}
	f.rows++
	if size >= f.Group || f.rows == groupRows {
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
	g := writtenGroup{at: f.at, rows: f.rows}
	f.bytes = 0
	for i := range f.columns {
		g.chunks = append(g.chunks, f.chunk(&f.columns[i]))
	}
	g.bytes = f.bytes
	f.groups = append(f.groups, g)
	f.all += f.rows
	f.rows = 0
}

// chunk writes the pages of a column, and returns what the file's end says of them.
func (f *Writer) chunk(c *gathered) (done writtenChunk) {
	c.endPage()
	from, before, encoding := f.at, f.bytes, int64(encodingPlain)
	if f.words.encode(c) {
		encoding = encodingDictionary
		f.plain = append(f.plain[:0], f.words.values...)
		f.writePage(pageDictionary, 7, int64(len(f.words.codes)), encodingPlain)
	}
	data := f.at
	var was gatheredPage
	values, row := 0, int64(0)
	for i := range c.pages {
		p := &c.pages[i]
		f.plain = binary.LittleEndian.AppendUint32(f.plain[:0], uint32(p.levels-was.levels))
		f.plain = append(f.plain, c.levels[was.levels:p.levels]...)
		if end := values + int(p.rows-p.nulls); encoding == encodingDictionary {
			f.plain = append(f.plain, byte(f.words.width))
			f.plain = appendHybrid(f.plain, f.words.of[values:end], f.words.width)
			values = end
		} else {
			f.plain = append(f.plain, c.data[was.data:p.data]...)
		}
		p.at, p.row = f.at, row
		f.writePage(pageData, 5, p.rows, encoding)
		p.size, row = f.at-p.at, row+p.rows
		was = *p
	}
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
	c.all.statistics(&m, c.kind)
	m.end()
	done = writtenChunk{meta: m, column: columnIndex(c.pages), offset: offsetIndex(c.pages)}
	c.all.reset()
	c.levels, c.data, c.pages = c.levels[:0], c.data[:0], c.pages[:0]
	return done
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
	groups := f.writeIndexes()
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
	m.list(4, thriftStruct, len(f.groups))
	m.p = append(m.p, groups...)
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

// item appends a number to a list.
func (m *made) item(v int64) { m.p = binary.AppendVarint(m.p, v) }

func (m *made) bool(id int, v bool) {
	kind := byte(thriftFalse)
	if v {
		kind = thriftTrue
	}
	m.field(id, kind)
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
