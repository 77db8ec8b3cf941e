package jsonl

import (
	"bytes"
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
	i       int
	keys    []string // of the outermost object, if gather is set
	gather  bool
	order   []member // of the outermost object in the lines before
}

// member is a key with its quotes and its colon, and what is wanted of its value. Lines mostly have the same keys in the same order.
type member struct {
	key   []byte
	below *node
}

// mostMembers bounds how many members are expected.
const mostMembers = 1 << 12

// maxDepth is how deep values may be nested.
const maxDepth = 512

// wrong returns a syntax error with its place in the line.
func (o *object) wrong(format string, args ...any) error {
	return fmt.Errorf("character %d: %s", o.i+1, fmt.Sprintf(format, args...))
}

// errNoObject is wrapped by all errors about a line.
var errNoObject = errors.New("the line is not a JSON object")

// read takes the fields out of a line.
func (o *object) read(line []byte) error {
	o.p, o.i, o.scratch = line, 0, o.scratch[:0]
	if o.space(); o.i == len(o.p) || o.p[o.i] != '{' {
		return errNoObject
	}
	err := o.value(o.tree, 0)
	if err == nil {
		if o.space(); o.i < len(o.p) {
			err = o.wrong("something follows the object; one object in a line is read")
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

func (o *object) space() {
	for o.i < len(o.p) {
		switch o.p[o.i] {
		case ' ', '\t', '\r', '\n':
			o.i++
		default:
			return
		}
	}
}

// value reads the value that begins at i, and takes the columns that n wants from it; n may be nil.
func (o *object) value(n *node, depth int) error {
	if depth > maxDepth {
		return o.wrong("values are nested more than %d deep", maxDepth)
	}
	if o.i == len(o.p) {
		return o.wrong("the line ends where a value should be")
	}
	start, null := o.i, false
	var text []byte
	var err error
	switch c := o.p[o.i]; {
	case c == '{':
		err = o.members(n, depth)
	case c == '[':
		err = o.items(n, depth)
	case c == '"':
		text, err = o.text(n != nil && n.column >= 0)
	case c == '-' || c >= '0' && c <= '9':
		err = o.number()
	case c == 't':
		err = o.word("true")
	case c == 'f':
		err = o.word("false")
	case c == 'n':
		err, null = o.word("null"), true
	default:
		err = o.wrong("%q begins no value", runeAt(o.p[o.i:]))
	}
	if err != nil || n == nil || n.column < 0 {
		return err
	}
	if o.taken[n.column] {
		return o.wrong("a value is there twice")
	}
	if text == nil && !null {
		text = o.p[start:o.i]
	}
	o.fields[n.column], o.taken[n.column] = text, true
	return nil
}

func (o *object) word(w string) error {
	if len(o.p)-o.i < len(w) || string(o.p[o.i:o.i+len(w)]) != w {
		return o.wrong("a value that is not %s", w)
	}
	o.i += len(w)
	return nil
}

// members reads an object.
func (o *object) members(n *node, depth int) error {
	o.i++
	for k := 0; ; k++ {
		o.space()
		if o.i < len(o.p) && o.p[o.i] == '}' && k == 0 {
			o.i++
			return nil
		}
		below, err := o.member(n, depth, k)
		if err != nil {
			return err
		}
		o.space()
		if err := o.value(below, depth+1); err != nil {
			return err
		}
		if over, err := o.next('}'); over || err != nil {
			return err
		}
	}
}

// member reads key k of an object with its colon, and returns what is wanted of its value.
func (o *object) member(n *node, depth, k int) (below *node, err error) {
	if depth == 0 && k < len(o.order) && !o.gather && bytes.HasPrefix(o.p[o.i:], o.order[k].key) {
		o.i += len(o.order[k].key)
		return o.order[k].below, nil
	}
	from := o.i
	if o.i == len(o.p) || o.p[o.i] != '"' {
		return nil, o.wrong("there should be a key in quotes")
	}
	key, err := o.text(true)
	if err != nil {
		return nil, err
	}
	if depth == 0 && o.gather {
		o.keys = append(o.keys, string(key))
	}
	if o.space(); o.i == len(o.p) || o.p[o.i] != ':' {
		return nil, o.wrong("there should be a colon behind a key")
	}
	o.i++
	if n != nil && n.keys != nil {
		below = n.keys[string(key)]
	}
	if depth == 0 && k < mostMembers {
		if k == len(o.order) {
			o.order = append(o.order, member{})
		}
		m := &o.order[k]
		m.key, m.below = append(m.key[:0], o.p[from:o.i]...), below
	}
	return below, nil
}

// items reads an array.
func (o *object) items(n *node, depth int) error {
	o.i++
	for i := 0; ; i++ {
		o.space()
		if o.i < len(o.p) && o.p[o.i] == ']' && i == 0 {
			o.i++
			return nil
		}
		var below *node
		if n != nil && n.items != nil {
			below = n.items[i]
		}
		if err := o.value(below, depth+1); err != nil {
			return err
		}
		if over, err := o.next(']'); over || err != nil {
			return err
		}
	}
}

// next reads a comma, or the end of an object or an array.
func (o *object) next(end byte) (over bool, err error) {
	if o.space(); o.i < len(o.p) {
		switch o.p[o.i] {
		case end:
			o.i++
			return true, nil
		case ',':
			o.i++
			return false, nil
		}
	}
	return false, o.wrong("there should be a comma or %q", end)
}

// number reads a number.
func (o *object) number() error {
	if o.p[o.i] == '-' {
		o.i++
	}
	switch from := o.i; {
	case o.digits() == 0:
		return o.wrong("a number without digits")
	case o.p[from] == '0' && o.i > from+1:
		return o.wrong("a number that begins with 0")
	}
	if o.i < len(o.p) && o.p[o.i] == '.' {
		o.i++
		if o.digits() == 0 {
			return o.wrong("a number without digits behind its point")
		}
	}
	if o.i < len(o.p) && (o.p[o.i] == 'e' || o.p[o.i] == 'E') {
		o.i++
		if o.i < len(o.p) && (o.p[o.i] == '+' || o.p[o.i] == '-') {
			o.i++
		}
		if o.digits() == 0 {
			return o.wrong("a number without digits in its exponent")
		}
	}
	return nil
}

func (o *object) digits() (n int) {
	for o.i < len(o.p) && o.p[o.i] >= '0' && o.p[o.i] <= '9' {
		o.i++
		n++
	}
	return n
}

// text reads a string. It returns its text, if wanted, as a view into the line or into scratch.
func (o *object) text(wanted bool) ([]byte, error) {
	o.i++
	start := o.i
	for len(o.p)-o.i >= 8 {
		special := specials(binary.LittleEndian.Uint64(o.p[o.i:]))
		if special != 0 {
			o.i += bits.TrailingZeros64(special) / 8
			break
		}
		o.i += 8
	}
	for ; o.i < len(o.p); o.i++ {
		switch c := o.p[o.i]; {
		case c == '"':
			o.i++
			return o.p[start : o.i-1 : o.i-1], nil
		case c == '\\':
			return o.escaped(start, wanted)
		case c < ' ':
			return nil, o.wrong("a control character in a string")
		}
	}
	return nil, o.wrong("a string is not closed")
}

// specials returns a word whose lowest set bit is in the first byte of v that is a quote, a backslash or a control character; 0 if there is
// none. Bits above that byte mean nothing, since a borrow may have set them.
func specials(v uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := v^ones*'"', v^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (v-ones*' ')&^v) & tops
}

// escaped reads the rest of a string whose first escape is at i.
func (o *object) escaped(start int, wanted bool) ([]byte, error) {
	// If scratch moves when it grows, earlier fields still refer to the old memory, and stay right.
	from := len(o.scratch)
	out := append(o.scratch, o.p[start:o.i]...)
	for o.i < len(o.p) {
		c := o.p[o.i]
		switch {
		case c == '"':
			o.i++
			if !wanted {
				return []byte{}, nil
			}
			o.scratch = out
			return out[from:len(out):len(out)], nil
		case c < ' ':
			return nil, o.wrong("a control character in a string")
		case c != '\\':
			out = append(out, c)
			o.i++
			continue
		}
		if o.i+1 == len(o.p) {
			break
		}
		o.i += 2
		switch e := o.p[o.i-1]; e {
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
			r, err := o.character()
			if err != nil {
				return nil, err
			}
			out = utf8.AppendRune(out, r)
		default:
			return nil, o.wrong("no escape is \\%c", runeAt(o.p[o.i-1:]))
		}
	}
	return nil, o.wrong("a string is not closed")
}

// character reads the digits of \u, and of a second \u if the character is a surrogate pair.
func (o *object) character() (rune, error) {
	r, ok := o.hex()
	if ok && utf16.IsSurrogate(r) {
		first := r
		if ok = len(o.p)-o.i > 2 && o.p[o.i] == '\\' && o.p[o.i+1] == 'u'; ok {
			o.i += 2
			r, ok = o.hex()
		}
		if r = utf16.DecodeRune(first, r); r == utf8.RuneError {
			ok = false
		}
	}
	if !ok {
		return 0, o.wrong("\\u is not a whole character")
	}
	return r, nil
}

func (o *object) hex() (rune, bool) {
	if len(o.p)-o.i < 4 {
		return 0, false
	}
	for _, c := range o.p[o.i : o.i+4] { // ParseUint accepts more than digits
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(o.p[o.i:o.i+4]), 16, 32)
	o.i += 4
	return rune(n), err == nil
}
