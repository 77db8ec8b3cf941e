package cmd

import (
	"testing"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
)

// TestStatus_NamesTheNodeThatIsWaitedFor: a node with a full link names the node that it waits for. Trouble about a slow or full disk names
// the node that has the disk, not the node that waits for it.
func TestStatus_NamesTheNodeThatIsWaitedFor(t *testing.T) {
	for state, want := range map[heartbeat.State]string{
		heartbeat.Blocked: "blocked on joiner-1", heartbeat.DiskSlow: "disk slow, blocked on joiner-1",
		heartbeat.Draining: "draining, blocked on joiner-1",
	} {
		s := monitor.Status{Heard: true, Beat: heartbeat.Beat{State: state,
			Links: []heartbeat.Link{{Edge: "joiner", To: "joiner-1", Full: true}, {To: "joiner-2"}}}}
		if got := s.State(); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
