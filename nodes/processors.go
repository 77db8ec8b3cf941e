package nodes

import (
	"runtime"
	"time"
)

// restAfter is how long a node has nothing to do before it gives its processors back. Each change stops all goroutines for some
// microseconds, so a short time costs nodes that have a little to do every now and then; a long one leaves an idle cluster with the
// wake-ups of a busy one.
const restAfter = 5 * time.Second

// processorShare gives a node one processor of Go's runtime while it is idle, and its share of the cores otherwise. The runtime wakes a
// thread for each processor whenever messages arrive, and the heartbeats of all nodes arrive together: with one processor an idle input
// takes half of the time. The node's loop owns it. A nil processorShare changes nothing.
type processorShare struct {
	share  int
	rests  bool
	busyAt time.Time
	set    func(int) int
}

// newProcessorShare returns nil if there is nothing to give back.
func newProcessorShare(share int, now time.Time) *processorShare {
	if share < 2 {
		return nil
	}
	return &processorShare{share: share, busyAt: now, set: runtime.GOMAXPROCS}
}

// work says that there is something to do: a request, a piece of a file, or something to store.
func (p *processorShare) work(now time.Time) {
	if p == nil {
		return
	}
	if p.busyAt = now; p.rests {
		p.rests = false
		p.set(p.share)
	}
}

// look says how many sessions the node has. It is called with every heartbeat.
func (p *processorShare) look(now time.Time, sessions int) {
	switch {
	case p == nil:
	case sessions > 0:
		p.work(now)
	case !p.rests && now.Sub(p.busyAt) >= restAfter:
		p.rests = true
		p.set(1)
	}
}
