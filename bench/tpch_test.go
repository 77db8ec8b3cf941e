package bench

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestBench_QueriesOfTPCH: each query exists for both programs, with its tables.
func TestBench_QueriesOfTPCH(t *testing.T) {
	all, err := readTPCH("..")
	if err != nil || len(all) != len(tpchQueries) {
		t.Fatalf("%d queries, %v", len(all), err)
	}
	for i, s := range all {
		if s.name != tpchQueries[i] || strings.Count(s.text, "CREATE TABLE") != 8 || strings.Count(s.theirs, "CREATE VIEW") != 8 ||
			!strings.Contains(s.theirs, "'l_shipdate': 'DATE'") {
			t.Errorf("%s: %s\n%s", s.name, s.text, s.theirs)
		}
	}
	if _, err := readTPCH(t.TempDir()); err == nil || !strings.Contains(err.Error(), "run this in the folder that holds Posta") {
		t.Errorf("without the queries: %v", err)
	}
}

// TestBench_ValuesOfBothPrograms: DECIMALs and dates of DuckDB's driver equal Posta's, and differences are reported.
func TestBench_ValuesOfBothPrograms(t *testing.T) {
	theirs := `[["A", {"Width": 38, "Scale": 2, "Value": 12345}, "1995-03-15T00:00:00Z", 1.5, null]]`
	for ours, same := range map[string]bool{
		`[["A", "123.45", "1995-03-15", 1.5, null]]`: true,
		`[["A", "123.46", "1995-03-15", 1.5, null]]`: false,
		`[["A", "123.45", "1995-03-16", 1.5, null]]`: false,
		`[["A", "123.45", "1995-03-15", 1.5, 0]]`:    false,
		`[["A", "x", "1995-03-15", 1.5, null]]`:      false,
		`[]`:                                         false,
	} {
		if err := sameRows(json.RawMessage(ours), json.RawMessage(theirs)); errors.Is(err, errRows) == same || (err == nil) != same {
			t.Errorf("%s: %v", ours, err)
		}
	}
}
