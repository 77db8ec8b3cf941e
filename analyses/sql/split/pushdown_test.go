package split

import (
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/local"
)

// stepsOf names the steps of the first leaf of a plan.
func stepsOf(t *testing.T, p *Plan) string {
	t.Helper()
	s, err := p.statement()
	if err != nil {
		t.Fatal(p.Text, err)
	}
	var names []string
	for _, n := range s.Leaves[0].Steps {
		switch n.(type) {
		case *plan.Filter:
			names = append(names, "filter")
		case *plan.Project:
			names = append(names, "project")
		case *exec.Unnest:
			names = append(names, "unnest")
		case *exec.Broadcast:
			names = append(names, "join")
		}
	}
	return strings.Join(names, " ")
}

// TestConditionsArePushedDown: a condition is evaluated where its columns are known. The answer is that of the same condition
// above a LIMIT (at @), below which no condition is pushed.
func TestConditionsArePushedDown(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for text, want := range map[string]string{
		"SELECT * FROM (SELECT tk AS k, tn AS n FROM t @) WHERE n > 7":     "filter project project",
		"SELECT * FROM (SELECT tk AS k, tn + 1 AS n FROM t @) WHERE n > 7": "project filter project",
		// computed once
		"SELECT k FROM (SELECT tk AS k, length(tc) AS n FROM t @) WHERE n > 0": "project filter " +
			"project",
		"SELECT count(*) FROM (SELECT tk, tn, un FROM t JOIN u ON tk = uk @) WHERE tn > 7 AND un > 3": "filter join project",
		"SELECT count(*) FROM (SELECT length(tc) AS n, un FROM t JOIN u ON tk = uk @) WHERE n > 0":    "filter join project",
		"SELECT * FROM (SELECT tn, CASE WHEN tx > 2 THEN tx ELSE un END AS x FROM t LEFT JOIN u ON tk = uk @) WHERE x > 5": "filter join " +
			"project filter project",
		"SELECT * FROM (SELECT tn, if(tx > 2, tx, un) AS x, uc FROM t LEFT JOIN u ON tk = uk @) WHERE 5 < x AND uc = 'a'": "filter join " +
			"project filter project",
		"SELECT * FROM (SELECT tn, tx, un FROM t LEFT JOIN u ON tk = uk @) WHERE tn > 3 AND un > 2 OR tn < 20 AND tx > un": "filter join " +
			"project filter project",
		"SELECT * FROM (SELECT tn, un FROM t LEFT JOIN u ON tk = uk @) WHERE tn > 3 OR un > 3": "join project " +
			"filter project",
		"SELECT * FROM (SELECT tn, CASE WHEN un > 2 THEN tx ELSE 1 END AS x FROM t LEFT JOIN u ON tk = uk @) WHERE x > 5": "join project " +
			"filter project",
		// which may be an error
		"SELECT * FROM (SELECT tn, tk FROM t @) WHERE 10 // tn > 1 AND tk > " +
			"1": "project filter project",
		"SELECT * FROM (SELECT tn, row_number() OVER () AS r FROM t @) WHERE tn > 3": "",
		"SELECT * FROM (SELECT tn, p FROM t, UNNEST(string_split(tc, 'a')) AS x(p) @) " +
			"WHERE tn > 3 AND p = ''": "filter unnest project filter project",
		"WITH w AS (SELECT tk AS k, tn AS n FROM t @) SELECT a.n, b.n FROM w AS a JOIN " +
			"w AS b ON a.k = b.k WHERE a.n > 3 AND b.n < 4": "filter project",
		"WITH w AS (SELECT tk AS k, un FROM t JOIN u ON tk = uk @) SELECT (SELECT " +
			"count(*) FROM w), count(*), max(un) FROM w WHERE un > 3": "join project project",
		"SELECT * FROM (SELECT tn, un FROM t RIGHT JOIN u ON tk = uk @) WHERE un > 3": "",
		"SELECT * FROM (SELECT tn, un FROM t RIGHT JOIN u ON tk = uk @) WHERE tn > 3": "",
		"SELECT * FROM (SELECT tn, un FROM t FULL JOIN u ON tk = uk @) WHERE tn > 3":  "",
		"SELECT * FROM (SELECT tn, tc FROM t SEMI JOIN u ON tk = uk @) WHERE tn > " +
			"3": "filter join project project",
		"SELECT * FROM (SELECT h.i AS i, t.tn AS n, string_split(tc, 'b')[h.i] AS c FROM t, (VALUES (1), (2), (3)) AS h(i) WHERE h.i <= " +
			"len(string_split(tc, 'b')) AND tn > 2 @) WHERE n < 20": "filter join project project",
	} {
		files := someTables(r)
		got := small(planOf(t, strings.ReplaceAll(text, "@", ""), files), files)
		if steps := stepsOf(t, got); want != "" && steps != want {
			t.Errorf("%s\n   has %s, want %s", text, steps, want)
		}
		plain, err := answer(t, planOf(t, strings.ReplaceAll(text, "@", "LIMIT 1000000"), files), files, local.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		for seed := range uint64(3) {
			a, err := answer(t, got, files, local.Options{Joiners: 1 + int(seed), Seed: seed, ChunkBytes: 80})
			if err != nil || a != plain {
				t.Errorf("%s\n   answers %s, %v, want %s", text, a, err, plain)
			}
		}
	}
}
