package topology

import "testing"

// TestOneNodeKeepsItsGroups: they take more memory than those of other nodes before they move to files, and leave some of 512 MiB to the
// rest of the process.
func TestOneNodeKeepsItsGroups(t *testing.T) {
	one, err := OneNode([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if most := one.Limits.Tables; most < 2*Default().Limits.Tables || most > 256<<20 {
		t.Errorf("limits.tables is %d", most)
	}
}
