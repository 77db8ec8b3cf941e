// Package cost measures what a run of a rival costs.
package cost

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Cost is the cost of a run.
type Cost struct {
	Version string  `json:"version"` // of DuckDB
	Threads int     `json:"threads"`
	Wall    float64 `json:"wall"` // seconds, from opening the database to the last answer
	CPU     float64 `json:"cpu"`  // seconds, of this process, in the same time
	Peak    int64   `json:"peak"` // bytes of memory (VmHWM)
}

// Stop sets everything that was spent since begin.
func (c *Cost) Stop(begin time.Time) {
	c.Wall = time.Since(begin).Seconds()
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		c.CPU = time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	status, _ := os.ReadFile("/proc/self/status") // 0 on systems that do not report it
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			c.Peak = kb << 10
		}
	}
}

// Write writes the costs to a file, as JSON.
func (c *Cost) Write(file string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
