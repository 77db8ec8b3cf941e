package source

import "testing"

func TestNames(t *testing.T) {
	for _, c := range []struct {
		pattern, name, plain, pack string
		format                     string
		fits                       bool
	}{
		{"trips.csv", "trips.csv", "trips.csv", "", "", true},
		{"trips.csv", "trips.csv.gz", "trips.csv", "gzip", "", true},
		{"trips.csv", "trips.jsonl", "trips.csv", "", "JSON Lines", true},
		{"trips.csv", "trips.ndjson.zst", "trips.csv", "Zstandard", "JSON Lines", true},
		{"*.csv", "a.json", "a.csv", "", "JSON Lines", true},
		{"trips.csv", "trips.parquet", "trips.csv", "", "Parquet", true},
		{"*.csv", "a.txt", "a.txt", "", "", false},
		{"trips.csv", "other.jsonl", "other.csv", "", "JSON Lines", false},
		{"*.txt", "a.jsonl", "a.jsonl", "", "", false},
		{"*", "a.jsonl", "a.jsonl", "", "JSON Lines", true},
	} {
		n, fits := Match(c.pattern, c.name)
		pack, format := "", ""
		if n.Pack != nil {
			pack = n.Pack.Name
		}
		if n.Format != nil {
			format = n.Format.Name()
		}
		if fits != c.fits || fits && (n.Plain != c.plain || pack != c.pack || format != c.format) {
			t.Errorf("%s as %s: %+v, %v", c.name, c.pattern, n, fits)
		}
	}
}
