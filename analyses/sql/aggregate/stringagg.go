package aggregate

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

var stringAgg = Aggregate{
	Function: types.Function{Name: "string_agg", Aliases: []string{"group_concat", "listagg"}, Forms: []string{"TEXT, TEXT? -> TEXT"},
		Nulls: types.Skips, Ordered: true,
		About: "The texts with a separator, by default a comma, between them; other values are cast."},
	New: func(Call) State { return &joined{} },
}

// joined keeps texts with separators between them.
type joined struct {
	alone
	texts [][]byte
	some  []bool
}

func (j *joined) Grow(groups int) int64 { return 24*longer(&j.texts, groups) + longer(&j.some, groups) }

func (j *joined) Add(r *Rows) (bytes int64, _ error) {
	v := r.Args[0]
	for k, i := range r.Sel {
		if v.IsNull(i) || len(r.Args) > 1 && r.Args[1].IsNull(i) {
			continue
		}
		g := r.Groups[k]
		before := len(j.texts[g])
		if j.some[g] {
			separator := ","
			if len(r.Args) > 1 {
				separator = r.Args[1].Texts[i]
			}
			j.texts[g] = append(j.texts[g], separator...)
		}
		j.some[g] = true
		j.texts[g] = append(j.texts[g], v.Texts[i]...)
		bytes += int64(len(j.texts[g]) - before)
	}
	return bytes, nil
}

func (j *joined) Value(g int32, out *eval.Vector, row int32) error {
	if !j.some[g] {
		out.SetNull(row)
	}
	out.Texts[row] = string(j.texts[g])
	return nil
}
