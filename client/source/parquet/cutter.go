package parquet

import (
	"errors"
	"fmt"
	"io"
	"math/bits"

	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// Cutter turns a file into chunks that hold columns (package columnar). It has the methods of [csv.Cutter].
type Cutter struct {
	Done int64 // rows that were read, or left out

	shared  *shared
	spare   *spare // of the parts
	leaves  int
	wanted  []int // leaves of columns
	given   []int // by needed column: its index in columns; -1 if the file lacks it
	names   [][]byte
	columns []*column
	fields  int // of a row: those of columns, and NULLs
	comma   byte

	chunkBytes int
	maxRecord  int
	room       int
	writer     *columnar.Writer
	ahead      *columnar.Writer // the first row of the next chunk, if there is one

	tests  []columnar.Test
	filter *filter // nil: all rows count
	keep   kept    // which of the next rows count

	lines  []uint64 // of which rows are still wanted, in ascending order; nil: all
	groups []groupOf
	group  int    // how many row groups were begun, or left out
	end    int    // behind the last row group that is cut
	part   int    // of the last chunk
	begun  bool   // the columns are in a row group
	left   int64  // rows of the row group that were not read yet
	owed   int64  // rows before them that the columns have yet to pass over
	line   uint64 // of the first row of the chunk
	err    error
}

// sizeOfMeta is what a chunkMeta takes in memory.
const sizeOfMeta = 152

// groupOf is one row group.
type groupOf struct {
	rows   int64
	metas  []chunkMeta
	skip   bool
	part   int
	begins bool // it is the first one of its part
}

// NewCutter opens a file of size bytes for the needed columns; comma separates the columns in its header, and in rows that are shown.
//
// The ends of chunks depend on the rows of their part, on the limit of a record, and on the largest power of 2 within the limit of a chunk,
// which the header contains. A client that resumes an upload has to cut the same chunks again: it finds the limit whose header is the one
// that was sent, and does not change the limits while it cuts.
func NewCutter(in io.ReaderAt, size int64, columns []csv.Column, comma byte, chunkBytes, maxRecord int) (c *Cutter, err error) {
	defer guard(&err)
	if comma == 0 {
		comma = ','
	}
	memory := &budget{limit: MaxMemory}
	f, err := open(in, size, memory)
	if err != nil {
		return nil, err
	}
	root, leaves, err := tree(f.schema)
	if err != nil {
		return nil, err
	}
	places, err := root.findAll(columns)
	if err != nil {
		return nil, err
	}
	c = &Cutter{shared: &shared{file: f, memory: memory}, spare: &spare{}, leaves: leaves, comma: comma}
	for i, p := range places {
		if p == nil {
			c.given = append(c.given, -1)
			continue
		}
		c.given = append(c.given, len(c.columns))
		column, err := newColumn(c.shared, p)
		if err != nil {
			return nil, err
		}
		c.names = append(c.names, []byte(columns[i].Name))
		c.columns = append(c.columns, column)
		c.wanted = append(c.wanted, p.leaf)
	}
	if len(c.names) == 0 {
		c.names = [][]byte{[]byte(columns[0].Name)} // only rows are counted, so its fields are NULL
	}
	c.fields = len(csv.Alone(c.names))
	c.newWriters()
	err = f.eachGroup(c.wanted, leaves, func(_ int, g *group) error {
		n := len(g.columns) * sizeOfMeta
		if err := memory.charge(n); err != nil {
			return err
		}
		c.groups = append(c.groups, groupOf{rows: g.rows, metas: append([]chunkMeta(nil), g.columns...)})
		return nil
	})
	c.number()
	c.Limit(chunkBytes, maxRecord)
	return c, err
}

func (c *Cutter) newWriters() {
	c.writer, c.ahead = columnar.NewWriter(c.fields), columnar.NewWriter(c.fields)
}

// Skip leaves out the row groups for which skips returns true: nothing of them is read. skips gets the statistics of the needed columns, in
// their order; they are valid during the call. The line numbers of the other rows do not change.
func (c *Cutter) Skip(skips func([]csv.Range) bool) (err error) {
	defer guard(&err)
	return c.leaveOutGroups(skips)
}

func (c *Cutter) leaveOutGroups(skips func([]csv.Range) bool) error {
	ranges := make([]csv.Range, len(c.given))
	f := c.shared.file
	return f.eachGroup(c.wanted, c.leaves, func(number int, g *group) error {
		for i, at := range c.given {
			ranges[i] = csv.Range{Kind: csv.KindNone}
			if at >= 0 {
				ranges[i] = c.columns[at].rangeOf(&g.stats[at], g.columns[at].values)
			}
		}
		if to := &c.groups[number-1]; !to.skip {
			to.skip = skips(ranges)
		}
		return nil
	})
}

// Lines leaves out all rows but those of some lines, which are in ascending order. Neither row groups without any of these rows nor pages
// before them are unpacked.
func (c *Cutter) Lines(lines []uint64) { c.lines = lines }

// gap returns how many of the next rows of the row group are left out, and how many behind them are wanted without another gap.
func (c *Cutter) gap() (left, wanted int64) {
	if c.lines == nil {
		return 0, c.left
	}
	next := uint64(c.Done) + 2
	for len(c.lines) > 0 && c.lines[0] < next {
		c.lines = c.lines[1:]
	}
	if len(c.lines) == 0 || c.lines[0]-next >= uint64(c.left) {
		return c.left, 0
	}
	left = int64(c.lines[0] - next)
	for wanted < int64(len(c.lines)) && c.lines[wanted] == c.lines[0]+uint64(wanted) {
		wanted++
	}
	return left, min(wanted, c.left-left)
}

// leaveOut goes past rows of the row group. The columns follow when their next rows are read.
func (c *Cutter) leaveOut(rows int64) {
	c.left -= rows
	c.Done += rows
	if c.owed += rows; c.left == 0 {
		c.begun = false // what is behind the rows is not looked at
	}
}

// errPanic is wrapped by errors that were panics. A panic means that this package has a bug, too.
var errPanic = errors.New("it is damaged in a way that was not foreseen")

// guard turns a panic of this package, or of one that unpacks pages, into an error, so that no file can end the program.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = damaged("reading it", "%w: %v", errPanic, p)
	}
}

// Rows returns how many rows the file has.
func (c *Cutter) Rows() int64 { return c.shared.file.rows }

// LeaveRoom does the same as that of [csv.Cutter].
func (c *Cutter) LeaveRoom(n int) { c.room = n }

// Limit does the same as that of [csv.Cutter].
func (c *Cutter) Limit(chunkBytes, maxRecord int) {
	c.chunkBytes = max(chunkBytes, 1)
	c.maxRecord = max(maxRecord, c.chunkBytes)
}

// Header returns the names of the columns, with a mark that says that line numbers count rows.
func (c *Cutter) Header() ([]byte, error) {
	return csv.MarkedColumnar(csv.AppendRecord(nil, csv.Alone(c.names), c.comma), c.comma, c.exponent()), nil
}

// Next returns the next chunk, as [csv.Cutter.Next] does. The line of the file's first row is 2, as it is in a CSV file with a header.
func (c *Cutter) Next(buf []byte) (chunk []byte, firstLine uint64, err error) {
	defer guard(&err)
	if c.err != nil {
		return nil, 0, c.err
	}
	c.line = uint64(c.Done) + 2
	if c.ahead.Rows() > 0 {
		c.line--
	}
	if cap(buf) < c.room {
		buf = make([]byte, c.room, c.room+c.chunkBytes+c.chunkBytes/8)
	}
	chunk, c.err = c.fill(buf[:c.room])
	if c.err == nil && len(chunk) == c.room {
		c.err = io.EOF
		c.spare.give(c)
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	return chunk, c.line, nil
}

// growth is the factor by which the last rows may enlarge a chunk. They add their own bytes, and one text among them turns the numbers of
// its column into texts.
const growth = 8

// exponent returns e such that a chunk is full at 2^e bytes.
func (c *Cutter) exponent() int {
	return min(bits.Len(uint(max(1, min(c.chunkBytes, c.maxRecord/growth))))-1, csv.MaxExponent)
}

func (c *Cutter) fill(chunk []byte) ([]byte, error) {
	w := c.writer
	w.Reset()
	if c.ahead.Rows() > 0 {
		c.ahead.MoveLast(w)
		c.ahead.Reset()
	}
	enough := 1 << c.exponent()
	for w.Rows() == 0 || w.Size() < enough && w.Rows() < columnar.MaxRows {
		if c.left == 0 {
			more, err := c.nextGroup(w.Rows() > 0)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			continue
		}
		gap, wanted, err := c.upcoming()
		if err != nil {
			return nil, err
		}
		if gap > 0 {
			if !c.pass(gap, enough) {
				break
			}
			continue
		}
		n, err := c.takeSome(wanted, enough/c.fields)
		if err != nil {
			return nil, err
		}
		if n > 1 || w.Size() <= c.maxRecord {
			continue
		}
		if w.Rows() > 1 {
			w.MoveLast(c.ahead)
			if c.ahead.Size() <= c.maxRecord {
				break
			}
		}
		return nil, fmt.Errorf("%w: row %d has more than %d bytes", csv.ErrRecordTooLong, c.Done, c.maxRecord)
	}
	if w.Rows() == 0 {
		return chunk, nil
	}
	c.part = c.groups[c.group-1].part
	return w.Append(chunk), nil
}

// upcoming returns how many of the next rows of the row group do not count, and from how many behind them rows are taken.
func (c *Cutter) upcoming() (gap, wanted int64, err error) {
	if c.filter == nil {
		gap, wanted = c.gap()
		return gap, wanted, nil
	}
	return c.filter.next(c.row())
}

// row returns the number of the next row in the row group.
func (c *Cutter) row() int64 { return c.groups[c.group-1].rows - c.left }

// pass goes past rows that do not count. It returns false if the chunk ends before them: the rows of a chunk have consecutive line numbers.
func (c *Cutter) pass(gap int64, enough int) bool {
	const sizeOfNull = 8 // of a column that has numbers
	switch w := c.writer; {
	case w.Rows() == 0:
		c.leaveOut(gap)
		c.line = uint64(c.Done) + 2
		return true
	case c.filter == nil || !c.filter.nulls || gap >= gapRows || int(gap)*c.fields*sizeOfNull > enough-w.Size() ||
		int(gap) > columnar.MaxRows-w.Rows():
		return false
	default:
		for i := range c.fields {
			w.Column(i).AppendNulls(int(gap))
		}
	}
	c.leaveOut(gap)
	return true
}

// takeSome takes some of the next rows of the row group, at most most. If it is more than one, no column takes more than room bytes of the
// chunk for them.
func (c *Cutter) takeSome(most int64, room int) (n int, err error) {
	w := c.writer
	for _, column := range c.columns {
		if err := column.skip(c.owed); err != nil {
			return 0, err
		}
	}
	c.owed = 0
	if n, err = c.atOnce(int(min(takeRows, most, int64(columnar.MaxRows-w.Rows()))), room); err != nil {
		return 0, err
	}
	var keep *kept
	at := 0
	if f := c.filter; f != nil {
		at = int(c.row() - f.from)
		if f.keep.ones(at, at+n) < n {
			keep, c.keep.rows = &c.keep, &f.keep
		}
	}
	for i, column := range c.columns {
		c.keep.at = at
		if err := column.take(n, w.Column(i), keep); err != nil {
			return 0, err
		}
	}
	for i := len(c.columns); i < c.fields; i++ { // see csv.Alone
		w.Column(i).AppendNulls(n)
	}
	c.left -= int64(n)
	c.Done += int64(n)
	return n, nil
}

// nextGroup goes past a row group that is left out, or begins the next one. It returns false at the end of the file. If the chunk has rows,
// it also returns false where a part ends, and before a row group that is left out, because the rows of a chunk have consecutive line
// numbers.
func (c *Cutter) nextGroup(begun bool) (more bool, err error) {
	if c.group < c.end && begun && (c.groups[c.group].skip || c.groups[c.group].begins) {
		return false, nil
	}
	if c.group < c.end && c.groups[c.group].skip {
		c.Done += c.groups[c.group].rows
		c.line = uint64(c.Done) + 2
		c.group++
		return true, nil
	}
	return c.begin()
}

// atOnce returns how many rows, at most most, are taken of one column before the next. If it is more than one, no column takes more than
// room bytes of the chunk for them.
func (c *Cutter) atOnce(most, room int) (n int, err error) {
	n = int(min(int64(most), c.left))
	for _, column := range c.columns {
		if n, err = column.within(n, room); err != nil {
			return 0, err
		}
	}
	if n > 64 {
		n &^= 63 // so that the next block begins where packed numbers and words of bits do
	}
	return n, nil
}

// begin goes to the next row group; more is false at the end of the file.
func (c *Cutter) begin() (more bool, err error) {
	if c.begun {
		for _, column := range c.columns {
			if err := column.finish(); err != nil {
				return false, err
			}
		}
	}
	if c.group == c.end {
		return false, nil
	}
	g := &c.groups[c.group]
	c.group++
	if g.rows == 0 { // some writers give it columns without pages
		c.begun = false
		return true, nil
	}
	for i, column := range c.columns {
		if err := column.begin(c.group, g.rows, g.metas[i]); err != nil {
			return false, err
		}
	}
	if c.filter != nil {
		if c.filter.part != g.part {
			if err := c.newFilter(g.part); err != nil {
				return false, err
			}
		}
		if err := c.filter.begin(c.group, g); err != nil {
			return false, err
		}
	}
	c.left, c.owed, c.begun = g.rows, 0, true
	return true, nil
}
