package split

import (
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/plan"
)

// TestColumnsOfNewNodesTravel: a node that the split itself makes stands in no plan whose columns were looked at, so all columns count as
// read that its table has; of a node of the plan only those that something above reads.
func TestColumnsOfNewNodesTravel(t *testing.T) {
	s, err := planOf(t, "SELECT sum(x) FROM t WHERE i + 1 > 2", fstest.MapFS{"t.csv": {Data: []byte("i,x,y\n1,2,3\n")}}).statement()
	if err != nil {
		t.Fatal(err)
	}
	var filter *plan.Filter
	plan.Nodes(s.roots[0].Plan, func(n plan.Node) {
		if f, is := n.(*plan.Filter); is {
			filter = f
		}
	})
	count := func(n plan.Node) (columns int) {
		for _, travels := range s.travelling(n) {
			if travels {
				columns++
			}
		}
		return columns
	}
	if n := count(filter); n != 1 {
		t.Errorf("%d columns of the plan's filter travel, want x", n)
	}
	if n := count(&plan.Filter{Input: filter.Input, Cond: filter.Cond}); n != 2 {
		t.Errorf("%d columns of a new filter travel, want i and x", n)
	}
}
