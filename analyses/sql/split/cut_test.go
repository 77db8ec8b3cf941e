package split

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/rows/fold"
)

// repeatedKeys has groups of one to five rows; the sum of v overflows in the group huge.
func repeatedKeys(huge bool) fstest.MapFS {
	var b strings.Builder
	b.WriteString("k,g,v\n")
	for i := range 3000 {
		for n := range 1 + i%5 {
			fmt.Fprintf(&b, "%d,g%d,%d\n", i, i%7, n)
		}
	}
	if huge {
		b.WriteString("9999,huge,9223372036854775807\n9999,huge,9223372036854775807\n")
	}
	return fstest.MapFS{"t.csv": {Data: []byte(b.String())}}
}

// prunedRun answers a statement several times, and returns the answer, which must always be the same, and how many groups aggregators
// dropped.
func prunedRun(t *testing.T, text string, files fstest.MapFS) (answer string, dropped int) {
	t.Helper()
	a, err := Analysis(planOf(t, text, files))
	if err != nil {
		t.Fatal(text, err)
	}
	prune := a.Prune
	run := func(o local.Options) string {
		ans, err := local.Run(a, files, o)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(ans.Queries[0].Rows)
	}
	a.Prune = nil
	answer = run(local.Options{Joiners: 1, Aggregators: 1, ChunkBytes: 1 << 20})
	if prune == nil {
		return answer, 0
	}
	a.Prune = func(args analyses.Args, stream int, tables []*fold.Table) error {
		groups := func() (n int) {
			for _, t := range tables {
				n += t.Len()
			}
			return n
		}
		before := groups()
		err := prune(args, stream, tables)
		dropped += before - groups()
		return err
	}
	for seed := range uint64(6) {
		if got := run(local.Options{Joiners: 2, Aggregators: 1 + int(seed)%3, Seed: seed, ChunkBytes: 3000}); got != answer {
			t.Errorf("%s\n   with groups dropped %.200s\n   without             %.200s", text, got, answer)
		}
	}
	return answer, dropped
}

// TestQ7_AggregatorsDropGroups: groups that HAVING excludes do not travel to the reducer, and the answer is the same.
func TestQ7_AggregatorsDropGroups(t *testing.T) {
	files := repeatedKeys(false)
	for text, drops := range map[string]bool{
		"SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 4":                                      true,
		"SELECT k, sum(v) AS s FROM t GROUP BY k HAVING s > 9 ORDER BY s, k DESC LIMIT 7":                    true,
		"SELECT count(*) FROM (SELECT k, g, count(*) AS n FROM t GROUP BY ALL) WHERE n = 5 AND g LIKE '%3'":  true,
		"SELECT k FROM t GROUP BY k HAVING count(*) = 5 AND sum(v) * k > 100":                                true,
		"SELECT k FROM t GROUP BY k HAVING sum(v) * k > 100 AND count(*) = 5":                                false, // the first part may fail
		"SELECT k FROM t GROUP BY k HAVING count(*) > 1":                                                     false, // most stay
		"SELECT k FROM t GROUP BY k HAVING count(DISTINCT v) > 4":                                            true,
		"SELECT m FROM (SELECT k + 1 AS m, count(*) AS n FROM t GROUP BY k) WHERE n = 5":                     false, // k + 1 may fail
		"SELECT count(*) FROM t HAVING count(*) > 1000000":                                                   false,
		"SELECT k, count(*) FROM t GROUP BY k HAVING count(*) > (SELECT 4)":                                  false,
		"WITH s AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT * FROM s WHERE n = 5 UNION ALL FROM s": false, // all groups are read, too
		"SELECT a.k, count(*) FROM t a, t b WHERE a.k = b.k GROUP BY a.k HAVING count(*) > 20":               false, // of a join
		"SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 9":                                      true,  // nothing stays
		"SELECT g, n FROM (SELECT g, count(*) AS n FROM t GROUP BY g) WHERE g = 'g1'":                        true,
	} {
		answer, dropped := prunedRun(t, text, files)
		if (dropped > 0) != drops || strings.Contains(answer, "rror") {
			t.Errorf("%s: %d groups were dropped, wanted %v: %.100s", text, dropped, drops, answer)
		}
	}
}

// TestQ7_GroupsAreDroppedFromLargeTables: the condition is computed for one piece of a table after the other, and those that stay are the
// right ones.
func TestQ7_GroupsAreDroppedFromLargeTables(t *testing.T) {
	var b strings.Builder
	b.WriteString("k\n")
	for i := range 3 * exec.AtOnce {
		b.WriteString(exec.Itoa(i) + "\n")
		if i%100 == 7 {
			b.WriteString(exec.Itoa(i) + "\n")
		}
	}
	answer, dropped := prunedRun(t, "SELECT k, count(*) FROM t GROUP BY k HAVING count(*) = 2",
		fstest.MapFS{"t.csv": {Data: []byte(b.String())}})
	if rows := strings.Count(answer, "7 2]"); rows != (3*exec.AtOnce+92)/100 || dropped < exec.AtOnce {
		t.Errorf("%d rows, %d groups were dropped", rows, dropped)
	}
}

// TestQ7_AGroupThatFailsIsKept: the sum of a group that HAVING excludes does not fit into its type. The statement fails as it does when no
// group is dropped.
func TestQ7_AGroupThatFailsIsKept(t *testing.T) {
	answer, _ := prunedRun(t, "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING count(*) > 4", repeatedKeys(true))
	if !strings.Contains(answer, "does not fit") {
		t.Errorf("%.200s", answer)
	}
}

// TestE10_AggregatorsKeepTheBestGroups: of an ORDER BY with a LIMIT over groups, each aggregator keeps its own best. The answer is the same
// as that of all groups, also where groups are equal in the order, where keys and values are NULL, and behind an OFFSET.
func TestE10_AggregatorsKeepTheBestGroups(t *testing.T) {
	var b strings.Builder
	b.WriteString("k,c,v\n")
	for i := range 2*exec.AtOnce + 100 {
		fmt.Fprintf(&b, "%d,%s,%d\n", i%5000, []string{"", "x", "abcdefgh1", "abcdefgh2"}[i%4], i%7)
		if i%50 == 0 {
			b.WriteString(",,\n")
		}
	}
	files := fstest.MapFS{"t.csv": {Data: []byte(b.String())}}
	for text, drops := range map[string]bool{
		"SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 10":                                 true,
		"SELECT k, c, sum(v) FROM t GROUP BY ALL ORDER BY 3, c DESC NULLS FIRST LIMIT 5 OFFSET 90":           true,
		"SELECT k, avg(v) AS a FROM t GROUP BY k ORDER BY a DESC NULLS FIRST, k DESC LIMIT 3":                true,
		"SELECT k, c, min(c) AS m FROM t GROUP BY ALL ORDER BY m DESC LIMIT 1200":                            true,
		"SELECT k, c FROM t GROUP BY ALL LIMIT 7":                                                            true,
		"SELECT c, k FROM t GROUP BY ALL LIMIT 9 OFFSET 3":                                                   true,
		"SELECT k, count(DISTINCT v) AS n, count(DISTINCT c) FROM t GROUP BY k ORDER BY n DESC LIMIT 4":      true,
		"SELECT k, sum(DISTINCT v) AS n FROM t GROUP BY k HAVING n > 5 ORDER BY n LIMIT 4":                   true,
		"SELECT k, n / 2 FROM (SELECT k, sum(v) AS n FROM t GROUP BY k) WHERE n > 3 ORDER BY n, k LIMIT 4":   true,
		"SELECT k + 1, count(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 10":                             false, // k + 1 may fail
		"SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 4000":                               false, // most stay
		"SELECT k, sum(n) OVER () FROM (SELECT k, count(*) AS n FROM t GROUP BY k) ORDER BY n DESC LIMIT 10": false,
	} {
		answer, dropped := prunedRun(t, text, files)
		if (dropped > 0) != drops || strings.Contains(answer, "rror") {
			t.Errorf("%s: %d groups were dropped, wanted %v: %.100s", text, dropped, drops, answer)
		}
	}
}

// TestE10_DistinctValuesStayInAggregators: what leaves an aggregator is groups, even where there is one without keys, or values without
// rows.
func TestE10_DistinctValuesStayInAggregators(t *testing.T) {
	files := repeatedKeys(false)
	for _, text := range []string{
		"SELECT count(DISTINCT k), sum(DISTINCT v), count(*), count(DISTINCT g) FROM t",
		"SELECT count(DISTINCT k) FROM t WHERE k < 0",
		"SELECT g, count(DISTINCT k), sum(DISTINCT v), avg(DISTINCT v + 0.5), count(DISTINCT nullif(v, v)) FROM t GROUP BY g",
	} {
		if answer, dropped := prunedRun(t, text, files); strings.Contains(answer, "rror") || dropped == 0 != strings.Contains(text, "k < 0") {
			t.Errorf("%s: %d groups and values were dropped: %.200s", text, dropped, answer)
		}
	}
}
