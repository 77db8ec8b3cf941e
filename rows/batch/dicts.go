package batch

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/internal/fixed"
)

// DictBuilder is a column of byte strings with few distinct values. Entries get codes 0, 1, 2, … in the order of their first
// occurrence.
//
// Values that hardly repeat need no dictionary: AppendViews only notes where they are. They are copied into entries when somebody asks for
// codes or for the wire form, and before a value is appended in another way. Who folds rows in the same process does neither.
type DictBuilder struct {
	views   []string // the values of all rows, in the caller's memory; then there are no codes and no entries
	codes   []uint32
	entries heap
	first   []uint32 // by entry, the row of its first occurrence; shows Truncate which entries to remove
	index   dictIndex
	last    dictKey // key of the row before, because values often repeat
	lastAt  uint32
}

func newDictBuilder() *DictBuilder {
	b := &DictBuilder{entries: heap{offsets: []uint32{0}}, index: newDictIndex()}
	b.forgetLast()
	return b
}

// Append adds the value of the next row, and copies it if it is new.
func (b *DictBuilder) Append(v []byte) {
	if len(b.views) > 0 {
		b.own()
	}
	key := b.index.key(v)
	if key == b.last && key.n <= longest {
		b.codes = append(b.codes, b.lastAt)
		return
	}
	code, found := b.index.find(key, v, &b.entries)
	if !found {
		code = b.add(key, v, len(b.codes))
	}
	b.last, b.lastAt = key, code
	b.codes = append(b.codes, code)
}

// AppendKnown adds the value of the next row if an earlier row has it, and reports whether it did. So a caller that checks
// values can check each value only once.
func (b *DictBuilder) AppendKnown(v []byte) bool {
	b.own()
	key := b.index.key(v)
	if key != b.last || key.n > longest {
		code, found := b.index.find(key, v, &b.entries)
		if !found {
			return false
		}
		b.last, b.lastAt = key, code
	}
	b.codes = append(b.codes, b.lastAt)
	return true
}

// AppendAll adds the values data[from[k]:to[k]] of the next rows. It takes less time than Append for each of them.
func (b *DictBuilder) AppendAll(data []byte, from, to []uint32) {
	b.own()
	at := len(b.codes)
	b.codes = slices.Grow(b.codes, len(from))[:at+len(from)]
	codes, to := b.codes[at:at+len(from)], to[:len(from)]
	for k := 0; ; k++ {
		if k += b.index.known(codes[k:], data, from[k:], to[k:]); k == len(from) {
			break
		}
		codes[k] = b.codeOf(data[from[k]:to[k]], at+k, true)
	}
	b.forgetLast()
}

// AppendNew adds the values data[from[k]:to[k]] of the next rows as an entry each, without looking for equal ones. It is for values of
// which hardly any is repeated.
func (b *DictBuilder) AppendNew(data []byte, from, to []uint32) {
	b.own()
	for k, f := range from {
		b.addNew(data[f:to[k]])
	}
	b.forgetLast()
}

// AppendViews is AppendNew that copies nothing, unless rows were appended in another way before. data must not change before Reset.
func (b *DictBuilder) AppendViews(data []byte, from, to []uint32) {
	if len(b.codes) > 0 {
		b.AppendNew(data, from, to)
		return
	}
	at := len(b.views)
	b.views = slices.Grow(b.views, len(from))[:at+len(from)]
	views := b.views[at:]
	for k, f := range from {
		p := data[f:to[k]]
		views[k] = unsafe.String(unsafe.SliceData(p), len(p)) // nobody changes data as long as the view is valid
	}
}

// Views returns the values of all rows, if all of them were appended by AppendViews; else nil. They are valid until the builder changes.
func (b *DictBuilder) Views() []string {
	if len(b.views) == 0 {
		return nil
	}
	return b.views
}

// own copies the views into entries.
func (b *DictBuilder) own() {
	if len(b.views) == 0 {
		return
	}
	for _, v := range b.views {
		b.addNew(unsafe.Slice(unsafe.StringData(v), len(v)))
	}
	b.forgetViews()
	b.forgetLast()
}

// forgetViews also clears them, so that they keep no memory of the caller's.
func (b *DictBuilder) forgetViews() {
	clear(b.views)
	b.views = b.views[:0]
}

// addNew adds the value of the next row as an entry.
func (b *DictBuilder) addNew(v []byte) {
	row := len(b.codes)
	b.codes = append(b.codes, b.codeOf(v, row, false))
}

// AppendCodes adds the values of the next rows, which are given as codes of another dictionary. entry returns the text of such a code. By
// these codes, known has the codes of this builder plus 1; 0 is a code that is not known yet, and gets one. With look, it is that of an
// equal entry, if there is one; to look takes longer than to add an entry.
func (b *DictBuilder) AppendCodes(codes, known []uint32, look bool, entry func(code uint32) []byte) {
	b.own()
	at := len(b.codes)
	b.codes = slices.Grow(b.codes, len(codes))[:at+len(codes)]
	out := b.codes[at : at+len(codes)]
	for k, code := range codes {
		if known[code] == 0 {
			known[code] = b.codeOf(entry(code), at+k, look) + 1
		}
		out[k] = known[code] - 1
	}
	b.forgetLast()
}

// codeOf returns the code of a value that occurs in a row.
func (b *DictBuilder) codeOf(v []byte, row int, look bool) uint32 {
	if !look {
		b.entries.add(v)
		b.first = append(b.first, uint32(row))
		b.index.skip(1)
		return uint32(b.entries.len() - 1)
	}
	key := b.index.key(v)
	code, found := b.index.find(key, v, &b.entries)
	if !found {
		code = b.add(key, v, row)
	}
	return code
}

// add adds an entry that first occurs in a row.
func (b *DictBuilder) add(key dictKey, v []byte, row int) uint32 {
	code := uint32(b.entries.len())
	b.entries.add(v)
	b.first = append(b.first, uint32(row))
	b.index.insert(key)
	return code
}

// Codes returns the codes of all rows, valid until the builder changes.
func (b *DictBuilder) Codes() []uint32 {
	b.own()
	return b.codes
}

// Len returns the number of entries.
func (b *DictBuilder) Len() int {
	b.own()
	return b.entries.len()
}

// Entry returns the text of a code, valid until the builder changes.
func (b *DictBuilder) Entry(code int) []byte {
	b.own()
	return b.entries.at(code)
}

// Rows returns the number of rows.
func (b *DictBuilder) Rows() int { return b.rows() }

// Clear removes all rows of the column.
func (b *DictBuilder) Clear() { b.truncate(0) }

func (b *DictBuilder) rows() int { return len(b.codes) + len(b.views) }

// truncate also removes entries, newest first, so that rejected rows leave no trace in the wire form.
func (b *DictBuilder) truncate(rows int) {
	if len(b.views) > 0 {
		clear(b.views[rows:])
		b.views = b.views[:rows]
		return
	}
	b.codes = b.codes[:rows]
	n := len(b.first)
	for n > 0 && int(b.first[n-1]) >= rows {
		n--
	}
	b.index.truncate(n)
	b.first = b.first[:n]
	b.entries.truncate(n)
	b.forgetLast()
}

func (b *DictBuilder) reset() {
	b.forgetViews()
	b.index.reset()
	b.codes, b.first = b.codes[:0], b.first[:0]
	b.entries.truncate(0)
	b.forgetLast()
}

func (b *DictBuilder) forgetLast() { b.last = noKey }

func (b *DictBuilder) width() int {
	if len(b.first) == 0 {
		return 0
	}
	return fixed.Width(uint64(len(b.first) - 1))
}

func (b *DictBuilder) size() int {
	b.own()
	return b.entries.size() + b.width()*len(b.codes)
}

func (b *DictBuilder) append(dst []byte, name string) []byte {
	b.own()
	width := b.width()
	dst = b.entries.append(appendHead(dst, dictParts, name, Dict))
	dst = wire.AppendUint(dst, uint64(width))
	dst = wire.AppendBinHeader(dst, width*len(b.codes))
	return fixed.Append(dst, b.codes, 0, width)
}

// Dicts is a view of a column of codes with its dictionary.
type Dicts struct {
	entries heapView
	p       []byte
	width   int // or plain: the codes are not in p
	rows    int
	codes   []uint32
	views   []string // replaces entries and codes if it is not nil
}

func (b *DictBuilder) view() any {
	if views := b.Views(); views != nil {
		return Dicts{width: plain, rows: len(views), views: views}
	}
	return Dicts{entries: b.entries.view(), width: plain, rows: len(b.codes), codes: b.codes}
}

func readDicts(r *wire.Reader, rows int) (Dicts, error) {
	v := Dicts{entries: readHeap(r), rows: rows}
	v.width = readWidth(r, 4)
	v.p = r.BytesOf(rows * v.width)
	if r.Err() != nil {
		return v, nil
	}
	if err := v.entries.check(); err != nil {
		return v, err
	}
	if !v.codesBelow(v.Len()) {
		return v, fmt.Errorf("%w: a code is not below the %d entries of its dictionary", ErrMalformed, v.Len())
	}
	return v, nil
}

// codesBelow reports whether every code is below n. The loops have no branch: a code that is too large sets a sign bit.
func (v Dicts) codesBelow(n int) bool {
	if v.rows == 0 {
		return true
	}
	last, signs := int64(n)-1, int64(0)
	switch v.width {
	case 0:
		signs = last
	case 1:
		for _, c := range v.p {
			signs |= last - int64(c)
		}
	case 2:
		for p := v.p; len(p) >= 2; p = p[2:] {
			signs |= last - int64(binary.LittleEndian.Uint16(p))
		}
	default:
		for p := v.p; len(p) >= 4; p = p[4:] {
			signs |= last - int64(binary.LittleEndian.Uint32(p))
		}
	}
	return signs >= 0
}

// Rows returns the number of rows.
func (v Dicts) Rows() int { return v.rows }

// Len returns the number of entries of the dictionary. There may be entries that no row uses.
func (v Dicts) Len() int {
	if v.views != nil {
		return len(v.views)
	}
	return v.entries.len()
}

// Entry returns the text of a code, a view into the frame.
func (v Dicts) Entry(code int) []byte {
	if v.views != nil {
		return unsafe.Slice(unsafe.StringData(v.views[code]), len(v.views[code]))
	}
	return v.entries.at(code)
}

// At returns the text of a row, a view into the frame.
func (v Dicts) At(row int) []byte { return v.Entry(int(v.Code(row))) }

// Code returns the code of a row; it is below Len.
func (v Dicts) Code(row int) uint32 {
	switch v.width {
	case 0:
		return 0
	case 1:
		return uint32(v.p[row])
	case 2:
		return uint32(binary.LittleEndian.Uint16(v.p[2*row:]))
	case plain:
		if v.views != nil {
			return uint32(row)
		}
		return v.codes[row]
	default:
		return binary.LittleEndian.Uint32(v.p[4*row:])
	}
}

// Views returns the values of all rows of a view of a builder, if the builder has these and no dictionary; else nil. They are valid until
// the builder changes.
func (v Dicts) Views() []string { return v.views }

// Codes returns the codes of all rows of a view of a builder, valid until the builder changes. It returns nil for a batch that was decoded,
// and for views.
func (v Dicts) Codes() []uint32 { return v.codes }

// AppendCodes appends the codes of all rows to dst. It is the fast way to read a whole column.
func (v Dicts) AppendCodes(dst []uint32) []uint32 {
	for row := range v.views {
		dst = append(dst, uint32(row))
	}
	if v.width == plain {
		return append(dst, v.codes...)
	}
	return readFixed(dst, v.p, v.rows, 0, v.width)
}
