package nodes

import (
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/trace"
)

// recorder returns what records where the time of sessions goes. It is always on.
func recorder(c *core.Config) *trace.Recorder {
	began := time.Now()
	return core.NewRecorder(c, func() time.Duration { return time.Since(began) })
}

// onSync returns the function that the log calls after each fsync.
func (x *node) onSync() func(time.Duration) {
	return func(took time.Duration) {
		x.synced += took
		x.metrics.synced(took)
	}
}
