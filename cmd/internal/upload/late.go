package upload

import (
	"context"
	"fmt"
	"strings"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// ExplainLate adds to the error of a session that took too long the nodes that wait for room on their disks. t is nil if no topology is
// known.
func ExplainLate(ctx context.Context, t *topology.Topology, keys *security.Keys, late error) error {
	if t == nil {
		return late
	}
	if why := fullDisks(monitor.HeardNodes(ctx, t, keys)); why != "" {
		return fmt.Errorf("%w; %s", late, why)
	}
	return late
}

// fullDisks names the nodes whose disks are full, and where; "" if there are none.
func fullDisks(view []monitor.Status) string {
	var full []string
	for _, s := range view {
		if s.Heard && s.Beat.State == heartbeat.DiskFull {
			full = append(full, fmt.Sprintf("%s (%s on host %s)", s.Node.ID, s.Node.DataDir, s.Node.Host))
		}
	}
	switch len(full) {
	case 0:
		return ""
	case 1:
		return "the disk of " + full[0] + " is full: make room there"
	}
	return "the disks of " + strings.Join(full, ", ") + " are full: make room there"
}
