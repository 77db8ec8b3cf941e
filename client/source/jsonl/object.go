package jsonl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// object reads the object in a line. It reuses its memory for the next line.
type object struct {
	tree    *node
	fields  [][]byte // of the row, by column; views into the line, or into scratch
	taken   []bool   // by column: the line has it
	scratch []byte   // unescaped text of strings
	p       []byte
	keys    []string // of the outermost object, if gather is set
	gather  bool
}

// maxDepth is how deep values may be nested.
const maxDepth = 512

// wrong returns a syntax error at place i of the line.
func wrong(i int, format string, args ...any) error {
	return fmt.Errorf("character %d: %s", i+1, fmt.Sprintf(format, args...))
}

// errNoObject is wrapped by all errors about a line.
var errNoObject = errors.New("the line is not a JSON object")

// read takes the fields out of a line.
func (o *object) read(line []byte) error {
	o.p, o.scratch = line, o.scratch[:0]
	i := blanks(line, 0)
	if i == len(line) || line[i] != '{' {
		return errNoObject
	}
	i, err := o.value(i, o.tree, 0)
	if err == nil && i < len(line) {
		if i = blanks(line, i); i < len(line) {
			err = wrong(i, "something follows the object; one object in a line is read")
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoObject, err)
	}
	return nil
}

// runeAt returns the first character of a text, to be shown.
func runeAt(p []byte) rune {
	r, _ := utf8.DecodeRune(p)
	return r
}

// blanks returns where white space that may begin at i ends.
func blanks(p []byte, i int) int {
	for i < len(p) && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r' || p[i] == '\n') {
		i++
	}
	return i
}

// value reads the value that begins at i, takes the columns that n wants from it, and returns where it ends; n may be nil.
func (o *object) value(i int, n *node, depth int) (end int, err error) {
	p := o.p
	if depth > maxDepth {
		return 0, wrong(i, "values are nested more than %d deep", maxDepth)
	}
	if i == len(p) {
		return 0, wrong(i, "the line ends where a value should be")
	}
	text, end := simple(p, i)
	if end == 0 {
		switch c := p[i]; {
		case c == '{':
			end, err = o.members(i+1, n, depth)
		case c == '[':
			end, err = o.items(i+1, n, depth)
		case c == '"':
			text, end, err = o.text(i, n != nil && n.column >= 0)
		case c == '-' || c >= '0' && c <= '9':
			end, err = number(p, i)
		case c == 't':
			end, err = word(p, i, "true")
		case c == 'f':
			end, err = word(p, i, "false")
		case c == 'n':
			end, err = word(p, i, "null")
		default:
			err = wrong(i, "%q begins no value", runeAt(p[i:]))
		}
		if err == nil && text == nil && p[i] != 'n' {
			text = p[i:end:end]
		}
	}
	if err != nil || n == nil || n.column < 0 {
		return end, err
	}
	if o.taken[n.column] {
		return 0, wrong(end, "a value is there twice")
	}
	o.fields[n.column], o.taken[n.column] = text, true
	return end, nil
}

// simple reads the value that begins at i if it is a string without escapes or a number of few digits, by words; end is 0 for others.
func simple(p []byte, i int) (text []byte, end int) {
	more := p[:cap(p)] // reading behind the line is no harm, and believing it would be
	if len(more)-i < 8 {
		return nil, 0
	}
	w := binary.LittleEndian.Uint64(more[i:])
	if byte(w) == '"' {
		special := specials(w&^0xff | ' ')
		k := i
		for special == 0 {
			if k += 8; len(more)-k < 8 {
				return nil, 0
			}
			special = specials(binary.LittleEndian.Uint64(more[k:]))
		}
		if k += bits.TrailingZeros64(special) / 8; k >= len(p) || p[k] != '"' {
			return nil, 0
		}
		return p[i+1 : k : k], k + 1
	}
	// If there is no digit, the byte behind none of them is no end of a number.
	from := i
	for point := false; ; point = true {
		other := noDigits(w)
		digits := bits.TrailingZeros64(other) / 8
		if other == 0 || digits == 0 || !point && byte(w) == '0' && digits > 1 {
			return nil, 0
		}
		i += digits
		if i >= len(p) {
			return nil, 0
		}
		if p[i] == ',' || p[i] == '}' {
			return p[from:i:i], i
		}
		if i++; point || p[i-1] != '.' || len(more)-i < 8 {
			return nil, 0
		}
		w = binary.LittleEndian.Uint64(more[i:])
	}
}

func word(p []byte, i int, w string) (end int, err error) {
	if len(p)-i < len(w) || string(p[i:i+len(w)]) != w {
		return 0, wrong(i, "a value that is not %s", w)
	}
	return i + len(w), nil
}

// members reads an object from i on, which is behind its brace.
func (o *object) members(i int, n *node, depth int) (end int, err error) {
	var before *member
	if n != nil && n.keys != nil && !o.gather {
		before = &n.brace
	}
	for first := true; ; first = false {
		var below *node
		if m := before.following(); m != nil && len(o.p)-i >= len(m.text) && string(o.p[i:i+len(m.text)]) == m.text {
			i, below, before = blanks(o.p, i+len(m.text)), m.below, m
		} else {
			from := i
			if i, err = o.toKey(i, first); err != nil || i < 0 {
				return ^i, err
			}
			if below, i, err = o.key(i, n, depth); err != nil {
				return 0, err
			}
			before = n.remember(before, o.p[from:i], below)
		}
		if i, err = o.value(i, below, depth+1); err != nil {
			return 0, err
		}
		if i < len(o.p) && o.p[i] == '}' {
			return i + 1, nil
		}
	}
}

// toKey returns where the next key of an object begins, or the complement of where the object ends.
func (o *object) toKey(i int, first bool) (at int, err error) {
	if !first {
		over := false
		if i, over, err = o.next(i, '}'); err != nil || over {
			return ^i, err
		}
	}
	i = blanks(o.p, i)
	if first && i < len(o.p) && o.p[i] == '}' {
		return ^(i + 1), nil
	}
	return i, nil
}

// key reads the key at i with its colon and white space, and returns what is wanted of its value, which begins at end.
func (o *object) key(i int, n *node, depth int) (below *node, end int, err error) {
	p := o.p
	if i == len(p) || p[i] != '"' {
		return nil, 0, wrong(i, "there should be a key in quotes")
	}
	wanted := n != nil && n.keys != nil || o.gather && depth == 0
	key, i, err := o.text(i, wanted)
	if err != nil {
		return nil, 0, err
	}
	if o.gather && depth == 0 {
		o.keys = append(o.keys, string(key))
	}
	if i = blanks(p, i); i == len(p) || p[i] != ':' {
		return nil, 0, wrong(i, "there should be a colon behind a key")
	}
	if n != nil && n.keys != nil {
		below = n.keys[string(key)]
	}
	return below, blanks(p, i+1), nil
}

// items reads an array from i on, which is behind its bracket.
func (o *object) items(i int, n *node, depth int) (end int, err error) {
	for k := 0; ; k++ {
		i = blanks(o.p, i)
		if k == 0 && i < len(o.p) && o.p[i] == ']' {
			return i + 1, nil
		}
		var below *node
		if n != nil && n.items != nil {
			below = n.items[k]
		}
		if i, err = o.value(i, below, depth+1); err != nil {
			return 0, err
		}
		over := false
		if i, over, err = o.next(i, ']'); over || err != nil {
			return i, err
		}
	}
}

// next reads a comma, or the end of an object or an array.
func (o *object) next(i int, close byte) (end int, over bool, err error) {
	if i = blanks(o.p, i); i < len(o.p) {
		switch o.p[i] {
		case close:
			return i + 1, true, nil
		case ',':
			return i + 1, false, nil
		}
	}
	return 0, false, wrong(i, "there should be a comma or %q", close)
}

// number reads the number that begins at i.
func number(p []byte, i int) (end int, err error) {
	if p[i] == '-' {
		i++
	}
	from := i
	switch i = digits(p, i); {
	case i == from:
		return 0, wrong(i, "a number without digits")
	case p[from] == '0' && i > from+1:
		return 0, wrong(i, "a number that begins with 0")
	}
	if i < len(p) && p[i] == '.' {
		from = i + 1
		if i = digits(p, from); i == from {
			return 0, wrong(i, "a number without digits behind its point")
		}
	}
	if i < len(p) && p[i]|0x20 == 'e' {
		if i++; i < len(p) && (p[i] == '+' || p[i] == '-') {
			i++
		}
		from = i
		if i = digits(p, from); i == from {
			return 0, wrong(i, "a number without digits in its exponent")
		}
	}
	return i, nil
}

// digits returns where digits that may begin at i end.
func digits(p []byte, i int) int {
	for len(p)-i >= 8 {
		if other := noDigits(binary.LittleEndian.Uint64(p[i:])); other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
		i += 8
	}
	for i < len(p) && p[i] >= '0' && p[i] <= '9' {
		i++
	}
	return i
}

const ones, tops = 0x0101010101010101, 0x8080808080808080

// noDigits returns a word with the top bit of each byte of v that is no digit.
func noDigits(v uint64) uint64 {
	v ^= ones * '0' // digits are 0 to 9 now
	return (v&^tops + ones*(0x80-10) | v) & tops
}

// text reads the string that begins at i. It returns its text, if wanted, as a view into the line or into scratch.
func (o *object) text(i int, wanted bool) (text []byte, end int, err error) {
	p, start := o.p, i+1
	for i = start; len(p)-i >= 8; i += 8 {
		if special := specials(binary.LittleEndian.Uint64(p[i:])); special != 0 {
			i += bits.TrailingZeros64(special) / 8
			break
		}
	}
	for ; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"':
			return p[start:i:i], i + 1, nil
		case c == '\\':
			return o.escaped(start, i, wanted)
		case c < ' ':
			return nil, 0, wrong(i, "a control character in a string")
		}
	}
	return nil, 0, wrong(i, "a string is not closed")
}

// specials returns a word whose lowest set bit is in the first byte of v that is a quote, a backslash or a control character; 0 if there is
// none. Bits above that byte mean nothing, since a borrow may have set them.
func specials(v uint64) uint64 {
	quote, slash := v^ones*'"', v^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (v-ones*' ')&^v) & tops
}

// escaped reads the rest of a string whose text begins at start and whose first escape is at i.
func (o *object) escaped(start, i int, wanted bool) (text []byte, end int, err error) {
	// If scratch moves when it grows, earlier fields still refer to the old memory, and stay right.
	p, from := o.p, len(o.scratch)
	out := append(o.scratch, p[start:i]...)
	for i < len(p) {
		c := p[i]
		switch {
		case c == '"':
			if !wanted {
				return []byte{}, i + 1, nil
			}
			o.scratch = out
			return out[from:len(out):len(out)], i + 1, nil
		case c < ' ':
			return nil, 0, wrong(i, "a control character in a string")
		case c != '\\':
			out = append(out, c)
			i++
			continue
		}
		if i+1 == len(p) {
			break
		}
		i += 2
		switch e := p[i-1]; e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			var r rune
			if r, i, err = character(p, i); err != nil {
				return nil, 0, err
			}
			out = utf8.AppendRune(out, r)
		default:
			return nil, 0, wrong(i, "no escape is \\%c", runeAt(p[i-1:]))
		}
	}
	return nil, 0, wrong(i, "a string is not closed")
}

// character reads the digits of \u, and of a second \u if the character is a surrogate pair.
func character(p []byte, i int) (r rune, end int, err error) {
	r, i, ok := hex(p, i)
	if ok && utf16.IsSurrogate(r) {
		first := r
		if ok = len(p)-i > 2 && p[i] == '\\' && p[i+1] == 'u'; ok {
			r, i, ok = hex(p, i+2)
		}
		if r = utf16.DecodeRune(first, r); r == utf8.RuneError {
			ok = false
		}
	}
	if !ok {
		return 0, 0, wrong(i, "\\u is not a whole character")
	}
	return r, i, nil
}

func hex(p []byte, i int) (r rune, end int, ok bool) {
	if len(p)-i < 4 {
		return 0, i, false
	}
	for _, c := range p[i : i+4] { // ParseUint accepts more than digits
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0, i, false
		}
	}
	n, err := strconv.ParseUint(string(p[i:i+4]), 16, 32)
	return rune(n), i + 4, err == nil
}
