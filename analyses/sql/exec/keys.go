package exec

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// The keys of groups are keys of a table: TEXT as KeyText, every other type as KeyInt, in the order of its values (eval.Sortable). So they
// are hashed and compared as words, and travel as columns of numbers. Rows that meet groups of other tables have keys of the same form
// (KeepParts). A table has at most fold.MaxKeys keys. If there are more, the key is one text, the wire form of all values.

// KeyColumns makes each key a key of its table, if a table can have so many.
func (g *groups) KeyColumns() { g.columns = len(g.Node.Keys) < fold.MaxKeys } // one is for the values of a DISTINCT aggregate

// keysOf returns the keys of a table of groups.
func (g *groups) keysOf() (keys []fold.Key) {
	switch {
	case len(g.Node.Keys) == 0:
		return nil
	case !g.columns:
		return []fold.Key{{Name: "k", Kind: fold.KeyText}}
	}
	for i, k := range g.Node.Keys {
		keys = append(keys, fold.Key{Name: "k" + Itoa(i), Kind: keyKind(k.Type().Kind)})
	}
	return keys
}

func keyKind(k types.Kind) fold.KeyKind {
	if k == types.Text {
		return fold.KeyText
	}
	return fold.KeyInt
}

// keyMaker makes keys of the values of a batch.
type keyMaker struct {
	keys  []fold.KeyValues
	ints  [][]int64 // by key, memory for values that are no integers
	fresh []int32   // rows whose groups are looked up for the cache
	codes []int32   // their numbers in the cache
	found []int32   // their groups
}

// of returns the keys of some rows. They are valid until the next call, and while the vectors are.
func (m *keyMaker) of(vectors []*eval.Vector, sel []int32) ([]fold.KeyValues, error) {
	m.keys = m.keys[:0]
	texts := 0
	for k, v := range vectors {
		key := fold.KeyValues{Ints: v.Ints}
		if v.Any {
			key.Nulls = v.Nulls
		}
		switch v.Kind {
		case types.Text:
			key = fold.KeyValues{Texts: v.Texts, Nulls: key.Nulls}
			for _, i := range sel {
				if !v.IsNull(i) {
					texts += len(v.Texts[i])
				}
			}
		case types.Double, types.Bool:
			key.Ints = m.sortable(k, v, sel)
		}
		m.keys = append(m.keys, key)
	}
	if texts > FoldBytes {
		for _, i := range sel {
			if width(vectors, i) > FoldBytes {
				return nil, errWide
			}
		}
	}
	return m.keys, nil
}

func (m *keyMaker) sortable(k int, v *eval.Vector, sel []int32) []int64 {
	for len(m.ints) <= k {
		m.ints = append(m.ints, nil)
	}
	if n := max(len(v.Floats), len(v.Bools)); len(m.ints[k]) < n {
		m.ints[k] = make([]int64, n)
	}
	for _, i := range sel {
		m.ints[k][i] = int64(eval.Sortable(v, i) ^ 1<<63)
	}
	return m.ints[k]
}

// width returns how many bytes the texts of a row have.
func width(vectors []*eval.Vector, row int32) (n int) {
	for _, v := range vectors {
		if v.Kind == types.Text && !v.IsNull(row) {
			n += len(v.Texts[row])
		}
	}
	return n
}

// readKey returns the values of key k of some rows of a table.
func readKey(t *fold.Table, k int, kind types.Kind, rows []int) *eval.Vector {
	v := eval.NewVector(kind, len(rows))
	for i, row := range rows {
		switch {
		case t.KeyNull(row, k):
			v.SetNull(int32(i))
		case kind == types.Text:
			v.Texts[i] = string(t.KeyText(row, k))
		default:
			eval.Unsort(v, int32(i), uint64(t.KeyInt(row, k))^1<<63)
		}
	}
	return v
}

// decodeKeys returns the keys of some rows of a table of groups. Those that are not wanted are nil; a nil wanted wants all.
func (g *groups) decodeKeys(t *fold.Table, rows []int, wanted []bool) ([]*eval.Vector, error) {
	columns, some := make([]*eval.Vector, len(g.Node.Keys)), false
	for k, e := range g.Node.Keys {
		if wanted != nil && !wanted[k] {
			continue
		}
		if some = true; g.columns {
			columns[k] = readKey(t, k, e.Type().Kind, rows)
		}
	}
	if g.columns || !some {
		return columns, nil
	}
	for k, e := range g.Node.Keys {
		columns[k] = &eval.Vector{Kind: e.Type().Kind}
	}
	for i, row := range rows {
		b, err := t.KeyText(row, 0), error(nil)
		for _, v := range columns {
			if b, err = values.Cut(v, i, b); err != nil {
				return nil, err
			}
		}
	}
	return columns, nil
}
