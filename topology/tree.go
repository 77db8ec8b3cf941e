package topology

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxFile bounds, in bytes, what is parsed: the TOML parser recurses once per bracket, and no topology that people write is that long.
const maxFile = 256 << 10

type kind int

const (
	kindString kind = iota
	kindInt
	kindBool
	kindOther // floats, dates: no setting has such a value
	kindArray
	kindTable
	kindTables // [[name]], each item a kindTable
)

// value is one TOML value with its place in the file. go-toml's Unmarshal would be shorter, but it forgets the places of values that it
// accepts, and most mistakes in a topology are values that are valid one by one and do not fit together.
type value struct {
	kind   kind
	at     Pos
	text   string   // the string, or the number as written
	items  []*value // of kindArray and kindTables
	fields []field  // for kindTable, in file order: ports and picture have the same order
	header bool     // a table opened by its own [header], which may occur once
	closed bool     // an inline table, to which nothing can be added
}

type field struct {
	name  string
	at    Pos
	value *value
}

func (v *value) get(name string) *field {
	for i := range v.fields {
		if v.fields[i].name == name {
			return &v.fields[i]
		}
	}
	return nil
}

func (v *value) put(name string, at Pos, child *value) {
	v.fields = append(v.fields, field{name: name, at: at, value: child})
}

// treeBuilder turns the parser's flat expressions into a tree and finds names that are given twice, which the unstable parser does not
// check.
type treeBuilder struct {
	src     []byte
	starts  []int // offset of each line's first byte
	found   *findings
	parser  unstable.Parser
	root    *value
	current *value          // the table to which key = value lines belong
	clashes map[string]bool // names for which taken has reported a clash
}

// parseTree reads src and adds mistakes to found. ok is false if the text is not TOML: then the rest after the mistake was not read, and
// checking it would only report settings as missing.
func parseTree(src []byte, found *findings) (root *value, ok bool) {
	b := &treeBuilder{src: append(bytes.TrimPrefix(src, []byte("\ufeff")), '\n'), found: found, clashes: map[string]bool{}}
	b.root = &value{kind: kindTable, at: Pos{1, 1}, header: true}
	b.current = b.root
	b.indexLines()
	if len(src) > maxFile {
		found.add(Pos{1, 1}, fmt.Sprintf("the file has %s, a topology has at most %s", Size(len(src)), Size(maxFile)), "give the topology file")
		return nil, false
	}
	if i := invalidUTF8(b.src); i >= 0 {
		found.add(b.pos(i), "the text is not UTF-8 from here on", "save the file as UTF-8")
		return nil, false
	}
	return b.root, b.run()
}

// run reads all expressions. The recover is for the parser, which is marked unstable and reads text from outside: a bug in it must become
// an error that names the file.
func (b *treeBuilder) run() (ok bool) {
	last := 0
	defer func() {
		if r := recover(); r != nil {
			b.found.add(b.pos(last), fmt.Sprintf("the text after this place cannot be read (%v)", r), "correct the TOML")
			ok = false
		}
	}()
	b.parser.Reset(b.src)
	for b.parser.NextExpression() {
		e := b.parser.Expression()
		last = firstKeyOffset(e)
		b.expression(e)
	}
	if err := b.parser.Error(); err != nil {
		b.found.add(b.pos(b.errorOffset(err)), "this is not TOML: "+err.Error(), remedy(err.Error()))
		return false
	}
	return true
}

func (b *treeBuilder) expression(e *unstable.Node) {
	switch e.Kind {
	case unstable.Table:
		b.openTable(e)
	case unstable.ArrayTable:
		b.openItem(e)
	case unstable.KeyValue:
		b.assign(b.current, e)
	}
}

// openTable handles [a.b.c]. It reports a second header of one table. The keys after that header are added to the first table, so that they
// are checked.
func (b *treeBuilder) openTable(e *unstable.Node) {
	parent, name, at, ok := b.walk(b.root, e.Key())
	if !ok {
		return
	}
	old := parent.get(name)
	switch {
	case old == nil:
		b.current = &value{kind: kindTable, at: at, header: true}
		parent.put(name, at, b.current)
	case old.value.kind == kindTable && !old.value.header && !old.value.closed:
		old.value.header, old.value.at = true, at
		b.current = old.value
	case old.value.kind == kindTable && !old.value.closed:
		b.found.add(at, fmt.Sprintf("section [%s] is here a second time, the first is on line %d", bareKey(name), old.at.Line),
			"move its settings into one section")
		b.current = old.value
	default:
		b.taken(at, name, old)
	}
}

// openItem handles [[a]].
func (b *treeBuilder) openItem(e *unstable.Node) {
	parent, name, at, ok := b.walk(b.root, e.Key())
	if !ok {
		return
	}
	old := parent.get(name)
	if old == nil {
		parent.put(name, at, &value{kind: kindTables, at: at})
		old = parent.get(name)
	}
	if old.value.kind != kindTables {
		b.taken(at, name, old)
		return
	}
	b.current = &value{kind: kindTable, at: at, header: true}
	old.value.items = append(old.value.items, b.current)
}

// assign handles key = value, below t.
func (b *treeBuilder) assign(t *value, e *unstable.Node) {
	parent, name, at, ok := b.walk(t, e.Key())
	if !ok {
		return
	}
	if old := parent.get(name); old != nil {
		b.found.add(at, fmt.Sprintf("%s is here a second time, the first is on line %d", bareKey(name), old.at.Line), "remove one of the two")
		return
	}
	parent.put(name, at, b.value(e.Value(), b.valueStart(e)))
}

// walk follows a dotted key, makes missing tables, and stops before the last part of the key.
func (b *treeBuilder) walk(t *value, key unstable.Iterator) (parent *value, name string, at Pos, ok bool) {
	for key.Next() {
		n := key.Node()
		name, at = string(n.Data), b.pos(int(n.Raw.Offset))
		if key.IsLast() {
			return t, name, at, true
		}
		f := t.get(name)
		if f == nil {
			t.put(name, at, &value{kind: kindTable, at: at})
			f = t.get(name)
		}
		next := f.value
		if next.kind == kindTables {
			next = next.items[len(next.items)-1]
		}
		if next.kind != kindTable || next.closed {
			b.taken(at, name, f)
			return nil, "", at, false
		}
		t = next
	}
	return nil, "", at, false
}

// taken reports a name that is used in two ways, and makes the following lines part of a table that is not read.
func (b *treeBuilder) taken(at Pos, name string, old *field) {
	if key := fmt.Sprint(name, old.at); !b.clashes[key] {
		b.clashes[key] = true
		b.found.add(at, fmt.Sprintf("%s is written in another way on line %d", bareKey(name), old.at.Line), "write both in the same way")
	}
	b.current = &value{kind: kindTable, at: at}
}

func (b *treeBuilder) value(n *unstable.Node, at Pos) *value {
	if n.Raw.Length > 0 {
		at = b.pos(int(n.Raw.Offset))
	}
	v := &value{kind: kindOther, at: at, text: string(n.Data)}
	switch n.Kind {
	case unstable.String:
		v.kind = kindString
		if i := strings.IndexFunc(v.text, breaksText); i >= 0 {
			r, _ := utf8.DecodeRuneInString(v.text[i:])
			b.found.add(at, fmt.Sprintf("the text holds the control character %U", r), "write it in one line, without control characters")
		}
	case unstable.Integer:
		v.kind = kindInt
	case unstable.Bool:
		v.kind = kindBool
	case unstable.Array:
		v.kind = kindArray
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				v.items = append(v.items, b.value(it.Node(), at))
			}
		}
	case unstable.InlineTable:
		v.kind = kindTable
		for it := n.Children(); it.Next(); {
			b.assign(v, it.Node())
		}
		v.closed = true
	}
	return v
}

// breaksText finds characters that could end a line, or be displayed as something else, in a file that is made from a topology. No setting
// needs such a character, so no setting may contain one: then no renderer can forget to escape it.
func breaksText(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }

// valueStart finds the first byte of the value of a key: the parser keeps no range for arrays, booleans and dates.
func (b *treeBuilder) valueStart(e *unstable.Node) Pos {
	end := 0
	for it := e.Key(); it.Next(); {
		end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	for end < len(b.src) && bytes.IndexByte([]byte(" \t=\"'"), b.src[end]) >= 0 {
		end++
	}
	return b.pos(end)
}
