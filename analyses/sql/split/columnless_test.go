package split

import (
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/analyses/local"
)

// TestQ4_StatementsThatNeedNoColumnAreAnswered: what tables, streams and scans carry may be nothing but the number of rows, in every shape
// of groups and sources. planOf's analysis must pass its check, and give as many rows as the shape says.
func TestQ4_StatementsThatNeedNoColumnAreAnswered(t *testing.T) {
	sources := []struct {
		text string
		rows int
	}{
		{"t", 4}, {"t WHERE a > 99", 0}, {"t WHERE 1 = 2", 0}, {"t CROSS JOIN u", 12}, {"t JOIN u USING (a)", 2}, {"t LEFT JOIN u ON 1 = 2", 4},
		{"(SELECT 7 FROM t)", 4}, {"(SELECT 7 FROM t GROUP BY ())", 1}, {"(SELECT 7 FROM t HAVING false)", 0}, {"(SELECT 7 FROM t LIMIT 3)", 3},
		{"t WHERE EXISTS (SELECT 7 FROM u GROUP BY ())", 4}, {"t WHERE (SELECT 7 FROM u HAVING true) = 7", 4},
		{"(SELECT 7 FROM t UNION ALL SELECT 8 FROM u)", 7},
	}
	groups := []struct {
		text string
		rows func(n int) int
	}{
		{"", func(n int) int { return n }},
		{" GROUP BY ()", func(int) int { return 1 }},
		{" HAVING true", func(int) int { return 1 }},
		{" HAVING 1 = 2", func(int) int { return 0 }},
		{" HAVING count(*) > 0", func(n int) int { return min(n, 1) }},
		{" GROUP BY GROUPING SETS ((), ())", func(int) int { return 2 }},
		{" GROUP BY 1", func(n int) int { return min(n, 1) }},
		{" GROUP BY ALL", func(n int) int { return min(n, 1) }},
	}
	for _, s := range sources {
		for _, g := range groups {
			for _, shape := range []string{"SELECT %s", "SELECT DISTINCT %s", "SELECT count(*) FROM (SELECT %s)", "SELECT %s ORDER BY 1 LIMIT 1"} {
				text, rows := fmt.Sprintf(shape, "'k' FROM "+s.text+g.text), g.rows(s.rows)
				want := "[" + strings.TrimSuffix(strings.Repeat(`["k"],`, rows), ",") + "]"
				switch {
				case strings.Contains(shape, "count"):
					want = fmt.Sprintf("[[%d]]", rows)
				case shape != "SELECT %s" && rows > 0:
					want = `[["k"]]`
				}
				for seed := range uint64(2) {
					o := local.Options{Joiners: 2, Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 16}
					p := planOf(t, text, fuzzTables)
					if seed == 1 {
						small(p, fuzzTables)
					}
					got, err := answer(t, p, fuzzTables, o)
					if err != nil || got != want {
						t.Fatalf("%s: %s, want %s, %v", text, got, want, err)
					}
				}
			}
		}
	}
}
