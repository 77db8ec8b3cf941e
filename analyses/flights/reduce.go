package flights

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
)

func reduce(args analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
	cfg, err := readSettings(args)
	if err != nil {
		return err
	}
	t := tables[0]
	switch query {
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

func stopoverRows(_ analyses.Args, t *fold.Table, emit func(row ...any)) error {
	for row := range t.Len() {
		emit(string(t.KeyText(row, 0)), string(t.KeyText(row, 1)), dollars(t.KeyInt(row, 2)), t.KeyInt(row, 3))
	}
	return nil
}

func detourRows(_ analyses.Args, t *fold.Table, emit func(row ...any)) error {
	for row := range t.Len() {
		emit(string(t.KeyText(row, 0)), string(t.KeyText(row, 1)), milesOfKey(t.KeyInt(row, 2)), milesOfKey(t.KeyInt(row, 3)))
	}
	return nil
}

// fast is the fastest row of a leg.
type fast struct {
	journey, leg, route string
	stopovers, minutes  int64
}

func (f fast) compare(o fast) int {
	return cmp.Or(strings.Compare(f.journey, o.journey), cmp.Compare(f.minutes, o.minutes), strings.Compare(f.leg, o.leg))
}

func reduceFastest(t *fold.Table, legs int64, emit func(row ...any)) error {
	rows, err := fastestRows(t, legs)
	if err != nil {
		return err
	}
	all := make([]fast, 0, len(rows))
	for _, row := range rows {
		best, _ := t.MinText(row, 0)
		minutes, route, stops, err := cutBest(best)
		if err != nil {
			return fmt.Errorf("fastest: leg %.40q: %w", t.KeyText(row, 1), err)
		}
		all = append(all, fast{string(t.KeyText(row, 0)), string(t.KeyText(row, 1)), string(route), stops, minutes})
	}
	slices.SortFunc(all, fast.compare)
	for _, f := range all {
		emit(f.journey, f.leg, f.route, f.stopovers, f.minutes)
	}
	return nil
}

// prune keeps, for each journey, as many legs as an answer shows at most. For each leg that it drops, the same partition has
// enough faster ones.
func prune(args analyses.Args, stream int, tables []*fold.Table) error {
	cfg, err := readSettings(args)
	if err != nil || stream != itineraries {
		return err
	}
	t := tables[fastest]
	rows, err := fastestRows(t, cfg.fastestLegs)
	if err != nil {
		return err
	}
	slices.Sort(rows)
	t.Retain(func(row int) bool {
		_, stays := slices.BinarySearch(rows, row)
		return stays
	})
	return nil
}

// leg is a row of the table of fastest legs.
type leg struct {
	row     int
	minutes int64
}

// fastestRows returns the rows of the fastest legs of each journey, in no particular order. It never holds many more rows than
// it returns.
func fastestRows(t *fold.Table, legs int64) (rows []int, err error) {
	compare := func(a, b leg) int {
		return cmp.Or(cmp.Compare(a.minutes, b.minutes), bytes.Compare(t.KeyText(a.row, 1), t.KeyText(b.row, 1)))
	}
	journeys := map[string]*[]leg{}
	best := func(all *[]leg) []leg {
		slices.SortFunc(*all, compare)
		*all = (*all)[:min(legs, int64(len(*all)))]
		return *all
	}
	for row := range t.Len() {
		if row%progress.Every == progress.Every-1 {
			t.Pause()
		}
		text, _ := t.MinText(row, 0)
		minutes, _, err := fold.CutInt(text)
		if err != nil {
			return nil, fmt.Errorf("fastest: leg %.40q: %w", t.KeyText(row, 1), err)
		}
		all := journeys[string(t.KeyText(row, 0))]
		if all == nil {
			all = new([]leg)
			journeys[string(t.KeyText(row, 0))] = all
		}
		if *all = append(*all, leg{row, minutes}); int64(len(*all)) >= 2*legs+64 {
			best(all)
		}
	}
	for _, all := range journeys {
		for _, l := range best(all) {
			rows = append(rows, l.row)
		}
	}
	return rows, nil
}
