package batch_test

import (
	"fmt"

	"posta.dev/posta/rows/batch"
)

// A column of few different texts travels as a dictionary and a code per row.
func Example() {
	spec := []batch.FieldSpec{{Name: "day", Kind: batch.Int}, {Name: "station", Kind: batch.Dict}}
	b := batch.NewBuilder(spec)
	day, station := b.Int(0), b.Dict(1)
	for i, code := range []string{"6204", "6217", "6204"} {
		day.Append(int64(16500 + i))
		station.Append([]byte(code))
	}
	rows := b.Rows()
	day.Append(16503) // a row that turns out bad after its first column
	b.Truncate(rows)

	got, err := batch.Decode(b.Append(nil), spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	days, stations := got.Ints(0), got.Dicts(1)
	for row := range got.Rows() {
		fmt.Printf("%d %d %s\n", days.At(row), stations.Code(row), stations.At(row))
	}
	// Output:
	// 16500 0 6204
	// 16501 1 6217
	// 16502 0 6204
}
