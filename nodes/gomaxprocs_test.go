package nodes

import "testing"

// TestProcessors: nodes on one machine share its cores.
func TestProcessors(t *testing.T) {
	for _, x := range []struct{ cores, nodes, want int }{{2, 8, 1}, {2, 1, 2}, {16, 1, 16}, {16, 8, 4}, {4, 7, 1}, {8, 7, 2}, {1, 1, 1}} {
		if got := processors(x.cores, x.nodes); got != x.want {
			t.Errorf("%d cores, %d nodes: %d, not %d", x.cores, x.nodes, got, x.want)
		}
	}
}
