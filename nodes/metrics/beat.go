package metrics

import (
	"time"

	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/nodes/heartbeat"
)

// State is what a node is doing.
type State = heartbeat.State

// States are all states of a node, so that each has a series before a node is in it.
var States = []State{
	heartbeat.Recovering, heartbeat.Running, heartbeat.Blocked, heartbeat.DiskFull, heartbeat.DiskSlow, heartbeat.NoFiles, heartbeat.Draining,
	heartbeat.Damaged, heartbeat.Retiring,
}

func metric(name, help string, labels ...string) *exporter.Metric {
	return &exporter.Metric{Name: name, Help: help, Labels: append([]string{"cluster", "node", "stage"}, labels...)}
}

var (
	incarnation = metric("posta_node_incarnation", "How many times the node's data directory was opened.")
	uptime      = metric("posta_node_uptime_seconds", "Time since the node's process began to open its log.")
	state       = metric("posta_node_state", "1 for the state that the node is in, 0 for all others.", "state")
	stalled     = metric("posta_node_stalled_seconds", "For how long the node's loop has got nothing done.")
	framesIn    = metric("posta_node_received_frames_total", "Frames that were taken.")
	bytesIn     = metric("posta_node_received_bytes_total", "Bytes of frames that were taken.")
	framesOut   = metric("posta_node_sent_frames_total", "Frames that were sent, repeats included.")
	bytesOut    = metric("posta_node_sent_bytes_total", "Bytes of frames that were made.")
	damaged     = metric("posta_node_damaged_frames_total",
		"Frames whose bits had changed on the way, or that belonged elsewhere: dropped, and asked for again.")
	commits  = metric("posta_node_commits_total", "Commits that were stored.")
	logBytes = metric("posta_node_log_bytes", "Size of the log.")
	sessions = metric("posta_node_sessions", "Sessions with state in the node.")
	running  = metric("posta_node_sessions_running",
		"Sessions that hold a place at an input, or whose answer is not complete at an output.")
	memory  = metric("posta_node_memory_bytes", "Resident memory of the process; missing where it is not known.")
	backlog = metric("posta_link_backlog_bytes", "Bytes on a link that the receiver has not acknowledged.", "edge", "to")
	full    = metric("posta_link_window_full", "1 if the link's window is full: the node waits for the receiver.", "edge", "to")
)

// Node says whose metrics they are.
type Node struct{ Cluster, Node, Stage string }

func (n Node) labels(more ...string) []string {
	return append([]string{n.Cluster, n.Node, n.Stage}, more...)
}

// Beat adds what a heartbeat said, age ago.
func (n Node) Beat(p *exporter.Page, b *heartbeat.Beat, age time.Duration) {
	gauge := func(m *exporter.Metric, v float64, labels ...string) { p.Gauge(m, v, n.labels(labels...)...) }
	for _, s := range States {
		gauge(state, flag(b.State == s), string(s))
	}
	gauge(incarnation, float64(b.ID.Incarnation))
	gauge(uptime, (b.Uptime + age).Seconds())
	gauge(stalled, b.MarkAge.Seconds())
	for _, c := range []struct {
		*exporter.Metric
		value uint64
	}{{framesIn, b.FramesIn}, {bytesIn, b.BytesIn}, {framesOut, b.FramesOut}, {bytesOut, b.BytesOut}, {damaged, b.Damaged},
		{commits, b.Commits}} {
		p.Counter(c.Metric, float64(c.value), n.labels()...)
	}
	gauge(logBytes, float64(b.LogBytes))
	gauge(sessions, float64(b.Sessions))
	gauge(running, float64(b.Running))
	if b.Memory > 0 {
		gauge(memory, float64(b.Memory))
	}
	for _, l := range b.Links {
		gauge(backlog, float64(l.Bytes), l.Edge, string(l.To))
		gauge(full, flag(l.Full), l.Edge, string(l.To))
	}
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
