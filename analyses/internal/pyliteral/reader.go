package pyliteral

// MaxDepth bounds the nesting of lists, tuples and dicts. Python's own limit is about 200.
const MaxDepth = 64

// Reader walks over a literal. Only one goroutine at a time may use it. It can read any number of literals, one after the
// other.
type Reader struct {
	p       []byte
	at      int
	err     *Error
	pending bool // the value at position at was announced but not read
	depth   int
	open    [MaxDepth]container
	key     []byte // nil if the key is not a text
	keyBuf  []byte // the decoded text of a key with escapes
	textBuf []byte // the decoded text of a value with escapes
}

// container is a list, tuple or dict that is being read.
type container struct {
	closing byte // ] ) }
	items   int8 // number of items: 0, 1, or 2 for more
	comma   bool // a comma follows the last item
}

// Reset starts reading another literal. p must not change while it is read.
func (r *Reader) Reset(p []byte) {
	r.p, r.at, r.err, r.pending, r.depth, r.key = p, 0, nil, true, 0, nil
	for r.at < len(p) && (p[r.at] == ' ' || p[r.at] == '\t') {
		r.at++ // Python would read this line break as the start of an indented line
	}
}

// Err returns the first fault that was found.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// End reads the rest, and reports whether the text was exactly one literal. Its errors are of type [*Error].
func (r *Reader) End() error {
	if r.pending {
		r.Skip()
	}
	r.leave(0)
	if r.err == nil {
		r.space()
		if r.at < len(r.p) {
			r.expected(r.at, "the end")
		}
	}
	return r.Err()
}

// List enters the next value if it is a list. Otherwise it returns false, and the value is skipped.
func (r *Reader) List() bool { return r.enter('[', ']') }

// Dict enters the next value if it is a dict. Otherwise it returns false, and the value is skipped.
func (r *Reader) Dict() bool { return r.enter('{', '}') }

func (r *Reader) enter(opening, closing byte) bool {
	if r.err == nil && r.pending && r.at < len(r.p) && r.p[r.at] == opening {
		return r.push(closing)
	}
	r.Skip()
	return false
}

// Next advances to the next element of the list that was entered last. After the last element it leaves the list and returns
// false.
func (r *Reader) Next() bool {
	if r.pending {
		r.Skip()
	}
	return r.more()
}

// NextKey advances to the next entry of the dict that was entered last. [Reader.Key] is then the entry's key, and its value
// is read next. After the last entry it leaves the dict and returns false.
func (r *Reader) NextKey() bool { return r.Next() }

// Key returns the key of an entry if it is a text, nil otherwise. It is valid until the next call.
func (r *Reader) Key() []byte { return r.key }

// Skip reads the next value and discards it.
func (r *Reader) Skip() {
	if r.err != nil || !r.pending {
		return
	}
	if r.at < len(r.p) && (r.p[r.at] == '\'' || r.p[r.at] == '"') { // most values are texts, which need no leaving
		r.pending = false
		r.quoted()
		return
	}
	base := r.depth
	r.value()
	r.leave(base)
}

// leave reads to the end of the innermost containers until only depth containers are open.
func (r *Reader) leave(depth int) {
	for r.depth > depth && r.err == nil {
		if r.more() {
			r.value()
		}
	}
}

// value reads a scalar, or enters a container.
func (r *Reader) value() {
	r.pending = false
	if r.at >= len(r.p) {
		r.expected(r.at, "a value")
		return
	}
	switch c := r.p[r.at]; c {
	case '\'', '"':
		r.quoted()
	case '[':
		r.push(']')
	case '(':
		r.push(')')
	case '{':
		r.push('}')
	default:
		r.scalar(c)
	}
}

func (r *Reader) push(closing byte) bool {
	r.pending = false
	if r.depth == MaxDepth {
		r.expected(r.at, "at most 64 levels of nesting")
		return false
	}
	r.open[r.depth] = container{closing: closing}
	r.depth++
	r.at++
	return true
}

// more advances to the next item of the innermost container, or leaves the container.
func (r *Reader) more() bool {
	if r.err != nil || r.depth == 0 {
		return false
	}
	c := &r.open[r.depth-1]
	if c.closing == '}' && r.usualKey(c) {
		return true
	}
	r.space()
	if c.items > 0 && r.at < len(r.p) && r.p[r.at] == ',' {
		c.comma = true
		r.at++
		r.space()
	}
	if r.at < len(r.p) && r.p[r.at] == c.closing {
		return r.pop(c)
	}
	if c.items > 0 && !c.comma {
		r.expected(r.at, ", or "+string(c.closing))
		return false
	}
	c.items, c.comma = min(c.items+1, 2), false
	if c.closing == '}' && !r.readKey() {
		return false
	}
	r.pending = true
	return true
}

// usualKey advances to the next entry of a dict if its key is written as Python writes it: a plain text in single quotes with
// one space on either side. Nearly all keys are. Otherwise it returns false and has changed nothing. It must not accept an
// entry that more would refuse.
func (r *Reader) usualKey(c *container) bool {
	p, from := r.p, r.at
	if c.items > 0 {
		if len(p)-from < 2 || p[from] != ',' || p[from+1] != ' ' {
			return false
		}
		from += 2
	}
	if from >= len(p) || p[from] != '\'' {
		return false
	}
	from++
	to := from + toSpecial(p[from:], '\'')
	value := to + len("': ")
	if value >= len(p) || p[to] != '\'' || p[to+1] != ':' || p[to+2] != ' ' || p[value] <= ' ' {
		return false
	}
	c.items, c.comma = min(c.items+1, 2), false
	r.key, r.at, r.pending = p[from:to:to], value, true
	return true
}

func (r *Reader) pop(c *container) bool {
	if c.closing == ')' && c.items == 1 && !c.comma {
		r.expected(r.at, ", as in a tuple of one")
		return false
	}
	r.depth--
	r.at++
	return false
}

// readKey reads a key, the colon and the space up to the value.
func (r *Reader) readKey() bool {
	r.key = nil
	if r.at >= len(r.p) || r.p[r.at] == '[' || r.p[r.at] == '(' || r.p[r.at] == '{' {
		r.expected(r.at, "a key")
		return false
	}
	if text, ok := r.text(&r.keyBuf); ok {
		r.key = text
	} else if r.err == nil {
		r.value()
	}
	if r.err != nil {
		return false
	}
	r.space()
	if r.at >= len(r.p) || r.p[r.at] != ':' {
		r.expected(r.at, ":")
		return false
	}
	r.at++
	r.space()
	return true
}

// space skips white space.
func (r *Reader) space() {
	p, at := r.p, r.at
	for at < len(p) {
		if c := p[at]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' {
			break
		}
		at++
	}
	r.at = at
}

// expected records the first fault.
func (r *Reader) expected(at int, what string) {
	if r.err == nil {
		r.err = &Error{at, what}
	}
}
