package exec

import (
	"slices"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/sql/bounds"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

// skips returns the function for analyses.Stream.Skips, nil if there are no bounds by which parsers could skip rows.
func (s *Scan) skips() func([]csv.Range) bool {
	all := []*Scan{s}
	if len(s.Alone) > 0 { // only the bounds that each statement has alone count
		all = nil
		for _, a := range s.Alone {
			all = append(all, a.Scan)
		}
	}
	for _, one := range all {
		if len(one.Within) == 0 {
			return nil
		}
	}
	return func(ranges []csv.Range) bool {
		of := func(column int) (r csv.Range) {
			for k, i := range s.Wanted {
				if i == column && k < len(ranges) {
					r = ranges[k]
				}
			}
			return r
		}
		for _, one := range all {
			if !one.passesOver(of) {
				return false
			}
		}
		return true
	}
}

// lines returns the function for analyses.Stream.Lines, nil if there are no conditions on lines.
func (s *Scan) lines() func(file string) ([]uint64, bool) {
	all := []*Scan{s}
	if len(s.Alone) > 0 {
		all = nil
		for _, a := range s.Alone {
			all = append(all, a.Scan)
		}
	}
	if slices.ContainsFunc(all, func(s *Scan) bool { return len(s.Lines) == 0 }) {
		return nil
	}
	return func(file string) (lines []uint64, every bool) {
		for _, one := range all {
			own, every := []uint64(nil), true
			for i := 0; i < len(one.Lines) && every; i++ {
				own, every = one.Lines[i].Of(file)
			}
			if every {
				return nil, true
			}
			lines = append(lines, own...)
		}
		slices.Sort(lines)
		return slices.Compact(lines), false
	}
}

// passesOver does for ranges what a parser does for the bounded columns of each row, in the same order. A value that is not of
// its column's type rejects the row, so columns after one that may hold such a value do not count.
func (s *Scan) passesOver(of func(column int) csv.Range) bool {
	for _, i := range s.Wanted {
		if w := s.Within[i]; w != nil {
			out, typed := excludes(w, &s.Table.Columns[i], of(i))
			if out || !typed {
				return out
			}
		}
	}
	return false
}

// excludes reports whether all values in a range are out of bounds, and whether all of them are of the column's type.
func excludes(w *bounds.Range, c *catalog.Column, r csv.Range) (out, typed bool) {
	if r.Kind == csv.KindNone {
		return true, true
	}
	if c.Type.Kind == types.Text {
		return r.Kind == csv.KindBytes && !slices.ContainsFunc(w.Texts(), func(t string) bool {
			return string(r.Least) <= t &&
				t <= string(r.Most)
		}), true
	}
	read := Reader(c.Type, r.Kind)
	if read == nil {
		return false, false
	}
	least, ok := read(r.Least)
	most, also := read(r.Most)
	if !ok || !also || least > most {
		return false, false
	}
	low, high := w.Ends()
	return most < low || least > high, true
}

// Reader returns a function that reads a field as a number in the order of sortable. It returns nil unless the function keeps
// the order of values of kind k, and can read every value between two that it can read.
func Reader(t types.Type, k csv.Kind) func([]byte) (uint64, bool) {
	ints := func(read func([]byte) (int64, bool)) func([]byte) (uint64, bool) {
		return func(p []byte) (uint64, bool) {
			v, ok := read(p)
			return uint64(v) ^ 1<<63, ok
		}
	}
	switch {
	case t.Kind == types.BigInt && k == csv.KindInteger:
		return ints(field.BigInt)
	case t.Kind == types.Decimal && (k == csv.KindInteger || k == csv.KindDecimal):
		return ints(func(p []byte) (int64, bool) { return field.Decimal(p, t) })
	case t.Kind == types.Date && k == csv.KindDate:
		return ints(field.Date)
	case t.Kind == types.Timestamp && (k == csv.KindDate || k == csv.KindTime):
		return ints(field.Timestamp)
	case t.Kind == types.Double && (k == csv.KindInteger || k == csv.KindDecimal):
		return func(p []byte) (uint64, bool) {
			v, ok := field.Double(p)
			return eval.SortableDouble(v), ok
		}
	}
	return nil
}
