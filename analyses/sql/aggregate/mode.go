package aggregate

import (
	"encoding/binary"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

var mode = Aggregate{
	Function: types.Function{Name: "mode", Forms: []string{"T -> T"}, Nulls: types.Skips,
		About: "The most frequent value; of several the first."},
	New: func(c Call) State { return &modes{ids: map[string]int32{}, values: newCells(c.kind(0))} },
}

// modes counts how often each value occurs in each group.
type modes struct {
	alone
	ids    map[string]int32 // numbers the values of all groups, in the order in which they come
	values cells            // by number
	n      []int64          // by number: how often
	of     []int32          // by number: the group
	best   []int32          // by group: the most frequent number, -1 if there is none; nil until the first is asked for
	groups int
	key    []byte
}

// entryBytes is roughly how many bytes a map's entry takes in addition to its key, with what is known of its value.
const entryBytes = 60

func (m *modes) Grow(groups int) int64 {
	m.groups = groups
	return 0
}

func (m *modes) Add(r *Rows) (bytes int64, _ error) {
	v := r.Args[0]
	for k, i := range r.Sel {
		if v.IsNull(i) {
			continue
		}
		m.key = values.Append(binary.BigEndian.AppendUint32(m.key[:0], uint32(r.Groups[k])), v, i, true)
		id, known := m.ids[string(m.key)]
		if !known {
			id = int32(len(m.ids))
			m.ids[string(m.key)] = id
			bytes += int64(len(m.key)) + entryBytes + m.values.Grow(int(id)+1) + m.values.set(id, v, i)
			m.of, m.n = append(m.of, r.Groups[k]), append(m.n, 0)
		}
		m.n[id]++
	}
	return bytes, nil
}

// Value writes the value of a group, of DOUBLEs 0 for -0 and one NaN, so it does not matter which of several equal values was kept.
func (m *modes) Value(g int32, out *eval.Vector, row int32) error {
	if m.best == nil {
		m.best = make([]int32, m.groups)
		for g := range m.best {
			m.best[g] = -1
		}
		for id, g := range m.of {
			if m.best[g] < 0 || m.n[id] > m.n[m.best[g]] {
				m.best[g] = int32(id)
			}
		}
	}
	if m.best[g] < 0 {
		out.SetNull(row)
		return nil
	}
	err := m.values.Value(m.best[g], out, row)
	if out.Kind == types.Double {
		out.Floats[row] = values.Positive(out.Floats[row])
	}
	return err
}
