package bikes

import (
	"fmt"
	"math/big"

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
	for _, row := range t.Sorted(nil) {
		switch query {
		case rain:
			n := t.Sum(row, 1)
			emit(string(csv.FormatDate(nil, t.KeyInt(row, 0))), t.Exact(row, 0).Mean(n), n)
		case doubled:
			before, after := t.Sum(row, 0), t.Sum(row, 1)
			if grew(before, after, cfg.factor) {
				emit(string(t.KeyText(row, 0)), string(t.KeyText(row, 1)), before, after)
			}
		case far:
			n := t.Sum(row, 1)
			if mean := t.Exact(row, 0).Mean(n); mean > cfg.minKm {
				emit(string(t.KeyText(row, 0)), mean, n)
			}
		default:
			return fmt.Errorf("bikes has no query %d", query)
		}
	}
	return nil
}

// grew reports whether after >= factor × before > 0, exactly.
func grew(before, after int64, factor *big.Rat) bool {
	if before <= 0 {
		return false
	}
	least := new(big.Rat).Mul(factor, new(big.Rat).SetInt64(before))
	return new(big.Rat).SetInt64(after).Cmp(least) >= 0
}
