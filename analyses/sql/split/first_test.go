package split

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
)

// If a value of a row cannot be computed, a LIMIT without an order fails only if this row is among the first rows, however files are cut. A
// joiner that has the row does not know how many rows come before it.
func TestD1_ARowBehindTheFirstDoesNotFailThem(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,c\n")
	for i := range 40 {
		a := fmt.Sprint(i)
		if i == 20 || i == 22 {
			a = "9223372036854775807"
		}
		fmt.Fprintf(&b, "%s,\"x y\"\n", a)
	}
	files := fstest.MapFS{"t.csv": {Data: []byte(b.String())}}
	for text, want := range map[string]string{
		"SELECT a + 1 FROM t LIMIT 2":                                                     "[[1],[2]]",
		"SELECT a + 1 FROM t LIMIT 2 OFFSET 18":                                           "[[19],[20]]",
		"SELECT a + 1 FROM t LIMIT 3 OFFSET 18":                                           "line 22",
		"SELECT a + 1 FROM t LIMIT 1 OFFSET 30":                                           "line 22", // rows that OFFSET skips are computed, too
		"SELECT a FROM t WHERE a + 1 > 17 LIMIT 3":                                        "[[17],[18],[19]]",
		"SELECT a FROM t WHERE a + 1 > 17 LIMIT 4":                                        "line 22",
		"SELECT a FROM t WHERE a > 21 AND a + 1 < 100 LIMIT 1":                            "line 22",
		"SELECT a + 1, w FROM t, UNNEST(string_split(c, ' ')) AS u (w) LIMIT 2 OFFSET 38": `[[20,"x"],[20,"y"]]`,
		"SELECT a + 1, w FROM t, UNNEST(string_split(c, ' ')) AS u (w) LIMIT 3 OFFSET 38": "line 22",
		"SELECT a + 1 FROM t ORDER BY c LIMIT 2":                                          "line",
	} {
		for seed := range uint64(6) {
			chunk := 12 + 40*int(seed)
			if !strings.HasPrefix(want, "[[") {
				chunk = 6 // one row per chunk, so that the error names the exact line
			}
			got, err := answer(t, planOf(t, text, files), files, local.Options{Joiners: 1 + int(seed)%3, Aggregators: 1 + int(seed)%2, Seed: seed,
				ChunkBytes: chunk})
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != want || err != nil && !strings.Contains(got, want) {
				t.Errorf("%s, seed %d: %s, want %s", text, seed, got, want)
			}
		}
	}
}
