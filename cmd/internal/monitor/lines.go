package monitor

import (
	"context"
	"slices"
	"time"

	"posta.dev/posta/link"
	nodecontrol "posta.dev/posta/link/control"
	"posta.dev/posta/nodes/lastlog"
	"posta.dev/posta/topology"
)

// Lines are the last lines of a node's log, as the node has reported them.
type Lines struct {
	At  time.Time // when the report came; zero: none has come
	All []lastlog.Line
}

// AskForLines asks a node for the last lines of its log, and returns the newest that it has reported before. If it has reported none,
// AskForLines waits for the answer until ctx ends. A node that is dead does not answer; what it reported while it lived stays known.
func AskForLines(ctx context.Context, l *Listener[[]Status], node topology.NodeID) Lines {
	// The question goes over the connections of the heartbeats, to all nodes; only the named one answers. The only error is a closed listener.
	_ = l.sub.Subscribe(nodecontrol.LinesTopic(link.NodeID(node)))
	for {
		now := l.lines(node)
		if !now.At.IsZero() {
			return now
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return now
		}
	}
}

func (l *Listener[V]) lines(node topology.NodeID) (x Lines) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := any(l.table).(*nodeTable); ok {
		x = b.lines[node]
	}
	return Lines{x.At, slices.Clone(x.All)}
}

// takeLines takes a message, if it is a report of lines.
func (b *nodeTable) takeLines(topic string, payload []byte, from topology.NodeID, now time.Time) {
	if topic != nodecontrol.LinesTopic(link.NodeID(from)) {
		return
	}
	if all, err := lastlog.Decode(payload); err == nil { // otherwise it comes from another version of the program
		b.lines[from] = Lines{now, all}
	}
}
