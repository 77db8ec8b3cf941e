package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/docker"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Containers is the Injector for the containers of a cluster.
type Containers struct {
	*docker.Restarter
	Nodes []topology.Node // Ready waits for these nodes
	Keys  *security.Keys  // keys for listening to them; nil in a cluster without keys
}

var _ Injector = Containers{}

var errUnable = errors.New("there is no way to do that here")

// Kinds implements Injector.
func (Containers) Kinds() []Kind { return []Kind{Kill, Hang, Pause, Cut} }

// Do implements Injector. For a pause it sends a signal and does not use the engine's own pause: the engine does not know of a process that
// hangs, either.
func (c Containers) Do(ctx context.Context, k Kind, target medic.NodeID) error {
	switch k {
	case Kill:
		return c.Signal(ctx, target, "SIGKILL")
	case Hang, Pause:
		return c.Signal(ctx, target, "SIGSTOP")
	case Cut:
		_, err := c.Detach(ctx, target)
		return err
	}
	return fmt.Errorf("%s %s: %w", k, target, errUnable)
}

// Undo implements Injector. It leaves a restarted target alone: that target has another process, and was connected to the network before it
// was started.
func (c Containers) Undo(ctx context.Context, k Kind, target medic.NodeID, pid int) error {
	if now, err := c.Pid(target); err != nil || now != pid {
		return err
	}
	switch k {
	case Pause:
		return c.Signal(ctx, target, "SIGCONT")
	case Cut:
		return c.Attach(ctx, target)
	}
	return nil
}

// fresh is how old the last heartbeat of a node may be, for the node to count as present.
const fresh = 2 * time.Second

// Ready implements Injector.
func (c Containers) Ready(ctx context.Context) error {
	var silent []string
	_, err := monitor.UntilClosed(ctx, func(view []monitor.Status) (bool, error) {
		silent = silent[:0]
		for i := range view {
			if !view[i].Up(fresh) {
				silent = append(silent, string(view[i].Node.ID))
			}
		}
		return len(silent) == 0, nil
	})(monitor.ListenToNodes(c.Nodes, c.Keys))
	if err != nil && len(silent) == 0 { // ctx ended before any node could be missed
		return fmt.Errorf("listen to the nodes: %w", err)
	}
	if err != nil {
		return fmt.Errorf("nothing is heard of %s: %w; see their containers' logs", strings.Join(silent, ", "), err)
	}
	return nil
}
