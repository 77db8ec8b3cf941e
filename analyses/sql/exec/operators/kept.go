package operators

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// keptRows has the rows of one side of a join. First they are added, and from close on they are read, by any number of goroutines.
// There may be millions of them, so a column has no pointer per row, and is never moved.
type keptRows struct {
	counted
	columns []*keptColumn // nil: nobody reads the column
	n       int
}

// keep makes room for the rows of a node. read says which of its columns are read; nil: all of them.
func (x *Executor) keep(fields []plan.Field, read []bool) *keptRows {
	s := &keptRows{counted: counted{x: x}, columns: make([]*keptColumn, len(fields))}
	for i, f := range fields {
		if read == nil || read[i] {
			s.columns[i] = newKeptColumn(f.Type.Kind)
		}
	}
	return s
}

// add keeps the selected rows of a batch. A column that is nil in the batch is nil here.
func (s *keptRows) add(b *Batch) error {
	if len(b.Sel) > math.MaxInt32-s.n {
		return fmt.Errorf("more than %d rows: %w", math.MaxInt32, ErrMemory)
	}
	bytes := int64(0)
	for i, c := range s.columns {
		switch {
		case c == nil:
		case b.Columns[i] == nil && s.n > 0:
			return fmt.Errorf("column %d is missing in a later batch", i)
		case b.Columns[i] == nil:
			s.columns[i] = nil
		default:
			n, err := c.add(b.Columns[i], s.n, b.Sel)
			if err != nil {
				return err
			}
			bytes += n
		}
	}
	s.n += len(b.Sel)
	return s.hold(bytes)
}

// close says that all rows were added.
func (s *keptRows) close() {
	for _, c := range s.columns {
		if c != nil {
			c.close(s.n)
		}
	}
}

// keptColumn is a column of keptRows. A column of texts has codes as long as it has few distinct texts, and places otherwise.
type keptColumn struct {
	kind      types.Kind
	nulls     []uint64 // bit i: row i is NULL; may end before the last row
	ints      blocks[int64]
	floats    blocks[float64]
	bools     blocks[bool]
	intervals blocks[plan.Interval]
	lists     blocks[eval.List]

	coded  bool
	codes  blocks[uint16]
	dict   *eval.Dict        // has the texts that codes stand for
	known  map[string]uint16 // the code of each text of dict, plus 1; nil after close
	seen   []uint16          // by code of the vector that is being added: the code here plus 1; 0: not known yet
	places blocks[place]
	texts  slab
}

// fewTexts bounds the distinct texts of a column with codes.
const fewTexts = 1 << 10

func newKeptColumn(kind types.Kind) *keptColumn {
	c := &keptColumn{kind: kind}
	if kind == types.Text {
		c.coded, c.known, c.dict = true, map[string]uint16{}, &eval.Dict{}
	}
	return c
}

// add appends rows behind the n rows that are here, and returns how many bytes this takes.
func (c *keptColumn) add(v *eval.Vector, n int, sel []int32) (bytes int64, err error) {
	if v.Any {
		for k, i := range sel {
			if v.IsNull(i) {
				for len(c.nulls) <= (n+k)>>6 {
					c.nulls = append(c.nulls, 0)
				}
				c.nulls[(n+k)>>6] |= 1 << ((n + k) & 63)
			}
		}
	}
	bytes = int64(len(sel)) * values.Width(c.kind)
	switch c.kind {
	case types.Double:
		c.floats.add(v.Floats, sel)
	case types.Bool:
		c.bools.add(v.Bools, sel)
	case types.Text:
		return c.addTexts(v, sel)
	case types.Interval:
		c.intervals.add(v.Intervals, sel)
	case types.TextList:
		for _, i := range sel {
			l := eval.List{}
			if !v.IsNull(i) {
				l = v.Lists[i]
			}
			c.lists.append(l)
			bytes += values.ListBytes(l)
		}
	default:
		c.ints.add(v.Ints, sel)
	}
	return bytes, nil
}

// Bytes that a text takes in addition to its letters, with its NULL bit.
const (
	codeBytes  = 3
	placeBytes = 13
)

func (c *keptColumn) addTexts(v *eval.Vector, sel []int32) (bytes int64, err error) {
	if c.coded {
		done, bytes := c.addCodes(v, sel)
		if done == len(sel) {
			return bytes, nil
		}
		more, err := c.uncode()
		if err != nil {
			return 0, err
		}
		rest, err := c.addPlaces(v, sel[done:])
		return bytes + more + rest, err
	}
	return c.addPlaces(v, sel)
}

// addCodes adds the codes of rows, up to one whose text finds no room in the dictionary. It returns how many rows that are.
func (c *keptColumn) addCodes(v *eval.Vector, sel []int32) (done int, bytes int64) {
	shared := v.Codes != nil && v.Entries <= 1<<16 // codes of a larger dictionary would take long to forget
	if shared {
		c.seen = append(c.seen[:0], make([]uint16, v.Entries)...)
	}
	for k, i := range sel {
		code := uint16(1)
		switch {
		case v.IsNull(i):
		case shared && c.seen[v.Codes[i]] != 0:
			code = c.seen[v.Codes[i]]
		default:
			if code = c.known[v.Texts[i]]; code == 0 {
				if len(c.dict.Texts) == fewTexts {
					return k, bytes
				}
				text := strings.Clone(v.Texts[i]) // the source's may be part of something large
				c.dict.Texts = append(c.dict.Texts, text)
				code = uint16(len(c.dict.Texts))
				c.known[text] = code
				bytes += int64(len(text)) + indexEntry
			}
			if shared {
				c.seen[v.Codes[i]] = code
			}
		}
		c.codes.append(code - 1)
		bytes += codeBytes
	}
	return len(sel), bytes
}

// uncode replaces the codes by places. Rows with equal texts share a place.
func (c *keptColumn) uncode() (bytes int64, err error) {
	at := make([]place, fewTexts)
	for code, text := range c.dict.Texts {
		if !c.texts.fits(text) {
			return 0, errLong
		}
		at[code] = c.texts.add(text)
		bytes -= indexEntry
	}
	for _, codes := range c.codes.list {
		for _, code := range codes {
			c.places.append(at[code])
		}
		bytes += (placeBytes - codeBytes) * int64(len(codes))
	}
	c.coded, c.codes, c.dict, c.known = false, blocks[uint16]{}, nil, nil
	return bytes, nil
}

var errLong = fmt.Errorf("a text of more than %d bytes: %w", uint32(math.MaxUint32), ErrMemory)

func (c *keptColumn) addPlaces(v *eval.Vector, sel []int32) (bytes int64, err error) {
	for _, i := range sel {
		text := ""
		if !v.IsNull(i) {
			text = v.Texts[i]
		}
		if !c.texts.fits(text) {
			return 0, errLong
		}
		c.places.append(c.texts.add(text))
		bytes += placeBytes + int64(len(text))
	}
	return bytes, nil
}

// close says that all rows, of which there are n, were added.
func (c *keptColumn) close(n int) {
	c.known, c.seen = nil, nil
	if c.kind == types.Text && !c.coded {
		c.texts.close()
	}
	if c.coded {
		if len(c.dict.Texts) == 0 { // all rows are NULL, and their code is 0
			c.dict.Texts = []string{""}
		}
		c.dict.Rows = max(n, 2*len(c.dict.Texts)) // what is computed of an entry serves all batches, so it pays even for few rows
	}
}

// isNull reports whether a row is NULL; -1 is.
func (c *keptColumn) isNull(row int32) bool {
	if row < 0 {
		return true
	}
	w := int(row >> 6)
	return w < len(c.nulls) && c.nulls[w]>>(row&63)&1 == 1
}

// gather returns the given rows; -1 stands for NULL. It uses the memory of room, unless room is nil or a row is NULL: the place of
// such a row would keep an earlier value, which might be used in computations.
func (c *keptColumn) gather(rows []int32, room *eval.Vector) *eval.Vector {
	if slices.ContainsFunc(rows, c.isNull) {
		return c.gatherSome(rows)
	}
	if room == nil {
		room = &eval.Vector{}
	}
	codes := room.Codes[:0]
	room.Kind, room.Codes, room.Entries, room.Dict = c.kind, nil, 0, nil
	room.Reset(len(rows))
	switch c.kind {
	case types.Double:
		c.floats.take(room.Floats, rows)
	case types.Bool:
		c.bools.take(room.Bools, rows)
	case types.Text:
		if !c.coded {
			for k, r := range rows {
				room.Texts[k] = c.texts.text(c.places.at(r))
			}
			break
		}
		for k, r := range rows {
			code := c.codes.at(r)
			codes, room.Texts[k] = append(codes, uint32(code)), c.dict.Texts[code]
		}
		room.Codes, room.Entries, room.Dict = codes, len(c.dict.Texts), c.dict
	case types.Interval:
		c.intervals.take(room.Intervals, rows)
	case types.TextList:
		c.lists.take(room.Lists, rows)
	default:
		c.ints.take(room.Ints, rows)
	}
	return room
}

// gatherSome returns rows of which some are NULL.
func (c *keptColumn) gatherSome(rows []int32) *eval.Vector {
	out := eval.NewVector(c.kind, len(rows))
	if c.coded {
		out.Codes, out.Entries, out.Dict = make([]uint32, len(rows)), len(c.dict.Texts), c.dict
	}
	for k, r := range rows {
		if c.isNull(r) {
			out.SetNull(int32(k))
			continue
		}
		switch c.kind {
		case types.Double:
			out.Floats[k] = c.floats.at(r)
		case types.Bool:
			out.Bools[k] = c.bools.at(r)
		case types.Text:
			if c.coded {
				code := c.codes.at(r)
				out.Codes[k], out.Texts[k] = uint32(code), c.dict.Texts[code]
			} else {
				out.Texts[k] = c.texts.text(c.places.at(r))
			}
		case types.Interval:
			out.Intervals[k] = c.intervals.at(r)
		case types.TextList:
			out.Lists[k] = c.lists.at(r)
		default:
			out.Ints[k] = c.ints.at(r)
		}
	}
	return out
}
