package aggregate

import (
	"strings"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

var list = Aggregate{
	Function: types.Function{Name: "list", Aliases: []string{"array_agg"}, Forms: []string{"TEXT -> TEXT[]"}, Nulls: types.Own,
		Ordered: true, About: "The values as a list, NULL as well."},
	New: func(Call) State { return &lists{} },
}

// lists keeps all texts.
type lists struct {
	alone
	lists []eval.List
	some  []bool
}

func (l *lists) Grow(groups int) int64 { return 48*longer(&l.lists, groups) + longer(&l.some, groups) }

func (l *lists) Add(r *Rows) (bytes int64, _ error) {
	v := r.Args[0]
	for k, i := range r.Sel {
		to := &l.lists[r.Groups[k]]
		l.some[r.Groups[k]] = true
		if v.IsNull(i) && to.Nulls == nil {
			to.Nulls = make([]bool, len(to.Items))
		}
		item := ""
		if !v.IsNull(i) {
			item = strings.Clone(v.Texts[i])
		}
		to.Items = append(to.Items, item)
		if to.Nulls != nil {
			to.Nulls = append(to.Nulls, v.IsNull(i))
		}
		bytes += 17 + int64(len(item))
	}
	return bytes, nil
}

func (l *lists) Value(g int32, out *eval.Vector, row int32) error {
	if !l.some[g] {
		out.SetNull(row)
	}
	out.Lists[row] = l.lists[g]
	return nil
}
