package upload

import (
	"errors"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

func TestW5_AWaitingClientIsToldWhichNodesDiskIsFull(t *testing.T) {
	status := func(id string, state heartbeat.State, heard bool) monitor.Status {
		return monitor.Status{
			Node: topology.Node{ID: topology.NodeID(id), Host: "b", DataDir: "/data/" + id}, Heard: heard, Beat: heartbeat.Beat{State: state},
		}
	}
	for want, view := range map[string][]monitor.Status{
		"": {status("input-1", heartbeat.Running, true), status("joiner-1", heartbeat.DiskFull, false)},
		"the disk of joiner-1 (/data/joiner-1 on host b) is full: make room there": {
			status("input-1", heartbeat.Blocked, true), status("joiner-1", heartbeat.DiskFull, true),
		},
		"the disks of input-1 (/data/input-1 on host b), joiner-1 (/data/joiner-1 on host b) are full: make room there": {
			status("input-1", heartbeat.DiskFull, true), status("joiner-1", heartbeat.DiskFull, true),
		},
	} {
		if got := fullDisks(view); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := ExplainLate(t.Context(), nil, nil, exit.ErrTimeout); !errors.Is(err, exit.ErrTimeout) {
		t.Errorf("without a topology: %v", err)
	}
}
