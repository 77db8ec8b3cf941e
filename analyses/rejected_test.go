package analyses

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/rows/fold"
)

func TestN7_FirstRejectsAreTheSameHoweverRowsAreSpread(t *testing.T) {
	for seed := uint64(0); seed < 50; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		var whole []Reject
		for i := range r.IntN(60) {
			whole = append(whole, Reject{fmt.Sprintf("%c/trips.csv", 'a'+r.IntN(3)), uint64(i * 10), fmt.Sprintf("why %d\x00", r.IntN(3))})
		}
		slices.SortFunc(whole, Reject.Compare)
		tables := []*fold.Table{fold.NewTable(&RejectedSpec), fold.NewTable(&RejectedSpec), fold.NewTable(&RejectedSpec)}
		for i := 0; i < len(whole); {
			n := min(1+r.IntN(15), len(whole)-i)
			var part Rejects
			for _, w := range whole[i : i+n] {
				part.Add(w.File, w.Line, errors.New(w.Reason))
			}
			part.AddTo(tables[r.IntN(3)], "trips")
			i += n
		}
		merged := fold.NewTable(&RejectedSpec)
		for _, i := range r.Perm(3) {
			if err := merged.Merge(tables[i].AppendRows(nil, tables[i].Rows())); err != nil {
				t.Fatal(err)
			}
		}
		got, err := RejectsOf(merged, "trips")
		want := whole[:min(len(whole), FirstRejects)]
		if err != nil || got.Rows != uint64(len(whole)) || !slices.Equal(got.First, want) {
			t.Fatalf("seed %d: %v %+v, want %d %+v", seed, err, got, len(whole), want)
		}
	}
}

func TestRejectsKeepLittleOfMuch(t *testing.T) {
	var r Rejects
	for i := range 1000 {
		r.Add("f", uint64(i), errors.New(strings.Repeat("x", 5000)))
	}
	if r.Rows != 1000 || len(r.First) != FirstRejects || len(r.First[0].Reason) > maxReason+5 {
		t.Fatalf("%d rows, %d kept, %d bytes", r.Rows, len(r.First), len(r.First[0].Reason))
	}
}

func TestRejectsOfAStreamWithoutAnyAreNone(t *testing.T) {
	table := fold.NewTable(&RejectedSpec)
	new(Rejects).AddTo(table, "s")
	got, err := RejectsOf(table, "s")
	if err != nil || !reflect.DeepEqual(got, Rejects{}) || table.Len() != 0 {
		t.Fatalf("%v %+v", err, got)
	}
}

func TestRejectsOfRefusesWhatWasNotAdded(t *testing.T) {
	for _, p := range []string{"", "no end", "f\x00\x01short", "f\x00\x01\x80\x00\x00\x00\x00\x00\x00\x07no end"} {
		table := fold.NewTable(&RejectedSpec)
		table.PutLeast(table.Row(table.Key().String("s")), rejectedFirst, []byte(p))
		if _, err := RejectsOf(table, "s"); !errors.Is(err, fold.ErrEncoding) {
			t.Errorf("%q: %v", p, err)
		}
	}
}
