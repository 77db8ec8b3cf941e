package analyses_test

import (
	"fmt"
	"testing/fstest"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// An analysis says which files are read, what is kept of their rows, and how the answer is made of that. Package local runs it here without
// a network; cmd.Main makes the posta command of it.
func Example() {
	tables := []fold.Spec{{
		Name: "trips by city", Stream: "trips",
		Keys: []fold.Key{{Name: "city", Kind: fold.KeyText}}, Aggs: []fold.Agg{{Name: "trips", Kind: fold.Sum}},
	}}
	trips := &analyses.Analysis{
		Name: "trips",
		Streams: []analyses.Stream{{
			Name: "trips", Files: "trips.csv", Columns: analyses.Columns("city"), Schema: []batch.FieldSpec{{Name: "city", Kind: batch.Text}},
		}},
		Tables:  tables,
		Queries: []analyses.Query{{Name: "cities", Columns: []string{"city", "trips"}, Tables: []string{"trips by city"}}},
		NewJoiner: analyses.FoldFacts(tables, func(f analyses.Facts, tables []*fold.Table) error {
			for i := range f.Rows() {
				t, city := tables[0], f.Texts(0)
				t.AddSum(t.Row(t.Key().Text(city.At(i))), 0, 1)
			}
			return nil
		}),
		Reduce: func(_ analyses.Args, _ int, tables []*fold.Table, emit func(row ...any)) error {
			for _, row := range tables[0].Sorted(nil) {
				emit(string(tables[0].KeyText(row, 0)), tables[0].Sum(row, 0))
			}
			return nil
		},
	}
	files := fstest.MapFS{"trips.csv": {Data: []byte("id,city\n1,Toronto\n2,Montreal\n3,Toronto\n")}}
	answer, err := local.Run(trips, files, local.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range answer.Query("cities").Rows {
		fmt.Println(row...)
	}
	// Output:
	// Montreal 1
	// Toronto 2
}
