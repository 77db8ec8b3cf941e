package metrics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"posta.dev/posta/internal/exporter"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
)

func example() *Metrics {
	m := &Metrics{Node: Node{"posta", "joiner-1", "joiner"}, Version: "v1", Stuck: 30 * time.Second}
	m.Said(&heartbeat.Beat{Node: "joiner-1", State: heartbeat.Blocked, Uptime: time.Minute, BytesIn: 5, Memory: 7,
		Links: []heartbeat.Link{{Edge: "a-b-all", To: "b-1", Bytes: 9, Full: true}}}, time.Now())
	m.Dropped([]core.LinkDrops{{Edge: "x-a-any", From: "x-1", Frames: [link.Verdicts]uint64{link.Gap: 3}},
		{Frames: [link.Verdicts]uint64{link.Unknown: 2}}})
	m.Recovered(1500 * time.Millisecond)
	m.Commit.Observe(time.Second)
	return m
}

// TestMetrics_NamesFollowTheConventions reads a page with the library of Prometheus, whose linter checks the names and units.
func TestMetrics_NamesFollowTheConventions(t *testing.T) {
	var p exporter.Page
	example().Collect(&p)
	text := string(p.Append(nil))
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v:\n%s", err, problems, text)
	}
	const of = `{cluster="posta",node="joiner-1",stage="joiner"`
	for _, want := range []string{
		"posta_node_state" + of + `,state="blocked"} 1`, "posta_node_state" + of + `,state="running"} 0`,
		"posta_node_received_bytes_total" + of + "} 5",
		"posta_link_backlog_bytes" + of + `,edge="a-b-all",to="b-1"} 9`, "posta_link_window_full" + of + `,edge="a-b-all",to="b-1"} 1`,
		"posta_node_recovery_seconds" + of + "} 1.5", "posta_node_commit_duration_seconds_count" + of + "} 1",
		"posta_node_memory_bytes" + of + "} 7",
		"posta_link_dropped_frames_total" + of + `,edge="x-a-any",from="x-1",verdict="gap"} 3`,
		"posta_link_dropped_frames_total" + of + `,edge="x-a-any",from="x-1",verdict="zombie"} 0`,
		"posta_link_dropped_frames_total" + of + `,edge="",from="",verdict="unknown"} 2`,
		"posta_node_info" + of + `,version="v1"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
}

func TestMetrics_NothingWasSaidYet(t *testing.T) {
	m := &Metrics{Node: Node{"posta", "joiner-1", "joiner"}}
	var p exporter.Page
	m.Collect(&p)
	if text := string(p.Append(nil)); strings.Contains(text, "posta_node_state") || strings.Contains(text, "posta_node_recovery_seconds") {
		t.Error(text)
	}
	if err := m.Ready(); !errors.Is(err, exporter.ErrNotYet) || m.Healthy() != nil {
		t.Errorf("it is ready: %v", err)
	}
}

// TestMetrics_WhoIsReady: a node that waits for room is ready. A node that recovers, drains, or has no room on its disk is not. A node that
// hangs is not even healthy.
func TestMetrics_WhoIsReady(t *testing.T) {
	for s, want := range map[heartbeat.State]bool{
		heartbeat.Running: true, heartbeat.Blocked: true, heartbeat.DiskSlow: true, heartbeat.Recovering: false, heartbeat.Draining: false,
		heartbeat.DiskFull: false, heartbeat.NoFiles: false, heartbeat.Damaged: false, heartbeat.Retiring: false,
	} {
		m := example()
		m.Said(&heartbeat.Beat{State: s, Trouble: "why"}, time.Now())
		if err := m.Ready(); (err == nil) != want || err != nil && !strings.Contains(err.Error(), string(s)) {
			t.Errorf("%s: %v", s, err)
		}
		m.Said(&heartbeat.Beat{State: s, MarkAge: time.Minute}, time.Now())
		if m.Healthy() == nil || m.Ready() == nil {
			t.Errorf("%s: a loop that has stood for a minute is well", s)
		}
	}
}
