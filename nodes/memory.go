package nodes

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// memoryLimit keeps a node's memory near what it needs even if GOGC in the environment replaces the percentage that the node sets (see
// headroom). With Go's 100 a reducer with 130 MB of tables would take 260 MB. With the node's own percentage the collector starts before
// the limit is reached. From leastLimit on, the limit makes the collector run more often. It is a quarter and a constant above the live
// data, so that a node with a large state does not spend its time collecting. GOMEMLIMIT in the environment takes precedence.
//
// A fixed limit was rejected: above it the collector runs without end and takes up to half of the CPU time.
type memoryLimit struct {
	sample []metrics.Sample
	limit  int64
	next   time.Time
}

const (
	leastLimit  = 192 << 20 // bytes
	spareAtBest = 24 << 20  // bytes above a quarter more than the live data
	limitEvery  = time.Second
)

// newMemoryLimit returns nil if the environment sets a limit.
func newMemoryLimit() *memoryLimit {
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return &memoryLimit{sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
}

// adjust sets the limit from the live data that the last collection found.
func (m *memoryLimit) adjust(now time.Time) {
	if m == nil || now.Before(m.next) {
		return
	}
	m.next = now.Add(limitEvery)
	metrics.Read(m.sample)
	if m.sample[0].Value.Kind() != metrics.KindUint64 {
		return // a Go release without this measure
	}
	if want := limitFor(int64(m.sample[0].Value.Uint64())); want != m.limit {
		m.limit = want
		debug.SetMemoryLimit(want)
	}
}

// limitFor returns the limit for the given live bytes. It goes in steps, so that the limit does not change with every collection.
func limitFor(live int64) int64 {
	want := max(leastLimit, live+live/4+spareAtBest)
	return (want + step - 1) / step * step
}

const step = 16 << 20 // bytes
