package split

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/types"
)

// oddTable returns a table with NULLs and extremes. Its columns have few distinct values or many.
func oddTable(r *rand.Rand, rows int) (catalog.Table, fstest.MapFS) {
	pick := func(of ...string) func() string { return func() string { return of[r.IntN(len(of))] } }
	columns := []struct {
		name  string
		t     types.Type
		value func() string
	}{
		{"word", types.Of(types.Text), pick("a", "b", `""`, "", "née", "zzzzzzzzzzzzzzzz")},
		{"many", types.Of(types.Text), func() string { return fmt.Sprint("w", r.IntN(300)) }},
		{"small", types.Of(types.BigInt), func() string { return fmt.Sprint(r.IntN(5) - 2) }},
		{"drift", types.Of(types.BigInt), func() string { return fmt.Sprint(r.IntN(1 + r.IntN(40_000))) }},
		{"big", types.Of(types.BigInt), pick("9223372036854775807", "-9223372036854775808", "0", "1", "-1", "", "4294967296", "-4294967297")},
		{"d", types.Of(types.Double), pick("0.5", "-0.25", "0", "-0", "nan", "inf", "-inf", "", "1e300", "-1e300", "3.75")},
		{"f", types.Of(types.Double), func() string { return fmt.Sprint(float64(r.IntN(4000)-2000) / 16) }},
		{"flag", types.Of(types.Bool), pick("true", "false", "")},
		{"day", types.Of(types.Date), pick("2024-02-29", "1969-12-31", "", "2030-01-01")},
		{"price", types.DecimalOf(9, 2), pick("0.01", "-5.55", "9999999.99", "")},
	}
	t := catalog.Table{Name: "t", Files: "t.csv"}
	var b strings.Builder
	for i, c := range columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c.name, Type: c.t})
		b.WriteString(strings.Repeat(",", min(i, 1)) + c.name)
	}
	b.WriteByte('\n')
	for range rows {
		for i, c := range columns {
			b.WriteString(strings.Repeat(",", min(i, 1)) + c.value())
		}
		b.WriteByte('\n')
	}
	return t, fstest.MapFS{"t.csv": {Data: []byte(b.String())}}
}

// TestQ7_BothHalvesComputeTheSame: an aggregate that joiners fold equals the one that the tail computes from all rows, to the
// last bit.
func TestQ7_BothHalvesComputeTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	table, files := oddTable(r, 2400)
	keys := []string{"", "word", "many", "small", "drift", "big", "d", "flag", "word, small, flag", "small, drift", "upper(word), many",
		"_file, word",
		"coalesce(word, 'none')", "substring(many, 2, 1), word IS NULL",
		"CASE WHEN many LIKE 'w1%' THEN CAST(substring(many, 2) AS BIGINT) % 7 END", "length(many) + length(word)"}
	all := []string{
		"count(*)", "count(d)", "count(big)", "count(word)", "sum(small)", "sum(price)", "avg(big)", "avg(price)", "sum(f)", "avg(f)", "sum(d)",
		"avg(d)",
		"min(d)", "max(d)", "min(f)", "max(f)", "min(big)", "max(big)", "min(day)", "max(day)", "min(price)", "max(price)", "min(flag)",
		"max(flag)",
		"min(word)", "max(word)", "bool_and(flag)", "bool_or(flag)", "first(d)", "last(word)", "any_value(day)", "sum(f) FILTER (WHERE flag)",
		"count(*) FILTER (WHERE d > 0)", "min(f + small) FILTER (WHERE word = 'a')",
		"count(DISTINCT word)", "count(DISTINCT d)", "count(DISTINCT many) FILTER (WHERE flag)", "sum(DISTINCT small)", "avg(DISTINCT price)",
		"sum(DISTINCT d)", "avg(DISTINCT f)",
		"var_samp(f)", "stddev_pop(d)", "stddev_samp(big)", "var_pop(d) FILTER (WHERE d - d = 0)", "var_samp(f * 1e-320)",
		"stddev_pop(f * 1e304)", "var_pop(CASE WHEN flag THEN d * 1e-300 WHEN d - d = 0 THEN d / 1e10 END)",
		"stddev_samp(price) FILTER (WHERE small = 9)", "var_samp(price)", "max(DISTINCT day)", "approx_count_distinct(drift)", "min_by(word, d)",
		"max_by(many, price)", "max_by(day, word)", "min_by(f, big) FILTER (WHERE f > 0)",
	}
	folds := func(from string, key string, list []string) string {
		text := "SELECT CAST(" + strings.Join(list, " AS TEXT), CAST(") + " AS TEXT) FROM " + from // JSON has no NaN
		if key != "" {
			text += " GROUP BY " + key
		}
		return text
	}
	for n := range 2 * len(keys) {
		key, aggregates := keys[n/2], all[:len(all)/2]
		if n%2 == 1 {
			aggregates = all[len(all)/2:]
		}
		list := aggregates
		if key != "" {
			list = append([]string{}, aggregates...)
			if !strings.Contains(key, "(") {
				list = append(strings.Split(key, ", "), list...)
			}
		}
		want, err := answer(t, &Plan{Text: folds("(SELECT *, row_number() OVER () AS n, _file FROM t)", key, list),
			Tables: []catalog.Table{table}},
			files, local.Options{})
		if err != nil {
			t.Fatal(key, err)
		}
		p := &Plan{Text: folds("t", key, list), Tables: []catalog.Table{table}}
		if s, err := p.statement(); err != nil || len(s.Leaves) != 1 || s.Leaves[0].Keep != exec.KeepGroups {
			t.Fatalf("%s is not folded: %v", p.Text, err)
		}
		for seed := range uint64(2) {
			o := local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 100_000}
			if got, err := answer(t, p, files, o); err != nil || got != want {
				t.Errorf("by %q, seed %d: %v\n got  %.300s\n want %.300s", key, seed, err, got, want)
			}
		}
	}
}

// TestPartsThatAreUsedTwice: an alias that several parts of an expression use gives each of them what a column would.
func TestPartsThatAreUsedTwice(t *testing.T) {
	table, files := oddTable(rand.New(rand.NewPCG(1, 1)), 500)
	ask := func(text string) string {
		t.Helper()
		got, err := answer(t, &Plan{Text: text, Tables: []catalog.Table{table}}, files, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, parts := range [][2]string{
		{"abs(small)", "CASE WHEN a > 1 THEN a + a WHEN a = 0 THEN NULL ELSE a * 10 END"},
		{"drift // small", "CASE WHEN small = 0 THEN -1 WHEN a > 5 THEN a ELSE coalesce(a, 7) + coalesce(a, 8) END"},
		{"upper(word) || many", "length(a) + CASE WHEN a LIKE '%W1%' OR right(a, 1) = '7' THEN length(replace(a, '1', '')) ELSE 0 END"},
		{"upper(many)", "CASE WHEN a LIKE 'W2_' AND length(a) = 3 THEN CAST(substring(a, 2) AS BIGINT) END"},
	} {
		alias := ask(fmt.Sprintf("SELECT sum(b), count(b) FROM (SELECT %s AS a, %s AS b FROM t)", parts[0], parts[1]))
		column := ask(fmt.Sprintf("SELECT sum(b), count(b) FROM (SELECT %s AS b FROM (SELECT *, %s AS a FROM t))", parts[1], parts[0]))
		if alias != column {
			t.Errorf("%s: %s, of a column %s", parts[1], alias, column)
		}
	}
}
