// Package compare compares the answers of contestants. Answers must be the same to the last bit, with one exception:
// distances between two points, which are computed with sines. An engine with another math library than Posta's may
// differ in the last digits, by the relative 1e-9 that the definition of the queries allows.
package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/analyses/answer"
)

// ErrDiffer reports that answers differ. Queries wraps it.
var ErrDiffer = errors.New("answers differ")

// near are the columns that are computed with sines.
var near = []string{"average_km", "total_distance_mi", "direct_distance_mi"}

// tolerance is relative.
const tolerance = 1e-9

// Queries returns the first difference between the answers, or nil. It does not compare rejected rows, which not every
// engine reports.
func Queries(got, want []answer.Query) error {
	if len(got) != len(want) {
		return fmt.Errorf("%w: %d queries, want %d", ErrDiffer, len(got), len(want))
	}
	for i := range want {
		if err := query(&got[i], &want[i]); err != nil {
			return fmt.Errorf("%w: query %s: %w", ErrDiffer, want[i].Name, err)
		}
	}
	return nil
}

func query(got, want *answer.Query) error {
	if got.Name != want.Name || !slices.Equal(got.Columns, want.Columns) {
		return fmt.Errorf("it is %s with columns %q, want %q", got.Name, got.Columns, want.Columns)
	}
	if len(got.Rows) != len(want.Rows) {
		return fmt.Errorf("%d rows, want %d", len(got.Rows), len(want.Rows))
	}
	for i, row := range want.Rows {
		if len(got.Rows[i]) != len(row) {
			return fmt.Errorf("row %d is %v, want %v", i+1, got.Rows[i], row)
		}
		for j, v := range row {
			if !value(got.Rows[i][j], v, slices.Contains(near, want.Columns[j])) {
				return fmt.Errorf("row %d is %v, want %v", i+1, got.Rows[i], row)
			}
		}
	}
	return nil
}

func value(got, want any, near bool) bool {
	g, ok := got.(float64)
	w, also := want.(float64)
	if near && ok && also {
		return math.Abs(g-w) <= tolerance*math.Abs(w)
	}
	return got == want
}
