package monitor

import (
	"context"
	"slices"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// HeardNodes waits a moment for a heartbeat of each node, and returns what was heard.
func HeardNodes(ctx context.Context, t *topology.Topology, keys *security.Keys) []Status {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), LookAtMost)
	defer cancel()
	all := func(view []Status) (bool, error) {
		for _, s := range view {
			if !s.Heard {
				return false, nil
			}
		}
		return true, nil
	}
	view, _ := UntilClosed(ctx, all)(ListenToNodes(t.Nodes(), keys)) // nodes that were not heard in time are shown as silent
	return view
}

// Time limits of a look at the cluster: long enough to hear all nodes and to measure rates, or until a silent node would have sent ten
// heartbeats.
const (
	LookAtMost = 1500 * time.Millisecond
	speedSpan  = 400 * time.Millisecond
)

// HeardEnough reports whether all nodes were heard for long enough to know their rates.
func HeardEnough(view []Status) (bool, error) {
	return !slices.ContainsFunc(view, func(s Status) bool { return s.Span < speedSpan }), nil
}
