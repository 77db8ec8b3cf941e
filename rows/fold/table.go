package fold

import (
	"fmt"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/rows/scratch"
)

// Table holds rows of aggregates by key.
type Table struct {
	spec     *Spec
	fields   []batch.FieldSpec
	mode     mode
	first    mode // of an empty table
	outgoing bool // see Loosen
	key      *KeyBuilder
	index    index
	sums     records[int64] // by row, all its cells of kind Sum
	aggs     []column
	// how many bytes of a row on the wire do not depend on its cells, and the indexes of the aggregates of which they do
	constant int
	varying  []int
	turn     int // for Partition: which partition gets a bag's rows next
	err      error
	out      *batch.Builder // for AppendRows; made at the first call
	source   keySource      // for Merge and RowsOf: the keys of a block, by column
	query    query          // the same keys, by row
	found    []uint32       // their rows
	values   []int64        // for Merge: the numbers of an aggregate
	merged   int            // see Merged
	rows     progress.Rows  // marks progress for rows that are added, looked up or compared
	pause    func()         // see SetPause; nil if no other session can wait
	bound    int            // see SetBound; 0: none
	memory   int            // see SetMemory; 0: none
	disk     scratch.Disk   // see SetScratch
	moved    ReadMoved      // see SetMoved
}

// mode says what a table does with the key of a row that is added or merged.
type mode uint8

const (
	looks   mode = iota // look it up, and add it if the table does not have it
	trusts              // Row looks it up; Merge adds it without a look-up, because all senders have different keys
	appends             // add it without a look-up
)

// NewTable returns an empty table. The spec must not change afterwards. NewTable panics on one that does not pass
// [Spec.Check], because specs are part of the program.
func NewTable(spec *Spec) *Table { return newTable(spec, looks) }

// NewOutgoing returns an empty table whose rows are sent to others that merge them. If the spec merges late, it may have
// several rows with the same key.
func NewOutgoing(spec *Spec) *Table {
	if spec.Merge == Late {
		return newTable(spec, appends)
	}
	t := newTable(spec, looks)
	t.outgoing = true
	return t
}

// NewUnmerged returns an empty table whose rows are merged by others, even if their keys are equal. It is for keys that hardly repeat: it
// looks up no row, and has no index.
func NewUnmerged(spec *Spec) *Table { return newTable(spec, appends) }

// NewUnion returns an empty table that merges partials of tables without a common key, such as the partitions of one table. It
// looks up no row, which is most of the cost of merging, and has no index before the first Find. If a key comes twice
// nevertheless, the next [Table.Sorted] or [Table.Find] sees this and sets the table's error to [ErrDuplicateKey].
//
// A table that aggregators have made may have keys in common (Spec.From), and each of them may have the only row of a table without keys.
// Such rows are merged.
func NewUnion(spec *Spec) *Table {
	if len(spec.From) > 0 || len(spec.Keys) == 0 {
		return newTable(spec, looks)
	}
	return newTable(spec, trusts)
}

func newTable(spec *Spec, m mode) *Table {
	if err := spec.Check(); err != nil {
		panic(err)
	}
	if spec.Merge == Never {
		m = appends
	}
	t := &Table{spec: spec, fields: spec.columns(), mode: m, first: m, key: newKeyBuilder(spec)}
	t.index.flat.width = t.key.width()
	for _, a := range spec.Aggs {
		c := newColumn(a)
		if c.sum = t.sums.width; a.Kind == Sum {
			t.sums.width++
		}
		t.aggs = append(t.aggs, c)
	}
	t.measure()
	return t
}

// Spec returns the table's spec.
func (t *Table) Spec() *Spec { return t.spec }

// SetPause makes the table call pause every few thousand rows that are added, looked up, compared or retained, so that other
// sessions get a turn during a long Reduce or Prune. The table does not change until pause returns. SetPause(nil) ends the
// calls.
func (t *Table) SetPause(pause func()) { t.pause = pause }

// SetMemory says how many bytes a Reduce or a Finish that reads the table may take for the session (limits.memory).
func (t *Table) SetMemory(bytes int) { t.memory = bytes }

// Memory returns what SetMemory said; 0: there is no limit.
func (t *Table) Memory() int { return t.memory }

// SetScratch says where a Reduce or a Finish that reads the table keeps rows for which there is no memory.
func (t *Table) SetScratch(d scratch.Disk) { t.disk = d }

// ReadMoved calls each with partials that together have all rows of a bucket (Bucket). A partial is valid during the call.
type ReadMoved func(bucket int, each func(partial []byte) error) error

// SetMoved says that all rows of the table have moved to files, and what reads them. Only a Reduce that asks Moved finds them
// (analyses.Planned.Moves).
func (t *Table) SetMoved(read ReadMoved) { t.moved = read }

// Moved returns what SetMoved said; nil: the rows are in memory.
func (t *Table) Moved() ReadMoved { return t.moved }

// Scratch returns what SetScratch said; nil: nowhere.
func (t *Table) Scratch() scratch.Disk { return t.disk }

// Pause gives other sessions a turn, and marks progress (N9). A Reduce or a Prune calls it every few thousand rows that it handles without
// methods of a table, for example in its own sort.
func (t *Table) Pause() {
	progress.Mark()
	if t.pause != nil {
		t.pause()
	}
}

// step counts a row of work.
func (t *Table) step() {
	if t.rows.Row() && t.pause != nil {
		t.pause()
	}
}

// Expect makes room for the search of so many rows, so that the index need not grow again and again.
func (t *Table) Expect(rows int) {
	if t.mode == looks {
		t.index.expect(rows)
	}
}

// Loosen lets rows come without a look-up until the next Reset, so that several rows may have the same key. Only an outgoing table does so,
// because its rows are merged by others.
func (t *Table) Loosen() {
	if t.outgoing {
		t.mode = appends
	}
}

// Loose reports whether several rows may have the same key.
func (t *Table) Loose() bool { return t.mode == appends }

// Key returns the table's key builder, empty.
func (t *Table) Key() *KeyBuilder { return t.key.reset() }

// Row returns the row with the key, and adds it if the table does not have it. Rows are numbered from 0 in the order in which
// they are added. A bag, and an outgoing table that is merged late, always adds a row.
func (t *Table) Row(key *KeyBuilder) int {
	t.step()
	p := key.bytes()
	if t.mode == appends {
		if !t.roomFor(p) {
			return 0
		}
		t.index.push(p)
		t.addCells(1)
		return t.index.len() - 1
	}
	t.indexed()
	return t.rowOf(p)
}

// Find returns the row with the key, false if the table has none. Unlike [Table.Row] it adds nothing. A reducer joins two
// tables with it.
func (t *Table) Find(key *KeyBuilder) (row int, found bool) {
	t.step()
	p := key.bytes()
	t.indexed()
	row, _, found = t.index.find(p, Hash(p))
	return row, found
}

// rowOf is Row for a table whose rows are all in the index.
func (t *Table) rowOf(p []byte) int {
	h := Hash(p)
	row, slot, found := t.index.find(p, h)
	if !found && t.roomFor(p) {
		t.addCells(1)
		row = t.index.add(p, h, slot)
	}
	return row
}

// roomFor reports whether a row with the key may be added.
func (t *Table) roomFor(key []byte) bool { return t.room(1) && t.within(t.index.held(), key) }

// room reports whether n more rows may be added. If not, it sets the table's error; callers then add to row 0, which is never
// read.
func (t *Table) room(n int) bool {
	if t.index.len()+n > MaxRows {
		t.fail(fmt.Errorf("%w: %s has %d rows", ErrTooLarge, t.spec.Name, t.index.len()))
		return false
	}
	return true
}

// SetBound bounds the bytes of the keys, and those of the texts of each aggregate. A key or a text that would exceed the bound is not
// added, and sets the table's error to [ErrTooLarge]. A row of data may have many times its size in a table, so who folds rows before
// anybody can look at the table's size bounds it here.
func (t *Table) SetBound(bytes int) { t.bound = bytes }

// within reports whether p may be added to some bytes. If not, it sets the table's error.
func (t *Table) within(held int, p []byte) bool {
	if t.bound == 0 || held == 0 || held+len(p) <= t.bound { // a table without rows has no row 0 that could be added to instead
		return true
	}
	t.fail(fmt.Errorf("%w: %s would have more than %d MiB of values", ErrTooLarge, t.spec.Name, t.bound>>20))
	return false
}

func (t *Table) addCells(rows int) {
	t.sums.add(rows)
	for i := range t.aggs {
		t.aggs[i].addRows(rows)
	}
}

// indexed brings the index up to date before it is used.
func (t *Table) indexed() {
	if !t.index.complete() {
		t.catchUp()
	}
}

func (t *Table) catchUp() {
	if t.mode == appends {
		panic(fmt.Sprintf("fold: a row of %s is looked for, whose rows may have equal keys", t.spec.Name))
	}
	if row := t.index.catchUp(); row >= 0 {
		t.failDuplicate(row)
	}
}

func (t *Table) failDuplicate(row int) {
	t.fail(fmt.Errorf("%w: row %d of table %s, which was put together from tables without a common key", ErrDuplicateKey, row, t.spec.Name))
}

// Merged returns how many rows have come from partials and other tables since the last Reset.
func (t *Table) Merged() int { return t.merged }

// Len returns the number of rows.
func (t *Table) Len() int { return t.index.len() }

// KeyText returns key k of a row; valid until the table changes.
func (t *Table) KeyText(row, k int) []byte {
	if t.spec.Keys[k].Kind != KeyText {
		t.key.misused(KeyText)
	}
	return t.key.textAt(t.index.key(row), k)
}

// KeyInt returns key k of a row.
func (t *Table) KeyInt(row, k int) int64 {
	if t.spec.Keys[k].Kind != KeyInt {
		t.key.misused(KeyInt)
	}
	return t.key.intAt(t.index.key(row), k)
}

// KeyNull reports whether key k of a row is NULL. Its value is then 0, or an empty text.
func (t *Table) KeyNull(row, k int) bool { return t.key.nullsAt(t.index.key(row))>>k&1 == 1 }

// Err returns the first error of what was added: [ErrOverflow], [ErrTooLarge], [ErrDuplicateKey], or an error of Merge. The table must
// then not be used, and its session fails.
func (t *Table) Err() error { return t.err }

func (t *Table) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Reset forgets all rows and the error, but keeps the memory for the next rows.
func (t *Table) Reset() {
	t.index.reset()
	t.sums.reset()
	for i := range t.aggs {
		t.aggs[i].reset()
	}
	t.err, t.merged, t.mode = nil, 0, t.first
}

// Bytes estimates how much memory the table holds.
func (t *Table) Bytes() int {
	n := t.index.memory() + 8*t.sums.items() + t.query.memory() + 4*cap(t.found) + 8*cap(t.values)
	for i := range t.aggs {
		n += t.aggs[i].memory()
	}
	return n
}
