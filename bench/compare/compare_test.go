package compare

import (
	"errors"
	"math"
	"testing"

	"posta.dev/posta/analyses/answer"
)

func TestQueries_OnlyDistancesMayBeNear(t *testing.T) {
	of := func(name, column string, rows ...[]any) []answer.Query {
		return []answer.Query{{Name: name, Columns: []string{"key", column}, Rows: rows}}
	}
	next := math.Nextafter(6.5, 7)
	want := of("far", "average_km", []any{"a", 6.5})
	for _, x := range []struct {
		name string
		got  []answer.Query
		want []answer.Query
		same bool
	}{
		{"the same", of("far", "average_km", []any{"a", 6.5}), want, true},
		{"a distance in the last digit", of("far", "average_km", []any{"a", next}), want, true},
		{"a distance far off", of("far", "average_km", []any{"a", 6.5001}), want, false},
		{"a distance that is none", of("far", "average_km", []any{"a", math.NaN()}), want, false},
		{"another number in the last digit", of("q", "mean", []any{"a", next}), of("q", "mean", []any{"a", 6.5}), false},
		{"another type", of("q", "mean", []any{"a", int64(6)}), of("q", "mean", []any{"a", 6.0}), false},
		{"a text", of("far", "average_km", []any{"b", 6.5}), want, false},
		{"a row more", of("far", "average_km", []any{"a", 6.5}, []any{"b", 7.0}), want, false},
		{"a short row", of("far", "average_km", []any{"a"}), want, false},
		{"another query", of("near", "average_km", []any{"a", 6.5}), want, false},
		{"other columns", of("far", "km", []any{"a", 6.5}), want, false},
		{"nothing", nil, want, false},
	} {
		if err := Queries(x.got, x.want); (err == nil) != x.same || err != nil && !errors.Is(err, ErrDiffer) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}
