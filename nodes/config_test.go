package nodes

import (
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
)

// TestCommitsInMemoryWaitForNobody: those of a node that clients ask within its process; a node with a disk shares its fsyncs.
func TestCommitsInMemoryWaitForNobody(t *testing.T) {
	one, err := topology.OneNode([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, direct := range []*Direct{nil, NewDirect()} {
		cfg, err := shellConfig(Config{Topology: one, Direct: direct}, one.Nodes()[0], link.Identity{})
		if err != nil || cfg.Unsynced != (direct != nil) {
			t.Errorf("%v, %v", cfg.Unsynced, err)
		}
	}
}
