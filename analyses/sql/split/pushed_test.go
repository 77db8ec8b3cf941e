package split

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/types"
)

// TestParsersPassOverWhatWHEREExcludes: the answer equals that of a filter over all rows, whatever the bounds.
func TestParsersPassOverWhatWHEREExcludes(t *testing.T) {
	table, files := oddTable(rand.New(rand.NewPCG(2, 3)), 1500)
	for _, c := range []struct{ where, columns string }{
		{"f > 30.5", "f"}, {"30.5 < f AND f <= 100", "f"}, {"d >= 0e0", "d"}, {"d <= -0.25e0 AND d = d", "d"},
		{"big = 9223372036854775807", "big"}, {"big < 1 AND big > -2", "big"},
		{"big > 9223372036854775807", ""}, {"big < -9223372036854775808", ""}, {"word = ''", "word"},
		{"word = 'a' AND many = 'w7'", "word, many"}, {"word = 'a' AND word = 'b'", "word"},
		{"day >= DATE '2000-01-01' AND flag", "day"}, {"small = 1 OR f > 3", ""}, {"word LIKE 'z%' AND small <> 2 AND drift < 100", "drift"},
		{"10 // small > 1 AND drift < 100", ""}, {"drift < 100 AND 10 // small > 1", "drift"}, {"small BETWEEN -1 AND 1", "small"},
		{"f > 1 AND word IS NULL", "f"}, {"f = 1.5 AND price = 0.01", "f, price"},
		{"price < 1", "price"}, {"price <= 0.005 AND price > -5.555", "price"}, {"price >= 0.009 AND 9999999.985 >= price", "price"},
		{"price = 0.011", ""}, {"big <> 1", ""}, {"small < 0.5", "small"},
		{"big >= 92233720368547758.5", "big"}, {"small = -1 OR 2 = small", "small"}, {"small IN (1, NULL)", "small"},
		{"price IN (-5.55, 0.01)", "price"}, {"price IN (0.010, 7)", ""}, {"word IN ('a', NULL, 'née')", "word"},
		{"word = 'a' OR word = 'b' OR word = ''", "word"}, {"word IN ('a', 'b') AND word IN ('b', 'c')", "word"},
		{"word = 'a' OR many = 'w1'", ""}, {"word IN (NULL, NULL)", "word"},
		{"word IN ('a','b','c','d','e','f','g','h','i','j','k','l','m','n','o','p','q')", ""}, {"'a' IN (word, 'b')", ""},
		{"word NOT IN ('a', 'b')", ""},
		{"day < DATE '1970-01-29' + INTERVAL '1' MONTH", "day"}, {"day <= TIMESTAMP '2024-02-29 00:00:01'", "day"},
		{"day < TIMESTAMP '2024-02-29 00:00:01'", "day"},
		{"day > TIMESTAMP '1969-12-30 23:59:59.999999'", "day"}, {"TIMESTAMP '1969-12-31 00:00:01' <= day", "day"},
		{"day = TIMESTAMP '2024-02-29 12:00:00'", ""},
		{"day = DATE '2024-02-28' + INTERVAL '1' DAY AND price < 0.02 * 50", "day, price"}, {"f > 1e300 * 1e300", "f"},
	} {
		what := "SELECT count(*), sum(f), sum(small), min(many), max(word), count(day), first(_line) FROM "
		want, err := answer(t, &Plan{Text: what + "(SELECT *, row_number() OVER () AS n, _line FROM t) WHERE " + c.where,
			Tables: []catalog.Table{table}}, files, local.Options{})
		if err != nil {
			t.Fatal(c.where, err)
		}
		p := &Plan{Text: what + "t WHERE " + c.where, Tables: []catalog.Table{table}}
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

// TestRowsThatArePassedOverAreNotRejected: if WHERE is false for a row, its other fields cannot reject it. A value of the bounded column
// itself can.
func TestRowsThatArePassedOverAreNotRejected(t *testing.T) {
	files := fstest.MapFS{"t.csv": {Data: []byte("a,b\n1,10\n2,bad\nworse,20\n3,30\n,bad\n4,bad\n")}}
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "a", Type: types.Of(types.BigInt)},
		{Name: "b", Type: types.Of(types.BigInt)}}}
	for text, want := range map[string]struct {
		rows     string
		rejected int
	}{
		"SELECT sum(b) FROM t WHERE a = 3 OR a = 1":                                                   {"[[40]]", 2},
		"SELECT sum(b) FROM t WHERE a IN (3, 1)":                                                      {"[[40]]", 2},
		"SELECT sum(b) FROM t WHERE a = 3 OR b = 10":                                                  {"[[40]]", 4},
		"SELECT sum(b) FROM t WHERE a <> 0 AND a = 3":                                                 {"[[30]]", 1},
		"SELECT sum(b) FROM t WHERE a > 2":                                                            {"[[30]]", 2},
		"SELECT (SELECT count(*) FROM t WHERE a > 2 AND b > 0), (SELECT count(b) FROM t WHERE a = 1)": {"[[1,1]]", 4},
	} {
		rejects(t, &Plan{Text: text, Tables: []catalog.Table{table}}, files, want.rows, want.rejected)
	}
}

// rejects checks the answer of a plan, and how many rows it rejects.
func rejects(t *testing.T, p *Plan, files fstest.MapFS, rows string, rejected int) {
	t.Helper()
	got, err := answer(t, p, files, local.Options{})
	if err != nil || got != rows {
		t.Errorf("%s: %s, %v, want %s", p.Text, got, err, rows)
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
	if n != rejected {
		t.Errorf("%s: %d rows are rejected, want %d", p.Text, n, rejected)
	}
}

// TestJoinersLackRowsThatWHEREExcludes: parsers skip rows of a table that joiners have, too, if nothing in the statement wants these rows.
func TestJoinersLackRowsThatWHEREExcludes(t *testing.T) {
	files := fstest.MapFS{
		"t.csv": {Data: []byte("a,b\n1,10\n2,bad\nworse,20\n3,30\n,bad\n4,bad\n")},
		"l.csv": {Data: []byte("n\n" + strings.Repeat("1\n3\n", 20))},
	}
	numbers := []catalog.Column{{Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.Of(types.BigInt)}}
	tables := []catalog.Table{{Name: "l", Files: "l.csv", Columns: []catalog.Column{{Name: "n", Type: types.Of(types.BigInt)}}},
		{Name: "t", Files: "t.csv", Columns: numbers}}
	for text, want := range map[string]struct {
		rows     string
		rejected int
		skips    bool
	}{
		"SELECT sum(b) FROM l JOIN t ON n = a WHERE a > 2":                                                       {"[[600]]", 2, true},
		"SELECT sum(b) FROM t JOIN l ON n = a WHERE a IN (1, 3) AND a <> 1":                                      {"[[600]]", 2, true},
		"SELECT count(*), sum(b) FROM l LEFT JOIN t ON n = a AND a > 2":                                          {"[[40,600]]", 2, true},
		"SELECT count(*) FROM l WHERE n IN (SELECT b - 9 FROM t WHERE a = 1)":                                    {"[[20]]", 1, true},
		"SELECT sum(b) FROM l JOIN t ON n = a":                                                                   {"[[800]]", 4, false},
		"SELECT sum(b) FROM l JOIN t ON n = a WHERE b + a > 20":                                                  {"[[600]]", 4, false},
		"SELECT sum(t.b + v.b) FROM l JOIN t ON n = t.a JOIN t AS v ON v.a = n WHERE t.a > 2":                    {"[[1200]]", 4, false},
		"SELECT sum(b) FROM l JOIN t ON n = a WHERE a > 2 AND n < (SELECT max(b) FROM t)":                        {"[[600]]", 4, false},
		"WITH v AS (SELECT * FROM t WHERE a > 2) SELECT sum(v.b + w.b) FROM l JOIN v ON n = v.a, v AS w":         {"[[1200]]", 2, true},
		"WITH v AS (SELECT * FROM t) SELECT sum(v.b + w.b) FROM l JOIN v ON n = v.a JOIN v AS w ON w.a=1":        {"[[1200]]", 4, false},
		"WITH v AS (FROM t) SELECT sum(v.b + w.b) FROM l JOIN v ON n = v.a JOIN v AS w ON w.a = n WHERE v.a > 2": {"[[1200]]", 4, false},
	} {
		p := small(&Plan{Text: text, Tables: tables}, files)
		rejects(t, p, files, want.rows, want.rejected)
		told, err := Explain(p)
		if err != nil || strings.Contains(told, "those rows of t that are not skipped") != want.skips ||
			strings.Contains(told, "has t whole") == want.skips {
			t.Errorf("%s: %s %v", text, told, err)
		}
	}
}

// TestSkippedRowsTakeNoRoom: of a table with a condition, joiners may have more than of one without.
func TestSkippedRowsTakeNoRoom(t *testing.T) {
	files := fstest.MapFS{"t.csv": {Data: []byte("a,b\n1,10\n")}, "l.csv": {Data: []byte("n\n1\n")}}
	for where, small := range map[string]bool{"": false, " WHERE a > 2": true, " WHERE a + b > 2": false} {
		p := planOf(t, "SELECT sum(b) FROM l JOIN t ON n = a"+where, files)
		for i := range p.Tables {
			if p.Tables[i].Bytes = 1 << 30; p.Tables[i].Name == "t" {
				p.Tables[i].Bytes = MaxReference * 3 / 2
			}
		}
		told, err := Explain(p)
		if err != nil || strings.Contains(told, "every joiner has") != small {
			t.Errorf("%s: %s %v", where, told, err)
		}
	}
}
