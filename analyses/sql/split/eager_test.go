package split

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
)

// TestQ7_RowsAreGroupedEarly: where the aggregates allow it, aggregators get groups of a side of a join in place of its rows, and the
// answer stays the same.
func TestQ7_RowsAreGroupedEarly(t *testing.T) {
	const rows, early = "rows of b", "groups of b"
	files := joinable()
	for text, want := range map[string]string{
		"SELECT ak, count(*) AS n, sum(bn), min(bt), max(bn), count(bt) FROM a JOIN b ON ak = bk GROUP BY ak": early,
		"SELECT bk, at, sum(bn) FROM b JOIN a ON ak = bk GROUP BY bk, at":                                     early,
		// the keys are those of the other side
		"SELECT ak, count(*), sum(bn) FROM a RIGHT JOIN b ON ak = bk GROUP BY ak":                                         rows,
		"SELECT bk, count(*), sum(bn) FROM a RIGHT JOIN b ON ak = bk AND an > 3 GROUP BY bk":                              early,
		"SELECT bk, count(*), sum(bn) FROM b LEFT JOIN a ON ak = bk AND an > 3 GROUP BY bk":                               early,
		"SELECT bk, sum(bn) FROM b SEMI JOIN a ON ak = bk GROUP BY bk":                                                    early,
		"SELECT bk, sum(bn) FROM b ANTI JOIN a ON ak = bk GROUP BY bk":                                                    early,
		"SELECT bk, sum(bn) FROM b WHERE bn > 2 AND bk IN (SELECT ak FROM a GROUP BY ak HAVING count(*) > 3) GROUP BY bk": early,
		// another column is compared
		"SELECT bk, sum(bn) FROM b SEMI JOIN a ON ak = bk AND at = bt GROUP BY " +
			"bk": rows,
		"SELECT ak, an, sum(bn) AS s FROM a, b, c WHERE ak = bk AND ak = ck AND an + cn " +
			"> 3 GROUP BY ak, an ORDER BY s DESC, ak, an LIMIT 9": early,
		"SELECT ak, sum(bn) FROM a, b WHERE ak = bk AND ak IN (SELECT bk FROM b GROUP " +
			"BY bk HAVING sum(bk) > 20) GROUP BY ak": early,
		"SELECT ak, sum(bn) FROM a, b WHERE ak = bk AND ak IN (SELECT bk FROM b GROUP " +
			"BY bk HAVING max(bn) > 6) GROUP BY ak": early,
		"SELECT ak, sum(bn) FROM a, b WHERE ak = bk AND ak IN (SELECT bk FROM b GROUP " +
			"BY bk HAVING count(*) > 4) GROUP BY ak": early,
		"SELECT ak, sum(bn) FROM a, b WHERE ak = bk AND ak IN (SELECT bk FROM b WHERE " +
			"bn > 4 GROUP BY bk HAVING sum(bn) > 9) GROUP BY ak": early,
		// bn is compared, too
		"SELECT ak, sum(bn) FROM a JOIN b ON ak = bk AND an < bn GROUP BY ak": rows,
		// a group by another column
		"SELECT ak, bn, sum(bn) FROM a JOIN b ON ak = bk GROUP BY ak, bn": rows,
		// of both sides
		"SELECT ak, sum(an + bn) FROM a JOIN b ON ak = bk GROUP BY ak": rows,
		// may fail
		"SELECT ak, sum(bn * bn) FROM a JOIN b ON ak = bk GROUP BY ak": rows,
		// no mean of means
		"SELECT ak, sum(bn), avg(bn) FROM a JOIN b ON ak = bk GROUP BY ak": rows,
		// would be rounded twice
		"SELECT ak, sum(bx) FROM a JOIN b ON ak = bk GROUP BY ak":                       rows,
		"SELECT ak, count(DISTINCT bn) FROM a JOIN b ON ak = bk GROUP BY ak":            rows,
		"SELECT ak, sum(bn) FILTER (WHERE bn > 3) FROM a JOIN b ON ak = bk GROUP BY ak": rows,
		// keys that are equal and look different
		"SELECT ax, sum(bn) FROM a JOIN b ON ax = bx GROUP BY ax": rows,
	} {
		p := planOf(t, text, files)
		said, err := Explain(p)
		_, aggregators, _ := strings.Cut(said, "aggregators: join ")
		if err != nil || !strings.Contains(aggregators, want) || want == early && strings.Contains(aggregators, rows) {
			t.Errorf("%s: %v, wanted %s\n%s", text, err, want, said)
		}
		p.PartitionFrom = -1
		alone, err := answer(t, p, files, local.Options{})
		if err != nil || len(alone) < 6 {
			t.Fatalf("%s: %s, %v", text, alone, err)
		}
		p.PartitionFrom = 0
		for seed := range uint64(4) {
			o := local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 300}
			if got, err := answer(t, p, files, o); err != nil || got != alone {
				t.Errorf("%s\n seed %d: %v\n got  %.300s\n want %.300s", text, seed, err, got, alone)
				break
			}
		}
	}
}

// TestQ7_TheSmallerSideIsNotGroupedEarly: its keys are rarely repeated.
func TestQ7_TheSmallerSideIsNotGroupedEarly(t *testing.T) {
	p := planOf(t, "SELECT ak, sum(bn) FROM a JOIN b ON ak = bk GROUP BY ak", joinable())
	for _, bytes := range []int64{400 << 20, 1000 << 20} {
		for i := range p.Tables {
			p.Tables[i].Bytes, p.Tables[i].Rows = 900<<20, 9<<20
			if p.Tables[i].Name == "b" {
				p.Tables[i].Bytes, p.Tables[i].Rows = bytes, bytes/100
			}
		}
		said, err := Explain(p)
		if err != nil || strings.Contains(said, "groups of b") != (bytes > 900<<20) {
			t.Errorf("%d bytes: %v\n%s", bytes, err, said)
		}
	}
}

// TestQ7_EqualGroupsTravelOnce: the groups of a query in WHERE are those that the statement needs itself.
func TestQ7_EqualGroupsTravelOnce(t *testing.T) {
	p := planOf(t, "SELECT ak, sum(bn) FROM a, b WHERE ak = bk AND ak IN (SELECT bk FROM b GROUP BY bk HAVING sum(bn) > 20) GROUP BY ak "+
		"ORDER BY 2, 1 LIMIT 3", joinable())
	said, err := Explain(p)
	if err != nil || strings.Count(said, "groups of b") != 1 || strings.Contains(said, "join rows of b") {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestQ7_EarlySumsMayBeLong: a sum that does not fit its type is an error if its key has a partner, and only then.
func TestQ7_EarlySumsMayBeLong(t *testing.T) {
	const most = "9223372036854775807"
	files := fstest.MapFS{
		"a.csv": {Data: []byte("ak\n1\n2\n2\n3\n5\n")},
		"b.csv": {Data: []byte("bk,bv,bw,bt\n" + strings.Repeat("4,"+most+",7,x\n", 5000) + "4,1,-" + most + ",\n1," + most + ",1,x\n2,-" +
			most + ",1,\n2,5,2,y\n3,,3,\n5," + most + ",1,\n5," + most + ",1,z\n")},
	}
	for _, c := range []struct{ where, want string }{
		{"ak <> 2 AND ak <> 5", "[[1 9223372036854775807 1 1 1 x] [3 <nil> 0 1 3 <nil>]]"},
		{"ak = 2", "the sum does not fit into a BIGINT"}, // twice what fits
		{"ak = 5", "the sum does not fit into a BIGINT"},
	} {
		p := planOf(t,
			"SELECT ak, sum(bv), count(bv), count(*), sum(bw), min(bt) FROM a JOIN b ON ak = bk WHERE "+c.where+" GROUP BY ak ORDER BY ak", files)
		for aggregators := 1; aggregators <= 2; aggregators++ {
			for _, from := range []int64{-1, 0} {
				p.PartitionFrom = from
				a, err := Analysis(p)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if found, err := local.Run(a, files, local.Options{Aggregators: aggregators}); err != nil {
					got = err.Error()
				} else {
					got = fmt.Sprint(found.Queries[0].Rows)
				}
				if !strings.Contains(got, c.want) {
					t.Errorf("%s, from %d: %s", c.where, from, got)
				}
			}
		}
	}
}
