package operators

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/rows/scratch"
)

// countingTables is a source that knows how many rows its tables have.
type countingTables struct {
	*Tables
	read []string // which tables, in order
}

func (c *countingTables) Count(n plan.Node) int { return c.Rows[n.(*plan.Scan).Table.Name].N }

func (c *countingTables) Read(n plan.Node, yield func(*Batch) error) error {
	c.read = append(c.read, n.(*plan.Scan).Table.Name)
	return c.Tables.Read(n, yield)
}

// TestJoinsOfFewRowsWithMany: a join that keeps its left side, because that has far fewer rows, gives the rows of one that keeps the right
// one, and the same order unless it is an inner join; also where the rows move to files.
func TestJoinsOfFewRowsWithMany(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := &world{source: &Tables{Rows: map[string]*Batch{}}}
		for name, rows := range map[string]int{"few": int(seed) * 2, "many": 300 + int(seed)*40} {
			var b strings.Builder
			fmt.Fprintf(&b, "TABLE %s (%[1]sk BIGINT, %[1]sn BIGINT, %[1]st TEXT)", name)
			for i := range rows {
				key := fmt.Sprint(r.IntN(30))
				if r.IntN(6) == 0 {
					key = "NULL"
				}
				fmt.Fprintf(&b, "\n%s|%d|text %d", key, i%7, r.IntN(9))
			}
			w.parseTable(b.String())
		}
		for _, text := range []string{
			"SELECT * FROM few JOIN many ON fewk = manyk",
			"SELECT fewn, manyt FROM few JOIN many ON fewk = manyk AND fewt = manyt AND fewn < manyn",
			"SELECT * FROM few SEMI JOIN many ON fewk = manyk",
			"SELECT * FROM few ANTI JOIN many ON fewk = manyk",
			"SELECT * FROM few SEMI JOIN many ON fewk = manyk AND manyn <> fewn AND manyt < fewt",
			"SELECT fewt, fewk FROM few ANTI JOIN many ON fewk = manyk AND manyn > fewn",
			"SELECT * FROM (SELECT * FROM few SEMI JOIN many ON fewt = manyt) ANTI JOIN many AS m ON fewk = m.manyk AND m.manyn < fewn",
		} {
			want := w.answer(text, 7)
			source := &countingTables{Tables: w.source}
			for _, limit := range []int64{16 << 20, 1} {
				got := w.answerWithin(text, 16, func(n plan.Node) *Executor {
					x := New(source, limit, n)
					if limit == 1 {
						x.MoveAll(&scratch.Memory{})
					}
					return x
				})
				if strings.Contains(text, "few JOIN") {
					a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
					slices.Sort(a)
					slices.Sort(b)
					got, want = strings.Join(a, "\n"), strings.Join(b, "\n")
				}
				if got != want {
					t.Fatalf("seed %d, %s\n got\n%s\n want\n%s", seed, text, got, want)
				}
			}
			if source.read[0] != "few" { // what is kept is read first
				t.Fatalf("%s: %v are read", text, source.read)
			}
		}
	}
}
