package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

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

// values reads the values of a page, in blocks of at most takeRows. It is one of numbers, byteValues and *wordNumbers.
type values interface {
	// skip passes over values.
	skip(n int) error
}

// numbers are values of at most eight bytes.
type numbers interface {
	values
	// ints reads the bits of as many values as out has room for. Those of four bytes are taken as signed.
	ints(out []int64) error
}

// byteValues are values that are bytes.
type byteValues interface {
	values
	// texts reads n values into out. They are valid until the next call.
	texts(out *columnar.Texts, n int) error
	// fit returns how many of the next n values, at least 1, have at most room bytes together. There may be fewer than n.
	fit(n, room int) (int, error)
}

// open returns the reader of a data page's values.
func (c *column) open(encoding int64, p []byte) (values, error) {
	number := c.texts.number != nil
	switch {
	case encoding == encodingPlainDictionary || encoding == encodingDictionary:
		if !c.dictionary.there {
			return nil, errors.New("it refers to a dictionary, and there is none")
		}
		if len(p) == 0 || p[0] > 32 {
			return nil, errors.New("its numbers of words of the dictionary have no size")
		}
		if err := c.loadDictionary(); err != nil {
			return nil, err
		}
		return &wordNumbers{hybrid{p: p[1:], width: uint(p[0])}}, nil
	case encoding == encodingPlain:
		return c.plain(p), nil
	case encoding == encodingRLE && c.kind == kindBool:
		if len(p) < 4 {
			return nil, errFew
		}
		return &repeatedBools{newHybrid(p[4:], 1)}, nil
	case encoding == encodingDelta && number && (c.kind == kindInt32 || c.kind == kindInt64):
		d, err := newDelta(p)
		return &differences{d, c.kind == kindInt32}, err
	case encoding == encodingDeltaLength && c.kind == kindBytes:
		return newLengths(p)
	case encoding == encodingDeltaBytes && !number:
		return newPrefixes(c, p)
	case encoding == encodingSplit && number:
		return &splitNumbers{p: p, n: len(p) / c.width, width: c.width}, nil
	case encoding == encodingSplit && c.width > 0:
		return &splitBytes{column: c, p: p, n: len(p) / c.width}, nil
	}
	return nil, fmt.Errorf("%w: its values are encoded in a way that is not read here (encoding %d)", ErrUnread, encoding)
}

// plain returns the reader of values in encoding PLAIN.
func (c *column) plain(p []byte) values {
	switch {
	case c.kind == kindBool:
		return &plainBools{p: p}
	case c.texts.number != nil && c.width == 4:
		return &plain4{p}
	case c.texts.number != nil:
		return &plain8{p}
	case c.width > 0:
		return &plainFixed{p: p, width: c.width}
	}
	return &plainBytes{p: p}
}

// wordNumbers reads numbers of words in the column's dictionary.
type wordNumbers struct{ hybrid }

type plain4 struct{ p []byte }

func (v *plain4) ints(out []int64) error {
	if len(v.p) < 4*len(out) {
		return errFew
	}
	p := v.p[:4*len(out)]
	v.p = v.p[len(p):]
	for i := range out {
		out[i] = int64(int32(binary.LittleEndian.Uint32(p)))
		p = p[4:]
	}
	return nil
}

func (v *plain4) skip(n int) error { return cut(&v.p, 4, n) }

// cut takes n values of width bytes away.
func cut(p *[]byte, width, n int) error {
	if len(*p)/width < n {
		return errFew
	}
	*p = (*p)[width*n:]
	return nil
}

type plain8 struct{ p []byte }

func (v *plain8) ints(out []int64) error {
	if len(v.p) < 8*len(out) {
		return errFew
	}
	p := v.p[:8*len(out)]
	v.p = v.p[len(p):]
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(p))
		p = p[8:]
	}
	return nil
}

func (v *plain8) skip(n int) error { return cut(&v.p, 8, n) }

type plainBools struct {
	p  []byte
	at int // bit of p
}

func (v *plainBools) ints(out []int64) error {
	if 8*len(v.p)-v.at < len(out) {
		return errFew
	}
	unpack(out, v.p, v.at, 1)
	v.at += len(out)
	return nil
}

func (v *plainBools) skip(n int) error {
	if 8*len(v.p)-v.at < n {
		return errFew
	}
	v.at += n
	return nil
}

type repeatedBools struct{ hybrid }

func (v *repeatedBools) ints(out []int64) error {
	var block [64]uint32
	for len(out) > 0 {
		some := block[:min(len(block), len(out))]
		if err := v.fill(some); err != nil {
			return err
		}
		for i, b := range some {
			out[i] = int64(b)
		}
		out = out[len(some):]
	}
	return nil
}

type differences struct {
	d     delta
	short bool // of four bytes
}

func (v *differences) ints(out []int64) error {
	err := v.d.ints(out)
	if v.short { // the sums may be beyond the four bytes
		for i, n := range out {
			out[i] = int64(int32(n))
		}
	}
	return err
}

func (v *differences) skip(n int) error {
	var block [64]int64
	for ; n > 0; n -= len(block) {
		if err := v.d.ints(block[:min(n, len(block))]); err != nil {
			return err
		}
	}
	return nil
}

// splitNumbers reads BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all, and so on.
type splitNumbers struct {
	p     []byte
	n, at int
	width int
}

func (v *splitNumbers) ints(out []int64) error {
	if v.n-v.at < len(out) {
		return errFew
	}
	stream := func(k int) []byte { return v.p[k*v.n+v.at:][:len(out)] }
	a, b, c, d := stream(0), stream(1), stream(2), stream(3)
	for i := range out {
		out[i] = int64(int32(uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24))
	}
	if v.width == 8 {
		a, b, c, d = stream(4), stream(5), stream(6), stream(7)
		for i := range out {
			out[i] = out[i]&0xffffffff | int64(uint32(a[i])|uint32(b[i])<<8|uint32(c[i])<<16|uint32(d[i])<<24)<<32
		}
	}
	v.at += len(out)
	return nil
}

func (v *splitNumbers) skip(n int) error {
	if v.n-v.at < n {
		return errFew
	}
	v.at += n
	return nil
}

// splitBytes is splitNumbers for values that are bytes.
type splitBytes struct {
	column *column
	p      []byte
	n, at  int
}

func (v *splitBytes) texts(out *columnar.Texts, n int) (err error) {
	if v.n-v.at < n {
		return errFew
	}
	c := v.column
	if c.last, err = c.memory.grow(c.last, n*c.width); err != nil {
		return err
	}
	for k := range c.width {
		for i, b := range v.p[k*v.n+v.at:][:n] {
			c.last[i*c.width+k] = b
		}
	}
	v.at += n
	out.Fixed(c.last, c.width, n)
	return nil
}

func (v *splitBytes) fit(n, room int) (int, error) { return max(1, min(n, room/v.column.width)), nil }

func (v *splitBytes) skip(n int) error {
	if v.n-v.at < n {
		return errFew
	}
	v.at += n
	return nil
}

type plainFixed struct {
	p     []byte
	width int
}

func (v *plainFixed) texts(out *columnar.Texts, n int) error {
	p := v.p
	if err := v.skip(n); err != nil {
		return err
	}
	out.Fixed(p, v.width, n)
	return nil
}

func (v *plainFixed) fit(n, room int) (int, error) { return max(1, min(n, room/v.width)), nil }

func (v *plainFixed) skip(n int) error { return cut(&v.p, v.width, n) }

// plainBytes are values with their lengths before them. The ends of values are found once, before the values are taken.
type plainBytes struct {
	p     []byte
	at    int
	ends  []uint32 // of the next values
	found int      // where the last of them ends
}

// look finds the ends of the next n values, or of all that are left if they are fewer.
func (v *plainBytes) look(n int) []uint32 {
	if len(v.ends) == 0 {
		v.found = v.at
	}
	for at := v.found; len(v.ends) < n; v.found = at {
		if len(v.p)-at < 4 {
			return v.ends
		}
		size := binary.LittleEndian.Uint32(v.p[at:])
		if at += 4; uint64(size) > uint64(len(v.p)-at) {
			return v.ends
		}
		at += int(size)
		v.ends = append(v.ends, uint32(at))
	}
	return v.ends[:n]
}

func (v *plainBytes) texts(out *columnar.Texts, n int) error {
	ends := v.look(n)
	if len(ends) < n {
		return errFew
	}
	out.Make(v.p, n)
	from, at := out.From[:n], uint32(v.at)
	for i, end := range ends {
		from[i] = at + 4
		at = end
	}
	copy(out.To, ends)
	v.at = int(at)
	v.ends = v.ends[:copy(v.ends, v.ends[n:])]
	return nil
}

func (v *plainBytes) fit(n, room int) (int, error) {
	ends := v.look(n)
	most := sort.Search(len(ends), func(i int) bool { return int(ends[i])-v.at-4*(i+1) > room })
	if most == len(ends) { // all that are left, if they are fewer than n
		return n, nil
	}
	return max(1, most), nil
}

func (v *plainBytes) skip(n int) error {
	for n > 0 {
		ends := v.look(min(n, takeRows))
		if len(ends) == 0 {
			return errFew
		}
		v.at = int(ends[len(ends)-1])
		n -= len(ends)
		v.ends = v.ends[:copy(v.ends, v.ends[len(ends):])]
	}
	return nil
}

// lengths reads DELTA_LENGTH_BYTE_ARRAY: the lengths of all values, then the values.
type lengths struct {
	ahead
	p  []byte
	at int
}

func newLengths(p []byte) (*lengths, error) {
	d, err := newDelta(p)
	if err != nil {
		return nil, err
	}
	end, err := d.end()
	return &lengths{ahead: ahead{d: d}, p: p[end:]}, err
}

func (v *lengths) texts(out *columnar.Texts, n int) error {
	all, err := v.take(n)
	if err != nil {
		return err
	}
	out.Make(v.p, n)
	for i, size := range all {
		if size < 0 || size > int64(len(v.p)-v.at) {
			return errFew
		}
		out.From[i], out.To[i] = uint32(v.at), uint32(v.at+int(size))
		v.at += int(size)
	}
	return nil
}

func (v *lengths) fit(n, room int) (int, error) {
	all, err := v.look(n)
	return fitting(n, room, all, nil), err
}

// fitting returns how many of n values have at most room bytes together. The length of a value is the sum of two lengths, or one.
// Impossible lengths are found when the values are taken.
func fitting(n, room int, lengths, more []int64) int {
	sum := int64(0)
	for i, size := range lengths {
		if i < len(more) {
			size += more[i]
		}
		if sum += size; size < 0 || sum > int64(room) {
			return max(1, i)
		}
	}
	return n
}

func (v *lengths) skip(n int) error {
	for n > 0 {
		all, err := v.take(min(n, takeRows))
		if err != nil {
			return err
		}
		for _, size := range all {
			if size < 0 || size > int64(len(v.p)-v.at) {
				return errFew
			}
			v.at += int(size)
		}
		n -= len(all)
	}
	return nil
}

// prefixes reads DELTA_BYTE_ARRAY: for each value the length of the prefix that it shares with the value before, and the rest. made ends
// with the value before.
type prefixes struct {
	column *column
	shared ahead
	rest   *lengths
	made   []byte
	before int // where that value begins
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
	rest, err := newLengths(p[end:])
	if err != nil {
		return nil, err
	}
	return &prefixes{column: c, shared: ahead{d: d}, rest: rest, made: c.last[:0]}, nil
}

func (v *prefixes) texts(out *columnar.Texts, n int) error {
	all, err := v.shared.take(n)
	if err != nil {
		return err
	}
	if err := v.rest.texts(out, n); err != nil {
		return err
	}
	c := v.column
	v.made = v.made[:copy(v.made, v.made[v.before:])]
	v.before = 0
	for i, size := range all {
		rest := out.Bytes[out.From[i]:out.To[i]]
		if size < 0 || size > int64(len(v.made)-v.before) {
			return errFew
		}
		begin, end := len(v.made), len(v.made)+int(size)+len(rest)
		if err := c.room(&v.made, end); err != nil {
			return err
		}
		v.made = append(append(v.made, v.made[v.before:v.before+int(size)]...), rest...)
		v.before = begin
		out.From[i], out.To[i] = uint32(begin), uint32(end)
		if c.width > 0 && end-begin != c.width {
			return errors.New("it has a value of another size than the column's")
		}
	}
	out.Bytes = v.made
	return nil
}

// room makes room for n bytes, in memory that the column keeps for its next page.
func (c *column) room(p *[]byte, n int) error {
	if n <= cap(*p) {
		return nil
	}
	var err error
	if c.last, err = c.memory.grow(*p, max(n, 2*cap(*p))); err == nil {
		copy(c.last, *p)
		*p = c.last[:len(*p)]
	}
	return err
}

func (v *prefixes) fit(n, room int) (int, error) {
	shared, err := v.shared.look(n)
	if err != nil {
		return 0, err
	}
	rest, err := v.rest.look(n)
	return fitting(n, room, shared, rest), err
}

// skip makes the values, because those that follow begin with parts of them.
func (v *prefixes) skip(n int) error {
	var out columnar.Texts
	for n > 0 {
		k, err := v.fit(min(n, takeRows), roomOfBlock)
		if err == nil {
			err = v.texts(&out, k)
		}
		if err != nil {
			return err
		}
		n -= k
	}
	return nil
}
