package topology

import "testing"

// TestLimits_Within: what control groups allow lowers limits of memory, but neither raises one nor takes it all.
func TestLimits_Within(t *testing.T) {
	all := Default().Limits
	if got := all.Within(0); got != all {
		t.Errorf("without a bound: %+v", got)
	}
	if got := all.Within(64 << 30); got != all {
		t.Errorf("with much memory: %+v", got)
	}
	want := all
	want.NodeMemory, want.Memory, want.Tables = 100<<20, 50<<20, 12<<20+512<<10
	if got := all.Within(200 << 20); got != want {
		t.Errorf("within 200 MiB: %+v", got)
	}
	want.NodeMemory, want.Memory, want.Tables = 1<<20, 1<<20, 1<<20
	if got := all.Within(1); got != want {
		t.Errorf("with hardly any memory: %+v", got)
	}
}
