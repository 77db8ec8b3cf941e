package bench

import "testing"

// TestTogether: a program that several processes run is in memory only once. The private memory of the processes adds up.
func TestTogether(t *testing.T) {
	if got := totalMemory([]memory{{Peak: 50, Shared: 20}, {Peak: 30, Shared: 19}, {Peak: 25, Shared: 20}}); got != 30+11+5+20 {
		t.Errorf("%d", got)
	}
	if got := totalMemory(nil); got != 0 {
		t.Errorf("nobody: %d", got)
	}
	m := memoryOf("self")
	if m.Shared <= 0 || m.Peak <= m.Shared {
		t.Errorf("this process: %+v", m)
	}
}
