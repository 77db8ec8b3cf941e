package parquet

import (
	"errors"
	"os"
	"strings"
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
		got, err := text(file, chunk, "id", "small", "unsigned", "yes", "number", "short", "words", "day", "moment", "seconds", "price", "long",
			"tags[0]", "tags[1]", "tags[2]",
			"at.x", "at.y.z", "points[1].k")
		if err != nil || got != string(want) {
			t.Errorf("chunks of %d: %q, %v", chunk, got, err)
		}
	}
}

// TestC1_AVariantOfDuckDB: a VARIANT is refused in words that name the column, and the other columns of the file are read.
func TestC1_AVariantOfDuckDB(t *testing.T) {
	file, err := os.ReadFile("testdata/variant.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := text(file, 1<<20, "id"); err != nil || got != "0\n1\n2\n" {
		t.Errorf("the column beside it: %q, %v", got, err)
	}
	for _, name := range []string{"v", "v.metadata", "v.value"} {
		if _, err := consume(file, 1<<20, name); !errors.Is(err, ErrUnread) ||
			!strings.Contains(err.Error(), "is a VARIANT, which is not read; write it as text") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
