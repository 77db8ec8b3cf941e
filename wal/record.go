package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Index numbers the records of a log: 1, 2, 3, … without holes, never given twice.
type Index uint64

// Record is one thing to append: the concatenation of Parts. The parts are only read, and only until Append returns;
// they spare the caller a copy. The total length is 1 … MaxRecord. Every Type is the caller's to use.
type Record struct {
	Type  byte
	Parts [][]byte
}

// MaxRecord is the longest record in bytes. A bound makes a length that came from a damaged disk recognisable.
const MaxRecord = 1 << 30

// On disk a record is one entry of tidwall's binary format, which is a length and that many bytes:
//
//	            ┌ frame ─────────────────────────────────────────────────────┐
//	┌───────────┬──────┬───────────┬───────────┬─────────┬─────────┬─────────┐
//	│ uvarint n │ type │ length LE │ index LE  │ back LE │ crc LE  │ data    │
//	├───────────┼──────┼───────────┼───────────┼─────────┼─────────┼─────────┤
//	│ 1…5       │ 1    │ 4         │ 8         │ 4       │ 4       │ length  │
//	└───────────┴──────┴───────────┴───────────┴─────────┴─────────┴─────────┘
//
// n is 21 + length. crc is CRC32C over the frame without the crc itself. Two fields are there for recovery:
//   - index, so that an old block that a file system hands out again is not taken for a record of now;
//   - back, how many records before this one the same Append began. All of an Append is covered by one fsync, so a
//     record of a *later* Append proves that everything before it was durable; one of the same Append proves nothing,
//     because the disk writes pages in any order (torn.go).
//
// A frame of length 0 is the seal, the last entry of a full segment: its index is that of the next segment.
const (
	headSize = 1 + 4 + 8 + 4 + 4
	crcAt    = headSize - 4
	sealType = 'S'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is a record on its way to the disk.
type frame struct {
	index Index
	head  [headSize]byte
	parts [][]byte
	size  int // of head and parts
}

// setFrame fills f in place: frames are reused from call to call.
func setFrame(f *frame, r Record, i Index, back uint32) error {
	length := 0
	for _, p := range r.Parts {
		length += len(p)
	}
	if length == 0 {
		return fmt.Errorf("wal: append record %d: %w", i, errEmptyRecord)
	}
	if length > MaxRecord {
		return fmt.Errorf("wal: append record %d of %d bytes (at most %d): %w", i, length, MaxRecord, errTooLarge)
	}
	f.set(r.Type, i, back, length, r.Parts)
	return nil
}

func setSeal(f *frame, next Index, back uint32) { f.set(sealType, next, back, 0, nil) }

func (f *frame) set(typ byte, i Index, back uint32, length int, parts [][]byte) {
	f.index, f.parts, f.size = i, parts, headSize+length
	f.head[0] = typ
	binary.LittleEndian.PutUint32(f.head[1:], uint32(length))
	binary.LittleEndian.PutUint64(f.head[5:], uint64(i))
	binary.LittleEndian.PutUint32(f.head[13:], back)
	crc := crc32.Update(0, castagnoli, f.head[:crcAt])
	for _, p := range parts {
		crc = crc32.Update(crc, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(f.head[crcAt:], crc)
}

func (f *frame) seal() bool { return f.size == headSize }

// diskSize is the size of the whole entry, tidwall's length included.
func (f *frame) diskSize() int64 { return int64(uvarintSize(f.size) + f.size) }

func uvarintSize(n int) int {
	s := 1
	for n >= 0x80 {
		n >>= 7
		s++
	}
	return s
}

// entry is a frame found on disk.
type entry struct {
	typ   byte
	index Index
	back  uint32
	data  []byte // within the bytes it was parsed from
	size  int    // of the whole entry, tidwall's length included
}

func (e entry) seal() bool { return len(e.data) == 0 }

// group is the first record of the Append that wrote the entry.
func (e entry) group() Index { return e.index - Index(e.back) }

// parseEntry reads the entry at the start of b; false if there is none that is whole and right. The lengths are
// compared before the checksum is computed, so that a search over garbage stays cheap.
func parseEntry(b []byte) (entry, bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n < headSize || n > uint64(len(b)-w) {
		return entry{}, false
	}
	e, ok := parseFrame(b[w : w+int(n)])
	e.size = w + int(n)
	return e, ok && w == uvarintSize(int(n))
}

func parseFrame(b []byte) (entry, bool) {
	if len(b) < headSize {
		return entry{}, false
	}
	data := b[headSize:]
	if uint64(binary.LittleEndian.Uint32(b[1:])) != uint64(len(data)) || len(data) > MaxRecord {
		return entry{}, false
	}
	crc := crc32.Update(crc32.Checksum(b[:crcAt], castagnoli), castagnoli, data)
	if crc != binary.LittleEndian.Uint32(b[crcAt:]) {
		return entry{}, false
	}
	e := entry{
		typ:   b[0],
		index: Index(binary.LittleEndian.Uint64(b[5:])),
		back:  binary.LittleEndian.Uint32(b[13:]),
		data:  data,
	}
	known := !e.seal() || e.typ == sealType
	return e, known && uint64(e.back) < uint64(e.index)
}
