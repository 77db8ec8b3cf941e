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

// A run as a file; numbers are LE:
//
//	0       8            8+8·Buckets
//	┌───────┬─────────────────────────────────┬─────┬──────────┬──────────┬───┐
//	│ magic │ of each bucket: length u32, sum │ sum │ bucket 0 │ bucket 1 │ … │
//	└───────┴─────────────────────────────────┴─────┴──────────┴──────────┴───┘
//
// A bucket is its entries, each with its length as a uvarint before it. Sums are CRC32C: of each bucket, and of all that precedes the last
// one.
const (
	magic     = "POSTARUN"
	indexSize = len(magic) + 8*Buckets
	headSize  = indexSize + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is wrapped by the errors of [Set.Read] if a run does not hold what was written.
var ErrDamaged = errors.New("it is damaged")

// Builder makes a run. The caller adds its buckets in ascending order.
//
// The content is in parts, which all have partSize bytes but for the last one. Rejected: one slice that is copied to a larger one when it
// is full. At that moment a run took more memory than the table from which it is made.
type Builder struct {
	head   []byte   // the first headSize bytes of the run
	parts  [][]byte // what follows them
	size   int      // of all parts
	bucket int
	begin  int    // of the bucket, in the parts
	sum    uint32 // of the bucket so far
}

const partSize = 1 << 20

// NewBuilder returns the builder of an empty run.
func NewBuilder() *Builder {
	return &Builder{head: append(make([]byte, 0, headSize), magic...)[:headSize]}
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
	var length [binary.MaxVarintLen64]byte
	b.append(length[:binary.PutUvarint(length[:], uint64(len(entry)))])
	b.append(entry)
}

func (b *Builder) append(p []byte) {
	b.sum = crc32.Update(b.sum, castagnoli, p)
	for b.size += len(p); len(p) > 0; {
		last := len(b.parts) - 1
		if last < 0 || len(b.parts[last]) == partSize {
			var part []byte
			if last++; last > 0 { // most runs of a test fit into the first part, which grows as it is filled
				part = make([]byte, 0, partSize)
			}
			b.parts = append(b.parts, part)
		}
		n := min(len(p), partSize-len(b.parts[last]))
		b.parts[last], p = append(b.parts[last], p[:n]...), p[n:]
	}
}

// Bytes returns how many bytes were added.
func (b *Builder) Bytes() int { return b.size }

// end writes the length and the sum of the bucket to which entries were added last.
func (b *Builder) end() {
	at := len(magic) + 8*b.bucket
	binary.LittleEndian.PutUint32(b.head[at:], uint32(b.size-b.begin))
	binary.LittleEndian.PutUint32(b.head[at+4:], b.sum)
	b.begin, b.sum = b.size, 0
}

// finish returns the run in parts, its size and its checksum. The builder must not be used afterwards.
func (b *Builder) finish() (parts [][]byte, size int64, sum uint32) {
	b.end()
	binary.LittleEndian.PutUint32(b.head[indexSize:], crc32.Checksum(b.head[:indexSize], castagnoli))
	parts = append([][]byte{b.head}, b.parts...)
	for _, p := range parts {
		sum = crc32.Update(sum, castagnoli, p)
	}
	return parts, int64(headSize + b.size), sum
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
