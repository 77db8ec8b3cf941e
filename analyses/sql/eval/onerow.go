package eval

import "posta.dev/posta/analyses/sql/syntax"

// oneRow is plan.OneRow: the value of a query, and how many rows it has.
type oneRow struct {
	value, rows node
	at          syntax.Pos
}

func (k *oneRow) eval(b *batch, sel []int32) (*Vector, error) {
	value, rows, err := both(b, sel, k.value, k.rows)
	if err != nil {
		return nil, err
	}
	for _, i := range sel {
		if rows.Ints[i] > 1 && !rows.IsNull(i) {
			return nil, &Error{k.at, i, "the query that is used as a value has more than one row; add LIMIT 1, or an aggregate"}
		}
	}
	return value, nil
}
