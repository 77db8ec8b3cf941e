package split

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/plan"
)

// TestColumnsAreComputedForRowsThatNeedThem: filters behind a projection leave out what they do not read, until only the rows of
// the answer are left. A column that may fail is computed for all rows, also if nothing reads it.
func TestColumnsAreComputedForRowsThatNeedThem(t *testing.T) {
	const from = " FROM (SELECT tk AS k, tc || '|' || tc AS s, length(tc) AS n, upper(tc) AS u, 100 // tn AS q, length(tc) - 1 AS less " +
		"FROM t) "
	for text, want := range map[string]string{
		"SELECT s" + from + "WHERE n > 0 AND n < 9":                             "now [n q], later [s] by step 1",
		"SELECT s, u" + from + "WHERE u <> 'A'":                                 "now [u q], later [s] by step 1",
		"SELECT k, sum(less)" + from + "WHERE n > 0 GROUP BY k ORDER BY k":      "now [n q], later [k less] by step 1",
		"SELECT n, less" + from:                                                 "now [n q less], later [] by step 0",
		"SELECT q" + from + "WHERE less = 0":                                    "now [q less], later [] by step 1",
		"SELECT DISTINCT s" + from + "WHERE n > 0 ORDER BY s":                   "now [n q], later [s] by step 1",
		"SELECT u, s" + from + "WHERE n > 0 ORDER BY s, u LIMIT 3":              "now [n q], later [s u] by step 1",
		"SELECT s, un" + from + "JOIN u ON k = uk WHERE n > 0 ORDER BY ALL":     "now [n q], later [k s] by step 1",
		"SELECT count(*) FILTER (WHERE u = 'B'), max(s)" + from + "WHERE n > 0": "now [n q], later [s u] by step 1",
	} {
		files := someTables(rand.New(rand.NewPCG(4, 2)))
		p := small(planOf(t, text, files), files)
		s, err := p.statement()
		if err != nil {
			t.Fatal(text, err)
		}
		now, later, last := s.Leaves[0].ColumnsOf(0)
		names := func(columns []int) (list []string) {
			for _, c := range columns {
				list = append(list, s.Leaves[0].Steps[0].(*plan.Project).Out[c].Name)
			}
			return list
		}
		if got := fmt.Sprintf("now %v, later %v by step %d", names(now), names(later), last); got != want {
			t.Errorf("%s\n   has %s, want %s", text, got, want)
		}
		all := planOf(t, "SELECT * FROM ("+text+") LIMIT 1000000", files) // a different plan of the same answer
		wanted, err := answer(t, all, files, local.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		for seed := range uint64(3) {
			got, err := answer(t, p, files, local.Options{Joiners: 1 + int(seed), Seed: seed, ChunkBytes: 80})
			if err != nil || got != wanted {
				t.Errorf("%s\n   answers %s, %v, want %s", text, got, err, wanted)
			}
		}
	}
}
