package source

import "testing"

func TestNames(t *testing.T) {
	for _, c := range []struct {
		pattern, name, plain, pack string
		form                       Form
		fits                       bool
	}{
		{"trips.csv", "trips.csv", "trips.csv", "", Text, true},
		{"trips.csv", "trips.csv.gz", "trips.csv", "gzip", Text, true},
		{"trips.csv", "trips.jsonl", "trips.csv", "", JSONLines, true},
		{"trips.csv", "trips.ndjson.zst", "trips.csv", "Zstandard", JSONLines, true},
		{"*.csv", "a.json", "a.csv", "", JSONLines, true},
		{"trips.csv", "trips.parquet", "trips.csv", "", Parquet, true},
		{"*.csv", "a.txt", "a.txt", "", Text, false},
		{"trips.csv", "other.jsonl", "other.csv", "", JSONLines, false},
		{"*.txt", "a.jsonl", "a.jsonl", "", Text, false},
		{"*", "a.jsonl", "a.jsonl", "", JSONLines, true},
	} {
		n, fits := Match(c.pattern, c.name)
		pack := ""
		if n.Pack != nil {
			pack = n.Pack.Name
		}
		if fits != c.fits || fits && (n.Plain != c.plain || pack != c.pack || n.Form != c.form) {
			t.Errorf("%s as %s: %+v, %v", c.name, c.pattern, n, fits)
		}
	}
}
