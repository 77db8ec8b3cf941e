package parquet

import (
	"os"
	"testing"
)

// TestC1_AFileOfDuckDB reads what another writer has written, with pages of version 1 that have nulls and lists.
func TestC1_AFileOfDuckDB(t *testing.T) {
	file, err := os.ReadFile("testdata/duckdb.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/duckdb.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{1, 500, 1 << 20} {
		got, err := text(file, chunk, "id", "small", "unsigned", "yes", "number", "short", "words", "day", "moment", "seconds", "price", "long", "tags[0]", "tags[1]", "tags[2]",
			"at.x", "at.y.z", "points[1].k")
		if err != nil || got != string(want) {
			t.Errorf("chunks of %d: %q, %v", chunk, got, err)
		}
	}
}
