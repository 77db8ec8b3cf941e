package runs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"posta.dev/posta/rows/fold"
)

// Buckets is how many buckets a run has.
const Buckets = fold.Buckets

// Bucket returns the bucket of an entry whose key has a hash (fold.Hash).
func Bucket(hash uint64) int { return fold.Bucket(hash) }

// A run as a file; numbers are LE:
//
//	0       8            8+8·Buckets
//	┌───────┬─────────────────────────────────┬─────┬──────────┬──────────┬───┐
//	│ magic │ of each bucket: length u32, sum │ sum │ bucket 0 │ bucket 1 │ … │
//	└───────┴─────────────────────────────────┴─────┴──────────┴──────────┴───┘
//
// A bucket is its entries, each with its length as a uvarint before it. Sums are CRC32C: of each bucket, and of all that precedes the last one.
const (
	magic     = "POSTARUN"
	indexSize = len(magic) + 8*Buckets
	headSize  = indexSize + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is wrapped by the errors of [Set.Read] if a run does not hold what was written.
var ErrDamaged = errors.New("it is damaged")

// Builder makes a run. The caller adds its buckets in ascending order.
type Builder struct {
	data   []byte
	bucket int
	begin  int // of the bucket, in data
	any    bool
}

// NewBuilder returns the builder of a run with about sizeHint bytes.
func NewBuilder(sizeHint int) *Builder {
	b := &Builder{data: make([]byte, headSize, headSize+max(0, sizeHint)), begin: headSize}
	copy(b.data, magic)
	return b
}

// Add appends an entry to a bucket, which must be the bucket of the last call or a later one. The entry is copied.
func (b *Builder) Add(bucket int, entry []byte) {
	if bucket < b.bucket || bucket >= Buckets {
		panic(fmt.Sprintf("runs: bucket %d behind bucket %d of %d", bucket, b.bucket, Buckets))
	}
	if bucket > b.bucket {
		b.end()
		b.bucket = bucket
	}
	b.data = binary.AppendUvarint(b.data, uint64(len(entry)))
	b.data = append(b.data, entry...)
	b.any = true
}

// Empty reports whether nothing was added.
func (b *Builder) Empty() bool { return !b.any }

// end writes the length and the sum of the bucket to which entries were added last.
func (b *Builder) end() {
	at := len(magic) + 8*b.bucket
	content := b.data[b.begin:]
	binary.LittleEndian.PutUint32(b.data[at:], uint32(len(content)))
	binary.LittleEndian.PutUint32(b.data[at+4:], crc32.Checksum(content, castagnoli))
	b.begin = len(b.data)
}

// finish returns the run. The builder must not be used afterwards.
func (b *Builder) finish() []byte {
	b.end()
	binary.LittleEndian.PutUint32(b.data[indexSize:], crc32.Checksum(b.data[:indexSize], castagnoli))
	return b.data
}

// index contains the places of the buckets of a run.
type index struct {
	ends [Buckets]int64 // where each bucket ends, and the next one begins
	sums [Buckets]uint32
}

// bounds returns where a bucket begins and ends.
func (x *index) bounds(bucket int) (from, to int64) {
	if bucket == 0 {
		return int64(headSize), x.ends[0]
	}
	return x.ends[bucket-1], x.ends[bucket]
}

// decodeIndex reads the head of a run that has size bytes.
func decodeIndex(head []byte, size int64) (*index, error) {
	if string(head[:len(magic)]) != magic || binary.LittleEndian.Uint32(head[indexSize:]) != crc32.Checksum(head[:indexSize], castagnoli) {
		return nil, ErrDamaged
	}
	x, at := new(index), int64(headSize)
	for i := range Buckets {
		e := head[len(magic)+8*i:]
		at += int64(binary.LittleEndian.Uint32(e))
		x.ends[i], x.sums[i] = at, binary.LittleEndian.Uint32(e[4:])
	}
	if at != size {
		return nil, fmt.Errorf("%w: its buckets end at byte %d, it has %d", ErrDamaged, at, size)
	}
	return x, nil
}
