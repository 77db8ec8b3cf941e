package exec

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
)

// A projection computes a column only for rows that need it. If filters stand directly behind it, the last of them computes the
// columns that none of them reads, for the rows that are left. A column that nothing reads is not computed at all. A column that
// may fail is computed for all rows, so this does not change which statements fail.

// ColumnsOf divides the columns of the projection that is step i of a leaf: those that the step itself computes, and those that
// step last computes.
func (l *Leaf) ColumnsOf(i int) (now, later []int, last int) {
	p := l.Steps[i].(*plan.Project)
	read, known := l.read[p]
	var filtered plan.Set
	for last = i; last+1 < len(l.Steps); last++ {
		f, ok := l.Steps[last+1].(*plan.Filter)
		if !ok {
			break
		}
		filtered.Mark(f.Cond)
	}
	for k, e := range p.Exprs {
		switch {
		case !known || filtered.Has(p.Out[k].ID) || plan.MayFailIfRead(e):
			now = append(now, k)
		case !read.Has(p.Out[k].ID):
		case last == i:
			now = append(now, k)
		default:
			later = append(later, k)
		}
	}
	return now, later, last
}

// projected is a column of a projection, and how it is computed from those below the projection.
type projected struct {
	at int
	by *eval.Program
}

// project computes columns of a projection for the rows of a batch, from the columns below.
func (w *worker) project(j *Joiner, of []projected, to []*eval.Vector, b *operators.Batch, below []*eval.Vector) error {
	in := *b
	in.Columns = below
	for _, c := range of {
		v, err := w.compute(j, c.by, &in)
		if err != nil {
			return err
		}
		to[c.at] = v
	}
	b.Sel = in.Sel
	return nil
}
