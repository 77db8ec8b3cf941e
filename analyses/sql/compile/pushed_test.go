package compile

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/types"
)

// TestParsersPassOverWhatWHEREExcludes: the answer equals that of a filter over all rows, whatever the bounds.
func TestParsersPassOverWhatWHEREExcludes(t *testing.T) {
	table, files := oddTable(rand.New(rand.NewPCG(2, 3)), 1500)
	for _, c := range []struct{ where, columns string }{
		{"f > 30.5", "f"}, {"30.5 < f AND f <= 100", "f"}, {"d >= 0e0", "d"}, {"d <= -0.25e0 AND d = d", "d"}, {"big = 9223372036854775807", "big"}, {"big < 1 AND big > -2", "big"},
		{"big > 9223372036854775807", ""}, {"big < -9223372036854775808", ""}, {"word = ''", "word"}, {"word = 'a' AND many = 'w7'", "word, many"}, {"word = 'a' AND word = 'b'", "word"},
		{"day >= DATE '2000-01-01' AND flag", "day"}, {"small = 1 OR f > 3", ""}, {"word LIKE 'z%' AND small <> 2 AND drift < 100", "drift"},
		{"10 // small > 1 AND drift < 100", ""}, {"drift < 100 AND 10 // small > 1", "drift"}, {"small BETWEEN -1 AND 1", "small"}, {"f > 1 AND word IS NULL", "f"}, {"f = 1.5 AND price = 0.01", "f"},
	} {
		what := "SELECT count(*), sum(f), sum(small), min(many), max(word), count(day), first(_line) FROM "
		want, err := answer(t, &Plan{Text: what + "(SELECT *, row_number() OVER () AS n, _line FROM t) WHERE " + c.where, Tables: []Table{table}}, files, local.Options{})
		if err != nil {
			t.Fatal(c.where, err)
		}
		p := &Plan{Text: what + "t WHERE " + c.where, Tables: []Table{table}}
		told, err := Explain(p)
		if err != nil {
			t.Fatal(err)
		}
		_, by, _ := strings.Cut(told, "by what WHERE says of ")
		if by, _, _ = strings.Cut(by, "\n"); by != c.columns {
			t.Errorf("%s: rows are skipped by %q, want %q", c.where, by, c.columns)
		}
		for seed := range uint64(3) {
			got, err := answer(t, p, files, local.Options{Joiners: 1 + int(seed), Seed: seed, ChunkBytes: 20_000})
			if err != nil || got != want {
				t.Errorf("%s: %s, %v, want %s", c.where, got, err, want)
			}
		}
	}
}

// TestRowsThatArePassedOverAreNotRejected: if WHERE is false for a row, its other fields cannot reject it. A value of the bounded column itself can.
func TestRowsThatArePassedOverAreNotRejected(t *testing.T) {
	files := fstest.MapFS{"t.csv": {Data: []byte("a,b\n1,10\n2,bad\nworse,20\n3,30\n,bad\n4,bad\n")}}
	table := Table{Name: "t", Files: "t.csv", Columns: []Column{{Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.Of(types.BigInt)}}}
	for text, want := range map[string]struct {
		rows     string
		rejected int
	}{
		"SELECT sum(b) FROM t WHERE a = 3 OR a = 1":                                                   {"[[40]]", 4},
		"SELECT sum(b) FROM t WHERE a <> 0 AND a = 3":                                                 {"[[30]]", 1},
		"SELECT sum(b) FROM t WHERE a > 2":                                                            {"[[30]]", 2},
		"SELECT (SELECT count(*) FROM t WHERE a > 2 AND b > 0), (SELECT count(b) FROM t WHERE a = 1)": {"[[1,1]]", 4},
	} {
		p := &Plan{Text: text, Tables: []Table{table}}
		got, err := answer(t, p, files, local.Options{})
		if err != nil || got != want.rows {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want.rows)
		}
		a, err := Analysis(p)
		if err != nil {
			t.Fatal(err)
		}
		ans, err := local.Run(a, files, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range ans.Rejected {
			n += int(r.Rows)
		}
		if n != want.rejected {
			t.Errorf("%s: %d rows are rejected, want %d", text, n, want.rejected)
		}
	}
}
