package exec

import (
	"bytes"
	"errors"
	"fmt"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/rows/fold"
)

// source gives the tail the rows of the leaves.
type source struct {
	s      *Fragments
	root   *Root
	tables []*fold.Table // of the root's query
}

func (src *source) Has(n plan.Node) bool { return src.s.ByNode[n] != nil }

// AtOnce is how many rows the tail gets at a time. It must be a multiple of 64.
const AtOnce = 4096

func (src *source) Read(n plan.Node, yield func(*tail.Rows) error) error {
	l := src.s.ByNode[n]
	tables := src.tables[src.root.Tables[l]:]
	t := tables[0]
	switch l.Keep {
	case KeepGroups:
		return l.Groups.rows(tables, yield)
	case KeepBest:
		var rows [][]byte
		if t.Len() > 0 {
			rows = t.Least(0, 0)
		}
		return l.rows(t, len(rows), func(i int) ([]byte, error) {
			key, row, err := fold.CutText(rows[i])
			if err == nil && l.firstRows() && len(key) > 0 && key[len(key)-1] == rowFailed {
				err = errors.New(string(row))
			}
			return row, err
		}, yield)
	case KeepDistinct:
		first := func(row int) []byte { p, _ := t.MinText(row, 0); return p }
		order := t.Sorted(func(a, b int) bool { return bytes.Compare(first(a), first(b)) < 0 })
		return l.rows(t, len(order), func(i int) ([]byte, error) { return t.KeyText(order[i], 0), nil }, yield)
	}
	order := t.Sorted(nil)
	return l.rows(t, len(order), func(i int) ([]byte, error) { return t.KeyText(order[i], 1), nil }, yield)
}

// rows yields n rows of a table, decoded from the form in which they travel.
func (l *Leaf) rows(t *fold.Table, n int, at func(i int) ([]byte, error), yield func(*tail.Rows) error) error {
	for lo := 0; lo < n; lo += AtOnce {
		t.Pause()
		hi := min(lo+AtOnce, n)
		r := &tail.Rows{N: hi - lo, Columns: make([]*eval.Vector, len(l.Fields))}
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
				if b, err = CutValue(v, i-lo, b); err != nil {
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

// rows yields the groups of a complete table, by key. The first table holds the groups; the tables of DISTINCT values follow.
func (g *groups) rows(tables []*fold.Table, yield func(*tail.Rows) error) error {
	t := tables[0]
	sums, err := g.distinct(t.Spec().Stream, tables[1:])
	if err != nil {
		return err
	}
	if len(g.Node.Keys) == 0 && t.Len() == 0 { // without keys there is a group even for no rows
		t.Row(t.Key())
	}
	return g.some(t, sums, t.Sorted(nil), yield)
}

// some yields the given groups of a table. sums has the aggregates of DISTINCT values, if there are any.
func (g *groups) some(t, sums *fold.Table, order []int, yield func(*tail.Rows) error) error {
	keys := len(g.Node.Keys)
	for lo := 0; lo < len(order); lo += AtOnce {
		t.Pause()
		part := order[lo:min(lo+AtOnce, len(order))]
		r := g.batch(len(part))
		for i, row := range part {
			if err := g.key(t, row, r, i); err != nil {
				return err
			}
			for a := range g.Aggs {
				from, at := t, row
				if g.Aggs[a].distinct {
					key := sums.Key()
					if keys > 0 {
						key = key.Text(t.KeyText(row, 0))
					}
					from, at = sums, sums.Row(key) // a new row without values, if all values of the group are NULL
				}
				if err := g.Aggs[a].value(from, at, r.Columns[keys+a], i); err != nil {
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

// batch returns a batch for n groups.
func (g *groups) batch(n int) *tail.Rows {
	r := &tail.Rows{N: n, Columns: make([]*eval.Vector, len(g.Node.Keys)+len(g.Aggs))}
	for c, f := range g.Node.Fields() {
		r.Columns[c] = &eval.Vector{Kind: f.Type.Kind}
	}
	return r
}

// key appends the keys of a group, a row of the table, to a batch that has n of them.
func (g *groups) key(t *fold.Table, row int, r *tail.Rows, n int) error {
	if len(g.Node.Keys) == 0 {
		return nil
	}
	b, err := t.KeyText(row, 0), error(nil)
	for _, v := range r.Columns[:len(g.Node.Keys)] {
		if b, err = CutValue(v, n, b); err != nil {
			return err
		}
	}
	return nil
}

// located adds the place in the statement to an error of the tail.
func (s *Fragments) located(err error) error {
	e := (*tail.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	at := syntax.NewError(s.Text, e.At, e.Message, "")
	if e.File == "" {
		return at
	}
	return fmt.Errorf("%s, line %d: %w", e.File, e.Line, at)
}
