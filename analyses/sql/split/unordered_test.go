package split

import (
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
)

// TestE11_GroupsThatAreOnlyAddedUpAreNotSorted: groups of which one row is made come in any order, unless somebody could see it.
func TestE11_GroupsThatAreOnlyAddedUpAreNotSorted(t *testing.T) {
	files := fstest.MapFS{"t.csv": {Data: []byte("k,g,v\n3,a,1\n1,b,2.5\n3,b,4\n,a,1e300\n2,,-1e300\n1,b,0.25\n")}}
	const (
		groups = "(SELECT k, g, sum(v) AS s, count(*) AS n FROM t GROUP BY k, g)"
		first3 = "(SELECT *, row_number() OVER () AS r FROM " + groups + ") WHERE r < 3"
	)
	for text, any := range map[string]bool{
		"SELECT count(*), sum(s), sum(n), min(g), count(DISTINCT k) FROM " + groups: true,
		"SELECT count(*), sum(s) FROM " + groups + " WHERE s > 1":                   true,
		"SELECT count(*) FILTER (WHERE g = 'b'), max(s + 1) FROM " + groups:         true,
		"SELECT (SELECT sum(s) FROM " + groups + "), count(*) FROM t":               true,
		"SELECT first(g), count(*) FROM " + groups:                                  false, // shows which group is first
		"SELECT string_agg(g, '') FROM " + groups:                                   false,
		"SELECT g, count(*) FROM " + groups + " GROUP BY g":                         false, // groups come in the order of their first rows
		"SELECT count(*), sum(CAST(g AS BIGINT)) FROM " + groups:                    false, // one of two errors is shown
		"SELECT count(*) FROM " + first3:                                            false,
		"SELECT * FROM " + groups:                                                   false,
	} {
		p := planOf(t, text, files)
		told, err := Explain(p)
		if err != nil || strings.Contains(told, "in any order") != any {
			t.Errorf("%s: %v, in any order should be %v:\n%s", text, err, any, told)
		}
		want, failed := answer(t, p, files, local.Options{})
		for seed := range uint64(4) {
			got, err := answer(t, p, files, local.Options{Joiners: 2, Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 16})
			if got != want || (err == nil) != (failed == nil) || err != nil && err.Error() != failed.Error() {
				t.Errorf("%s: %s, %v, want %s, %v", text, got, err, want, failed)
			}
		}
	}
}
