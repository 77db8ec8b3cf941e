package clustertest

import (
	"os"
	"posta.dev/posta/analyses/sql/catalog"
	"strings"
	"testing"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/internal/gen"
)

// statements are of each kind that nodes compute differently: folded groups and best rows of one scan, joins, a query of the row around it
// beside one that an earlier pass answers, windows over rows that travel. Those of one text share a session.
var statements = []string{
	"SELECT l_shipmode, count(*) AS n, sum(l_quantity) AS quantity, avg(l_extendedprice) AS price, min(l_shipdate), max(l_comment) FROM " +
		"lineitem WHERE l_discount > 0.02 GROUP BY 1 ORDER BY 1;" +
		"SELECT l_comment, l_quantity, l_shipdate FROM lineitem WHERE l_discount > 0.02 ORDER BY l_extendedprice DESC, l_comment LIMIT 40",
	"SELECT c_mktsegment, l_shipmode, count(*) AS n, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem " +
		"WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey GROUP BY ALL ORDER BY ALL",
	"SELECT o_orderpriority, count(*) AS n, sum(o_totalprice) AS total FROM orders WHERE o_totalprice > (SELECT avg(o_totalprice) / 4 FROM " +
		"orders) AND NOT EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate > l_receiptdate) GROUP BY 1 ORDER BY 1",
	"SELECT o_custkey, o_orderkey, o_totalprice - lag(o_totalprice) OVER (PARTITION BY o_custkey ORDER BY o_orderdate, o_orderkey) AS more " +
		"FROM orders WHERE o_totalprice > 1000 ORDER BY more DESC, o_orderkey LIMIT 500",
}

func statementTables() []catalog.Table {
	column := func(name string, t types.Type) catalog.Column { return catalog.Column{Name: name, Type: t} }
	key, text, amount, date := types.Of(types.BigInt), types.Of(types.Text), types.DecimalOf(15, 2), types.Of(types.Date)
	return []catalog.Table{
		{Name: "customer", Files: "customer.csv", Columns: []catalog.Column{column("c_custkey", key), column("c_mktsegment", text)}},
		{Name: "orders", Files: "orders.csv", Columns: []catalog.Column{column("o_orderkey", key), column("o_custkey", key),
			column("o_totalprice", amount), column("o_orderdate", date), column("o_orderpriority", text)}},
		{Name: "lineitem", Files: "lineitem.csv", Columns: []catalog.Column{column("l_orderkey", key), column("l_quantity", amount),
			column("l_extendedprice", amount), column("l_discount", amount),
			column("l_shipdate", date), column("l_commitdate", date), column("l_receiptdate", date), column("l_shipmode", text),
			column("l_comment", text)}},
	}
}

// Statements are jobs of SQL over the tables of TPC-H with so many rows of lineitem. What is right is what one process answers that reads
// row after row; that this is what DuckDB answers is tested elsewhere. The last job is the one whose large tables are joined in the
// aggregators (see joined).
func Statements(t *testing.T, rows int) (jobs []Job) {
	t.Helper()
	dir := t.TempDir()
	if err := gen.TPCH(gen.OnDisk(dir), rows, 7); err != nil {
		t.Fatal(err)
	}
	for _, text := range statements {
		plan := &split.Plan{Text: text, Tables: statementTables()}
		if strings.Contains(text, ";") {
			plan.Also = []split.Part{{Statement: 1}}
		}
		asked := plan
		if strings.Contains(text, "(SELECT avg") {
			plan = answered(t, dir, plan)
		}
		jobs = append(jobs, Job{Analysis: split.Name, Dir: dir, Plan: Encoded(t, plan), Asked: asked, Want: Answer(t, compute(t, dir, plan))})
	}
	return append(jobs, joinedInAggregators(t, dir))
}

// Encoded returns the form in which a plan travels.
func Encoded(t *testing.T, plan *split.Plan) []byte {
	t.Helper()
	b, err := plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answered returns a plan with the answer of its first pass.
func answered(t *testing.T, dir string, plan *split.Plan) *split.Plan {
	t.Helper()
	pass := *plan
	pass.Pass = 1
	var rows []string
	for _, row := range compute(t, dir, &pass).Queries[0].Rows {
		rows = append(rows, row[0].(string))
	}
	next, err := plan.Answered(&pass, rows)
	if err != nil || len(rows) != 1 {
		t.Fatalf("the pass has %d rows: %v", len(rows), err)
	}
	return next
}

func compute(t *testing.T, dir string, plan *split.Plan) *answer.Answer {
	t.Helper()
	a, err := split.Analysis(plan)
	if err != nil {
		t.Fatal(err)
	}
	right, err := local.Run(a, os.DirFS(dir), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return right
}
