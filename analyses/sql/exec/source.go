package exec

import (
	"bytes"
	"errors"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
)

// source gives the tail the rows of the leaves.
type source struct {
	s      *Fragments
	root   *Root
	tables []*fold.Table // of the root's query
	most   int64         // bytes that are kept to order rows of tables in files
}

func (src *source) Has(n plan.Node) bool { return src.s.ByNode[n] != nil }

// AtOnce is how many rows the tail gets at a time. It must be a multiple of 64.
const AtOnce = 4096

func (src *source) Read(n plan.Node, yield func(*operators.Batch) error) error {
	l := src.s.ByNode[n]
	tables := src.tables[src.root.Tables[l]:]
	t := tables[0]
	switch l.Keep {
	case KeepGroups:
		if l.Once != nil {
			yield = l.once(yield)
		}
		if t.Moved() != nil {
			return src.movedGroups(l, t, yield)
		}
		return l.Groups.rows(tables, l.Cut, l.AnyOrder, yield)
	case KeepBest:
		var rows [][]byte
		if t.Len() > 0 {
			rows = t.Least(0, 0)
		}
		return l.rows(t, len(rows), func(i int) ([]byte, error) {
			key, row, err := fold.CutText(rows[i])
			if err == nil && l.firstRows() && len(key) > 0 && key[len(key)-1] == rowFailed {
				err = protocol.ReadFailure(row)
			}
			return row, err
		}, yield)
	case KeepDistinct:
		first := func(t *fold.Table, row int) []byte { p, _ := t.MinText(row, 0); return p }
		if t.Moved() != nil {
			return src.movedTexts(l, t, first, func(t *fold.Table, row int) []byte { return t.KeyText(row, 0) }, yield)
		}
		order := t.Sorted(func(a, b int) bool { return bytes.Compare(first(t, a), first(t, b)) < 0 })
		return l.rows(t, len(order), func(i int) ([]byte, error) { return t.KeyText(order[i], 0), nil }, yield)
	}
	if t.Moved() != nil {
		key := func(k int) func(t *fold.Table, row int) []byte {
			return func(t *fold.Table, row int) []byte { return t.KeyText(row, k) }
		}
		return src.movedTexts(l, t, key(0), key(1), yield)
	}
	order := t.Sorted(nil)
	return l.rows(t, len(order), func(i int) ([]byte, error) { return t.KeyText(order[i], 1), nil }, yield)
}

// once yields groups as the rows that they stand for.
func (l *Leaf) once(yield func(*operators.Batch) error) func(*operators.Batch) error {
	return func(b *operators.Batch) error {
		row := *b
		row.Columns = make([]*eval.Vector, len(l.Fields))
		for k, c := range l.Once {
			row.Columns[c] = b.Columns[k]
		}
		return yield(&row)
	}
}

// rows yields n rows of a table, decoded from the form in which they travel.
func (l *Leaf) rows(t *fold.Table, n int, at func(i int) ([]byte, error), yield func(*operators.Batch) error) error {
	for lo := 0; lo < n; lo += AtOnce {
		t.Pause()
		hi := min(lo+AtOnce, n)
		r := &operators.Batch{N: hi - lo, Columns: make([]*eval.Vector, len(l.Fields))}
		for c, needed := range l.Needed {
			if needed {
				r.Columns[c] = &eval.Vector{Kind: l.Fields[c].Type.Kind}
			}
		}
		for i := lo; i < hi; i++ {
			b, err := at(i)
			if err != nil {
				return err
			}
			for _, v := range r.Columns {
				if v == nil {
					continue
				}
				if b, err = values.Cut(v, i-lo, b); err != nil {
					return err
				}
			}
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// located adds the place in the statement to an error of the tail.
func (s *Fragments) located(err error) error {
	e := (*values.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	at := syntax.NewError(s.Text, e.At, e.Message, "")
	if e.File == "" {
		return at
	}
	return analyses.InRow(at, e.File, uint64(e.Line))
}
