package agent

import (
	"context"

	"posta.dev/posta/medic"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/topology"
)

// tell leaves a note for a node about how its last process ended. It is best effort: without the note the node does not count that death.
func (a *agent) tell(ctx context.Context, target topology.NodeID, d medic.Death) {
	n, err := a.cfg.Topology.Node(target)
	if err != nil {
		return // a medic
	}
	if err := a.leave(ctx, n, postmortem.Died{Cause: d.Cause, Memory: d.Memory}); err != nil {
		a.cfg.Log.Warn("could not leave a note about how the node's last process ended", "node", target, "ended", d, "err", err)
	}
}

func (a *agent) leave(ctx context.Context, n topology.Node, died postmortem.Died) error {
	if a.cfg.Leave == nil {
		return postmortem.WriteDied(n.DataDir, died)
	}
	name, data, err := died.Encode()
	if err != nil {
		return err
	}
	return a.cfg.Leave(ctx, n, name, data)
}
