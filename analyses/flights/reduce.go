package flights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

func reduce(args analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
	cfg, err := readSettings(args)
	if err != nil {
		return err
	}
	t := tables[0]
	switch query {
	case stopovers:
		reduceStopovers(t, emit)
	case detours:
		reduceDetours(t, emit)
	case fastest:
		return reduceFastest(t, cfg.fastestLegs, emit)
	case fares:
		reduceFares(t, emit)
	default:
		return fmt.Errorf("flights has no query %d", query)
	}
	return nil
}

// dollars is the float64 nearest to an amount of cents.
func dollars(cents int64) float64 { return csv.Decimal{Value: cents, Scale: 2}.Float() }

func reduceStopovers(t *fold.Table, emit func(row ...any)) {
	for _, row := range t.Sorted(nil) {
		emit(string(t.KeyText(row, 0)), string(t.KeyText(row, 1)), dollars(t.KeyInt(row, 2)), t.KeyInt(row, 3))
	}
}

func reduceDetours(t *fold.Table, emit func(row ...any)) {
	for _, row := range t.Sorted(nil) {
		emit(string(t.KeyText(row, 0)), string(t.KeyText(row, 1)), milesOfKey(t.KeyInt(row, 2)), milesOfKey(t.KeyInt(row, 3)))
	}
}

// fast is a leg at its fastest.
type fast struct {
	journey, leg, route string
	stopovers, minutes  int64
}

func (f fast) compare(o fast) int {
	return cmp.Or(strings.Compare(f.journey, o.journey), cmp.Compare(f.minutes, o.minutes), strings.Compare(f.leg, o.leg))
}

func reduceFastest(t *fold.Table, legs int64, emit func(row ...any)) error {
	all := make([]fast, 0, t.Len())
	for row := range t.Len() {
		best, _ := t.MinText(row, 0)
		minutes, route, stops, err := cutBest(best)
		if err != nil {
			return fmt.Errorf("fastest: leg %.40q: %w", t.KeyText(row, 1), err)
		}
		all = append(all, fast{string(t.KeyText(row, 0)), string(t.KeyText(row, 1)), string(route), stops, minutes})
	}
	slices.SortFunc(all, fast.compare)
	shown := int64(0)
	for i, f := range all {
		if i > 0 && all[i-1].journey != f.journey {
			shown = 0
		}
		if shown++; shown <= legs {
			emit(f.journey, f.leg, f.route, f.stopovers, f.minutes)
		}
	}
	return nil
}
