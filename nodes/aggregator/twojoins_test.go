package aggregator

import (
	"fmt"
	"slices"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

// joinedTwice is joining, with another table that is made of the known colours and of a bag of orders.
func joinedTwice() *analyses.Analysis {
	const copies = 200 // so that a table leaves in several pages
	a := joining(copies)
	a.Streams = append(a.Streams, a.Streams[1])
	a.Streams[2].Name, a.Streams[2].Files = "orders", "*/orders.csv"
	orders, ordered := a.Tables[1], a.Tables[2]
	orders.Name, orders.Stream = "orders", "orders"
	ordered.Name, ordered.From = "ordered", []string{"known", "orders"}
	a.Tables = append(a.Tables, orders, ordered)
	a.Queries = append(a.Queries, analyses.Query{Name: "ordered", Columns: []string{"colour", "amount"}, Tables: []string{"ordered"}})
	a.Finish = func(_ analyses.Args, table int, tables []*fold.Table, full func()) error {
		known, of, made := tables[0], tables[table-1], tables[table]
		for _, row := range of.Rows() {
			if _, ok := known.Find(known.Key().Text(of.KeyText(row, 0))); !ok {
				continue
			}
			for i := range copies {
				made.Row(made.Key().Text(of.KeyText(row, 0)).Int(of.KeyInt(row, 1)).Int(int64(i)))
			}
		}
		full()
		return nil
	}
	return a
}

// bagOf is the message with one row of a bag.
func bagOf(a *analyses.Analysis, table, stream int, colour string, amount int) role.Message {
	t := fold.NewOutgoing(&a.Tables[table])
	t.Row(t.Key().String(colour).Int(int64(amount)))
	return role.Message{Stream: stream, Payload: new(role.PartialEncoder).Encode(table, t, t.Rows())}
}

// TestD1_RowsStayForTheSecondJoin: two tables are made of one. Its rows stay until both are made, whether the second one waits for a stream
// or for the first one to leave. A node that starts again in between goes on, and in the end nothing is kept.
func TestD1_RowsStayForTheSecondJoin(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {2, 1, 0}} {
		for _, restarts := range []bool{false, true} {
			a := joinedTwice()
			x := joiningRole(t, a)
			take(t, x, rowsFor(a, 0, "red", 0, "blue", 0))
			for i := range 3 {
				take(t, x, bagOf(a, 1, 1, "red", i))
				take(t, x, bagOf(a, 3, 2, "blue", i))
			}
			rows := map[string]int{}
			for _, stream := range order {
				out := &roletest.Kept{}
				more, err := x.End(id, stream, out)
				for n := 0; more && err == nil; n++ {
					if restarts && n%2 == 1 {
						snapshot := x.Snapshot(id, nil)
						x.Close()
						x = joiningRole(t, a)
						if err := x.Restore(id, snapshot); err != nil {
							t.Fatal(err)
						}
					}
					more, err = x.More(id, out)
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range out.All {
					tables := role.NewTables(a, fold.NewTable)
					if err := role.Merge(tables, m.Payload); err != nil {
						t.Fatal(err)
					}
					for _, table := range []int{2, 4} {
						for _, row := range tables[table].Rows() {
							rows[fmt.Sprint(a.Tables[table].Name, " ", string(tables[table].KeyText(row, 0)), tables[table].KeyInt(row, 1))]++
						}
					}
				}
			}
			for i := range 3 {
				for _, key := range []string{fmt.Sprint("joined red", i), fmt.Sprint("ordered blue", i)} {
					if rows[key] != 200 {
						t.Fatalf("streams end in the order %v, restarts %v: %q comes %d times, want 200: %v", order, restarts, key, rows[key], rows)
					}
				}
			}
			st := x.sessions[id]
			if kept := slices.IndexFunc(st.tables, func(t *fold.Table) bool { return t.Len() > 0 }); kept >= 0 ||
				st.waiting[1].Len()+st.waiting[3].Len() > 0 || len(rows) != 6 {
				t.Errorf("streams end in the order %v: what no table is made of any more is still kept, or there are other rows: %v", order, rows)
			}
		}
	}
}
