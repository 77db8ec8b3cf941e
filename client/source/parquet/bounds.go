package parquet

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// bounds gathers what statistics say of values that are written.
type bounds struct {
	nulls int64
	some  bool // there are values, so the bounds are set
	none  bool // a value is NaN, which has no order

	// The least and the greatest value, by kind. Of a long text, only enough is kept to cut it.
	ints   [2]int64
	floats [2]float64
	texts  [2][]byte
}

// longestBound is how many bytes a text in statistics may have.
const longestBound = 64

// reset forgets all values.
func (b *bounds) reset() { b.nulls, b.some, b.none = 0, false, false }

// takeInt, takeFloat and takeText include a value. Booleans have no bounds.
func (b *bounds) takeInt(v int64) {
	if !b.some {
		b.ints[0], b.ints[1], b.some = v, v, true
	}
	b.ints[0], b.ints[1] = min(b.ints[0], v), max(b.ints[1], v)
}

func (b *bounds) takeFloat(v float64) {
	switch {
	case v != v:
		b.none = true
	case !b.some:
		b.floats[0], b.floats[1], b.some = v, v, true
	case v < b.floats[0]:
		b.floats[0] = v
	case v > b.floats[1]:
		b.floats[1] = v
	}
}

func (b *bounds) takeText(v string) {
	kept := v[:min(len(v), longestBound+1)]
	if !b.some || v < string(b.texts[0]) {
		b.texts[0] = append(b.texts[0][:0], kept...)
	}
	if !b.some || v > string(b.texts[1]) {
		b.texts[1] = append(b.texts[1][:0], kept...)
	}
	b.some = true
}

// include includes the values of other bounds of the same kind.
func (b *bounds) include(of *bounds, kind int64) {
	b.nulls += of.nulls
	b.none = b.none || of.none
	if !of.some {
		return
	}
	for end := range 2 {
		switch kind {
		case kindInt32, kindInt64:
			b.takeInt(of.ints[end])
		case kindDouble:
			b.takeFloat(of.floats[end])
		default:
			b.takeText(string(of.texts[end]))
		}
	}
}

// ends returns the least and the greatest value as statistics have them, or values beyond them if these are long; nil if there are none or
// they have no order.
func (b *bounds) ends(kind int64) (least, most []byte) {
	if !b.some || b.none {
		return nil, nil
	}
	if most = b.end(kind, 1); most == nil {
		return nil, nil
	}
	return b.end(kind, 0), most
}

// end returns the least value (end 0) or the greatest (end 1). A zero gets the sign with which it bounds both zeros: -0 as the least, +0 as
// the greatest. It is nil if no short text is greater than a long one.
func (b *bounds) end(kind int64, end int) []byte {
	switch kind {
	case kindInt32:
		return binary.LittleEndian.AppendUint32(nil, uint32(b.ints[end]))
	case kindInt64:
		return binary.LittleEndian.AppendUint64(nil, uint64(b.ints[end]))
	case kindDouble:
		v := b.floats[end]
		if v == 0 {
			v = math.Copysign(0, float64(end)-0.5)
		}
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
	}
	text := append([]byte{}, b.texts[end]...)
	if len(text) <= longestBound {
		return text
	}
	cut := longestBound
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	if text = text[:cut]; end == 0 {
		return text // the beginning of a text is never greater than the text
	}
	return after(text)
}

// after returns a text that is greater than all that begin with a valid one, and not longer: the last letter that has a successor of as
// many bytes is replaced by it, and what follows is cut off. It is nil if there is none.
func after(text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeLastRune(text)
		text = text[:len(text)-size]
		if next := r + 1; utf8.RuneLen(next) == size {
			return utf8.AppendRune(text, next)
		}
	}
	return nil
}

// statistics appends the statistics of a row group.
func (b *bounds) statistics(m *made, kind int64) {
	m.begin(12)
	m.int(3, thriftI64, b.nulls)
	if least, most := b.ends(kind); most != nil {
		m.field(5, thriftBinary)
		m.text(string(most))
		m.field(6, thriftBinary)
		m.text(string(least))
		m.bool(7, len(b.texts[1]) <= longestBound)
		m.bool(8, len(b.texts[0]) <= longestBound)
	}
	m.end()
}
