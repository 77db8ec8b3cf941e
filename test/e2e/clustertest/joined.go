package clustertest

import (
	"cmp"
	"encoding/csv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/sql/split"
)

// joined are statements of one session whose large tables, orders and lineitem, are joined in the aggregators. The first also has a small
// table, which is joined where rows are read; the second keeps rows without a partner; the third wants the best groups only.
var joined = []string{
	"SELECT c_mktsegment, l_shipmode, count(*) AS n, sum(l_extendedprice) AS price, max(o_totalprice) AS dearest FROM customer, orders, " +
		"lineitem" +
		" WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND l_discount > 0.02 GROUP BY ALL ORDER BY ALL",
	"SELECT o_orderpriority, count(*) AS n, count(l_quantity) AS items, sum(l_quantity) AS quantity FROM orders LEFT JOIN lineitem" +
		" ON o_orderkey = l_orderkey AND l_quantity > 45 GROUP BY 1 ORDER BY 1",
	"SELECT o_orderkey, o_custkey, count(*) AS n, sum(l_extendedprice) AS price FROM orders JOIN lineitem ON o_orderkey = l_orderkey GROUP " +
		"BY ALL ORDER BY price DESC, 1 LIMIT 25",
}

// bestOrders is the limit of the third statement.
const bestOrders = 25

// joinedInAggregators is the job of these statements over the tables in dir. What is right is computed from the rows without any code of
// SQL.
func joinedInAggregators(t *testing.T, dir string) Job {
	t.Helper()
	plan := &split.Plan{Text: strings.Join(joined, ";"), Also: []split.Part{{Statement: 1}, {Statement: 2}}, Tables: statementTables()}
	for i := range plan.Tables {
		if plan.Tables[i].Name == "customer" {
			plan.Tables[i].Bytes = 1 << 10 // it is small; the others are of unknown size
		}
	}
	text, err := split.Explain(plan)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(text, "aggregators: join ") != len(joined) || strings.Count(text, "joiner has customer whole") == 0 {
		t.Fatalf("not joined in the aggregators:\n%s", text)
	}
	right := naivelyJoined(t, dir)
	a, err := split.Analysis(plan)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Streams {
		for _, name := range a.Streams[i].Counts() {
			right.Rejected = append(right.Rejected, answer.Rejected{Stream: name})
		}
	}
	return Job{Analysis: split.Name, Dir: dir, Plan: Encoded(t, plan), Asked: plan, Want: Answer(t, right)}
}

// naivelyJoined answers the statements with maps.
func naivelyJoined(t *testing.T, dir string) *answer.Answer {
	t.Helper()
	segment := map[string]string{}
	for _, c := range records(t, dir, "customer.csv") {
		segment[c["c_custkey"]] = c["c_mktsegment"]
	}
	lines := map[string][]map[string]string{}
	for _, l := range records(t, dir, "lineitem.csv") {
		lines[l["l_orderkey"]] = append(lines[l["l_orderkey"]], l)
	}
	type inner struct{ n, price, dearest int64 }
	type left struct{ n, items, quantity int64 }
	type best struct{ order, customer, n, price int64 }
	inners, lefts, bests := map[[2]string]inner{}, map[string]left{}, []best{}
	alone := 0
	for _, o := range records(t, dir, "orders.csv") {
		found := left{n: 1}
		sum := best{order: number(t, o["o_orderkey"]), customer: number(t, o["o_custkey"])}
		for _, l := range lines[o["o_orderkey"]] {
			price, quantity := cents(t, l["l_extendedprice"]), cents(t, l["l_quantity"])
			sum.n, sum.price = sum.n+1, sum.price+price
			if quantity > 4500 {
				found.items, found.quantity = found.items+1, found.quantity+quantity
			}
			if s, ok := segment[o["o_custkey"]]; ok && cents(t, l["l_discount"]) > 2 {
				key := [2]string{s, l["l_shipmode"]}
				at := inners[key]
				inners[key] = inner{at.n + 1, at.price + price, max(at.dearest, cents(t, o["o_totalprice"]))}
			}
		}
		if found.items == 0 {
			alone++
		}
		at := lefts[o["o_orderpriority"]]
		lefts[o["o_orderpriority"]] = left{at.n + max(1, found.items), at.items + found.items, at.quantity + found.quantity}
		if sum.n > 0 {
			bests = append(bests, sum)
		}
	}
	if alone == 0 || len(bests) <= bestOrders {
		t.Fatalf("%d orders without a partner, %d with one: the statements show nothing", alone, len(bests))
	}
	slices.SortFunc(bests, func(a, b best) int { return cmp.Or(cmp.Compare(b.price, a.price), cmp.Compare(a.order, b.order)) })
	q := []answer.Query{
		{Name: "query_1", Columns: []string{"c_mktsegment", "l_shipmode", "n", "price", "dearest"}},
		{Name: "query_2", Columns: []string{"o_orderpriority", "n", "items", "quantity"}},
		{Name: "query_3", Columns: []string{"o_orderkey", "o_custkey", "n", "price"}},
	}
	for _, k := range slices.SortedFunc(maps.Keys(inners), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		q[0].Rows = append(q[0].Rows, []any{k[0], k[1], inners[k].n, decimal(inners[k].price), decimal(inners[k].dearest)})
	}
	for _, k := range slices.Sorted(maps.Keys(lefts)) {
		q[1].Rows = append(q[1].Rows, []any{k, lefts[k].n, lefts[k].items, decimal(lefts[k].quantity)})
	}
	for _, b := range bests[:bestOrders] {
		q[2].Rows = append(q[2].Rows, []any{b.order, b.customer, b.n, decimal(b.price)})
	}
	return &answer.Answer{Queries: q}
}

// records returns the rows of a file, as values by column.
func records(t *testing.T, dir, name string) (all []map[string]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		values := map[string]string{}
		for i, v := range row {
			values[rows[0][i]] = v
		}
		all = append(all, values)
	}
	return all
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// cents reads an amount of zero or more, with at most two digits behind the point.
func cents(t *testing.T, text string) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(text, ".")
	return number(t, whole+(part + "00")[:2])
}

// decimal shows an amount in cents.
func decimal(cents int64) string {
	return strconv.FormatInt(cents/100, 10) + "." + strconv.FormatInt(100+cents%100, 10)[1:]
}
