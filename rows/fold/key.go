package fold

import (
	"encoding/binary"
	"fmt"
)

// Key bytes. The fixed parts come first, so that any key is found without reading those before it. Then come the texts:
//
//	per KeyInt: 8 bytes, little-endian  |  per KeyText: 4 bytes, its length     in the order of Spec.Keys
//	texts end to end
//
// Equal keys have equal bytes and different keys different ones, because the fixed part says where each text ends. The order
// of keys is not the order of their bytes; see Table.compare.
const (
	intPlace  = 8
	textPlace = 4
)

// KeyBuilder makes the key of a row, with one call per key in the order of the spec. It belongs to its table and is reused
// for every key.
type KeyBuilder struct {
	keys  []Key
	fixed int // bytes of the fixed part
	buf   []byte
	next  int // index in keys
	place int // offset of the next key's fixed part
}

func newKeyBuilder(keys []Key) *KeyBuilder {
	b := &KeyBuilder{keys: keys}
	for _, k := range keys {
		b.fixed += placeOf(k.Kind)
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

func (b *KeyBuilder) reset() *KeyBuilder {
	b.buf, b.next, b.place = b.buf[:b.fixed], 0, 0
	return b
}

// Text adds the next key, which must be of kind KeyText. It copies v.
func (b *KeyBuilder) Text(v []byte) *KeyBuilder {
	b.expect(KeyText)
	binary.LittleEndian.PutUint32(b.buf[b.place:], uint32(len(v)))
	b.place += textPlace
	b.buf = append(b.buf, v...)
	return b
}

// String is Text for a string.
func (b *KeyBuilder) String(v string) *KeyBuilder {
	b.expect(KeyText)
	binary.LittleEndian.PutUint32(b.buf[b.place:], uint32(len(v)))
	b.place += textPlace
	b.buf = append(b.buf, v...)
	return b
}

// Int adds the next key, which must be of kind KeyInt.
func (b *KeyBuilder) Int(v int64) *KeyBuilder {
	b.expect(KeyInt)
	binary.LittleEndian.PutUint64(b.buf[b.place:], uint64(v))
	b.place += intPlace
	return b
}

func (b *KeyBuilder) expect(kind KeyKind) {
	if b.next >= len(b.keys) || b.keys[b.next].Kind != kind {
		b.misused(kind)
	}
	b.next++
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
	place, at := 0, b.fixed
	for _, key := range b.keys[:k] {
		if key.Kind == KeyText {
			at += int(binary.LittleEndian.Uint32(p[place:]))
		}
		place += placeOf(key.Kind)
	}
	end := at + int(binary.LittleEndian.Uint32(p[place:]))
	return p[at:end:end]
}

// intAt returns the number of key k in key bytes p.
func (b *KeyBuilder) intAt(p []byte, k int) int64 {
	place := 0
	for _, key := range b.keys[:k] {
		place += placeOf(key.Kind)
	}
	return int64(binary.LittleEndian.Uint64(p[place:]))
}

// first appends the bytes that the key in p would have with only the first n of its keys.
func (b *KeyBuilder) first(dst, p []byte, n int) []byte {
	place, texts := 0, 0
	for _, key := range b.keys[:n] {
		if key.Kind == KeyText {
			texts += int(binary.LittleEndian.Uint32(p[place:]))
		}
		place += placeOf(key.Kind)
	}
	return append(append(dst, p[:place]...), p[b.fixed:b.fixed+texts]...)
}
