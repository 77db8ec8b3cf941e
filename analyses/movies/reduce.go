package movies

import (
	"fmt"
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/fold"
)

func reduce(args analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
	cfg, err := readSettings(args)
	if err != nil {
		return err
	}
	t := tables[0]
	switch query {
	case coproductions:
		for _, row := range t.Sorted(nil) {
			emit(t.KeyInt(row, 0), minText(t, row, 0), minText(t, row, 1))
		}
	case budgets:
		return reduceBudgets(t, cfg.topCountries, emit)
	case rated:
		reduceRatings(t, emit)
	case actors:
		reduceActors(t, cfg.topActors, emit)
	case sentiment:
		for _, row := range t.Sorted(nil) {
			n := t.Sum(row, 1)
			emit(string(t.KeyText(row, 0)), t.Exact(row, 0).Mean(n), n)
		}
	default:
		return fmt.Errorf("movies has no query %d", query)
	}
	return nil
}

func minText(t *fold.Table, row, agg int) string {
	v, _ := t.MinText(row, agg)
	return string(v)
}

func reduceBudgets(t *fold.Table, top int, emit func(row ...any)) error {
	sums := make([]float64, t.Len())
	for row := range sums {
		sums[row] = t.Exact(row, 0).Value()
		if math.IsInf(sums[row], 0) {
			return fmt.Errorf("the budgets of %q add up to more than there are numbers; look for a row whose budget is absurd",
				t.KeyText(row, 0))
		}
	}
	rows := t.Sorted(func(a, b int) bool { return sums[a] > sums[b] })
	for _, row := range rows[:min(top, len(rows))] {
		emit(string(t.KeyText(row, 0)), amount(sums[row]))
	}
	return nil
}

// amount returns a sum of money as it is shown: as an integer if it is whole.
func amount(v float64) any {
	const exact = 1 << 53
	if v == math.Trunc(v) && math.Abs(v) <= exact {
		return int64(v)
	}
	return v
}

func reduceRatings(t *fold.Table, emit func(row ...any)) {
	if t.Len() == 0 {
		return
	}
	means := make([]float64, t.Len())
	for row := range means {
		means[row] = t.Exact(row, 1).Mean(t.Sum(row, 2))
	}
	// Ties go to the lowest id in both orders.
	best := t.Sorted(func(a, b int) bool { return means[a] > means[b] })[0]
	worst := t.Sorted(func(a, b int) bool { return means[a] < means[b] })[0]
	for i, row := range []int{best, worst} {
		emit([]string{"best", "worst"}[i], t.KeyInt(row, 0), minText(t, row, 0), means[row], t.Sum(row, 2))
	}
}
