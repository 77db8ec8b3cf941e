package fold

import (
	"fmt"

	"posta/batch"
)

// Table is rows of aggregates by key.
type Table struct {
	spec   *Spec
	fields []batch.FieldSpec
	key    *KeyBuilder
	index  index
	aggs   []column
	err    error
	out    *batch.Builder // of AppendRows; made at the first call
	query  query          // of Merge: the keys of a block
	found  []uint32       // of Merge: their rows
}

// NewTable returns an empty table. The spec is not changed afterwards. One that does not pass [Spec.Check] panics: specs
// are part of the program.
func NewTable(spec *Spec) *Table {
	if err := spec.Check(); err != nil {
		panic(err)
	}
	t := &Table{spec: spec, fields: spec.columns(), key: newKeyBuilder(spec.Keys), index: newIndex()}
	for _, a := range spec.Aggs {
		t.aggs = append(t.aggs, newColumn(a))
	}
	return t
}

// Spec returns what the table was made of.
func (t *Table) Spec() *Spec { return t.spec }

// Key returns the table's key builder, empty.
func (t *Table) Key() *KeyBuilder { return t.key.reset() }

// Row returns the row with the key, which is added if it is not there. Rows are numbered from 0 in the order they are added.
func (t *Table) Row(key *KeyBuilder) int { return t.rowOf(key.bytes()) }

func (t *Table) rowOf(p []byte) int {
	h := Hash(p)
	row, slot, found := t.index.find(p, h)
	if !found {
		row = t.add(p, h, slot)
	}
	return row
}

func (t *Table) add(key []byte, h, slot uint64) int {
	if t.index.len() >= MaxRows {
		t.fail(fmt.Errorf("%w: %s has %d rows", ErrTooLarge, t.spec.Name, t.index.len()))
		return 0 // the table is spoilt and says so; what is added to row 0 is never read
	}
	for i := range t.aggs {
		t.aggs[i].addRow()
	}
	return t.index.add(key, h, slot)
}

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

// Err returns the first error of what was added: [ErrOverflow], [ErrTooLarge], or that of a Merge. The table is then not to
// be used: its session fails.
func (t *Table) Err() error { return t.err }

func (t *Table) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Reset forgets all rows, and the error, and keeps the memory for the next ones.
func (t *Table) Reset() {
	t.index.reset()
	for i := range t.aggs {
		t.aggs[i].reset()
	}
	t.err = nil
}

// Bytes returns about how much memory the table holds.
func (t *Table) Bytes() int {
	n := t.index.memory() + t.query.memory() + 4*cap(t.found)
	for i := range t.aggs {
		n += t.aggs[i].memory()
	}
	return n
}
