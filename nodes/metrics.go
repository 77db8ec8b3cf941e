package nodes

import (
	"fmt"
	"time"

	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/metrics"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// nodeMetrics holds the metrics that a node serves. It outlives the logs that the process opens, so that retiring a log does not reset the
// histograms. If the topology gives the node no metrics address, it counts nothing and reads no clock.
type nodeMetrics struct {
	*metrics.Metrics // nil: the topology gives no metrics address
	server           *exporter.Exporter
	chunks           map[role.Peer]time.Time // when each unanswered chunk arrived, by client; the loop owns it
}

func newMetrics(c Config, n topology.Node) (m nodeMetrics, err error) {
	address := c.Topology.MetricsAddress(n)
	if address == "" {
		return m, nil
	}
	m.chunks = map[role.Peer]time.Time{}
	m.Metrics = &metrics.Metrics{
		Node: metrics.Node{Cluster: c.Topology.Name, Node: string(n.ID), Stage: n.Stage}, Version: c.Version, Stuck: c.Topology.Medics.StuckAfter,
	}
	if c.Keys != nil {
		m.Expires = c.Keys.Expiry
	}
	m.server, err = exporter.Start(exporter.Config{Address: address, Collect: m.Collect, Healthy: m.Healthy, Ready: m.Ready, Log: c.Log})
	if err != nil {
		return m, fmt.Errorf("node %s: %w", n.ID, err)
	}
	return m, nil
}

func (m *nodeMetrics) close() { m.server.Close() }

// count makes the shell and the core fill the histograms.
func (m *nodeMetrics) count(cfg *shell.Config) {
	if m.Metrics != nil {
		cfg.Commits, cfg.Core.RoundTrip = &m.Commit, &m.RoundTrip
	}
}

// synced counts an fsync of the log.
func (m *nodeMetrics) synced(took time.Duration) {
	if m.Metrics != nil {
		m.Fsync.Observe(took)
	}
}

func (m *nodeMetrics) recovered(took time.Duration) {
	if m.Metrics != nil {
		m.Recovered(took)
	}
}

func (m *nodeMetrics) said(b *heartbeat.Beat, now time.Time) {
	if m.Metrics != nil {
		m.Said(b, now)
	}
}

// dropped takes what the node's links have dropped; drops is not changed any more.
func (m *nodeMetrics) dropped(drops []core.LinkDrops) {
	if m.Metrics != nil {
		m.Dropped(drops)
	}
}

// maxChunks bounds how many chunks are timed at once: the entry of a client that goes away would stay.
const maxChunks = 1024

// asked starts timing the chunks among requests. A chunk that its client repeats is timed from its last arrival.
func (m *nodeMetrics) asked(requests []role.Request, now time.Time) {
	if m.Metrics == nil {
		return
	}
	for i := range requests {
		r := &requests[i]
		if req, err := r.Decode(); err != nil || req.Type != protocol.Chunk {
			continue
		}
		if len(m.chunks) >= maxChunks {
			clear(m.chunks)
		}
		m.chunks[r.From] = now
	}
}

// answered counts a chunk whose answer leaves now.
func (m *nodeMetrics) answered(to role.Peer) {
	if m.Metrics == nil {
		return
	}
	if at, ok := m.chunks[to]; ok {
		delete(m.chunks, to)
		m.Chunk.Observe(time.Since(at))
	}
}
