package fold

import (
	"encoding/binary"
	"fmt"
)

// Key bytes. The fixed parts come first, so that any key is found without reading those before it. Then come the texts:
//
//	per KeyInt: 8 bytes, little-endian  |  per KeyText: 4 bytes, its length     in the order of Spec.Keys
//	with Spec.Nulls: a bit per key that is NULL, in one byte, or in two if there are more than eight keys
//	texts end to end
//
// Equal keys have equal bytes and different keys different ones, because the fixed part says where each text ends, and a key that is NULL
// has the value 0 or no text. The order of keys is not the order of their bytes; see Table.compare.
const (
	intPlace  = 8
	textPlace = 4
)

// KeyBuilder makes the key of a row, with one call per key in the order of the spec. It belongs to its table and is reused
// for every key.
type KeyBuilder struct {
	keys   []Key
	places []int // by key, the offset of its fixed part
	nulls  int   // offset of the bits of NULLs; fixed if there are none
	fixed  int   // bytes of the fixed part
	texts  bool  // there is a KeyText, so keys have different lengths
	buf    []byte
	next   int // index in keys
}

func newKeyBuilder(s *Spec) *KeyBuilder {
	b := &KeyBuilder{keys: s.Keys}
	for _, k := range s.Keys {
		b.places = append(b.places, b.fixed)
		b.fixed += placeOf(k.Kind)
		b.texts = b.texts || k.Kind == KeyText
	}
	if b.nulls = b.fixed; s.Nulls {
		b.fixed += nullBytes(len(s.Keys))
	}
	b.buf = make([]byte, b.fixed, b.fixed+64)
	return b
}

func placeOf(kind KeyKind) int {
	if kind == KeyInt {
		return intPlace
	}
	return textPlace
}

// nullBytes returns how many bytes have the bits of some keys.
func nullBytes(keys int) int {
	if keys <= 8 {
		return 1
	}
	return 2
}

// width returns how many bytes every key has, 0 if they have different lengths, or none.
func (b *KeyBuilder) width() int {
	if b.texts {
		return 0
	}
	return b.fixed
}

func (b *KeyBuilder) reset() *KeyBuilder {
	b.buf, b.next = b.buf[:b.fixed], 0
	clear(b.buf[b.nulls:])
	return b
}

// Text adds the next key, which must be of kind KeyText. It copies v.
func (b *KeyBuilder) Text(v []byte) *KeyBuilder {
	binary.LittleEndian.PutUint32(b.expect(KeyText), uint32(len(v)))
	b.buf = append(b.buf, v...)
	return b
}

// String is Text for a string.
func (b *KeyBuilder) String(v string) *KeyBuilder {
	binary.LittleEndian.PutUint32(b.expect(KeyText), uint32(len(v)))
	b.buf = append(b.buf, v...)
	return b
}

// Int adds the next key, which must be of kind KeyInt.
func (b *KeyBuilder) Int(v int64) *KeyBuilder {
	binary.LittleEndian.PutUint64(b.expect(KeyInt), uint64(v))
	return b
}

// Null makes the next key NULL. The spec must have Nulls.
func (b *KeyBuilder) Null() *KeyBuilder {
	if b.next >= len(b.keys) || b.nulls == b.fixed {
		b.misused(0)
	}
	k := b.next
	clear(b.expect(b.keys[k].Kind))
	b.buf[b.nulls+k/8] |= 1 << (k % 8)
	return b
}

// As adds the keys that a row of another table has. They must be of the kinds of the next keys.
func (b *KeyBuilder) As(of *Table, row int) *KeyBuilder {
	p := of.index.key(row)
	for k, key := range of.spec.Keys {
		switch {
		case of.key.nullsAt(p)>>k&1 == 1:
			b.Null()
		case key.Kind == KeyInt:
			b.Int(of.key.intAt(p, k))
		default:
			b.Text(of.key.textAt(p, k))
		}
	}
	return b
}

// expect returns the fixed part of the next key.
func (b *KeyBuilder) expect(kind KeyKind) []byte {
	if b.next >= len(b.keys) || b.keys[b.next].Kind != kind {
		b.misused(kind)
	}
	place := b.places[b.next]
	b.next++
	return b.buf[place : place+placeOf(kind)]
}

func (b *KeyBuilder) misused(kind KeyKind) {
	panic(fmt.Sprintf("fold: key %d of kind %d does not fit the spec's keys %v", b.next, kind, b.keys))
}

// bytes returns the finished key.
func (b *KeyBuilder) bytes() []byte {
	if b.next != len(b.keys) {
		panic(fmt.Sprintf("fold: %d of %d keys given", b.next, len(b.keys)))
	}
	return b.buf
}

// textAt returns the text of key k in key bytes p.
func (b *KeyBuilder) textAt(p []byte, k int) []byte {
	at := b.fixed + b.textsBefore(p, k)
	end := at + int(binary.LittleEndian.Uint32(p[b.places[k]:]))
	return p[at:end:end]
}

// textsBefore returns the length of the texts of the first n keys.
func (b *KeyBuilder) textsBefore(p []byte, n int) (length int) {
	for k, key := range b.keys[:n] {
		if key.Kind == KeyText {
			length += int(binary.LittleEndian.Uint32(p[b.places[k]:]))
		}
	}
	return length
}

// intAt returns the number of key k in key bytes p.
func (b *KeyBuilder) intAt(p []byte, k int) int64 {
	return int64(binary.LittleEndian.Uint64(p[b.places[k]:]))
}

// nullsAt returns which keys are NULL in key bytes p: bit k stands for key k.
func (b *KeyBuilder) nullsAt(p []byte) uint16 {
	switch b.fixed - b.nulls {
	case 0:
		return 0
	case 1:
		return uint16(p[b.nulls])
	}
	return binary.LittleEndian.Uint16(p[b.nulls:])
}

// putNulls is the opposite of nullsAt.
func (b *KeyBuilder) putNulls(p []byte, nulls uint16) {
	if b.fixed > b.nulls {
		p[b.nulls] = byte(nulls)
	}
	if b.fixed > b.nulls+1 {
		p[b.nulls+1] = byte(nulls >> 8)
	}
}

// first appends the bytes that the key in p would have with only the first n of its keys.
func (b *KeyBuilder) first(dst, p []byte, n int) []byte {
	dst = append(dst, p[:b.places[n]]...)
	if b.fixed > b.nulls {
		nulls := b.nullsAt(p) & (1<<n - 1)
		dst = append(dst, byte(nulls))
		if nullBytes(n) > 1 {
			dst = append(dst, byte(nulls>>8))
		}
	}
	return append(dst, p[b.fixed:b.fixed+b.textsBefore(p, n)]...)
}
