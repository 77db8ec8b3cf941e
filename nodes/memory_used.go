package nodes

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// memoryUsed measures the resident memory of the process, for display to people. Once a second is enough for that; a
// busy node sends heartbeats far more often.
//
// Go's own figure was tried and rejected: it counts the node's headroom, which is reserved but takes no memory.
type memoryUsed struct {
	bytes uint64
	next  time.Time
}

// at returns the bytes that were resident at now or less than a second before; 0 on systems other than Linux. It reads no disk.
func (m *memoryUsed) at(now time.Time) uint64 {
	if now.Before(m.next) {
		return m.bytes
	}
	m.next = now.Add(time.Second)
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 50)
	if err != nil {
		return 0
	}
	m.bytes = pages * uint64(os.Getpagesize())
	return m.bytes
}
