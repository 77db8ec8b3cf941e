// Package metrics says what a node has counted, in the form of Prometheus.
//
//	Beat     what a heartbeat says: counters, sizes, states. posta console has the same of all nodes
//	Metrics  this process' own: its last heartbeat, and how long commits, fsyncs, round trips, chunks and its recovery took
//
// The loop and the committer count with atomic additions. A scrape reads, and holds up nobody.
package metrics

import (
	"fmt"
	"sync/atomic"
	"time"

	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/internal/histogram"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
)

// Metrics is what a node counts for whoever scrapes it. Its histograms are told by the loop and the committer.
type Metrics struct {
	Node    Node
	Version string
	Expires func() time.Time // when the node's certificate ends; nil: it has none
	Stuck   time.Duration    // a loop that has got nothing done for so long hangs (medics.stuck_after)

	Commit    histogram.Histogram
	Fsync     histogram.Histogram
	RoundTrip histogram.Histogram
	Chunk     histogram.Histogram

	beat     atomic.Pointer[said]
	drops    atomic.Pointer[[]core.LinkDrops]
	recovery atomic.Int64 // nanoseconds; 0: not done
}

type said struct {
	heartbeat.Beat
	at time.Time
}

var (
	info   = metric("posta_node_info", "1; the label says which version of Posta the node runs.", "version")
	expiry = metric("posta_node_certificate_expiry_timestamp_seconds",
		"When the node's certificate ends, in seconds since 1970; missing without keys.")
	recovered = metric("posta_node_recovery_seconds", "How long the last start took until the log was read; missing before.")
	commit    = metric("posta_node_commit_duration_seconds", "Time from when a commit is closed until it is durable.")
	fsync     = metric("posta_node_fsync_duration_seconds", "Time that an fsync of the log took.")
	roundTrip = metric("posta_node_frame_round_trip_seconds",
		"Time from when a frame is sent first until all its receivers have acknowledged its effect, of one frame of a link at a time.")
	chunk = metric("posta_node_chunk_effect_seconds",
		"Time from when a client's chunk arrives until its effect is durable and the client is told, held-up ones included.")
)

// dropped is not in the heartbeat: a node has a link from each node before it, and each link has five verdicts.
var dropped = metric("posta_link_dropped_frames_total",
	"Frames that a link did not take, by verdict. No name of an edge and a sender: of links that the node does not have.", "edge", "from",
	"verdict")

// Said remembers the heartbeat that was published last. The Beat is not changed any more.
func (m *Metrics) Said(b *heartbeat.Beat, now time.Time) { m.beat.Store(&said{*b, now}) }

// Dropped remembers what the node's links had dropped at its last heartbeat. The slice is not changed any more.
func (m *Metrics) Dropped(drops []core.LinkDrops) { m.drops.Store(&drops) }

// Recovered reports how long the node took to read its log.
func (m *Metrics) Recovered(took time.Duration) { m.recovery.Store(max(1, int64(took))) }

// Collect adds everything that the node counts.
func (m *Metrics) Collect(p *exporter.Page) {
	p.Gauge(info, 1, m.Node.labels(m.Version)...)
	if m.Expires != nil {
		p.Gauge(expiry, float64(m.Expires().Unix()), m.Node.labels()...)
	}
	if took := m.recovery.Load(); took > 0 {
		p.Gauge(recovered, time.Duration(took).Seconds(), m.Node.labels()...)
	}
	p.Histogram(commit, m.Commit.Snapshot(), m.Node.labels()...)
	p.Histogram(fsync, m.Fsync.Snapshot(), m.Node.labels()...)
	p.Histogram(roundTrip, m.RoundTrip.Snapshot(), m.Node.labels()...)
	p.Histogram(chunk, m.Chunk.Snapshot(), m.Node.labels()...)
	if drops := m.drops.Load(); drops != nil {
		for _, d := range *drops {
			for v := link.Duplicate; v < link.Verdicts; v++ {
				p.Counter(dropped, float64(d.Frames[v]), m.Node.labels(d.Edge, string(d.From), v.String())...)
			}
		}
	}
	if b := m.beat.Load(); b != nil {
		m.Node.Beat(p, &b.Beat, time.Since(b.at))
	}
}

// Healthy is nil while the node's loop gets on.
func (m *Metrics) Healthy() error {
	b := m.beat.Load()
	if b == nil {
		return nil
	}
	if stands := max(b.MarkAge, time.Since(b.at)); stands >= m.Stuck {
		return fmt.Errorf("node %s has got nothing done for %s", m.Node.Node, stands.Round(time.Millisecond))
	}
	return nil
}

// Ready is nil while the node takes work, or would if its receivers had room.
func (m *Metrics) Ready() error {
	b := m.beat.Load()
	if b == nil {
		return fmt.Errorf("node %s: %w", m.Node.Node, exporter.ErrNotYet)
	}
	switch b.State {
	case heartbeat.Running, heartbeat.Blocked, heartbeat.DiskSlow:
		return m.Healthy()
	}
	if b.Trouble != "" {
		return fmt.Errorf("node %s: %s: %s", m.Node.Node, b.State, b.Trouble)
	}
	return fmt.Errorf("node %s: %s", m.Node.Node, b.State)
}
