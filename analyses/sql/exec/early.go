package exec

import (
	"errors"
	"math"

	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/rows/fold"
)

// early yields groups that were grouped early, in the table's order. A sum that does not fit its type is an error only if its key has a
// partner: then the final sum must not fit either. It is a multiple of this one, since all rows of a final group have the same key. So
// the greatest sum is yielded twice: the second time in a row with the same keys, whose other aggregates are those of no rows.
func (g *groups) early(t *fold.Table, yield func(*tail.Rows) error) error {
	keys := len(g.Node.Keys)
	flush := func(r **tail.Rows, most int) error {
		if (*r).N < most {
			return nil
		}
		t.Pause()
		full := *r
		*r = g.batch(0)
		return yield(full)
	}
	rows, again := g.batch(0), g.batch(0)
	for row := range t.Len() {
		if err := g.key(t, row, rows, rows.N); err != nil {
			return err
		}
		for a := range g.Aggs {
			x, v := &g.Aggs[a], rows.Columns[keys+a]
			if x.kind != sumInts || t.Sum(row, x.cell+2) == 0 {
				if err := x.value(t, row, v, rows.N); err != nil {
					return err
				}
				continue
			}
			sum, fits := x.shortSum(t, row)
			if !fits {
				long := x.longSum(t, row)
				if sum = long.Int64(); !long.IsInt64() {
					sum = math.MaxInt64 * int64(long.Sign())
					if err := errors.Join(g.again(t, row, a, sum, again), flush(&again, AtOnce)); err != nil {
						return err
					}
				}
			}
			v.Ints = append(v.Ints, sum)
			v.Nulls = longer(v.Nulls, rows.N/64+1)
		}
		rows.N++
		if err := flush(&rows, AtOnce); err != nil {
			return err
		}
	}
	return errors.Join(flush(&rows, 1), flush(&again, 1))
}

// again appends a row with the keys of a group and one of its sums, in which all other aggregates are those of no rows.
func (g *groups) again(t *fold.Table, row, agg int, sum int64, r *tail.Rows) error {
	if err := g.key(t, row, r, r.N); err != nil {
		return err
	}
	for a := range g.Aggs {
		v := r.Columns[len(g.Node.Keys)+a]
		v.Nulls = longer(v.Nulls, r.N/64+1)
		switch {
		case a == agg:
			v.Ints = append(v.Ints, sum)
		case g.Aggs[a].kind == countRows || g.Aggs[a].kind == countValues:
			v.Ints = append(v.Ints, 0)
		default:
			v.Nulls[r.N>>6] |= 1 << (r.N & 63)
			v.Any = true
			appendZero(v)
		}
	}
	r.N++
	return nil
}
