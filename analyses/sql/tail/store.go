package tail

import (
	"fmt"
	"math"
	"strings"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

// batch is some rows on their way: the rows in sel, which ascends. file and line, if present, say where each row comes from.
type batch struct {
	columns    []*eval.Vector
	n          int
	sel        []int32
	file, line *eval.Vector
}

// sink takes the batches of a node.
type sink func(b *batch) error

// store keeps rows.
type store struct {
	counted
	columns []*eval.Vector
	n       int
}

func (x *Executor) newStore(fields []plan.Field) *store {
	s := &store{counted: counted{x: x}, columns: make([]*eval.Vector, len(fields))}
	for i, f := range fields {
		s.columns[i] = &eval.Vector{Kind: f.Type.Kind}
	}
	return s
}

// add keeps the selected rows of a batch. A column that is nil in the batch is nil here.
func (s *store) add(b *batch) error {
	if len(b.sel) > math.MaxInt32-s.n {
		return fmt.Errorf("more than %d rows: %w", math.MaxInt32, ErrMemory)
	}
	bytes := int64(0)
	for i := range s.columns {
		switch {
		case b.columns[i] == nil && s.n > 0 && s.columns[i] != nil:
			return fmt.Errorf("column %d is missing in a later batch", i)
		case b.columns[i] == nil:
			s.columns[i] = nil
		case s.columns[i] != nil:
			bytes += appendRows(s.columns[i], s.n, b.columns[i], b.sel)
		}
	}
	s.n += len(b.sel)
	return s.hold(bytes)
}

// batchRows is how many rows a kept node passes on at a time. It is a multiple of 64, so that bitmaps of NULLs are cut at
// words.
const batchRows = 4096

// stream passes the rows on.
func (s *store) stream(to sink) error {
	for lo := 0; lo < s.n; lo += batchRows {
		n := min(batchRows, s.n-lo)
		b := &batch{columns: make([]*eval.Vector, len(s.columns)), n: n, sel: s.x.all(n)}
		for i, c := range s.columns {
			if c != nil {
				b.columns[i] = cut(c, lo, lo+n)
			}
		}
		if err := to(b); err != nil {
			return err
		}
	}
	return nil
}

// order passes the rows on in another order.
func (s *store) order(rows []int32, to sink) error {
	for lo := 0; lo < len(rows); lo += batchRows {
		part := rows[lo:min(lo+batchRows, len(rows))]
		b := &batch{columns: make([]*eval.Vector, len(s.columns)), n: len(part), sel: s.x.all(len(part))}
		for i, c := range s.columns {
			if c != nil {
				b.columns[i] = gather(c, part)
			}
		}
		if err := to(b); err != nil {
			return err
		}
	}
	return nil
}

// cut returns the rows from lo up to hi of a vector, and shares its memory. lo is a multiple of 64.
func cut(v *eval.Vector, lo, hi int) *eval.Vector {
	c := &eval.Vector{Kind: v.Kind, Any: v.Any, Nulls: v.Nulls[lo/64 : (hi+63)/64]}
	switch v.Kind {
	case types.Double:
		c.Floats = v.Floats[lo:hi]
	case types.Bool:
		c.Bools = v.Bools[lo:hi]
	case types.Text:
		c.Texts = v.Texts[lo:hi]
	case types.Interval:
		c.Intervals = v.Intervals[lo:hi]
	case types.TextList:
		c.Lists = v.Lists[lo:hi]
	default:
		c.Ints = v.Ints[lo:hi]
	}
	return c
}

// gather returns the given rows of a vector; -1 stands for NULL.
func gather(v *eval.Vector, rows []int32) *eval.Vector {
	out := eval.NewVector(v.Kind, len(rows))
	if v.Codes != nil {
		out.Codes, out.Entries = make([]uint32, len(rows)), v.Entries
	}
	for i, r := range rows {
		if r < 0 || v.IsNull(r) {
			setNull(out, int32(i))
		}
	}
	if out.Codes != nil {
		take(out.Codes, v.Codes, rows, out)
	}
	takeValues(out, v, rows)
	return out
}

func takeValues(out, v *eval.Vector, rows []int32) {
	switch v.Kind {
	case types.Double:
		take(out.Floats, v.Floats, rows, out)
	case types.Bool:
		take(out.Bools, v.Bools, rows, out)
	case types.Text:
		take(out.Texts, v.Texts, rows, out)
	case types.Interval:
		take(out.Intervals, v.Intervals, rows, out)
	case types.TextList:
		take(out.Lists, v.Lists, rows, out)
	default:
		take(out.Ints, v.Ints, rows, out)
	}
}

// gatherInto is gather into memory that was used before. It returns false if a row is NULL, because the row's place then
// keeps an earlier value, which might be used in computations.
func gatherInto(out, v *eval.Vector, rows []int32) bool {
	if v.Any {
		return false
	}
	for _, r := range rows {
		if r < 0 {
			return false
		}
	}
	out.Kind, out.Dict = v.Kind, nil
	out.Reset(len(rows))
	codes := out.Codes[:0]
	if out.Codes, out.Entries = nil, v.Entries; v.Codes != nil {
		for _, r := range rows {
			codes = append(codes, v.Codes[r])
		}
		out.Codes = codes
	}
	takeValues(out, v, rows)
	return true
}

// take copies the values of the rows that are not NULL.
func take[T any](to, from []T, rows []int32, out *eval.Vector) {
	if !out.Any {
		for i, r := range rows {
			to[i] = from[r]
		}
		return
	}
	for i, r := range rows {
		if !out.IsNull(int32(i)) {
			to[i] = from[r]
		}
	}
}

func setNull(v *eval.Vector, row int32) {
	v.Nulls[row>>6] |= 1 << (row & 63)
	v.Any = true
}

// setValue copies a value that is not NULL.
func setValue(v *eval.Vector, row int32, from *eval.Vector, at int32) {
	switch v.Kind {
	case types.Double:
		v.Floats[row] = from.Floats[at]
	case types.Bool:
		v.Bools[row] = from.Bools[at]
	case types.Text:
		v.Texts[row] = from.Texts[at]
	case types.Interval:
		v.Intervals[row] = from.Intervals[at]
	case types.TextList:
		v.Lists[row] = from.Lists[at]
	default:
		v.Ints[row] = from.Ints[at]
	}
}

// appendRows appends rows to a vector of n rows, and returns how many bytes this takes. Texts are copied, because those of a source may be
// parts of something large.
func appendRows(to *eval.Vector, n int, from *eval.Vector, sel []int32) (bytes int64) {
	for len(to.Nulls) < (n+len(sel)+63)/64 {
		to.Nulls = append(to.Nulls, 0)
	}
	bytes = int64(len(sel)) * width(to.Kind)
	switch to.Kind {
	case types.Double:
		for _, i := range sel {
			to.Floats = append(to.Floats, from.Floats[i])
		}
	case types.Bool:
		for _, i := range sel {
			to.Bools = append(to.Bools, from.Bools[i])
		}
	case types.Text:
		for _, i := range sel {
			s := ""
			if !from.IsNull(i) {
				s = strings.Clone(from.Texts[i])
			}
			to.Texts = append(to.Texts, s)
			bytes += int64(len(s))
		}
	case types.Interval:
		for _, i := range sel {
			to.Intervals = append(to.Intervals, from.Intervals[i])
		}
	case types.TextList:
		for _, i := range sel {
			l := eval.List{}
			if !from.IsNull(i) {
				l = from.Lists[i]
			}
			to.Lists = append(to.Lists, l)
			bytes += listBytes(l)
		}
	default:
		for _, i := range sel {
			to.Ints = append(to.Ints, from.Ints[i])
		}
	}
	if from.Any {
		for k, i := range sel {
			if from.IsNull(i) {
				setNull(to, int32(n+k))
			}
		}
	}
	return bytes
}

// width returns how many bytes a value takes, with its NULL bit, but without what a text or a list points to.
func width(k types.Kind) int64 {
	switch k {
	case types.Bool:
		return 2
	case types.Text, types.Interval:
		return 17
	case types.TextList:
		return 49
	}
	return 9
}

func listBytes(l eval.List) (n int64) {
	for _, s := range l.Items {
		n += 17 + int64(len(s))
	}
	return n
}
