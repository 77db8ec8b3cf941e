package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"posta.dev/posta/rows/columnar"
)

// Encodings.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// values reads the values of a page one after the other, and appends each as a field.
type values interface {
	append(dst []byte) ([]byte, error)
}

// numbers are values that can also be read as numbers.
type numbers interface {
	values
	// next returns the bits of the next value.
	next() (uint64, error)
}

// open returns the reader of a data page's values.
func (c *column) open(encoding int64, p []byte) (values, error) {
	number := c.texts.number != nil
	switch {
	case encoding == encodingPlainDictionary || encoding == encodingDictionary:
		if len(c.ends) == 0 {
			return nil, errors.New("it refers to a dictionary, and there is none")
		}
		if len(p) == 0 || p[0] > 32 {
			return nil, errors.New("its numbers of words of the dictionary have no size")
		}
		return &fromDictionary{column: c, indexes: hybrid{p: p[1:], width: uint(p[0])}}, nil
	case encoding == encodingPlain:
		return c.plain(p), nil
	case encoding == encodingRLE && c.kind == kindBool:
		if len(p) < 4 {
			return nil, errFew
		}
		return &repeatedBools{c.texts, newHybrid(p[4:], 1)}, nil
	case encoding == encodingDelta && number && (c.kind == kindInt32 || c.kind == kindInt64):
		d, err := newDelta(p)
		return &differences{c.texts, d}, err
	case encoding == encodingDeltaLength && c.kind == kindBytes:
		return newLengths(c.texts, p)
	case encoding == encodingDeltaBytes && !number:
		return newPrefixes(c, p)
	case encoding == encodingSplit && c.texts.width > 0:
		n := len(p) / c.texts.width
		return &byteSplit{texts: c.texts, p: p, n: n, value: make([]byte, c.texts.width)}, nil
	}
	return nil, fmt.Errorf("%w: its values are encoded in a way that is not read here (encoding %d)", ErrUnread, encoding)
}

// plain returns the reader of values in encoding PLAIN.
func (c *column) plain(p []byte) values {
	switch {
	case c.kind == kindBool:
		return &plainBools{c.texts, p, 0}
	case c.texts.number != nil && c.texts.width == 4:
		return &plain4{c.texts, p}
	case c.texts.number != nil:
		return &plain8{c.texts, p}
	case c.texts.width > 0:
		return &plainFixed{c.texts, p}
	}
	return &plainBytes{c.texts, p}
}

type plain4 struct {
	texts
	p []byte
}

func (v *plain4) next() (uint64, error) {
	if len(v.p) < 4 {
		return 0, errFew
	}
	n := uint64(binary.LittleEndian.Uint32(v.p))
	v.p = v.p[4:]
	return n, nil
}

func (v *plain4) append(dst []byte) ([]byte, error) { return v.appendNumber(dst, v) }

func (t *texts) appendNumber(dst []byte, of numbers) ([]byte, error) {
	n, err := of.next()
	if err == nil && t.fits != nil {
		err = t.fits(n)
	}
	if err != nil {
		return dst, err
	}
	return t.number(dst, n), nil
}

type plain8 struct {
	texts
	p []byte
}

func (v *plain8) next() (uint64, error) {
	if len(v.p) < 8 {
		return 0, errFew
	}
	n := binary.LittleEndian.Uint64(v.p)
	v.p = v.p[8:]
	return n, nil
}

func (v *plain8) append(dst []byte) ([]byte, error) { return v.appendNumber(dst, v) }

type plainFixed struct {
	texts
	p []byte
}

func (v *plainFixed) append(dst []byte) ([]byte, error) {
	if len(v.p) < v.width {
		return dst, errFew
	}
	dst = v.bytes(dst, v.p[:v.width])
	v.p = v.p[v.width:]
	return dst, nil
}

type plainBytes struct {
	texts
	p []byte
}

func (v *plainBytes) append(dst []byte) ([]byte, error) {
	if len(v.p) < 4 {
		return dst, errFew
	}
	n := binary.LittleEndian.Uint32(v.p)
	if uint64(n) > uint64(len(v.p)-4) {
		return dst, errFew
	}
	dst = v.bytes(dst, v.p[4:4+n])
	v.p = v.p[4+n:]
	return dst, nil
}

type plainBools struct {
	texts
	p []byte
	i uint
}

func (v *plainBools) append(dst []byte) ([]byte, error) {
	if len(v.p) == 0 {
		return dst, errFew
	}
	dst = v.number(dst, uint64(v.p[0]>>v.i&1))
	if v.i++; v.i == 8 {
		v.p, v.i = v.p[1:], 0
	}
	return dst, nil
}

type repeatedBools struct {
	texts
	h hybrid
}

func (v *repeatedBools) append(dst []byte) ([]byte, error) {
	b, err := v.h.next()
	if err != nil {
		return dst, err
	}
	return v.number(dst, uint64(b)), nil
}

type differences struct {
	texts
	d delta
}

func (v *differences) next() (uint64, error) {
	n, err := v.d.next()
	return uint64(n), err
}

func (v *differences) append(dst []byte) ([]byte, error) { return v.appendNumber(dst, v) }

// byteSplit reads BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all, and so on.
type byteSplit struct {
	texts
	p     []byte
	n, i  int
	value []byte
}

func (v *byteSplit) gather() error {
	if v.i == v.n {
		return errFew
	}
	for k := range v.value {
		v.value[k] = v.p[k*v.n+v.i]
	}
	v.i++
	return nil
}

// next is for values that are numbers.
func (v *byteSplit) next() (uint64, error) {
	if err := v.gather(); err != nil {
		return 0, err
	}
	if v.width == 4 {
		return uint64(binary.LittleEndian.Uint32(v.value)), nil
	}
	return binary.LittleEndian.Uint64(v.value), nil
}

func (v *byteSplit) append(dst []byte) ([]byte, error) {
	if v.number != nil {
		return v.appendNumber(dst, v)
	}
	if err := v.gather(); err != nil {
		return dst, err
	}
	return v.bytes(dst, v.value), nil
}

// lengths reads DELTA_LENGTH_BYTE_ARRAY: the lengths of all values, then the values.
type lengths struct {
	texts
	d delta
	p []byte
}

func newLengths(t texts, p []byte) (*lengths, error) {
	d, err := newDelta(p)
	if err != nil {
		return nil, err
	}
	end, err := d.end()
	return &lengths{t, d, p[end:]}, err
}

func (v *lengths) next() ([]byte, error) {
	n, err := v.d.next()
	if err != nil || n < 0 || n > int64(len(v.p)) {
		return nil, errFew
	}
	value := v.p[:n]
	v.p = v.p[n:]
	return value, nil
}

func (v *lengths) append(dst []byte) ([]byte, error) {
	value, err := v.next()
	if err != nil {
		return dst, err
	}
	return v.bytes(dst, value), nil
}

// prefixes reads DELTA_BYTE_ARRAY: for each value the length of the prefix that it shares with the value before, and the rest.
type prefixes struct {
	texts
	d    delta
	rest *lengths
	last []byte
}

func newPrefixes(c *column, p []byte) (*prefixes, error) {
	d, err := newDelta(p)
	if err != nil {
		return nil, err
	}
	end, err := d.end()
	if err != nil {
		return nil, err
	}
	rest, err := newLengths(c.texts, p[end:])
	if err != nil {
		return nil, err
	}
	// No value is longer than all rests together. One byte more makes memory of a page of empty texts: nil would be NULL.
	c.last, err = c.memory.grow(c.last, len(rest.p)+1)
	return &prefixes{texts: c.texts, d: d, rest: rest, last: c.last[:0]}, err
}

func (v *prefixes) append(dst []byte) ([]byte, error) {
	n, err := v.d.next()
	if err != nil || n < 0 || n > int64(len(v.last)) {
		return dst, errFew
	}
	rest, err := v.rest.next()
	if err != nil {
		return dst, err
	}
	v.last = append(v.last[:n], rest...)
	if v.width > 0 && len(v.last) != v.width {
		return dst, errors.New("it has a value of another size than the column's")
	}
	return v.bytes(dst, v.last), nil
}

// fromDictionary reads numbers of words in the column's dictionary.
type fromDictionary struct {
	column  *column
	indexes hybrid
}

func (v *fromDictionary) append(dst []byte) ([]byte, error) {
	i, err := v.indexes.next()
	if err != nil {
		return dst, err
	}
	c := v.column
	if int64(i)+1 >= int64(len(c.ends)) {
		return dst, noWord(i, len(c.ends)-1)
	}
	return append(dst, c.words[c.ends[i]:c.ends[i+1]]...), nil
}

func noWord(i uint32, words int) error {
	return fmt.Errorf("it refers to word %d of a dictionary of %d", i, words)
}

// dictionary turns the words of a dictionary page into texts.
func (c *column) dictionary(p []byte, n int64) error {
	if n < 0 || n > int64(len(p))*8 {
		return fmt.Errorf("it says that there are %d words in %d bytes", n, len(p))
	}
	if more := int(n) + 1 - cap(c.ends); more > 0 {
		if err := c.memory.charge(4 * more); err != nil {
			return err
		}
		c.ends = make([]uint32, 0, n+1)
	}
	c.words, c.ends, c.longest = c.words[:0], append(c.ends[:0], 0), 0
	from := c.plain(p)
	for range n {
		before := cap(c.words)
		var err error
		if c.words, err = from.append(c.words); err != nil {
			return err
		}
		if more := cap(c.words) - before; more > 0 {
			if err := c.memory.charge(more); err != nil {
				return err
			}
		}
		c.longest = max(c.longest, len(c.words)-int(c.ends[len(c.ends)-1]))
		c.ends = append(c.ends, uint32(len(c.words)))
	}
	return c.memory.charge(columnar.SizeOfWord * c.newWords())
}
