package split

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/eval"
)

// TestR16_LongValuesAreComputedInPieces: a batch whose values do not fit the memory together is computed in pieces, wherever a statement
// makes the values, and gives the answer that short values give.
func TestR16_LongValuesAreComputedInPieces(t *testing.T) {
	const rows, n = 1200, 10_000 // 72 MB; all texts differ, so that none is computed once for several rows
	var b strings.Builder
	b.WriteString("id,c\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%c%c%04d\n", i, 'a'+i%7, 'a'+i%5, i)
	}
	files := fstest.MapFS{"t.csv": {Data: []byte(b.String())}, "u.csv": {Data: []byte("k,v\n4,a\n5,b\n6,c\n")}}
	// @ is a long text, and # its length for each character of c.
	for _, text := range []string{
		"SELECT id, length(x) // # FROM (SELECT id, @ AS x FROM t) ORDER BY id",
		"SELECT left(@, 2), count(*), avg(length(@) // #), count(*) FILTER (WHERE @ LIKE '%b%') FROM t GROUP BY 1 ORDER BY 1",
		"SELECT id FROM t ORDER BY @ DESC, id LIMIT 5",
		"SELECT count(*), min(id) FROM t JOIN u ON length(@) // # = k AND @ > v",
		"SELECT count(*), count(DISTINCT left(i, 1)) FROM (SELECT id, unnest(string_split(@ || ',' || c, ',')) AS i FROM t)",
		"SELECT count(*) FROM t AS a JOIN t AS b ON a.id = b.id AND length(repeat(a.c, #)) = length(repeat(b.c, #))",
		"SELECT count(*) FROM t WHERE length(@) // # IN (SELECT k FROM u)",
	} {
		ask := func(n int, make func(p *Plan) *Plan) string {
			text := strings.ReplaceAll(strings.ReplaceAll(text, "@", "repeat(c, #)"), "#", fmt.Sprint(n))
			got, err := answer(t, make(planOf(t, text, files)), files, local.Options{Joiners: 1, Aggregators: 1, Seed: 1, ChunkBytes: 1 << 20})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			return got
		}
		if got, want := ask(n, large), ask(1, large); got != want {
			t.Errorf("%s\n   got  %.300s\n   want %.300s", text, got, want)
		}
	}
}

// TestR16_WhatRowsBecomeIsBounded: rows of a few bytes, of which a statement makes gigabytes, fail in words.
func TestR16_WhatRowsBecomeIsBounded(t *testing.T) {
	files := fstest.MapFS{"t.csv": {Data: []byte("id\n" + strings.Repeat("7\n", 70))}}
	for text, why := range map[string]string{
		"SELECT x FROM (SELECT repeat('x', 4000000) AS x, id FROM t) LIMIT 100": "take more than 256 MiB in one process",
		"SELECT _line, min(repeat('x', 4000000)) FROM t GROUP BY 1":             "take more than 256 MiB in one process",
		"SELECT " + strings.Repeat("x, ", 90) +
			"x FROM (SELECT repeat('x', 4000000) AS x FROM t)": "the values of one row take more than 256 MiB",
	} {
		_, err := answer(t, large(planOf(t, text, files)), files, local.Options{Joiners: 1, Aggregators: 1})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.90s: %.300v; want %q", text, err, why)
		}
	}
}

// TestR16_BoundsFollowLimitsMemory: a lower limits.memory lowers the bounds on what functions, joins and groups take in each role, and the
// error names it. What fits is answered as ever.
func TestR16_BoundsFollowLimitsMemory(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "%d\n", i)
	}
	files := fstest.MapFS{"t.csv": {Data: []byte("id\n" + b.String())}, "u.csv": {Data: []byte("id\n" + b.String())}}
	for _, text := range []string{
		"SELECT count(*), max(length(x)) FROM (SELECT " + strings.Repeat("lower(", 9) + "repeat('x', 7000000)" + strings.Repeat(")", 9) +
			" || '' AS x FROM t WHERE id = 3)",
		"SELECT id, min(repeat('x', 20000) || id) FROM t GROUP BY 1 LIMIT 2",
		"SELECT x FROM (SELECT repeat('x', 4000000) || id AS x FROM t) LIMIT 20",
		"SELECT count(*) FROM (SELECT id, sum(id) OVER (ORDER BY repeat('x', 20000) || id) AS s FROM t WHERE id < 2000)",
		"SELECT max(length(l)) FROM (SELECT string_agg(repeat('x', 20000), ',') AS l FROM t WHERE id < 2000 GROUP BY id % 1000)",
	} {
		run := func(memory int) error {
			_, err := answer(t, large(planOf(t, text, files)), files, local.Options{Joiners: 1, Aggregators: 1, Memory: memory, ChunkBytes: 1 << 20})
			return err
		}
		if err := run(32 << 20); err == nil || !strings.Contains(err.Error(), "limits.memory") {
			t.Errorf("%.100s: %.300v; limits.memory is not named", text, err)
		}
		if err := run(1 << 30); err != nil {
			t.Errorf("%.100s: %.300v", text, err)
		}
	}
}

// TestR16_ALimitOverLongValues: a LIMIT over long values is answered, although the values of all rows are more than a statement may make.
func TestR16_ALimitOverLongValues(t *testing.T) {
	var b strings.Builder
	b.WriteString("id\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "%d\n", i)
	}
	files := fstest.MapFS{"t.csv": {Data: []byte(b.String())}, "u.csv": {Data: []byte("k\n7\n9\n")}}
	for text, want := range map[string]string{
		"SELECT left(x, 2) AS y, id FROM (SELECT repeat('x', 7900000) || id AS x, id " +
			"FROM t) WHERE length(x) > 9 LIMIT 3": "[[\"xx\",0],[\"xx\",1],[\"xx\",2]]",
		"SELECT left(x, 2) AS y, id FROM (SELECT repeat('x', 7900000) || id AS x, id " +
			"FROM t) WHERE length(x) > 9 LIMIT 2 OFFSET 20": "[[\"xx\",20],[\"xx\",21]]",
		"SELECT left(x, 2) AS y, id, k FROM (SELECT repeat('x', 7900000) || id AS x, id " +
			"FROM t), u WHERE length(x) > 9 LIMIT 3": "[[\"xx\",0,7],[\"xx\",0,9],[\"xx\",1,7]]",
		"SELECT left(x, 2) AS y, u FROM (SELECT repeat('x', 7900000) || id AS x, unnest(string_split('a,b', ',')) AS u FROM t) WHERE " +
			"length(x) > 9 LIMIT 3": "[[\"xx\",\"a\"],[\"xx\",\"b\"],[\"xx\",\"a\"]]",
	} {
		p := planOf(t, text, files)
		for i := range p.Tables {
			if p.Tables[i].Name == "u" {
				p.Tables[i].Bytes = int64(len(files["u.csv"].Data))
			}
		}
		got, err := answer(t, p, files, local.Options{Joiners: 1, Aggregators: 1, ChunkBytes: 1 << 20})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestR16_ThePageNamesTheBounds: the bounds in docs/sql-reference.md are those of the program.
func TestR16_ThePageNamesTheBounds(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sql-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{
		fmt.Sprintf("A text has at most %d MiB.", eval.MaxText>>20),
		fmt.Sprintf("of one row has at most %d MiB together", eval.MaxRow>>20),
		fmt.Sprintf("more than %d MiB is computed in pieces", eval.MaxBatch>>20),
		fmt.Sprintf("groups and joined rows included, has at most %d MiB", exec.FoldBytes>>20),
		fmt.Sprintf("One call makes at most %d Mi (2^27) steps", eval.MaxSteps>>20),
		fmt.Sprintf("rows that travel together at most %d Mi.", exec.BatchSteps>>20),
		fmt.Sprintf("A pattern has at most %d KiB", eval.MaxPattern>>10),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
