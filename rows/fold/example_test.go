package fold_test

import (
	"fmt"

	"posta.dev/posta/rows/fold"
)

// Two joiners count trips by city, and an aggregator merges what they send. The order in which they arrive makes no difference.
func Example() {
	spec := fold.Spec{
		Name: "trips by city", Stream: "trips",
		Keys: []fold.Key{{Name: "city", Kind: fold.KeyText}}, Aggs: []fold.Agg{{Name: "trips", Kind: fold.Sum}},
	}
	merged := fold.NewTable(&spec)
	for _, cities := range [][]string{{"Toronto", "Montreal", "Toronto"}, {"Montreal", "Halifax"}} {
		joiner := fold.NewOutgoing(&spec)
		for _, city := range cities {
			joiner.AddSum(joiner.Row(joiner.Key().Text([]byte(city))), 0, 1)
		}
		if err := merged.Merge(joiner.AppendRows(nil, joiner.Rows())); err != nil {
			fmt.Println(err)
		}
	}
	for _, row := range merged.Sorted(nil) {
		fmt.Printf("%s %d\n", merged.KeyText(row, 0), merged.Sum(row, 0))
	}
	// Output:
	// Halifax 1
	// Montreal 2
	// Toronto 2
}
