package monitor

import (
	"time"

	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

// nodeTable holds the last heartbeats of each node, in the order of the topology.
type nodeTable struct {
	nodes []topology.Node
	heard map[topology.NodeID]*samples
	lines map[topology.NodeID]Lines // of the nodes that have reported some
}

// samples is three heartbeats of one process of a node. Rates are measured from the first to the last. When the first is too old, the one
// in between takes its place.
type samples struct {
	first, middle, last sample
}

type sample struct {
	heartbeat.Beat
	at time.Time
}

// newNodeTable returns a table that knows these nodes and no others.
func newNodeTable(nodes []topology.Node) *nodeTable {
	b := &nodeTable{nodes: nodes, heard: map[topology.NodeID]*samples{}, lines: map[topology.NodeID]Lines{}}
	for _, n := range nodes {
		b.heard[n.ID] = nil
	}
	return b
}

// rateSpan is the least time over which rates are measured; they may be measured over half as much again.
const rateSpan = 2 * time.Second

// Heard takes a heartbeat. It ignores one of an older incarnation than the last: that process is about to end.
func (b *nodeTable) Heard(beat heartbeat.Beat, at time.Time) {
	m, known := b.heard[beat.Node]
	switch {
	case !known:
	case m == nil || m.last.ID.LogID != beat.ID.LogID || m.last.ID.Incarnation < beat.ID.Incarnation:
		now := sample{beat, at}
		b.heard[beat.Node] = &samples{now, now, now}
	case m.last.ID.Incarnation > beat.ID.Incarnation:
	default:
		m.last = sample{beat, at}
		if at.Sub(m.middle.at) >= rateSpan/2 {
			m.first, m.middle = m.middle, m.last
		}
	}
}

// Status is what is known of a node.
type Status struct {
	Node    topology.Node
	Heard   bool // since the listener was opened
	Age     time.Duration
	Beat    heartbeat.Beat // the last
	Span    time.Duration  // time over which the rates were measured; 0 if only one heartbeat was heard
	InRate  float64        // bytes per second
	OutRate float64
}

// take ignores a message that is neither a heartbeat nor a report of lines: it may come from another version of the program, or from a
// stranger.
func (b *nodeTable) take(topic string, payload []byte, from topology.NodeID, now time.Time) {
	if topic != heartbeatTopic {
		b.takeLines(topic, payload, from, now)
	} else if beat, err := heartbeat.Decode(payload); err == nil {
		b.Heard(beat, now)
	}
}

// View returns the status of every node, in the order of the topology.
func (b *nodeTable) View(now time.Time) []Status {
	all := make([]Status, len(b.nodes))
	for i, n := range b.nodes {
		all[i] = Status{Node: n}
		if m := b.heard[n.ID]; m != nil {
			all[i].fill(m, now)
		}
	}
	return all
}

func (s *Status) fill(m *samples, now time.Time) {
	s.Heard, s.Beat, s.Age, s.Span = true, m.last.Beat, max(0, now.Sub(m.last.at)), m.last.at.Sub(m.first.at)
	if s.Span > 0 {
		s.InRate = float64(m.last.BytesIn-min(m.last.BytesIn, m.first.BytesIn)) / s.Span.Seconds()
		s.OutRate = float64(m.last.BytesOut-min(m.last.BytesOut, m.first.BytesOut)) / s.Span.Seconds()
	}
}

// Backlog returns the bytes that no receiver has acknowledged yet.
func (s *Status) Backlog() uint64 {
	var n uint64
	for _, l := range s.Beat.Links {
		n += l.Bytes
	}
	return n
}

// Up reports whether the node was heard within maxAge and takes part. A node that reads its log back does not take part yet. A node whose
// log is damaged does not take part at all.
func (s *Status) Up(maxAge time.Duration) bool {
	switch s.Beat.State {
	case heartbeat.Recovering, heartbeat.Draining, heartbeat.Damaged:
		return false
	}
	return s.Heard && s.Age <= maxAge
}
