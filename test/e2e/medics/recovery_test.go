package medics

import (
	"syscall"
	"testing"

	"posta.dev/posta/topology"
)

// TestRecoveryTable kills nodes of each kind under load and prints how long it takes until they work again.
func TestRecoveryTable(t *testing.T) {
	c := up(t, nil)
	l := c.load(*loadRows)
	table := c.RecoveryTable(func(id topology.NodeID) { c.signal(id, syscall.SIGKILL) }, *kills, "input-1", "joiner-1", "aggregator-1",
		"reducer-1", "output-1")
	t.Logf("%d analyses meanwhile, all answers right\n%s", l.End(), table)
}
