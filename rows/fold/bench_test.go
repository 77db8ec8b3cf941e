package fold

import (
	"fmt"
	"testing"
)

var trips = Spec{
	Name: "trips",
	Keys: []Key{{"city", KeyText}, {"station", KeyText}, {"year", KeyInt}},
	Aggs: []Agg{{Name: "trips", Kind: Sum}},
}

func tripTable(rows int) *Table {
	t := NewTable(&trips)
	for i := range rows {
		row := t.Row(t.Key().String([]string{"montreal", "toronto"}[i%2]).String(fmt.Sprintf("Station No %d / Street", i/2)).Int(
			int64(2015 + i%3)))
		t.AddSum(row, 0, int64(i))
	}
	return t
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
	b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkMerge(b *testing.B) {
	for _, rows := range []int{1000, 100000, 1000000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			t := tripTable(rows)
			p := t.AppendRows(nil, t.Rows())
			into := NewTable(&trips)
			for b.Loop() {
				if err := into.Merge(p); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, rows)
		})
	}
}

func BenchmarkAppendRows(b *testing.B) {
	t := tripTable(1000)
	rows := t.Rows()
	var p []byte
	for b.Loop() {
		p = t.AppendRows(p[:0], rows)
	}
	perRow(b, 1000)
}

func BenchmarkRow(b *testing.B) {
	t := tripTable(1000)
	names := make([][]byte, 1000)
	for i := range names {
		names[i] = []byte(fmt.Sprintf("Station No %d / Street", i/2))
	}
	city := []byte("montreal")
	for i := 0; b.Loop(); i++ {
		t.AddSum(t.Row(t.Key().Text(city).Text(names[i%1000]).Int(2016)), 0, 1)
	}
}
