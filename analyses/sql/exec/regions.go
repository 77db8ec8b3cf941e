package exec

import (
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Region is a part of the plan that aggregators compute.
type Region struct {
	Leaf *Leaf     // folds the rows of base as other leaves fold those of a scan; its own scan is nil
	Base plan.Node // the node whose rows package operators computes, part by part
	// if base has groups: how many of its first columns are their keys, which then locate its rows; 0: rows have no place
	Keys    int
	Sources []*Leaf            // leaves whose rows wait in the aggregators, or are groups there
	Of      map[plan.Node]int  // by node, the index of its source
	Early   map[plan.Node]bool // groups of rows that are grouped early: see optimize.Early
	By      []plan.Expr        // keys of the partitions, over base's columns
	Joins   bool
}

// inKey returns which column of a leaf's rows each key is, -1 if it is none. Such a column does not travel a second time with the
// key, unless it is a DOUBLE, because a key has the same form for 0 and -0.
func (l *Leaf) inKey() (columns []int) {
	at := plan.LayoutOf(l.Fields)
	for _, k := range l.Parts {
		c, ok := k.(*plan.Column)
		if !ok || k.Type().Kind == types.Double || slices.Contains(columns, at[c.ID]) {
			columns = append(columns, -1)
		} else {
			columns = append(columns, at[c.ID])
		}
	}
	return columns
}

// KeyNames returns the names of the columns that are keys of the partitions.
func (r *Region) KeyNames() string {
	var list []string
	for _, k := range r.By {
		for cast, ok := k.(*plan.Cast); ok; cast, ok = k.(*plan.Cast) {
			k = cast.X
		}
		name := ""
		if c, ok := k.(*plan.Column); ok {
			name = c.Name
			for _, f := range r.Base.Fields() {
				if f.ID == c.ID && f.Name != "" {
					name = f.Name
				}
			}
		}
		if name == "" {
			name = "an expression"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
