package operators

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
)

// Tables is a source of tables in memory. It has rows by the name of their table, with the columns of a Scan, so _file and _line come last.
// Batch is how many rows are passed on at a time; 0 means all.
type Tables struct {
	Rows  map[string]*Batch
	Batch int
}

// Has reports whether n is a Scan of one of the tables.
func (t *Tables) Has(n plan.Node) bool {
	s, ok := n.(*plan.Scan)
	return ok && t.Rows[s.Table.Name] != nil
}

// Read passes on the rows of a table.
func (t *Tables) Read(n plan.Node, yield func(*Batch) error) error {
	all := t.Rows[n.(*plan.Scan).Table.Name]
	step := t.Batch
	if step <= 0 {
		step = max(all.N, 1)
	}
	for lo := 0; lo < all.N; lo += step {
		rows := make([]int32, min(step, all.N-lo))
		for i := range rows {
			rows[i] = int32(lo + i)
		}
		part := &Batch{Columns: make([]*eval.Vector, len(all.Columns)), N: len(rows)}
		for i, c := range all.Columns {
			switch {
			case c != nil && step >= all.N:
				part.Columns[i] = c
			case c != nil:
				part.Columns[i] = values.Gather(c, rows)
			}
		}
		if err := yield(part); err != nil {
			return err
		}
	}
	return nil
}
