package split

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/types"
)

// orders has rows whose order is not that of their texts: two zeros, several NaNs, NULLs, numbers of several lengths, and dates.
var orders = fstest.MapFS{"t.csv": {Data: []byte("k,g,d,x,day,ok\n" +
	"10,b,9.50,0,2015-06-01,true\n9,a,10.25,-0.0,2015-06-01,false\n-3,,2.00,nan,2014-01-01,\n,a,,inf,,true\n10,,-1.75,-inf,2016-12-31," +
	"false\n9,c,9.50,nan,1999-05-05,true\n" +
	"2,a,2.00,1.5,2014-01-01,false\n1,b,,,,\n100,\"\",3.25,0.0,2015-06-01,true\n")}}

func ordersPlan(t *testing.T, text string) (*analyses.Analysis, *Plan) {
	t.Helper()
	p := planOf(t, text, orders)
	for i, c := range p.Tables[0].Columns {
		if c.Name == "x" {
			p.Tables[0].Columns[i] = catalog.Column{Name: "x", Type: types.Of(types.Double)}
		}
	}
	a, err := Analysis(p)
	if err != nil {
		t.Fatal(text, err)
	}
	return a, p
}

// TestR16_LongAnswersPassTheReducer: the answers of these statements are sorted by outputs, and are those that the reducer would give. It
// answers a statement itself whose query has no Rows.
func TestR16_LongAnswersPassTheReducer(t *testing.T) {
	var texts []string
	directions := []string{"", " DESC", " NULLS FIRST", " DESC NULLS FIRST"}
	for i, key := range []string{"k", "g", "d", "x", "day", "ok", "k + 1", "x * -1", "length(g)", "2"} {
		for n, of := range []string{
			"SELECT k, g, d, x, day, ok FROM t ORDER BY %s",
			"SELECT g, k FROM t WHERE k > 1 ORDER BY %s, d",
			"SELECT k, g, d, x, day, ok, count(*) AS n FROM t GROUP BY ALL ORDER BY %s",
			"SELECT n, k FROM (SELECT k, g, d, x, day, ok, count(*) AS n FROM t GROUP BY ALL ORDER BY %s)",
			"SELECT k AS a, k AS b, d, x, day, ok, min(g) AS g FROM t GROUP BY k, d, x, day, ok ORDER BY %s",
			"SELECT DISTINCT x, g, k, d, day, ok FROM t ORDER BY %s",
		} {
			if n < 4 || n == 4 && key != "length(g)" || strings.Contains("k g d x day ok 2", key) { // DISTINCT is ordered by its columns
				texts = append(texts, fmt.Sprintf(of, key+directions[(i+n)%4]))
			}
		}
	}
	texts = append(texts, "SELECT k, count(*) FROM t GROUP BY k", "SELECT count(*) FROM t GROUP BY day, x",
		"SELECT x, sum(k) AS s FROM t GROUP BY x HAVING s > 3",
		"SELECT * FROM t", "SELECT DISTINCT g FROM t", "SELECT d + 1 FROM t ORDER BY d",
		"SELECT ok, day FROM (SELECT * FROM t ORDER BY g DESC) ORDER BY k")
	for _, text := range texts {
		a, _ := ordersPlan(t, text)
		q := &a.Queries[0]
		if q.Rows == nil || a.Check() != nil {
			t.Errorf("%s: the reducer keeps its rows, %v", text, a.Check())
			continue
		}
		passed, err := local.Run(a, orders, local.Options{Joiners: 2, Aggregators: 3, Seed: 1, ChunkBytes: 40})
		if err != nil {
			t.Error(text, err)
			continue
		}
		rows, order := q.Rows, q.Order
		q.Rows, q.Order = nil, nil
		ans, err := local.Run(a, orders, local.Options{Joiners: 1, Aggregators: 1, ChunkBytes: 1 << 20})
		q.Rows, q.Order = rows, order
		if err != nil {
			t.Error(text, err)
			continue
		}
		if got, want := fmt.Sprint(passed.Queries[0].Rows), fmt.Sprint(ans.Queries[0].Rows); got != want {
			t.Errorf("%s\n   got  %s\n   want %s", text, got, want)
		}
	}
}

// TestR16_WhatTheReducerKeeps: rows of these statements depend on each other.
func TestR16_WhatTheReducerKeeps(t *testing.T) {
	for _, text := range []string{
		"SELECT count(*) FROM t", "SELECT k, count(DISTINCT g) FROM t GROUP BY k", "SELECT k, rank() OVER (ORDER BY d) FROM t",
		"SELECT k FROM t UNION SELECT 1",
		"SELECT k, x FROM t WHERE x > (SELECT avg(k) FROM t)", "SELECT count(*) FROM (SELECT k FROM t GROUP BY k)",
		"SELECT k FROM t ORDER BY d LIMIT 3", "SELECT k FROM t ORDER BY string_split(g, ',')",
	} {
		if a, _ := ordersPlan(t, text); a.Queries[0].Rows != nil {
			t.Errorf("%s: rows are passed on one by one", text)
		}
	}
}

// TestR16_ALargeKeyTravelsOnce: a key that a column shows has one cell in a row.
func TestR16_ALargeKeyTravelsOnce(t *testing.T) {
	for _, text := range []string{"SELECT g, count(*) AS n FROM t GROUP BY g", "SELECT g, count(*) AS n FROM t GROUP BY g ORDER BY n DESC, g",
		"SELECT count(*) AS n, g FROM t GROUP BY g ORDER BY g DESC"} {
		if a, _ := ordersPlan(t, text); len(a.Queries[0].Order) != 2 {
			t.Errorf("%s: %+v", text, a.Queries[0].Order)
		}
	}
}

func TestR16_ExplainSaysWhoOrders(t *testing.T) {
	_, p := ordersPlan(t, "SELECT g, count(*) AS n FROM t GROUP BY g ORDER BY n")
	text, err := Explain(p)
	if err != nil || !strings.Contains(text, "  outputs: order, in files if there are many rows\n") || strings.Contains(text, "reducer: ") {
		t.Error(text, err)
	}
}
