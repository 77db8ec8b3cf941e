package nodes

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// memoryLimit keeps a node's memory near what it needs, whatever makes the collector wait: GOGC in the environment takes the place of the
// percentage that a node sets (see headroom), and with Go's 100 a reducer with 130 MB of tables would take 260 MB. With the node's own
// percentage the collector is there first. The limit makes it collect more often from leastLimit on, and grows with what is live, by
// a quarter of it and some, so that a node whose state is really large does not spend its time collecting. GOMEMLIMIT in the
// environment takes precedence.
//
// A fixed limit was turned down: above it the collector runs without end, at up to half of the processor.
type memoryLimit struct {
	sample []metrics.Sample
	limit  int64
	next   time.Time
}

const (
	leastLimit  = 192 << 20
	spareAtBest = 24 << 20
	limitEvery  = time.Second
)

// newMemoryLimit returns nil where the environment has set a limit.
func newMemoryLimit() *memoryLimit {
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return &memoryLimit{sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
}

// adjust looks at what the last collection found alive.
func (m *memoryLimit) adjust(now time.Time) {
	if m == nil || now.Before(m.next) {
		return
	}
	m.next = now.Add(limitEvery)
	metrics.Read(m.sample)
	if m.sample[0].Value.Kind() != metrics.KindUint64 {
		return // a Go release that measures something else
	}
	if want := limitFor(int64(m.sample[0].Value.Uint64())); want != m.limit {
		m.limit = want
		debug.SetMemoryLimit(want)
	}
}

// limitFor is the limit for so many live bytes, in steps, so that it does not change with every collection.
func limitFor(live int64) int64 {
	want := max(leastLimit, live+live/4+spareAtBest)
	return (want + step - 1) / step * step
}

const step = 16 << 20
