package split

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/plan"
)

// TestUnnestOfJoinersIsThatOfTheReducer: joiners make the same rows of lists as the reducer, in the same order, whatever the number of
// joiners.
func TestUnnestOfJoinersIsThatOfTheReducer(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	var rows strings.Builder
	rows.WriteString("k,tags,other\n")
	for range 300 {
		var tags []string
		for range r.IntN(5) {
			tags = append(tags, string("abcdef"[r.IntN(6)]))
		}
		fmt.Fprintf(&rows, "%d,%s,%s\n", r.IntN(9), strings.Join(tags, "|"), []string{"", `""`, "x", "x-y-z"}[r.IntN(4)])
	}
	rows.WriteString("5," + strings.Repeat("long|", 9000) + ",\n") // more items than are made at a time
	files := fstest.MapFS{"t.csv": {Data: []byte(rows.String())}, "u.csv": {Data: []byte("uk,name\n1,a\n2,b\n2,c\n7,\n")}}
	for _, text := range []string{
		"SELECT k, unnest(string_split(tags, '|')) AS i, unnest(string_split(other, '-')) AS o FROM %s",
		"SELECT i, count(*), min(k), first(other), last(k) FROM %s AS t, unnest(string_split(tags, '|')) AS u (i) GROUP BY i",
		"SELECT k, i, name FROM %s AS t JOIN u ON k = uk, unnest(string_split(tags, '|')) AS x (i) WHERE i <> 'a' AND k > 1",
		"SELECT k, i, name FROM %s AS t, unnest(string_split(tags, '|')) AS x (i) LEFT JOIN u ON name = i",
		"SELECT k, i, name FROM u JOIN (SELECT k, unnest(string_split(tags, '|')) AS i FROM %s) ON k = uk AND i < 'long'",
		"SELECT k, i FROM %s AS t LEFT JOIN unnest(string_split(other, '-')) AS x (i) ON true ORDER BY i DESC LIMIT 20",
		"SELECT DISTINCT i FROM %s AS t, unnest(string_split(tags, '|')) AS x (i)",
		"SELECT i, o FROM %s AS t, unnest(string_split(tags, '|')) AS x (i), unnest(string_split(other, '-')) AS y (o) WHERE length(i) < 2",
		"SELECT i FROM %s AS t, unnest(string_split(tags, '|')) AS x (i) LIMIT 7 OFFSET 3",
	} {
		planFrom := func(from string) *Plan {
			p := planOf(t, fmt.Sprintf(text, from), files)
			for i := range p.Tables {
				if p.Tables[i].Name == "u" {
					p.Tables[i].Bytes = 100
				}
			}
			return p
		}
		want, err := answer(t, planFrom("(SELECT *, row_number() OVER () AS n FROM t)"), files, local.Options{})
		if err != nil || len(want) < 20 {
			t.Fatalf("%s: %s, %v", text, want, err)
		}
		p := planFrom("t")
		s, err := p.statement()
		if err != nil || len(s.Leaves) != 1 || !slices.ContainsFunc(s.Leaves[0].Steps,
			func(n plan.Node) bool { _, is := n.(*exec.Unnest); return is }) {
			t.Errorf("%s: joiners do not unnest: %v", text, err)
		}
		for seed := range uint64(3) {
			o := local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 300}
			if got, err := answer(t, p, files, o); err != nil || got != want {
				t.Errorf("%s\n seed %d: %v\n got  %.300s\n want %.300s", text, seed, err, got, want)
			}
		}
	}
}
