package aggregate

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

var count = Aggregate{
	Function: types.Function{Name: "count", Forms: []string{"ANY? -> BIGINT"}, Nulls: types.Skips, Over: true, Unordered: true,
		About: "How many rows there are, or how many values that are not NULL."},
	New: newCounts, Counts: true, Zero: true, Parts: "sum",
}

var approxCountDistinct = Aggregate{
	Function: types.Function{Name: "approx_count_distinct", Forms: []string{"ANY -> BIGINT"}, Nulls: types.Skips, Unordered: true,
		About: "How many different values there are: exact."},
	New: newCounts, Counts: true, Zero: true, Distinct: true,
}

func newCounts(Call) State { return &counts{} }

// counts counts rows, or values.
type counts struct {
	tallied
	present
}

// tallied is how many values each group has.
type tallied struct{ n []int64 }

// count counts rows; counts has how many of them each group has, if somebody has counted them.
func (t *tallied) count(groups []int32, counts []int64, by int64) {
	if counts == nil {
		for _, g := range groups {
			t.n[g] += by
		}
	}
	for g, n := range counts {
		t.n[g] += n * by
	}
}

var countCells = []fold.Agg{{Kind: fold.Sum}}

func (c *counts) Grow(groups int) int64 { return 8 * longer(&c.n, groups) }

func (c *counts) Add(r *Rows) (int64, error) {
	c.add(r, 1)
	return 0, nil
}

func (c *counts) Remove(r *Rows) { c.add(r, -1) }

func (c *counts) add(r *Rows, by int64) {
	groups, counts := r.Groups, r.Counts
	if len(r.Args) > 0 {
		_, groups, counts = c.of(r, r.Args[0])
	}
	c.count(groups, counts, by)
}

func (c *counts) Value(g int32, out *eval.Vector, row int32) error {
	out.Ints[row] = c.n[g]
	return nil
}

func (c *counts) Cells() []fold.Agg { return countCells }

func (c *counts) Encode(t *fold.Table, cell int) {
	t.AddSums(cell, c.n)
	c.n = c.n[:0]
}

func (c *counts) Decode(t *fold.Table, cell, row int, g int32) error {
	c.n[g] = t.Sum(row, cell)
	return nil
}
