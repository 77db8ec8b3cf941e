package fold

import (
	"fmt"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/progress"
)

// Parts is the number of parts into which the rows of an aggregator are divided when a table is made from them. Rows that are
// equal in the keys that partition them are in one part. So tables can be joined part by part, and only one part at a time is
// unpacked. Parts must never change for a data directory, because the rows made from the parts are sent in the parts' order.
const Parts = 64

// partOf returns the part of a key's hash. A part consists of sixteen buckets.
func partOf(hash uint64) int { return Bucket(hash) / (Buckets / Parts) }

// Parted is rows in [Parts] parts.
type Parted interface {
	// Part adds the rows of a part to a table of the same spec, in their order.
	Part(part int, to *Table) error
}

// Parted divides the rows of a table, which must not change any more.
func (t *Table) Parted() Parted { return &parted{t, t.split(Parts, partOf)} }

type parted struct {
	*Table
	rows [][]int
}

func (p *parted) Part(part int, to *Table) error {
	p.copyTo(to, p.rows[part])
	return to.Err()
}

// Waiting holds the rows of a bag that is partitioned by keys ([Spec.PartitionBy]). They may be most of what an aggregator holds, so they
// are kept as they travel, in columns, where a number has the fewest bytes that the numbers of its column need: a row of an order and a
// supplier takes six bytes, and 25 in a Table.
type Waiting struct {
	spec   *Spec
	fields []batch.FieldSpec
	last   *Table // the rows that came last, until they are enough for a block
	blocks []waitingBlock
	rows   int
	bytes  int // of blocks
	err    error
}

// waitingBlock is rows in the order of their parts, and those of a part in the order of their arrival.
type waitingBlock struct {
	payload []byte
	rows    *batch.Batch // a view of payload
	ends    [Parts]int   // by part, the row behind its last one
}

const (
	waitingRows   = 1 << 14       // a block has at least so many rows, or
	waitingBytes  = 1 << 20       // so many bytes of keys
	blockOverhead = 8*Parts + 512 // bytes that a block takes beside its payload
)

// NewWaiting returns an empty Waiting.
func NewWaiting(spec *Spec) *Waiting {
	return &Waiting{spec: spec, fields: spec.columns(), last: NewUnmerged(spec)}
}

// Spec returns the spec of the bag.
func (w *Waiting) Spec() *Spec { return w.spec }

// Len returns the number of rows, and Bytes how many bytes they take.
func (w *Waiting) Len() int   { return w.rows }
func (w *Waiting) Bytes() int { return w.bytes + w.last.index.held() }

// Merge adds the rows of a partial, which it does not keep. After an error, w must not be used, and its session fails.
func (w *Waiting) Merge(payload []byte) error {
	if w.err != nil {
		return w.err
	}
	before := w.last.Len()
	if w.err = w.last.Merge(payload); w.err != nil {
		return w.err
	}
	if w.rows += w.last.Len() - before; w.rows > MaxRows {
		w.err = fmt.Errorf("%w: %s has %d rows", ErrTooLarge, w.spec.Name, w.rows)
		return w.err
	}
	if w.last.Len() >= waitingRows || w.last.index.held() >= waitingBytes {
		w.err = w.pack()
	}
	return w.err
}

// pack makes a block of the rows that came last, or several if they are long: a payload has a bound on its texts.
func (w *Waiting) pack() error {
	for _, rows := range w.last.Chunks(w.last.Rows(), waitingBytes) {
		var b waitingBlock
		order := make([]int, 0, len(rows))
		for part, of := range w.last.splitRows(rows, Parts, partOf) {
			order = append(order, of...)
			b.ends[part] = len(order)
		}
		b.payload = slices.Clip(w.last.AppendRows(nil, order))
		if err := w.add(b); err != nil {
			return err
		}
	}
	w.last.Reset()
	return nil
}

func (w *Waiting) add(b waitingBlock) (err error) {
	if b.rows, err = batch.Decode(b.payload, w.fields); err != nil {
		return fmt.Errorf("rows of %s that wait: %w: %w", w.spec.Name, ErrMalformed, err)
	}
	w.blocks, w.bytes = append(w.blocks, b), w.bytes+len(b.payload)+blockOverhead
	return nil
}

// Parted divides the rows, to which no more may be added.
func (w *Waiting) Parted() Parted {
	return &waitingParts{w, w.last.Parted()}
}

type waitingParts struct {
	*Waiting
	rest Parted // the rows that are in no block
}

func (w *waitingParts) Part(part int, to *Table) error {
	for i := range w.blocks {
		b, from := &w.blocks[i], 0
		if part > 0 {
			from = b.ends[part-1]
		}
		to.Pause()
		to.mergeSome(b.rows, from, b.ends[part])
	}
	return w.rest.Part(part, to)
}

// Append appends all rows, for a snapshot:
//
//	[rows, [payload bin, [the row behind a part's last one, …], …], [payload bin, …]]
//
// The last ones are the rows that are in no block yet.
func (w *Waiting) Append(b []byte) []byte {
	b = wire.AppendUint(wire.AppendArray(slices.Grow(b, w.Bytes()), 3), uint64(w.rows))
	b = wire.AppendArray(b, 2*len(w.blocks))
	for i := range w.blocks {
		b = wire.AppendArray(wire.AppendBin(b, w.blocks[i].payload), Parts)
		for _, end := range w.blocks[i].ends {
			b = wire.AppendUint(b, uint64(end))
		}
	}
	chunks := w.last.Chunks(w.last.Rows(), waitingBytes)
	b = wire.AppendArray(b, len(chunks))
	for _, rows := range chunks {
		b = wire.AppendBin(b, w.last.AppendRows(nil, rows))
	}
	return b
}

// Read replaces all rows by those that Append wrote.
func (w *Waiting) Read(d *wire.Reader) error {
	d.ArrayOf(3)
	*w = *NewWaiting(w.spec)
	all := int(min(d.Uint(), MaxRows))
	for n := d.Array(); n > 1 && d.Err() == nil; n -= 2 {
		progress.Mark()
		b, before := waitingBlock{payload: slices.Clone(d.Bytes())}, 0
		d.ArrayOf(Parts)
		for part := range b.ends {
			end := int(min(d.Uint(), MaxRows))
			if end < before {
				d.Fail("a part of rows that wait ends at row %d, and the one before it at %d", end, before)
			}
			b.ends[part], before = end, end
		}
		if d.Err() != nil {
			break
		}
		if err := w.add(b); err != nil {
			return err
		}
		if rows := w.blocks[len(w.blocks)-1].rows.Rows(); rows != before {
			return fmt.Errorf("%w: %d rows wait in the parts of a block of %d", ErrMalformed, before, rows)
		}
		w.rows += before
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		if p := d.Bytes(); d.Err() == nil {
			if err := w.last.Merge(p); err != nil {
				return err
			}
		}
	}
	if w.rows += w.last.Len(); d.Err() == nil && w.rows != all {
		return fmt.Errorf("%w: %d rows wait, and %d are said to", ErrMalformed, w.rows, all)
	}
	return d.Err()
}
