package split

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/syntax"
)

// fuzzTables are three small tables with all types and NULLs, under the names that bind's tests use.
var fuzzTables = fstest.MapFS{
	"t.csv": {Data: []byte("a,b,c\n1,2,x\n,3,\n-7,,\"\"\n1,2,y\n")},
	"u.csv": {Data: []byte("a,x,d\n1,0.5,2024-01-31\n3,,\n9223372036854775807,1e300,1969-12-31\n")},
	"trips.csv": {Data: []byte(
		"city,start,duration,price,member\nOslo,2024-02-29 08:00:00,600,1.25,true\n,,,,\n\"\",2024-03-01 09:00:00.5,-1,0.10,false\n")},
}

// FuzzStatement: from any text, a node makes an analysis that passes the check, or an error in words. Equal plans give equal analyses (Q2).
func FuzzStatement(f *testing.F) {
	for _, path := range []string{"../bind/testdata/plans.txt", "../bind/testdata/errors.txt"} {
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
			text, _, _ := strings.Cut(c, "\n----")
			f.Add(text, true)
		}
	}
	f.Fuzz(func(t *testing.T, text string, know bool) {
		p := planOf(t, text, fuzzTables)
		if know {
			small(p, fuzzTables)
		}
		a, err := Analysis(p)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a word", text)
			}
			return
		}
		if err := a.Check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		again, err := Analysis(p)
		if err != nil || shape(again) != shape(a) {
			t.Errorf("%q becomes another analysis the second time: %v", text, err)
		}
	})
}

// shape returns all of an analysis but its functions.
func shape(a *analyses.Analysis) string {
	return fmt.Sprintf("%+v %+v %+v", a.Streams, a.Tables, a.Queries[0].Columns)
}

// TestQ1_APlanCostsANodeABoundedAmount: statements of the greatest length, in all shapes that repeat something, are compiled or refused in
// words. An algorithm that is quadratic in the number of tokens would take gigabytes.
func TestQ1_APlanCostsANodeABoundedAmount(t *testing.T) {
	for _, c := range []struct{ first, more, last string }{
		{"SELECT a FROM t WHERE a = 1", " OR a = 1", ""}, {"SELECT a FROM t WHERE a IN (1", ",1", ")"}, {"SELECT a", "+a", " FROM t"},
		{"SELECT count(*)", ",sum(a)", " FROM t"},
		{"SELECT a FROM t", " UNION ALL SELECT a FROM t", ""}, {"SELECT CASE", " WHEN a = 1 THEN 2", " END FROM t"},
		{"SELECT a FROM t ORDER BY a", ",a", ""}, {"SELECT a", "::INT::TEXT", " FROM t"},
		{"SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)", " AND EXISTS (SELECT 1 FROM u WHERE u.a = t.a)", ""},
		{"SELECT a FROM t WHERE a > (SELECT max(a) FROM u)", " AND a > (SELECT max(a) FROM u)", ""},
		{"SELECT a FROM ", "(SELECT * FROM ", "t"}, {"SELECT count(DISTINCT a)", ",count(DISTINCT b + 1)", " FROM t"},
	} {
		text := c.first + strings.Repeat(c.more, (syntax.MaxText-len(c.first)-len(c.last))/len(c.more)) + c.last
		p := small(planOf(t, text, fuzzTables), fuzzTables)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := Analysis(p)
		runtime.ReadMemStats(&after)
		if err == nil {
			err = a.Check()
		}
		mib := (after.TotalAlloc - before.TotalAlloc) >> 20
		if mib > 512 {
			t.Errorf("%s%s … is compiled with %d MiB: %.300v", c.first, c.more, mib, err)
		}
	}
}

// TestD1_ReplicasAndChunksDoNotChangeAnswers: the statements of bind's tests, with different numbers of nodes and different
// chunks.
func TestD1_ReplicasAndChunksDoNotChangeAnswers(t *testing.T) {
	file, err := os.ReadFile("../bind/testdata/plans.txt")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
		text, _, _ := strings.Cut(c, "\n----")
		p := small(planOf(t, text, fuzzTables), fuzzTables)
		if _, err := Analysis(p); err != nil {
			continue
		}
		want, failed := answer(t, p, fuzzTables, local.Options{Joiners: 1, Aggregators: 1, Seed: 1, ChunkBytes: 1 << 20})
		for seed := range uint64(2) {
			got, err := answer(t, p, fuzzTables, local.Options{Joiners: 2 + int(seed), Aggregators: 3 - int(seed), Seed: seed,
				ChunkBytes: 1 + 30*int(seed)})
			if got != want || (err == nil) != (failed == nil) {
				t.Errorf("%s\nseed %d: %s, %v; with one of each %s, %v", text, seed, got, err, want, failed)
			}
		}
		ran++
	}
	t.Logf("%d statements", ran)
	if ran < 10 {
		t.Errorf("only %d statements of bind's fit the tables", ran)
	}
}
