package values

import (
	"strings"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Window returns the rows from lo up to hi of a vector, and shares its memory. lo is a multiple of 64.
func Window(v *eval.Vector, lo, hi int) *eval.Vector {
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

// Gather returns the given rows of a vector, nil of none; -1 stands for NULL.
func Gather(v *eval.Vector, rows []int32) *eval.Vector {
	if v == nil {
		return nil
	}
	out := eval.NewVector(v.Kind, len(rows))
	if v.Codes != nil {
		out.Codes, out.Entries = make([]uint32, len(rows)), v.Entries
	}
	for i, r := range rows {
		if r < 0 || v.IsNull(r) {
			out.SetNull(int32(i))
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

// GatherInto is Gather into memory that was used before. It returns false if a row is NULL, because the row's place then
// keeps an earlier value, which might be used in computations.
func GatherInto(out, v *eval.Vector, rows []int32) bool {
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

// Copy copies a value, which may be NULL, to a row that has none yet.
func Copy(v *eval.Vector, row int32, from *eval.Vector, at int32) {
	if from.IsNull(at) {
		v.SetNull(row)
		return
	}
	Set(v, row, from, at)
}

// Set copies a value that is not NULL.
func Set(v *eval.Vector, row int32, from *eval.Vector, at int32) {
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

// AppendRows appends rows to a vector of n rows, and returns how many bytes this takes. Texts are copied, because those of a source may be
// parts of something large.
func AppendRows(to *eval.Vector, n int, from *eval.Vector, sel []int32) (bytes int64) {
	for len(to.Nulls) < (n+len(sel)+63)/64 {
		to.Nulls = append(to.Nulls, 0)
	}
	bytes = int64(len(sel)) * Width(to.Kind)
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
			bytes += ListBytes(l)
		}
	default:
		for _, i := range sel {
			to.Ints = append(to.Ints, from.Ints[i])
		}
	}
	if from.Any {
		for k, i := range sel {
			if from.IsNull(i) {
				to.SetNull(int32(n + k))
			}
		}
	}
	return bytes
}

// Grow appends rows that are NULL to a vector of n rows, up to some number of rows.
func Grow(v *eval.Vector, n, to int) {
	if n >= to {
		return
	}
	switch v.Kind {
	case types.Double:
		v.Floats = append(v.Floats, make([]float64, to-n)...)
	case types.Bool:
		v.Bools = append(v.Bools, make([]bool, to-n)...)
	case types.Text:
		v.Texts = append(v.Texts, make([]string, to-n)...)
	case types.Interval:
		v.Intervals = append(v.Intervals, make([]plan.Interval, to-n)...)
	case types.TextList:
		v.Lists = append(v.Lists, make([]eval.List, to-n)...)
	default:
		v.Ints = append(v.Ints, make([]int64, to-n)...)
	}
	v.Nulls = append(v.Nulls, make([]uint64, (to+63)/64-len(v.Nulls))...)
	for i := n; i < to; i++ {
		v.SetNull(int32(i))
	}
}

// Width returns how many bytes a value takes, with its NULL bit, but without what a text or a list points to.
func Width(k types.Kind) int64 {
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

// Beside returns how many bytes a value takes in addition to its width.
func Beside(v *eval.Vector, row int32) int64 {
	switch v.Kind {
	case types.Text:
		return int64(len(v.Texts[row]))
	case types.TextList:
		return ListBytes(v.Lists[row])
	}
	return 0
}

// ListBytes returns how many bytes the items of a list take.
func ListBytes(l eval.List) (n int64) {
	for _, s := range l.Items {
		n += 17 + int64(len(s))
	}
	return n
}
