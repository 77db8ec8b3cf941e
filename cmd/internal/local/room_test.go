package local

import (
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

// TestW5_APrivateClusterTellsOfAFullDisk: a disk that stays full ends the command, in words. One that gets room in time does not.
func TestW5_APrivateClusterTellsOfAFullDisk(t *testing.T) {
	says := func(s heartbeat.State, noRoom bool, age time.Duration) []monitor.Status {
		return []monitor.Status{
			{Node: topology.Node{ID: "input-1"}, Heard: true, Age: age, Beat: heartbeat.Beat{State: s, NoRoom: noRoom}},
			{Node: topology.Node{ID: "output-1"}, Heard: true, Beat: heartbeat.Beat{State: heartbeat.Running}},
		}
	}
	full, opening := says(heartbeat.DiskFull, false, 0), says(heartbeat.Recovering, true, 0)
	fine, old := says(heartbeat.Running, false, 0), says(heartbeat.DiskFull, false, time.Minute)
	for name, c := range map[string]struct {
		seconds [][]monitor.Status
		ends    bool
	}{
		"it stays full":       {[][]monitor.Status{fine, full, full, full, full}, true},
		"a log cannot open":   {[][]monitor.Status{opening, opening, opening, opening}, true},
		"there is room again": {[][]monitor.Status{full, full, full, fine, full, full, full, fine}, false},
		"it is not heard now": {[][]monitor.Status{old, old, old, old, old}, false},
		"it has just begun":   {[][]monitor.Status{fine, full, full, full}, false},
		"all is well":         {[][]monitor.Status{fine, fine, fine, fine, fine}, false},
	} {
		w, now := &fullWait{dir: "/tmp/posta-run-1"}, time.Unix(1000, 0)
		var err error
		for _, view := range c.seconds {
			if now = now.Add(time.Second); err == nil {
				err = w.see(view, now)
			}
		}
		if errors.Is(err, ErrNoRoom) != c.ends {
			t.Errorf("%s: %v", name, err)
		}
		if c.ends && (!strings.Contains(err.Error(), "no room on the disk of /tmp/posta-run-1, where input-1") ||
			!strings.Contains(err.Error(), "TMPDIR")) {
			t.Error(err)
		}
	}
}
