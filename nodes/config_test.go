package nodes

import (
	"testing"

	"posta.dev/posta/internal/cgroup"
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

// TestNodesKeepToWhatControlGroupsAllow: a node that is alone in its group has all of its memory. Else all nodes of the host, and the
// program that started them, have equal shares.
func TestNodesKeepToWhatControlGroupsAllow(t *testing.T) {
	was := cgroup.Memory
	t.Cleanup(func() { cgroup.Memory = was })
	one, err := topology.OneNode(nil)
	if err != nil {
		t.Fatal(err)
	}
	several := topology.Default() // 7 nodes
	for name, c := range map[string]struct {
		Config
		limit int64
		alone bool
		want  int
	}{
		"without a limit":      {Config{Topology: several, Headroom: 1}, 0, false, 1 << 30},
		"in a container":       {Config{Topology: several, Headroom: 1}, 800 << 20, true, 200 << 20},
		"beside others":        {Config{Topology: several, Headroom: 1}, 800 << 20, false, 25 << 20},
		"in one process":       {Config{Topology: several}, 800 << 20, true, 25 << 20},
		"the only node within": {Config{Topology: one, Direct: NewDirect()}, 800 << 20, false, 200 << 20},
	} {
		cgroup.Memory = func() (int64, bool) { return c.limit, c.alone }
		cfg, err := coreConfig(c.Config, c.Topology.Nodes()[0], link.Identity{})
		if err != nil || cfg.Memory != c.want || cfg.Replica.Memory != c.want || c.limit > 0 && cfg.Held != 2*c.want {
			t.Errorf("%s: %d, %d and %d bytes, %v", name, cfg.Memory, cfg.Replica.Memory, cfg.Held, err)
		}
	}
}
