package split

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/rows/fold"
)

// joinable returns three tables with keys of several types, among them NULLs, -0 and duplicates.
func joinable() fstest.MapFS {
	r := rand.New(rand.NewPCG(5, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	files := fstest.MapFS{}
	for _, name := range []string{"a", "b", "c"} {
		var rows strings.Builder
		fmt.Fprintf(&rows, "%[1]sk,%[1]sd,%[1]st,%[1]sn,%[1]sx\n", name)
		for range 150 + r.IntN(60) {
			key := fmt.Sprint(r.IntN(40) - 5)
			if r.IntN(8) == 0 {
				key = ""
			}
			fmt.Fprintf(&rows, "%s,%s,%s,%d,%s\n", key, pick("", "0.0", "-0.0", "1.5", "-2.25", "NaN"), pick("", `""`, "x", "xy", "ü"), r.IntN(9),
				pick("", "1.25", "2.5", "-7.0"))
		}
		files[name+".csv"] = &fstest.MapFile{Data: []byte(rows.String())}
	}
	return files
}

// partitioned are statements whose joins aggregators compute; reduced are others, whose joins the reducer computes.
var partitioned = []string{
	"SELECT an, count(*), sum(bx), min(at), max(bt) FROM a JOIN b ON ak = bk GROUP BY an",
	"SELECT count(*), sum(ax * bx), avg(bn) FROM a, b WHERE ad = bd AND an < bn",
	"SELECT at, count(*), count(bx) FROM a LEFT JOIN b ON ak = bk AND bn > 3 GROUP BY at",
	"SELECT bt, count(*), count(ax) FROM a RIGHT JOIN b ON ak = bk GROUP BY bt",
	"SELECT an, bn, count(*) FROM a FULL JOIN b ON ak = bk GROUP BY an, bn",
	"SELECT an, count(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE bk = ak AND bn <> an) GROUP BY an",
	"SELECT an, count(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE bk = ak AND bx > ax) GROUP BY an",
	"SELECT an, count(*) FROM a WHERE ak IN (SELECT bk FROM b GROUP BY bk HAVING sum(bn) > 20) GROUP BY an",
	"SELECT an, sum(cn) FROM a, b, c WHERE ak = bk AND bk = ck AND an + bn > 3 GROUP BY an",
	"SELECT an, count(*) FROM a JOIN b ON ak = bk AND at = bt GROUP BY an",
	"SELECT ak, count(*) AS n, sum(bn) FROM a JOIN b ON ak = bk GROUP BY ak HAVING count(*) > 2",
	"SELECT ak, an, sum(bx) AS s FROM a, b WHERE ak = bk GROUP BY ak, an ORDER BY s DESC, ak LIMIT 7",
	"SELECT ak, sum(bx) AS s FROM a, b WHERE ak = bk GROUP BY ak ORDER BY s + 1 LIMIT 5 OFFSET 2",
	"SELECT n, count(*) FROM (SELECT ak, count(bn) AS n FROM a LEFT JOIN b ON ak = bk GROUP BY ak) GROUP BY n ORDER BY n",
	"SELECT x.an, count(*) FROM a AS x JOIN a AS y ON x.ak = y.ak WHERE x.an <> y.an GROUP BY x.an",
	"SELECT ak, count(DISTINCT bn), median(bx) FROM a JOIN b ON ak = bk GROUP BY ak",
	"SELECT bn, count(*) FROM (SELECT ak, sum(an) AS s FROM a GROUP BY ak) JOIN b ON ak = bk WHERE s > 5 GROUP BY bn",
	"SELECT an, count(*) FROM (SELECT DISTINCT ak, an FROM a) JOIN b ON ak = bk GROUP BY an",
	"SELECT at, count(*) FROM a JOIN b ON at = bt GROUP BY at ORDER BY at",
	"SELECT an, count(*) FROM a SEMI JOIN b ON ak = bk ANTI JOIN c ON ak = ck AND cn > 7 GROUP BY an",
	// The left side has far fewer rows than the right one, which therefore finds its partners there.
	"SELECT an, count(*), sum(bx), max(bt) FROM (SELECT * FROM a WHERE an = 3) JOIN b ON ak = bk GROUP BY an",
	"SELECT an, at, count(*) FROM (SELECT * FROM a WHERE an = 3) WHERE EXISTS (SELECT 1 FROM b WHERE bk = ak AND bn <> an) GROUP BY an, at",
	"SELECT an, at, count(*) FROM (SELECT * FROM a WHERE an = 3) WHERE NOT EXISTS (SELECT 1 FROM b WHERE bk = ak AND bx > ax) GROUP BY an, at",
	"SELECT at, count(*), count(ak) FROM (SELECT * FROM a WHERE an = 3) WHERE NOT EXISTS (SELECT 1 FROM b WHERE bt = at) GROUP BY at",
	"SELECT an, ax, count(*) FROM (SELECT * FROM a WHERE an < 2) SEMI JOIN b ON ak = bk AND bn < 4 GROUP BY an, ax",
	// One source is used twice, and the rows whose key is NULL are needed in one of its uses alone.
	"WITH s AS (SELECT ak, an FROM a) SELECT x.an, count(*), count(y.an) FROM s AS x LEFT JOIN s AS y ON x.ak = y.ak GROUP BY x.an",
	"WITH s AS (SELECT ak, an FROM a) SELECT y.an, count(*), count(x.an) FROM s AS x RIGHT JOIN s AS y ON x.ak = y.ak GROUP BY y.an",
	"WITH s AS (SELECT ad, an FROM a) SELECT x.an, count(*), count(y.an) FROM s AS x FULL JOIN s AS y ON x.ad = y.ad AND x.an < y.an GROUP " +
		"BY x.an",
	"SELECT an, count(*), sum(bn) FROM a JOIN b ON ax * 0e0 = bx * 0e0 GROUP BY an", // 0 and -0 are one key
	// What travels beside the key: -0 stays what it is, and so do values of types that are no keys, and more columns than a table
	// has keys.
	"SELECT an, count(*), count(*) FILTER (WHERE 1 / z + bn < 0) FROM (SELECT ak, an, ax * 0e0 AS z FROM a) JOIN b ON ak = bk GROUP BY an",
	"SELECT y, count(*), sum(len(l) + bn) FROM (SELECT ak, an > 3 AS y, string_split(at, 'x') AS l FROM a) JOIN b ON ak = bk GROUP BY y",
	"SELECT bn, sum(c1 * bn + c2), sum(c3 - bn), max(c4 || bt), sum(c5 + bn), sum(c6 * bn), sum(c7 - bn), min(c8 || bt), sum(c9 * bn), " +
		"sum(d1 * bn), sum(d2 * bn), sum(d3 * bn), sum(d4 * bn), sum(d5 * bn), sum(d6 * bx), max(d7 + bx) FROM (SELECT ak, an + 1 AS c1, " +
		"an + 2 AS c2, an + 3 AS c3, at || '4' AS c4, an + 5 AS c5, an + 6 AS c6, an + 7 AS c7, at || '8' AS c8, an + 9 AS c9, an * 3 AS d1, " +
		"an * 5 AS d2, an * 7 AS d3, an * 9 AS d4, an * 11 AS d5, ax * 2 AS d6, ax + 1 AS d7 FROM a) JOIN b ON ak = bk GROUP BY bn",
}

var reduced = []string{
	"SELECT ak, an, bn FROM a JOIN b ON ak = bk ORDER BY an, bn",                     // the order of rows is that of their places
	"SELECT an, first(bn), string_agg(bt, ',') FROM a JOIN b ON ak = bk GROUP BY an", // depends on the order of rows
	"SELECT count(*) FROM a JOIN b ON an < bn",                                       // there is no key
	"SELECT an, count(*) FROM a JOIN b ON ak = bk JOIN c ON bn = cn GROUP BY an",     // the joins have different keys
	"SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY an, ak, at, ad) AS n, ak FROM a) JOIN b ON ak = bk",
}

// TestQ7_PartitionedJoins: joins in aggregators give what the reducer makes of all rows, whatever the number of nodes and aggregators,
// and however files are cut.
func TestQ7_PartitionedJoins(t *testing.T) {
	files := joinable()
	for i, text := range append(append([]string(nil), partitioned...), reduced...) {
		p := planOf(t, text, files)
		s, err := p.statement()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, want := len(s.Regions) > 0, i < len(partitioned); got != want {
			t.Errorf("%s\n joined in the aggregators: %t, want %t", text, got, want)
		}
		p.PartitionFrom = -1
		if s, err := p.statement(); err != nil || len(s.Regions) > 0 {
			t.Fatalf("%s: a plan without partitioned joins has some: %v", text, err)
		}
		want, err := answer(t, p, files, local.Options{})
		if err != nil || len(want) < 6 {
			t.Fatalf("%s: %s, %v", text, want, err)
		}
		p.PartitionFrom = 0
		for seed := range uint64(4) {
			o := local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 300}
			if got, err := answer(t, p, files, o); err != nil || got != want {
				t.Errorf("%s\n seed %d: %v\n got  %.300s\n want %.300s", text, seed, err, got, want)
				break
			}
		}
	}
}

// TestQ7_ExplainNamesPartitionedJoins: EXPLAIN says what aggregators join, by which key, of which sizes, and what they make
// of it.
func TestQ7_ExplainNamesPartitionedJoins(t *testing.T) {
	p := planOf(t, "SELECT an, sum(bx) FROM a JOIN b ON ak = bk WHERE ak IN (SELECT ck FROM c GROUP BY ck HAVING sum(cn) > 20) GROUP BY an",
		joinable())
	for i := range p.Tables {
		p.Tables[i].Bytes, p.Tables[i].Rows = 900<<20, 9<<20
		if p.Tables[i].Name == "c" {
			p.Tables[i].Bytes, p.Tables[i].Rows = 0, 0
		}
	}
	text, err := Explain(p)
	if err != nil || !strings.Contains(text, "aggregators: join rows of a (about ") || !strings.Contains(text, "groups of c (of unknown "+
		"size), rows of b (about 153 MiB), partitioned by ak, none of them small; "+
		"fold into groups by 1 key with 1 aggregate, which the reducer merges by key") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestQ3_PartitionedJoinsShareAScan: statements whose joins aggregators compute share the scan of their tables, although each alone reads
// fewer columns. They do not if that many rows would wait for them that a session may fail of it.
func TestQ3_PartitionedJoinsShareAScan(t *testing.T) {
	files := joinable()
	texts := []string{
		"SELECT an, count(*), sum(bx) FROM a JOIN b ON ak = bk GROUP BY an",
		"SELECT at, count(bx) FROM a LEFT JOIN b ON ak = bk AND bn > 3 GROUP BY at ORDER BY at",
		"SELECT bk, sum(an) AS s FROM a JOIN b ON ak = bk GROUP BY bk ORDER BY s DESC, bk LIMIT 5",
	}
	p := planOf(t, strings.Join(texts, ";"), files)
	p.Also = []Part{{Statement: 1}, {Statement: 2}}
	for mib, apart := range map[int64]bool{20: false, 200: true} { // 6 sources, each with less than half of a table
		for i := range p.Tables {
			p.Tables[i].Bytes, p.Tables[i].Rows = mib<<20, mib<<15
		}
		if a, err := Analysis(p); errors.Is(err, ErrApart) != apart || apart != (a == nil) {
			t.Fatalf("tables of %d MiB: %v", mib, err)
		}
	}
	for i := range p.Tables {
		p.Tables[i].Bytes, p.Tables[i].Rows = 20<<20, 20<<15
	}
	a, err := Analysis(p)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		got, err := local.Run(a, files, local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 300})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			alone := planOf(t, text, files)
			alone.PartitionFrom = -1
			want, err := answer(t, alone, files, local.Options{})
			rows, err2 := json.Marshal(got.Queries[i].Rows)
			if err != nil || err2 != nil || string(rows) != want {
				t.Fatalf("%s\n got  %.300s\n want %.300s, %v, %v", text, rows, want, err, err2)
			}
		}
	}
}

// TestQ7_SmallJoinsStayInTheReducer: a plan can set the size from which on joins are partitioned; older programs refuse such a plan
// in words.
func TestQ7_SmallJoinsStayInTheReducer(t *testing.T) {
	p := planOf(t, "SELECT an, bn, count(*) FROM a FULL JOIN b ON ak = bk GROUP BY an, bn", joinable())
	for i := range p.Tables {
		p.Tables[i].Bytes = 3000
	}
	for from, want := range map[int64]bool{0: false, 100: true, 10_000: false, -1: false} {
		p.PartitionFrom = from
		if s, err := p.statement(); err != nil || len(s.Regions) > 0 != want {
			t.Errorf("from %d bytes on: %t, want %t, %v", from, !want, want, err)
		}
	}
}

// TestQ7_OneKeyOfAllRows: rows that all have the same key are joined, however many pairs they make, and other sessions get their
// turns meanwhile (R9).
func TestQ7_OneKeyOfAllRows(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"a", "b"} {
		files[name+".csv"] = &fstest.MapFile{Data: []byte(name + "k," + name + "n\n" + strings.Repeat("7,1\n7,2\n", 1000))}
	}
	p := planOf(t, "SELECT an, bn, count(*) FROM a JOIN b ON ak = bk GROUP BY an, bn ORDER BY an, bn", files)
	a, err := Analysis(p)
	if err != nil {
		t.Fatal(err)
	}
	pauses, finish := 0, a.Finish
	a.Finish = func(args analyses.Args, table int, tables []*fold.Table, full func()) error {
		tables[table].SetPause(func() { pauses++ })
		return finish(args, table, tables, full)
	}
	found, err := local.Run(a, files, local.Options{Aggregators: 3})
	if err != nil || fmt.Sprint(found.Queries[0].Rows) != "[[1 1 1000000] [1 2 1000000] [2 1 1000000] [2 2 1000000]]" {
		t.Fatalf("%v, %v", found, err)
	}
	if pauses < 4_000_000/8192 {
		t.Errorf("%d pauses in four million pairs", pauses)
	}
}

// TestQ7_FullTablesLeaveSettled: one part of a join has more groups than a table holds, so its table leaves several times. Each time the
// sums of all rows so far have to be in it. Groups come again after their table has left.
func TestQ7_FullTablesLeaveSettled(t *testing.T) {
	files := fstest.MapFS{}
	for name, ids := range map[string]int{"a": 200, "b": 450} {
		var rows strings.Builder
		fmt.Fprintf(&rows, "%[1]sk,%[1]sid,%[1]sx\n", name)
		for i := range max(ids, 350) {
			fmt.Fprintf(&rows, "1,%d,%d.1\n", i%ids, i*i)
		}
		files[name+".csv"] = &fstest.MapFile{Data: []byte(rows.String())}
	}
	const text = "SELECT aid % 7 AS g, count(*), sum(s), sum(n), max(d) FROM (SELECT aid, bid, sum(ax * 1e0 + bx) AS s, count(*) AS n, " +
		"avg(bx * 1e0) AS d FROM a JOIN b ON ak = bk GROUP BY aid, bid) GROUP BY g"
	p := planOf(t, text, files)
	if s, err := p.statement(); err != nil || len(s.Regions) == 0 {
		t.Fatalf("it is not joined in the aggregators: %v", err)
	}
	p.PartitionFrom = -1
	want, err := answer(t, p, files, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.PartitionFrom = 0
	if got, err := answer(t, p, files, local.Options{Joiners: 2, Aggregators: 2}); err != nil || got != want {
		t.Errorf("%v\n got  %.600s\n want %.600s", err, got, want)
	}
}
