package fold

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestMoveToAddsAndForgets(t *testing.T) {
	late := trips
	late.Merge = Late
	for name, empty := range map[string]func() *Table{
		"outgoing": func() *Table { return NewOutgoing(&trips) }, "table": func() *Table { return NewTable(&trips) },
		"late": func() *Table { return NewOutgoing(&late) }, "union": func() *Table { return NewUnion(&trips) },
	} {
		t.Run(name, func(t *testing.T) {
			to := empty()
			want := NewTable(&trips)
			from := NewOutgoing(&trips)
			for round := range 3 {
				all := tripTable(100 * (round + 1))
				part := all.Rows()
				if name == "union" {
					part = part[round*100:] // no row comes twice
				}
				merge(t, from, all, part)
				merge(t, want, all, part)
				from.MoveTo(to)
				if from.Len() != 0 || from.Err() != nil || to.Err() != nil {
					t.Fatalf("%d rows are left: %v, %v", from.Len(), from.Err(), to.Err())
				}
				got := NewTable(&trips)
				merge(t, got, to, to.Rows())
				if !slices.Equal(sums(got), sums(want)) {
					t.Fatalf("round %d: %d rows, want %d, or other sums", round, got.Len(), want.Len())
				}
			}
		})
	}
}

func TestMoveToTakesTheErrorAlong(t *testing.T) {
	for _, rows := range []int{0, 1} {
		from, to := NewOutgoing(&trips), NewOutgoing(&trips)
		if rows > 0 {
			merge(t, to, tripTable(1), []int{0})
		}
		row := from.Row(from.Key().String("a").String("b").Int(1))
		from.AddSum(row, 0, math.MaxInt64)
		from.AddSum(row, 0, 1)
		if from.MoveTo(to); !errors.Is(to.Err(), ErrOverflow) || from.Err() != nil || from.Len() != 0 {
			t.Errorf("into %d rows: %v there, %v and %d rows here", rows, to.Err(), from.Err(), from.Len())
		}
	}
}

func sums(t *Table) (all []string) {
	for _, row := range t.Sorted(nil) {
		all = append(all, fmt.Sprintf("%s %s %d: %d", t.KeyText(row, 0), t.KeyText(row, 1), t.KeyInt(row, 2), t.Sum(row, 0)))
	}
	return all
}
