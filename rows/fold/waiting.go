package fold

import (
	"encoding/binary"
	"fmt"
	"math/bits"
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

// Waiting holds the rows of a bag that is partitioned by keys ([Spec.PartitionBy]). Besides its bytes, a row takes two or three
// bytes. A Table takes sixteen, and these rows may be most of what an aggregator holds.
//
// A row is its keys, one after the other: a KeyInt as a varint, a KeyText as its length, a uvarint, and its bytes. Each part has its
// rows end to end, in blocks that never move, in the order of their arrival.
type Waiting struct {
	spec   *Spec
	fields []batch.FieldSpec
	key    *KeyBuilder
	parts  [Parts][][]byte
	rows   int
	bytes  int
	row    []byte
	err    error
}

const (
	firstWaiting = 1 << 10  // bytes of a part's first block
	mostWaiting  = 64 << 10 // bytes of any block, unless one row has more
)

// NewWaiting returns an empty Waiting.
func NewWaiting(spec *Spec) *Waiting {
	return &Waiting{spec: spec, fields: spec.columns(), key: newKeyBuilder(spec)}
}

// Spec returns the spec of the bag.
func (w *Waiting) Spec() *Spec { return w.spec }

// Len returns the number of rows, and Bytes how many bytes they take.
func (w *Waiting) Len() int   { return w.rows }
func (w *Waiting) Bytes() int { return w.bytes }

// Merge adds the rows of a partial, which it does not keep. After an error, w must not be used, and its session fails.
func (w *Waiting) Merge(payload []byte) error {
	if w.err != nil {
		return w.err
	}
	b, err := batch.Decode(payload, w.fields)
	if err != nil {
		w.err = fmt.Errorf("merge into %s: %w: %w", w.spec.Name, ErrMalformed, err)
		return w.err
	}
	if w.rows += b.Rows(); w.rows > MaxRows {
		w.err = fmt.Errorf("%w: %s has %d rows", ErrTooLarge, w.spec.Name, w.rows)
		return w.err
	}
	progress.Mark()
	key := make([]byte, 0, 256)
	for i := range b.Rows() {
		w.row, key = w.row[:0], key[:0]
		place := 0
		for _, k := range w.spec.Keys[:w.spec.PartitionBy] {
			place += placeOf(k.Kind)
		}
		key = append(key, make([]byte, place)...)
		place = 0
		for k := range w.spec.Keys {
			spreads := k < w.spec.PartitionBy
			if w.spec.Keys[k].Kind == KeyInt {
				n := b.Ints(k).At(i)
				w.row = binary.AppendVarint(w.row, n)
				if spreads {
					binary.LittleEndian.PutUint64(key[place:], uint64(n))
					place += intPlace
				}
				continue
			}
			v := b.Texts(k).At(i)
			w.row = append(binary.AppendUvarint(w.row, uint64(len(v))), v...)
			if spreads {
				binary.LittleEndian.PutUint32(key[place:], uint32(len(v)))
				place += textPlace
				key = append(key, v...)
			}
		}
		w.add(partOf(Hash(key)), w.row)
	}
	return nil
}

// add appends a row to a part.
func (w *Waiting) add(part int, row []byte) {
	blocks := w.parts[part]
	last := len(blocks) - 1
	if last < 0 || len(blocks[last])+len(row) > cap(blocks[last]) {
		size := firstWaiting
		if last >= 0 {
			size = min(mostWaiting, 1<<bits.Len(uint(cap(blocks[last]))))
		}
		blocks = append(blocks, make([]byte, 0, max(size, len(row))))
		last++
	}
	blocks[last] = append(blocks[last], row...)
	w.parts[part] = blocks
	w.bytes += len(row)
}

// Part implements Parted.
func (w *Waiting) Part(part int, to *Table) error {
	for _, block := range w.parts[part] {
		if err := w.Unpack(block, to); err != nil {
			return err
		}
	}
	return nil
}

// Blocks returns the rows of a part in their order, in pieces for Unpack. They are valid until rows are added.
func (w *Waiting) Blocks(part int) [][]byte { return w.parts[part] }

// Unpack adds the rows of a block, which may come from another Waiting with the same spec, to a table of that spec.
func (w *Waiting) Unpack(block []byte, to *Table) error {
	to.Pause()
	for len(block) > 0 {
		key := to.Key()
		for _, k := range w.spec.Keys {
			if k.Kind == KeyInt {
				v, n := binary.Varint(block)
				if n <= 0 {
					return w.malformed()
				}
				key, block = key.Int(v), block[n:]
				continue
			}
			size, n := binary.Uvarint(block)
			if n <= 0 || size > uint64(len(block)-n) {
				return w.malformed()
			}
			key, block = key.Text(block[n:n+int(size)]), block[n+int(size):]
		}
		to.Row(key)
	}
	return to.Err()
}

func (w *Waiting) malformed() error {
	return fmt.Errorf("%w: the rows of %s that wait", ErrMalformed, w.spec.Name)
}

// Append appends all rows, for a snapshot. Equal rows give equal bytes, however their blocks were filled:
//
//	[rows, [bytes of a part bin, …]]
func (w *Waiting) Append(b []byte) []byte {
	b = wire.AppendUint(wire.AppendArray(slices.Grow(b, w.bytes), 2), uint64(w.rows))
	b = wire.AppendArray(b, Parts)
	for _, blocks := range w.parts {
		b = wire.AppendBin(b, slices.Concat(blocks...))
	}
	return b
}

// Read replaces all rows by those that Append wrote.
func (w *Waiting) Read(d *wire.Reader) error {
	d.ArrayOf(2)
	*w = *NewWaiting(w.spec)
	w.rows = int(d.Uint())
	d.ArrayOf(Parts)
	for part := range w.parts {
		block := slices.Clone(d.Bytes())
		if d.Err() != nil {
			return d.Err()
		}
		if len(block) > 0 {
			w.parts[part] = [][]byte{block}
			w.bytes += len(block)
		}
	}
	return d.Err()
}
